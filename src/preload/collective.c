/*
 * Collectives: who the root is, and how many bytes this process hands in and gets. Sent are the
 * bytes of its send buffer, received those of its receive buffer, where the call uses them.
 */
#include "preload/handlers.h"

struct volume {
	uint64_t sent, received;
	int root;
};

struct collective {
	const struct visit *visit;
	const uintptr_t *a;
	const struct comm *comm;
};

static bool in_place(uintptr_t buffer)
{
	return buffer == abi.in_place;
}

static uint64_t bytes_of(const struct collective *args, unsigned count)
{
	return bytes_at(args->visit, &args->a[count]);
}

static uint64_t sum_of(const struct collective *args, unsigned counts, unsigned nr)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < nr; i++)
		sum += (uint64_t)count_at(args->a[counts], i, args->visit->info->large);
	return sum;
}

/* This process's own, of those that each has. */
static uint64_t own_count(const struct collective *args, unsigned counts)
{
	return (uint64_t)count_at(args->a[counts], (size_t)args->comm->rank,
	                          args->visit->info->large);
}

/* Each peer has its own count, and its own type. */
static uint64_t typed_sum_of(const struct collective *args, unsigned counts, unsigned types,
                             unsigned nr)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < nr; i++)
		sum += bytes_of_type(
			(uint64_t)count_at(args->a[counts], i, args->visit->info->large),
			handle_at(args->a[types], i));
	return sum;
}

static unsigned peers_of(const struct collective *args)
{
	return args->comm->peers > 0 ? (unsigned)args->comm->peers : 0;
}

static bool is_root(const struct collective *args, unsigned root)
{
	int rank = (int)args->a[root];

	if (args->comm->inter)
		return rank < 0 && is_peer(rank);
	return rank == args->comm->rank;
}

/* The group of the root does not name it: one member says MPI_ROOT, others MPI_PROC_NULL. */
static int root_of(const struct collective *args, unsigned root)
{
	int rank = (int)args->a[root];

	if (rank >= 0)
		return rank;
	if (!args->comm->inter)
		return CALL_NO_PEER;
	return is_root(args, root) ? CALL_ROOT_SELF : CALL_ROOT_NEAR;
}

/* A rank of the other group that is not the root hands nothing in. */
static bool takes_part(const struct collective *args, unsigned root)
{
	return is_peer((int)args->a[root]) && !(args->comm->inter && is_root(args, root));
}

static struct volume volume_BARRIER(const struct collective *args)
{
	(void)args;
	return (struct volume){.root = CALL_NO_PEER};
}

static struct volume volume_BCAST(const struct collective *args)
{
	uint64_t bytes = bytes_of(args, 1);
	bool root = is_root(args, 3);

	return (struct volume){
		.sent = root ? bytes : 0,
		.received = !root && is_peer((int)args->a[3]) ? bytes : 0,
		.root = root_of(args, 3),
	};
}

static struct volume volume_GATHER(const struct collective *args)
{
	bool root = is_root(args, 6);

	return (struct volume){
		.sent = !takes_part(args, 6)           ? 0
	                : root && in_place(args->a[0]) ? bytes_of(args, 4)
	                                               : bytes_of(args, 1),
		.received = root ? peers_of(args) * bytes_of(args, 4) : 0,
		.root = root_of(args, 6),
	};
}

static struct volume volume_GATHERV(const struct collective *args)
{
	bool root = is_root(args, 7);

	return (struct volume){
		.sent = !takes_part(args, 7) ? 0
	                : root && in_place(args->a[0])
	                        ? bytes_of_type(own_count(args, 4), args->a[6])
	                        : bytes_of(args, 1),
		.received = root ? bytes_of_type(sum_of(args, 4, peers_of(args)), args->a[6]) : 0,
		.root = root_of(args, 7),
	};
}

static struct volume volume_SCATTER(const struct collective *args)
{
	bool root = is_root(args, 6);

