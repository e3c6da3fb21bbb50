/* What is done around calls, by the shape of their arguments. See mpi_calls.def. */
#ifndef PRELOAD_HANDLERS_H
#define PRELOAD_HANDLERS_H

#include "preload/abi.h"
#include "preload/comms.h"
#include "preload/preload.h"
#include "preload/requests.h"

extern const struct handler handler_PLAIN, handler_SEND, handler_RECV, handler_MPROBE,
	handler_ASK_1, handler_ASK_2, handler_ASK_3, handler_IMPROBE, handler_MRECV, handler_IMRECV,
	handler_SENDRECV, handler_SENDRECV_REPLACE, handler_ISEND, handler_IRECV, handler_ISENDRECV,
	handler_ISENDRECV_REPLACE, handler_SEND_INIT, handler_RECV_INIT, handler_PSEND_INIT,
	handler_PRECV_INIT, handler_START, handler_STARTALL, handler_WAIT, handler_WAITALL,
	handler_WAITANY, handler_WAITSOME, handler_TEST, handler_TESTALL, handler_TESTANY,
	handler_TESTSOME, handler_REQUEST_FREE, handler_PUT, handler_GET, handler_ACCUMULATE,
	handler_GET_ACCUMULATE, handler_FETCH_AND_OP, handler_COMPARE_AND_SWAP, handler_WIN_CREATE,
	handler_WIN_ALLOCATE, handler_WIN_CREATE_DYNAMIC, handler_WIN_FREE, handler_FILE_OPEN,
	handler_FILE_CLOSE, handler_READ, handler_READ_AT, handler_WRITE, handler_WRITE_AT,
	handler_READ_POSTED, handler_READ_AT_POSTED, handler_WRITE_POSTED, handler_WRITE_AT_POSTED,
	handler_READ_BEGIN, handler_READ_AT_BEGIN, handler_WRITE_BEGIN, handler_WRITE_AT_BEGIN,
	handler_SPLIT_END, handler_INIT, handler_FINALIZE, handler_COMM_0_1, handler_COMM_0_2,
	handler_COMM_0_3, handler_COMM_0_4, handler_COMM_0_5, handler_COMM_0_8, handler_COMM_0_9,
	handler_COMM_CONNECT, handler_COMM_5_6, handler_COMM_6_7, handler_COMM_CREATE_GROUP,
	handler_COMM_FROM_GROUP, handler_COMM_FROM_GROUPS, handler_COMM_IDUP,
	handler_COMM_IDUP_INFO, handler_COMM_JOIN, handler_COMM_FREE, handler_INTERCOMM_CREATE,
	handler_SESSION_INIT, handler_SESSION_FINALIZE;

/* The shapes of collectives have three forms. */
#define COLLECTIVE_HANDLERS(shape)                              \
	extern const struct handler handler_COLLECTIVE_##shape, \
		handler_COLLECTIVE_##shape##_POSTED, handler_COLLECTIVE_##shape##_INIT

COLLECTIVE_HANDLERS(ALLGATHER);
COLLECTIVE_HANDLERS(ALLGATHERV);
COLLECTIVE_HANDLERS(ALLREDUCE);
COLLECTIVE_HANDLERS(EXSCAN);
COLLECTIVE_HANDLERS(ALLTOALL);
COLLECTIVE_HANDLERS(ALLTOALLV);
COLLECTIVE_HANDLERS(ALLTOALLW);
COLLECTIVE_HANDLERS(BARRIER);
COLLECTIVE_HANDLERS(BCAST);
COLLECTIVE_HANDLERS(GATHER);
COLLECTIVE_HANDLERS(GATHERV);
COLLECTIVE_HANDLERS(REDUCE);
COLLECTIVE_HANDLERS(REDUCE_SCATTER);
COLLECTIVE_HANDLERS(REDUCE_SCATTER_BLOCK);
COLLECTIVE_HANDLERS(SCATTER);
COLLECTIVE_HANDLERS(SCATTERV);
COLLECTIVE_HANDLERS(NEIGHBOR_ALLGATHER);
COLLECTIVE_HANDLERS(NEIGHBOR_ALLGATHERV);
COLLECTIVE_HANDLERS(NEIGHBOR_ALLTOALL);
COLLECTIVE_HANDLERS(NEIGHBOR_ALLTOALLV);
COLLECTIVE_HANDLERS(NEIGHBOR_ALLTOALLW);

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
