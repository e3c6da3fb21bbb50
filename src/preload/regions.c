#include "preload/regions.h"
#include "preload/write.h"

#include "adaptrace.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define NR_NAMES 4096 /* slots; a power of two */

struct name {
	struct adaptrace_site site;
	uint32_t kind, length;
	char text[];
};
#define NAME_SIZE (sizeof(struct name) + RING_MAX_NAME + 1) /* of the longest */
static_assert(NAME_SIZE % _Alignof(struct name) == 0, "the longest ones lie side by side");

/*
 * Names by hash, never forgotten. A site's number counts only in the process that gave it: a forked
 * one tells its own recorder anew. Guarded by the lock of the process.
 */
static struct {
	struct name *slots[NR_NAMES];
	uint32_t nr;
	char *room;                 /* for the next one; NULL: there is none yet */
	uint32_t numbers[NR_NAMES]; /* of slots, in this process; 0: not defined yet */
	uint32_t generation;
	struct adaptrace_site
		surplus; /* for names that there is no room for: what it does is lost */
} names;

static uint32_t hash_name(const char *name, size_t length, uint32_t kind)
{
	uint32_t hash = 2166136261U ^ kind;

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

static struct name *new_name(const char *text, size_t length, uint32_t kind)
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
	name->kind = kind;
	name->length = (uint32_t)length;
	name->site.name = name->text;
	name->site.kind = kind;
	return name;
}

/* The lock is held. NR_NAMES: there is no room. */
static size_t slot_of(const char *text, size_t length, uint32_t kind)
{
	uint32_t hash = hash_name(text, length, kind);

	for (uint32_t i = 0; i < NR_NAMES; i++) {
		size_t slot = (hash + i) % NR_NAMES;
		struct name *name = names.slots[slot];

		if (!name && names.nr < NR_NAMES / 2) {
			names.slots[slot] = name = new_name(text, length, kind);
			names.nr += name != NULL;
			return name ? slot : NR_NAMES;
		}
		if (!name)
			return NR_NAMES;
		if (name->kind == kind && name->length == length &&
		    !memcmp(name->text, text, length))
			return slot;
	}
	return NR_NAMES;
}

static uint32_t define(size_t slot)
{
	const struct name *name = names.slots[slot];
	uint64_t flags = name->kind == ADAPTRACE_MARKER   ? RING_REGION_MARKER
	                 : name->kind == ADAPTRACE_VALUE_ ? RING_REGION_VALUE
	                                                  : 0;
	uint32_t number = RING_USER_REGIONS + (uint32_t)slot;

	if (!names.numbers[slot] && process_define_name(RING_REGION, number, &flags, 1, name->text))
		names.numbers[slot] = number;
	return names.numbers[slot];
}

/* The region's number in the lower half, and the generation above it. */
static uint32_t number_of(struct adaptrace_site *site)
{
	uint32_t number = __atomic_load_n(&site->number, __ATOMIC_RELAXED);
	size_t slot;

	if (likely(number && number >> 16 == (names.generation & 0xffff)))
		return number & 0xffff;
	number = 0;
	if (site == &names.surplus)
		return 0;
	pthread_mutex_lock(&process.lock);
	slot = slot_of(site->name, strnlen(site->name, RING_MAX_NAME), site->kind);
	if (slot < NR_NAMES)
		number = define(slot);
	pthread_mutex_unlock(&process.lock);
	if (number)
		__atomic_store_n(&site->number, number | names.generation << 16, __ATOMIC_RELAXED);
	return number;
}

void regions_forked(void)
{
	memset(names.numbers, 0, sizeof(names.numbers));
	names.generation++;
}

/* --- what the macros do ----------------------------------------------------------------------- */

/* Nothing is recorded inside MPI calls, and nothing by a signal handler that came upon us. */
static inline bool is_inside(struct thread *thread)
{
	thread_look(thread);
	return unlikely(thread->inside) && !visit_was_left(thread, OWN_FRAME);
}