	return (struct volume){
		.sent = root ? peers_of(args) * bytes_of(args, 1) : 0,
		.received = !takes_part(args, 6)           ? 0
	                    : root && in_place(args->a[3]) ? bytes_of(args, 1)
	                                                   : bytes_of(args, 4),
		.root = root_of(args, 6),
	};
}

static struct volume volume_SCATTERV(const struct collective *args)
{
	bool root = is_root(args, 7);

	return (struct volume){
		.sent = root ? bytes_of_type(sum_of(args, 1, peers_of(args)), args->a[3]) : 0,
		.received = !takes_part(args, 7) ? 0
	                    : root && in_place(args->a[4])
	                            ? bytes_of_type(own_count(args, 1), args->a[3])
	                            : bytes_of(args, 5),
		.root = root_of(args, 7),
	};
}

static struct volume volume_ALLGATHER(const struct collective *args)
{
	uint64_t each = bytes_of(args, 4);

	return (struct volume){
		.sent = in_place(args->a[0]) ? each : bytes_of(args, 1),
		.received = peers_of(args) * each,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLGATHERV(const struct collective *args)
{
	return (struct volume){
		.sent = in_place(args->a[0]) ? bytes_of_type(own_count(args, 4), args->a[6])
	                                     : bytes_of(args, 1),
		.received = bytes_of_type(sum_of(args, 4, peers_of(args)), args->a[6]),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLTOALL(const struct collective *args)
{
	uint64_t each = bytes_of(args, 4);

	return (struct volume){
		.sent = peers_of(args) * (in_place(args->a[0]) ? each : bytes_of(args, 1)),
		.received = peers_of(args) * each,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLTOALLV(const struct collective *args)
{
	uint64_t received = bytes_of_type(sum_of(args, 5, peers_of(args)), args->a[7]);

	return (struct volume){
		.sent = in_place(args->a[0])
	                        ? received
	                        : bytes_of_type(sum_of(args, 1, peers_of(args)), args->a[3]),
		.received = received,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLTOALLW(const struct collective *args)
{
	uint64_t received = typed_sum_of(args, 5, 7, peers_of(args));

	return (struct volume){
		.sent = in_place(args->a[0]) ? received : typed_sum_of(args, 1, 3, peers_of(args)),
		.received = received,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLREDUCE(const struct collective *args)
{
	uint64_t bytes = bytes_of(args, 2);

	return (struct volume){bytes, bytes, CALL_NO_PEER};
}

/* The first rank has nobody before it. */
static struct volume volume_EXSCAN(const struct collective *args)
{
	uint64_t bytes = bytes_of(args, 2);

	return (struct volume){bytes, args->comm->rank ? bytes : 0, CALL_NO_PEER};
}

static struct volume volume_REDUCE(const struct collective *args)
{
	uint64_t bytes = bytes_of(args, 2);

	return (struct volume){
		.sent = takes_part(args, 5) ? bytes : 0,
		.received = is_root(args, 5) ? bytes : 0,
		.root = root_of(args, 5),
	};
}

static struct volume volume_REDUCE_SCATTER(const struct collective *args)
{
	unsigned size = args->comm->size > 0 ? (unsigned)args->comm->size : 0;

	return (struct volume){
		.sent = bytes_of_type(sum_of(args, 2, size), args->a[3]),
		.received = bytes_of_type(own_count(args, 2), args->a[3]),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_REDUCE_SCATTER_BLOCK(const struct collective *args)
{
	uint64_t each = bytes_of(args, 2);

	return (struct volume){(uint64_t)args->comm->size * each, each, CALL_NO_PEER};
}

static struct volume volume_NEIGHBOR_ALLGATHER(const struct collective *args)
{
	return (struct volume){
		.sent = bytes_of(args, 1),
		.received = (uint64_t)args->comm->in_degree * bytes_of(args, 4),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLGATHERV(const struct collective *args)
{
	return (struct volume){
		.sent = bytes_of(args, 1),
		.received =
			bytes_of_type(sum_of(args, 4, (unsigned)args->comm->in_degree), args->a[6]),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLTOALL(const struct collective *args)
{
	return (struct volume){
		.sent = (uint64_t)args->comm->out_degree * bytes_of(args, 1),
		.received = (uint64_t)args->comm->in_degree * bytes_of(args, 4),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLTOALLV(const struct collective *args)
{
	return (struct volume){
		.sent = bytes_of_type(sum_of(args, 1, (unsigned)args->comm->out_degree),
	                              args->a[3]),
		.received =
			bytes_of_type(sum_of(args, 5, (unsigned)args->comm->in_degree), args->a[7]),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLTOALLW(const struct collective *args)
{
	return (struct volume){
		.sent = typed_sum_of(args, 1, 3, (unsigned)args->comm->out_degree),
		.received = typed_sum_of(args, 5, 7, (unsigned)args->comm->in_degree),
		.root = CALL_NO_PEER,
	};
}

/* --- the three forms -------------------------------------------------------------------------- */

/* The communicator's place is the blocking form's; what the others have more stands behind it. */
static const uintptr_t *comm_at(const struct visit *visit, const uintptr_t *a)
{
	return &a[visit->info->handler->at[0]];
}

static bool measure(struct visit *visit, const uintptr_t *a, struct request *request)
{
	struct comm *comm = comm_of(visit->thread, handle_of(*comm_at(visit, a)));
	struct collective args = {visit, a, comm};
	struct volume found;

	if (!comm || comm->size <= 0)
		return false;
	comm_neighbors(comm);
	found = visit->info->handler->volume(&args);
	*request = (struct request){
		.type = REQUEST_COLLECTIVE,
		.comm = comm->number,
		.peer = found.root,
		.bytes = found.sent,
		.bytes_in = found.received,
	};
	return true;
}

static void blocking(struct visit *visit, const uintptr_t *a)
{
	struct request request;

	if (measure(visit, a, &request))
		put_volume(visit, CALL_COLLECTIVE, &request, request.bytes);
}

static void posted(struct visit *visit, const uintptr_t *a)
{
	struct request request;

	if (measure(visit, a, &request))
		start_request(visit, handle_at(comm_at(visit, a)[1], 0), &request);
}

/* Behind the communicator stands an info, and then the request. */
static void initialized(struct visit *visit, const uintptr_t *a)
{
	struct request request;

	if (!measure(visit, a, &request))
		return;
	request.persistent = true;
	request_add(handle_at(comm_at(visit, a)[2], 0), &request, false);
}

#define FORM(form, function, signature, comm)              \
	const struct handler handler_COLLECTIVE_##form = { \
		.after = (function), .at = {comm}, .volume = volume_##signature};
#define FORMS(signature, comm)                            \
	FORM(signature, blocking, signature, comm)        \
	FORM(signature##_POSTED, posted, signature, comm) \
	FORM(signature##_INIT, initialized, signature, comm)

FORMS(ALLGATHER, 6)
FORMS(ALLGATHERV, 7)
FORMS(ALLREDUCE, 5)
FORMS(ALLTOALL, 6)
FORMS(ALLTOALLV, 8)
FORMS(ALLTOALLW, 8)
FORMS(BARRIER, 0)
FORMS(BCAST, 4)
FORMS(EXSCAN, 5)
FORMS(GATHER, 7)
FORMS(GATHERV, 8)
FORMS(REDUCE, 6)
FORMS(REDUCE_SCATTER, 5)
FORMS(REDUCE_SCATTER_BLOCK, 5)
FORMS(SCATTER, 7)
FORMS(SCATTERV, 8)
FORMS(NEIGHBOR_ALLGATHER, 6)
FORMS(NEIGHBOR_ALLGATHERV, 7)
FORMS(NEIGHBOR_ALLTOALL, 6)
FORMS(NEIGHBOR_ALLTOALLV, 8)
FORMS(NEIGHBOR_ALLTOALLW, 8)
