/*
 * Handlers do the work before and after a call. Calls with the same signature share a
 * handler. See mpi_calls.def.
 */
#ifndef PRELOAD_HANDLERS_H
#define PRELOAD_HANDLERS_H

#include "preload/abi.h"
#include "preload/comms.h"
#include "preload/preload.h"
#include "preload/requests.h"

#define CALL(name, nr, class, signature, large) extern const struct handler handler_##signature;
#include "preload/mpi_calls.def"
#undef CALL

/* Provides a status of this thread if the program ignores the status: the handler needs it. */
static inline void want_status(struct visit *visit, uintptr_t *a)
{
	uintptr_t *arg = &a[visit->info->handler->status];

	if (*arg == abi.status_ignore)
		*arg = (uintptr_t)visit->thread->status;
	visit->status = (const unsigned char *)*arg;
}

/* The type of zero elements may be invalid: its size must not be requested. */
static inline uint64_t bytes_of_type(uint64_t nr, uint64_t type)
{
	return nr ? nr * type_size(type) : 0;
}

/* The size of the data that a count argument and the type argument behind it describe. */
static inline uint64_t bytes_at(const struct visit *visit, const uintptr_t *count)
{
	return bytes_of_type(count_arg(count[0], visit->info->large), count[1]);
}

/* Whether a message has a peer: MPI_PROC_NULL means that there is no message. */
static inline bool is_peer(int rank)
{
	return rank != abi.proc_null;
}

/* Adds a part with the bytes that a collective or a transfer of a file moved. */
static inline void put_volume(struct visit *visit, enum call_part_type type,
                              const struct request *request, uint64_t bytes)
{
	uint64_t *at = visit_part(visit, type, request->comm, request->peer);

	at[0] = bytes;
	at[1] = request->bytes_in;
}

/* Begins an operation: adds its part, and keeps its request until the operation ends. */
void start_request(struct visit *visit, uint64_t handle, struct request *request);
/* Adds the part for the end of an operation with this status; NULL: it failed. */
void put_end(struct visit *visit, const struct request *request, const unsigned char *status);

/* Add a part for a transfer of a file that begins, and for one that has ended. */
void put_transfer_posted(struct visit *visit, const struct request *request);
void put_transfer(struct visit *visit, const struct request *request, uint64_t moved);

#endif
