/*
 * The requests of a process that are under way or persistent, by handle; also messages that were
 * probed, windows, files, and communicators under way, which have handles, too.
 *
 * A fixed table without a lock: a slot is claimed by its key, found by its key, and emptied by the
 * one thread that completes the request. Where it is full, a request is not tracked, and counted.
 */
#ifndef PRELOAD_REQUESTS_H
#define PRELOAD_REQUESTS_H

#include "preload/preload.h"

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE, REQUEST_OTHER };

struct request {
	uint64_t id; /* of the operation under way; 0: none */
	uint64_t bytes, bytes_in;
	uint32_t comm; /* its number */
	int32_t peer, tag;
	uint8_t kind; /* enum request_kind */
	bool persistent;
	bool partitioned;
};

/* Other handles than those of requests have these bits set. */
#define KEY_MESSAGE ((uint64_t)1 << 62)
#define KEY_WINDOW  ((uint64_t)1 << 61)
#define KEY_FILE    ((uint64_t)1 << 59)
#define KEY_COMM    ((uint64_t)1 << 60) /* made by MPI_Comm_idup; bytes is its seed */

/*
 * Keeps a new one; false: there is no place, or a request of this handle is under way already, and
 * then *duplicate is set.
 */
bool request_add(uint64_t handle, const struct request *request, bool *duplicate);
struct request *request_find(uint64_t handle);
/* For the time of a call that may complete it: nobody else's new request is mistaken for it. */
struct request *request_take(uint64_t handle);
void request_put_back(struct request *request, uint64_t handle);
void request_remove(struct request *request);
uint64_t request_next_id(void);
void requests_forked(void);

#endif
