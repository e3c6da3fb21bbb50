#include "preload/requests.h"

#include <sys/mman.h>

#define NR_SLOTS   ((size_t)1 << 16)
#define MOST_TRIES 64
#define KEY_BUSY   1 /* being filled */
#define KEY_TAKEN  ((uint64_t)1 << 63)

static struct request *table;

static struct request *map_table(void)
{
	struct request *none = NULL,
		       *mapped = mmap(NULL, NR_SLOTS * sizeof(*table), PROT_READ | PROT_WRITE,
	                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapped == MAP_FAILED)
		return NULL;
	if (__atomic_compare_exchange_n(&table, &none, mapped, false, __ATOMIC_ACQ_REL,
	                                __ATOMIC_ACQUIRE))
		return mapped;
	munmap(mapped, NR_SLOTS * sizeof(*table));
	return none;
}

static inline struct request *get_table(void)
{
	struct request *mapped = __atomic_load_n(&table, __ATOMIC_ACQUIRE);

	return likely(mapped) ? mapped : map_table();
}

static size_t slot_of(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15 >> 48;
}

static_assert(NR_SLOTS == 1 << 16, "slot_of() gives 16 bits");

static bool claim(uint64_t *key)
{
	uint64_t empty = 0;

	if (!process.threaded) {
		if (*key)
			return false;
		*key = KEY_BUSY;
		return true;
	}
	return !__atomic_load_n(key, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(key, &empty, KEY_BUSY, false, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_RELAXED);
}

/* Whether a request was this thread's to take. */
static bool take(uint64_t *key, uint64_t handle)
{
	return !process.threaded ||
	       __atomic_compare_exchange_n(key, &handle, handle | KEY_TAKEN, false,
	                                   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Where threads do not call MPI at the same time, requests may well wander between them. */
static bool is_own(const struct request *request)
{
	return !process.threaded || request->owner == &this_thread;
}

/* What one moved is known when it ends: that must not be the end of something else. */
static bool join(struct request *first, uint64_t handle)
{
	if (!is_own(first) || first->persistent || request_tells(first->kind) ||
	    !take(&first->key, handle))
		return false;
	first->more++;
	request_put_back(first, handle);
	return true;
}

struct request *request_claim(uint64_t handle, bool joined)
{
	struct request *t = get_table();
	size_t slot = slot_of(handle);

	for (size_t i = 0; t && i < MOST_TRIES; i++) {
		struct request *request = &t[(slot + i) % NR_SLOTS];

		if (joined && __atomic_load_n(&request->key, __ATOMIC_ACQUIRE) == handle &&
		    join(request, handle))
			return NULL;
		if (claim(&request->key))
			return request;
	}
	__atomic_fetch_add(&process.shared->untracked, 1, __ATOMIC_RELAXED);
	return NULL;
}

struct request *request_find(uint64_t handle)
{
	struct request *t = get_table(), *found = NULL;
	size_t slot = slot_of(handle);

	for (size_t i = 0; t && i < MOST_TRIES; i++) {
		struct request *request = &t[(slot + i) % NR_SLOTS];

		if (__atomic_load_n(&request->key, __ATOMIC_ACQUIRE) != handle)
			continue;
		if (is_own(request))
			return request;
		if (!found || request->id < found->id)
			found = request;
	}
	return found;
}

struct request *request_take(uint64_t handle)
{
	struct request *request = request_find(handle);

	while (request && !take(&request->key, handle))
		request = request_find(handle);
	return request;
}

void request_put_back(struct request *request, uint64_t handle)
{
	if (process.threaded)
		__atomic_store_n(&request->key, handle, __ATOMIC_RELEASE);
}

void request_remove(struct request *request)
{
	__atomic_store_n(&request->key, 0, __ATOMIC_RELEASE);
}

void request_end(struct request *request, uint64_t handle)
{
	bool stays = request->more || request->persistent;

	if (request->more)
		request->more--;
	else if (request->persistent)
		request->id = 0;
	/* From now on the library may give the handle to somebody else. */
	if (stays)
		request_put_back(request, handle);
	else
		request_remove(request);
}

uint64_t request_next_id(void)
{
	if (!process.threaded)
		return process.next_request++;
	return __atomic_fetch_add(&process.next_request, 1, __ATOMIC_RELAXED);
}

void requests_forked(void)
{
	if (table)
		munmap(table, NR_SLOTS * sizeof(*table));
	table = NULL;
	process.next_request = 1;
}