/* Nothing is done with what is found inside, so nothing is. */
static struct adaptrace_site *find_site(const char *text, unsigned length, unsigned kind)
{
	struct thread *thread = &this_thread;
	size_t slot;

	if (is_inside(thread))
		return NULL;
	thread->inside = INSIDE_OWN;
	if (length > RING_MAX_NAME)
		length = RING_MAX_NAME;
	pthread_mutex_lock(&process.lock);
	slot = slot_of(text, length, kind);
	pthread_mutex_unlock(&process.lock);
	thread->inside = 0;
	return slot < NR_NAMES ? &names.slots[slot]->site : &names.surplus;
}

/* Begins a use of a region. If there are too many names, the use is lost and counted. */
static struct thread *enter(struct adaptrace_site *site, uint32_t *region)
{
	struct thread *thread = &this_thread;

	if (!site || is_inside(thread))
		return NULL;
	thread->inside = INSIDE_OWN;
	if (visit_wanted(thread, CLASS_USER)) {
		*region = number_of(site);
		if (*region)
			return thread;
		thread->ring->lost++;
	}
	thread->inside = 0;
	return NULL;
}

static void begin(struct adaptrace_site *site)
{
	uint32_t region;
	struct thread *thread = enter(site, &region);

	if (!thread)
		return;
	thread_push(thread, region, process_ticks());
	thread->inside = 0;
}

static void write_call(struct thread *thread, uint32_t region, uint64_t from, uint64_t to)
{
	thread_begin_record(thread, region, thread_depth(thread));
	thread->idle = false;
	thread_write(thread, from, to);
}

/*
 * Ends the regions that are open inside a region that ends: an exception or a jump may have left
 * them.
 */
static void end_inner(struct thread *thread, unsigned depth, uint64_t ticks)
{
	while (thread->nr_open > depth) {
		const struct ring_open *open = &thread->open[thread->nr_open - 1];

		thread_pop(thread);
		write_call(thread, (uint32_t)open->region, open->enter, ticks);
	}
}

static void end(struct adaptrace_site *site)
{
	uint64_t ticks = process_ticks();
	struct thread *thread = &this_thread;
	uint32_t region;

	if (!site || is_inside(thread) || !thread->ring || !thread->nr_open)
		return;
	thread->inside = INSIDE_OWN;
	region = number_of(site);
	if (region && thread->nr_open > RING_MAX_OPEN) {
		thread_pop(thread);
		thread->ring->lost++;
	} else {
		for (unsigned n = region ? thread->nr_open : 0; n > 0; n--)
			if (thread->open[n - 1].region == region) {
				end_inner(thread, n - 1, ticks);
				break;
			}
	}
	thread->inside = 0;
}

static void mark(struct adaptrace_site *site)
{
	uint32_t region;
	struct thread *thread = enter(site, &region);
	uint64_t ticks;

	if (!thread)
		return;
	ticks = process_ticks();
	write_call(thread, region, ticks, ticks);
	thread->inside = 0;
}

static void value(struct adaptrace_site *site, double number)
{
	uint32_t region;
	struct thread *thread = enter(site, &region);
	struct visit visit = {.thread = thread};
	uint64_t ticks;

	if (!thread)
		return;
	ticks = process_ticks();
	thread_begin_record(thread, region, thread_depth(thread));
	memcpy(visit_part(&visit, CALL_VALUE, 0, CALL_NO_PEER), &number, sizeof(number));
	thread->idle = false;
	thread_write(thread, ticks, ticks);
	thread->inside = 0;
}

extern const struct adaptrace_hooks adaptrace_hooks_1;
__attribute__((visibility("default"))) const struct adaptrace_hooks adaptrace_hooks_1 = {
	.site = find_site,
	.begin = begin,
	.end = end,
	.mark = mark,
	.value = value,
};
