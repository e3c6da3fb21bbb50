/* What is done around calls, by the shape of their arguments. See mpi_calls.def. */
#ifndef PRELOAD_HANDLERS_H
#define PRELOAD_HANDLERS_H

#include "preload/abi.h"
#include "preload/comms.h"
#include "preload/preload.h"
#include "preload/requests.h"

#define CALL(name, nr, class, shape, large) extern const struct handler handler_##shape;
#include "preload/mpi_calls.def"
#undef CALL

/* Statuses that the program ignores are wanted all the same: theirs become ours. */
static inline void want_status(struct visit *visit, uintptr_t *a)
{
	uintptr_t *arg = &a[visit->info->handler->status];

	if (*arg == abi.status_ignore)
		*arg = (uintptr_t)visit->thread->status;
	visit->status = (const unsigned char *)*arg;
}

/* Of nothing the type may be none, which must not be asked for. */
static inline uint64_t bytes_of_type(uint64_t nr, uint64_t type)
{
	return nr ? nr * type_size(type) : 0;
}

/* As many bytes as this argument counts of the type behind it. */
static inline uint64_t bytes_at(const struct visit *visit, const uintptr_t *count)
{
	return bytes_of_type(count_arg(count[0], visit->info->large), count[1]);
}

/* Whether there is a message at all: not to or from MPI_PROC_NULL. */
static inline bool is_peer(int rank)
{
	return rank != abi.proc_null;
}

/* What a collective or a transfer of a file moved. */
static inline void put_volume(struct visit *visit, enum call_part_kind kind,
                              const struct request *request, uint64_t bytes)
{
	uint64_t *at = visit_part(visit, kind, request->comm, request->peer);

	at[0] = bytes;
	at[1] = request->bytes_in;
}

/* An operation begins: its part, and its request until it ends. */
void start_request(struct visit *visit, uint64_t handle, struct request *request);
/* Its end, as the status says; NULL: it failed. */
void put_end(struct visit *visit, const struct request *request, const unsigned char *status);

/* A transfer of a file that begins, and one that is over. */
void put_transfer_posted(struct visit *visit, const struct request *request);
void put_transfer(struct visit *visit, const struct request *request, uint64_t moved);

#endif
