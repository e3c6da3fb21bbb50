#include "preload/requests.h"

#include <sys/mman.h>

#define MOST_TRIES 64
#define KEY_BUSY   1 /* being filled */
#define KEY_TAKEN  ((uint64_t)1 << 63)

struct request *request_table;

static struct request *map_table(void)
{
	struct request *none = NULL,
		       *mapped = mmap(NULL, REQUEST_SLOTS * sizeof(*request_table),
	                              PROT_READ | PROT_WRITE,
	                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (mapped == MAP_FAILED)
		return NULL;
	if (__atomic_compare_exchange_n(&request_table, &none, mapped, false, __ATOMIC_ACQ_REL,
	                                __ATOMIC_ACQUIRE))
		return mapped;
	munmap(mapped, REQUEST_SLOTS * sizeof(*request_table));
	return none;
}

static inline struct request *get_table(void)
{
	struct request *mapped = __atomic_load_n(&request_table, __ATOMIC_ACQUIRE);

	return likely(mapped) ? mapped : map_table();
}

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

/*
 * Lets another operation share a request's entry. That is refused where the end of the operation
 * has to report how much it moved, because it could then report the end of another one.
 */
static bool join(struct request *first, uint64_t handle)
{
	if (!is_own(first) || first->persistent || request_tells(first->type) ||
	    !take(&first->key, handle))
		return false;
	first->more++;
	request_put_back(first, handle);
	return true;
}

struct request *request_claim_slowly(uint64_t handle, bool joined)
{
	struct request *t = get_table();
	size_t slot = request_slot(handle);

	for (size_t i = 0; t && i < MOST_TRIES; i++) {
		struct request *request = &t[(slot + i) % REQUEST_SLOTS];

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
	size_t slot = request_slot(handle);

	for (size_t i = 0; t && i < MOST_TRIES; i++) {
		struct request *request = &t[(slot + i) % REQUEST_SLOTS];

		if (__atomic_load_n(&request->key, __ATOMIC_ACQUIRE) != handle)
			continue;
		if (is_own(request))
			return request;
		if (!found || request->id < found->id)
			found = request;
	}
	return found;
}

struct request *request_take_slowly(uint64_t handle)
{
	struct request *request = request_find(handle);

	while (request && !take(&request->key, handle))
		request = request_find(handle);
	return request;
}

void requests_forked(void)
{
	if (request_table)
		munmap(request_table, REQUEST_SLOTS * sizeof(*request_table));
	request_table = NULL;
	process.next_request = 1;
}
