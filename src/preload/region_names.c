#include "preload/region_names.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define NR_NAMES 4096 /* slots; a power of two */

struct name {
	struct adaptrace_site site;
	uint32_t type, length;
	char text[];
};
#define NAME_SIZE (sizeof(struct name) + RING_MAX_NAME + 1) /* of the longest */
static_assert(NAME_SIZE % _Alignof(struct name) == 0, "the longest ones lie side by side");

uint32_t region_generation;

/*
 * Names by hash, never forgotten. A site's number counts only in the process that gave it: a forked
 * one tells its own recorder anew. Guarded by the lock of the process.
 */
static struct {
	struct name *slots[NR_NAMES];
	uint32_t nr;
	char *room;                 /* for the next one; NULL: there is none yet */
	uint32_t numbers[NR_NAMES]; /* of slots, in this process; 0: not defined yet */
	struct adaptrace_site
		surplus; /* for names that there is no room for: what it does is lost */
} names;

static uint32_t hash_name(const char *name, size_t length, uint32_t type)
{
	uint32_t hash = 2166136261U ^ type;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619U;
	return hash ^ hash >> 15;
}

/*
 * Reserves memory for the largest number of names. A signal handler may add a name, and must not
 * call malloc().
 */
static char *get_room(void)
{
	int errnum = errno;
	void *room = mmap(NULL, NR_NAMES / 2 * NAME_SIZE, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	errno = errnum;
	return room == MAP_FAILED ? NULL : room;
}

static struct name *new_name(const char *text, size_t length, uint32_t type)
{
	size_t align = _Alignof(struct name), size = sizeof(struct name) + length + 1;
	struct name *name;

	if (!names.room)
		names.room = get_room();
	if (!names.room)
		return NULL;
	name = (struct name *)(void *)names.room;
	names.room += (size + align - 1) / align * align;
	memcpy(name->text, text, length);
	name->type = type;
	name->length = (uint32_t)length;
	name->site.name = name->text;
	name->site.kind = type;
	return name;
}

/* The lock is held. NR_NAMES: there is no room. */
static size_t slot_of(const char *text, size_t length, uint32_t type)
{
	uint32_t hash = hash_name(text, length, type);

	for (uint32_t i = 0; i < NR_NAMES; i++) {
		size_t slot = (hash + i) % NR_NAMES;
		struct name *name = names.slots[slot];

		if (!name && names.nr < NR_NAMES / 2) {
			names.slots[slot] = name = new_name(text, length, type);
			names.nr += name != NULL;
			return name ? slot : NR_NAMES;
		}
		if (!name)
			return NR_NAMES;
		if (name->type == type && name->length == length &&
		    !memcmp(name->text, text, length))
			return slot;
	}
	return NR_NAMES;
}

static uint32_t define(size_t slot)
{
	const struct name *name = names.slots[slot];
	uint64_t flags = name->type == ADAPTRACE_MARKER   ? RING_REGION_MARKER
	                 : name->type == ADAPTRACE_VALUE_ ? RING_REGION_VALUE
	                                                  : 0;
	uint32_t number = RING_USER_REGIONS + (uint32_t)slot;

	if (!names.numbers[slot] && process_define_name(RING_REGION, number, &flags, 1, name->text))
		names.numbers[slot] = number;
	return names.numbers[slot];
}

uint32_t region_define(struct adaptrace_site *site)
{
	uint32_t number = 0;
	size_t slot;

	if (site == &names.surplus)
		return 0;
	pthread_mutex_lock(&process.lock);
	slot = slot_of(site->name, strnlen(site->name, RING_MAX_NAME), site->kind);
	if (slot < NR_NAMES)
		number = define(slot);
	pthread_mutex_unlock(&process.lock);
	if (number)
		__atomic_store_n(&site->number, number | region_generation << 16, __ATOMIC_RELAXED);
	return number;
}

struct adaptrace_site *region_site(const char *text, unsigned length, unsigned type)
{
	size_t slot;

	if (length > RING_MAX_NAME)
		length = RING_MAX_NAME;
	pthread_mutex_lock(&process.lock);
	slot = slot_of(text, length, type);
	pthread_mutex_unlock(&process.lock);
	return slot < NR_NAMES ? &names.slots[slot]->site : &names.surplus;
}

void regions_forked(void)
{
	memset(names.numbers, 0, sizeof(names.numbers));
	region_generation++;
}
