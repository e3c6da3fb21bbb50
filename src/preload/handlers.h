/* What is done around calls, by the shape of their arguments. See mpi_calls.def. */
#ifndef PRELOAD_HANDLERS_H
#define PRELOAD_HANDLERS_H

#include "preload/abi.h"
#include "preload/comms.h"
#include "preload/preload.h"
#include "preload/requests.h"

#define HANDLERS(X)                                                                                \
	X(PLAIN) X(SEND) X(RECV) X(MPROBE) X(IPROBE) X(IMPROBE) X(MRECV) X(IMRECV) X(SENDRECV)               \
	X(SENDRECV_REPLACE) X(ISEND) X(IRECV) X(ISENDRECV) X(ISENDRECV_REPLACE) X(SEND_INIT)       \
	X(RECV_INIT) X(PSEND_INIT) X(PRECV_INIT) X(START) X(STARTALL) X(WAIT) X(WAITALL)           \
	X(WAITANY) X(WAITSOME) X(TEST) X(TESTALL) X(TESTANY) X(TESTSOME) X(REQUEST_FREE)           \
	X(PUT) X(GET) X(ACCUMULATE) X(GET_ACCUMULATE) X(FETCH_AND_OP) X(COMPARE_AND_SWAP)          \
	X(WIN_CREATE) X(WIN_ALLOCATE) X(WIN_CREATE_DYNAMIC) X(WIN_FREE) X(READ) X(READ_AT)         \
	X(WRITE) X(WRITE_AT) X(READ_POSTED) X(READ_AT_POSTED) X(WRITE_POSTED) X(WRITE_AT_POSTED)   \
	X(INIT) X(INIT_THREAD) X(FINALIZE) X(COMM_0_1) X(COMM_0_2) X(COMM_0_3) X(COMM_0_4)         \
	X(COMM_0_5) X(COMM_0_8) X(COMM_0_9) X(COMM_3_4) X(COMM_5_6) X(COMM_6_7)                    \
	X(COMM_CREATE_GROUP) X(COMM_FROM_GROUP) X(COMM_IDUP) X(COMM_IDUP_INFO) X(COMM_FREE)        \
	X(INTERCOMM_CREATE)

/* The shapes of collectives; each has a _POSTED and an _INIT variant. */
#define COLLECTIVES(X)                                                                             \
	X(ALLGATHER) X(ALLGATHERV) X(ALLREDUCE) X(ALLTOALL) X(ALLTOALLV) X(ALLTOALLW) X(BARRIER)   \
	X(BCAST) X(GATHER) X(GATHERV) X(REDUCE) X(REDUCE_SCATTER) X(REDUCE_SCATTER_BLOCK)          \
	X(SCATTER) X(SCATTERV) X(NEIGHBOR_ALLGATHER) X(NEIGHBOR_ALLGATHERV) X(NEIGHBOR_ALLTOALL)   \
	X(NEIGHBOR_ALLTOALLV) X(NEIGHBOR_ALLTOALLW)

#define DECLARE(shape) extern const struct handler handler_##shape;
HANDLERS(DECLARE)
#undef DECLARE
#define DECLARE(shape)                                      \
	extern const struct handler handler_COLLECTIVE_##shape,   \
		handler_COLLECTIVE_##shape##_POSTED, handler_COLLECTIVE_##shape##_INIT;
COLLECTIVES(DECLARE)
#undef DECLARE

/* Statuses that the program ignores are wanted all the same: theirs become ours. */
static inline void want_status(struct visit *visit, uintptr_t *arg)
{
	if (*arg == abi.status_ignore)
		*arg = (uintptr_t)visit->thread->status;
	visit->status = (const unsigned char *)*arg;
}

/* Whether there is a message at all: not to or from MPI_PROC_NULL. */
static inline bool is_peer(int rank)
{
	return rank != abi.proc_null;
}

/* A receive that ended here, or was cancelled. */
void put_received(struct visit *visit, const unsigned char *status, uint32_t comm);

/* An operation begins: its part, and its request until it ends. */
void start_request(struct visit *visit, uint64_t handle, struct request *request);

#endif
