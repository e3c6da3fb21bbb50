/*
 * The requests of a process that are under way or persistent, by handle; also messages that were
 * probed, MPI windows, files, and communicators under way, which have handles, too.
 *
 * A fixed table without a lock: a slot is claimed by its key, found by its key, and emptied by the
 * one thread that completes the request. Where it is full, a request is not tracked, and counted.
 */
#ifndef PRELOAD_REQUESTS_H
#define PRELOAD_REQUESTS_H

#include "preload/preload.h"

enum request_type {
	REQUEST_SEND,
	REQUEST_RECEIVE,
	REQUEST_COLLECTIVE,
	REQUEST_READ, /* of a file */
	REQUEST_WRITE,
	REQUEST_OTHER
};

/* Whether it is known only at its end what it moved. */
static inline bool request_tells(enum request_type type)
{
	return type == REQUEST_RECEIVE || type == REQUEST_READ || type == REQUEST_WRITE;
}

struct request {
	_Alignas(64) uint64_t key; /* its handle, see request_claim(); 0: the place is free */
	uint64_t id;               /* of the operation under way; 0: none */
	uint64_t bytes, bytes_in;
	uint32_t comm; /* its number */
	int32_t peer, tag;
	uint8_t type; /* enum request_type */
	bool persistent;
	bool as_asked;              /* no status tells how it ended */
	uint32_t more;              /* of its handle and thread, see request_claim() */
	const struct thread *owner; /* who began it */
};
static_assert(sizeof(struct request) == 64, "one line of the cache");

/* Other handles than those of requests have these bits set. */
#define KEY_MESSAGE    ((uint64_t)1 << 62)
#define KEY_MPI_WINDOW ((uint64_t)1 << 61)
#define KEY_FILE       ((uint64_t)1 << 59)
#define KEY_COMM       ((uint64_t)1 << 60) /* made by MPI_Comm_idup; bytes is its seed */

#define REQUEST_SLOTS ((size_t)1 << 16)

extern struct request *request_table; /* NULL: not needed so far */

/* Where one is, or behind that. */
static inline size_t request_slot(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15 >> 48;
}

static_assert(REQUEST_SLOTS == 1 << 16, "request_slot() gives 16 bits");

/* NULL: places must be claimed and taken with care, because threads call MPI at the same time. */
static inline struct request *request_first(uint64_t key)
{
	if (unlikely(process.threaded || !request_table))
		return NULL;
	return &request_table[request_slot(key)];
}

/*
 * Claims a place for a new one of this thread, or joins it to another; NULL: there is no place, or
 * it is joined. Nobody finds it before its key is there.
 *
 * Some libraries give one handle to all requests that are complete at once, and nothing tells it
 * from the others (Open MPI's UCX). So where the thread has one of a handle under way already that
 * does not tell, a new one that may be `joined` is taken for complete, and counted as one more of
 * the first: the handle is completed that often before the first has ended, too.
 */
RARE struct request *request_claim_slowly(uint64_t handle, bool joined);
static inline struct request *request_claim(uint64_t handle, bool joined)
{
	struct request *first = request_first(handle);

	return likely(first && !first->key) ? first : request_claim_slowly(handle, joined);
}

/*
 * Keeps a new one, whose key does not matter; NULL as above. Inline and word by word, because a
 * copy of what was put together a moment ago would wait for that.
 */
static inline struct request *request_add(uint64_t handle, const struct request *new, bool joined)
{
	struct request *request = request_claim(handle, joined);

	if (unlikely(!request))
		return NULL;
	request->id = new->id;
	request->bytes = new->bytes;
	request->bytes_in = new->bytes_in;
	request->comm = new->comm;
	request->peer = new->peer;
	request->tag = new->tag;
	request->type = new->type;
	request->persistent = new->persistent;
	request->as_asked = new->as_asked;
	request->more = 0;
	request->owner = &this_thread;
	/* Pairs with request_find(): another thread may complete it. */
	__atomic_store_n(&request->key, handle, __ATOMIC_RELEASE);
	return request;
}

/* This thread's, else the oldest: a handle may be somebody else's before its end is seen here. */
struct request *request_find(uint64_t handle);
/*
 * Finds one that nobody else finds until it is put back or removed: while a call may complete it,
 * nobody's new request is mistaken for it, and one end is one thread's.
 */
RARE struct request *request_take_slowly(uint64_t handle);
static inline struct request *request_take(uint64_t handle)
{
	struct request *first = request_first(handle);

	return likely(first && first->key == handle) ? first : request_take_slowly(handle);
}

static inline void request_put_back(struct request *request, uint64_t handle)
{
	if (process.threaded)
		__atomic_store_n(&request->key, handle, __ATOMIC_RELEASE);
}

static inline void request_remove(struct request *request)
{
	__atomic_store_n(&request->key, 0, __ATOMIC_RELEASE);
}

/* Whether one that was taken is under way, and no joined one is to end before it. */
static inline bool request_ends(const struct request *request)
{
	return request->id && !request->more;
}

/* Ends one that was taken, and puts back what persists. */
static inline void request_end(struct request *request, uint64_t handle)
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

static inline uint64_t request_next_id(void)
{
	if (!process.threaded)
		return process.next_request++;
	return __atomic_fetch_add(&process.next_request, 1, __ATOMIC_RELAXED);
}

/* In the child of a fork, which has none of its parent's requests. */
void requests_forked(void);

#endif
