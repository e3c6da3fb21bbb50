/*
 * Collectives: who the root is, and how many bytes this process hands in and gets. Sent are the
 * bytes of its send buffer, received those of its receive buffer, where the call uses them.
 */
#include "preload/handlers.h"

struct volume {
	uint64_t sent, received;
	int root;
};

/* The arguments of a collective. */
struct args {
	const uintptr_t *a;
	const struct comm *comm;
	bool large;
};

static bool in_place(uintptr_t buffer)
{
	return buffer == abi.in_place;
}

static uint64_t bytes_of(const struct args *args, unsigned count, unsigned type)
{
	return count_arg(args->a[count], args->large) * type_size(args->a[type]);
}

static uint64_t sum_of(const struct args *args, unsigned counts, unsigned nr)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < nr; i++)
		sum += (uint64_t)count_at(args->a[counts], i, args->large);
	return sum;
}

/* This process's own, of those that each has. */
static uint64_t own_count(const struct args *args, unsigned counts)
{
	return (uint64_t)count_at(args->a[counts], (size_t)args->comm->rank, args->large);
}

/* Each peer has its own count, and its own type. */
static uint64_t typed_sum_of(const struct args *args, unsigned counts, unsigned types, unsigned nr)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < nr; i++)
		sum += (uint64_t)count_at(args->a[counts], i, args->large) *
		       type_size(handle_at(args->a[types], i));
	return sum;
}

static unsigned peers_of(const struct args *args)
{
	return args->comm->peers > 0 ? (unsigned)args->comm->peers : 0;
}

/* Between groups the root is named by one side only; others say MPI_ROOT or MPI_PROC_NULL. */
static int root_of(const struct args *args, unsigned root)
{
	int rank = (int)args->a[root];

	return rank >= 0 ? rank : CALL_NO_PEER;
}

static bool is_root(const struct args *args, unsigned root)
{
	int rank = (int)args->a[root];

	if (args->comm->inter)
		return rank < 0 && is_peer(rank);
	return rank == args->comm->rank;
}

/* A rank of the other group that is not the root hands nothing in. */
static bool takes_part(const struct args *args, unsigned root)
{
	return is_peer((int)args->a[root]) && !(args->comm->inter && is_root(args, root));
}

static struct volume volume_BARRIER(const struct args *args)
{
	(void)args;
	return (struct volume){.root = CALL_NO_PEER};
}

static struct volume volume_BCAST(const struct args *args)
{
	uint64_t bytes = bytes_of(args, 1, 2);
	bool root = is_root(args, 3);

	return (struct volume){
		.sent = root ? bytes : 0,
		.received = !root && is_peer((int)args->a[3]) ? bytes : 0,
		.root = root_of(args, 3),
	};
}

static struct volume volume_GATHER(const struct args *args)
{
	bool root = is_root(args, 6);

	return (struct volume){
		.sent = !takes_part(args, 6)           ? 0
	                : root && in_place(args->a[0]) ? bytes_of(args, 4, 5)
	                                               : bytes_of(args, 1, 2),
		.received = root ? peers_of(args) * bytes_of(args, 4, 5) : 0,
		.root = root_of(args, 6),
	};
}

static struct volume volume_GATHERV(const struct args *args)
{
	bool root = is_root(args, 7);
	uint64_t type = root ? type_size(args->a[6]) : 0;

	return (struct volume){
		.sent = !takes_part(args, 7)           ? 0
	                : root && in_place(args->a[0]) ? own_count(args, 4) * type
	                                               : bytes_of(args, 1, 2),
		.received = root ? sum_of(args, 4, peers_of(args)) * type : 0,
		.root = root_of(args, 7),
	};
}

static struct volume volume_SCATTER(const struct args *args)
{
	bool root = is_root(args, 6);

	return (struct volume){
		.sent = root ? peers_of(args) * bytes_of(args, 1, 2) : 0,
		.received = !takes_part(args, 6)           ? 0
	                    : root && in_place(args->a[3]) ? bytes_of(args, 1, 2)
	                                                   : bytes_of(args, 4, 5),
		.root = root_of(args, 6),
	};
}

static struct volume volume_SCATTERV(const struct args *args)
{
	bool root = is_root(args, 7);
	uint64_t type = root ? type_size(args->a[3]) : 0;

	return (struct volume){
		.sent = root ? sum_of(args, 1, peers_of(args)) * type : 0,
		.received = !takes_part(args, 7)           ? 0
	                    : root && in_place(args->a[4]) ? own_count(args, 1) * type
	                                                   : bytes_of(args, 5, 6),
		.root = root_of(args, 7),
	};
}

static struct volume volume_ALLGATHER(const struct args *args)
{
	uint64_t each = bytes_of(args, 4, 5);

	return (struct volume){
		.sent = in_place(args->a[0]) ? each : bytes_of(args, 1, 2),
		.received = peers_of(args) * each,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLGATHERV(const struct args *args)
{
	uint64_t type = type_size(args->a[6]);

	return (struct volume){
		.sent = in_place(args->a[0]) ? own_count(args, 4) * type : bytes_of(args, 1, 2),
		.received = sum_of(args, 4, peers_of(args)) * type,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLTOALL(const struct args *args)
{
	uint64_t each = bytes_of(args, 4, 5);

	return (struct volume){
		.sent = peers_of(args) * (in_place(args->a[0]) ? each : bytes_of(args, 1, 2)),
		.received = peers_of(args) * each,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLTOALLV(const struct args *args)
{
	uint64_t received = sum_of(args, 5, peers_of(args)) * type_size(args->a[7]);

	return (struct volume){
		.sent = in_place(args->a[0])
	                        ? received
	                        : sum_of(args, 1, peers_of(args)) * type_size(args->a[3]),
		.received = received,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLTOALLW(const struct args *args)
{
	uint64_t received = typed_sum_of(args, 5, 7, peers_of(args));

	return (struct volume){
		.sent = in_place(args->a[0]) ? received : typed_sum_of(args, 1, 3, peers_of(args)),
		.received = received,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_ALLREDUCE(const struct args *args)
{
	uint64_t bytes = bytes_of(args, 2, 3);

	return (struct volume){bytes, bytes, CALL_NO_PEER};
}

/* The first rank has nobody before it. */
static struct volume volume_EXSCAN(const struct args *args)
{
	uint64_t bytes = bytes_of(args, 2, 3);

	return (struct volume){bytes, args->comm->rank ? bytes : 0, CALL_NO_PEER};
}

static struct volume volume_REDUCE(const struct args *args)
{
	uint64_t bytes = bytes_of(args, 2, 3);

	return (struct volume){
		.sent = takes_part(args, 5) ? bytes : 0,
		.received = is_root(args, 5) ? bytes : 0,
		.root = root_of(args, 5),
	};
}

static struct volume volume_REDUCE_SCATTER(const struct args *args)
{
	uint64_t type = type_size(args->a[3]);
	unsigned size = args->comm->size > 0 ? (unsigned)args->comm->size : 0;

	return (struct volume){
		.sent = sum_of(args, 2, size) * type,
		.received = own_count(args, 2) * type,
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_REDUCE_SCATTER_BLOCK(const struct args *args)
{
	uint64_t each = bytes_of(args, 2, 3);

	return (struct volume){(uint64_t)args->comm->size * each, each, CALL_NO_PEER};
}

static struct volume volume_NEIGHBOR_ALLGATHER(const struct args *args)
{
	return (struct volume){
		.sent = bytes_of(args, 1, 2),
		.received = (uint64_t)args->comm->in_degree * bytes_of(args, 4, 5),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLGATHERV(const struct args *args)
{
	return (struct volume){
		.sent = bytes_of(args, 1, 2),
		.received =
			sum_of(args, 4, (unsigned)args->comm->in_degree) * type_size(args->a[6]),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLTOALL(const struct args *args)
{
	return (struct volume){
		.sent = (uint64_t)args->comm->out_degree * bytes_of(args, 1, 2),
		.received = (uint64_t)args->comm->in_degree * bytes_of(args, 4, 5),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLTOALLV(const struct args *args)
{
	return (struct volume){
		.sent = sum_of(args, 1, (unsigned)args->comm->out_degree) * type_size(args->a[3]),
		.received =
			sum_of(args, 5, (unsigned)args->comm->in_degree) * type_size(args->a[7]),
		.root = CALL_NO_PEER,
	};
}

static struct volume volume_NEIGHBOR_ALLTOALLW(const struct args *args)
{
	return (struct volume){
		.sent = typed_sum_of(args, 1, 3, (unsigned)args->comm->out_degree),
		.received = typed_sum_of(args, 5, 7, (unsigned)args->comm->in_degree),
		.root = CALL_NO_PEER,
	};
}

/* Where the communicator stands among the arguments of the blocking form. */
enum comm_place {
	PLACE_BARRIER = 0,
	PLACE_BCAST = 4,
	PLACE_ALLREDUCE = 5,
	PLACE_EXSCAN = 5,
	PLACE_REDUCE_SCATTER = 5,
	PLACE_REDUCE_SCATTER_BLOCK = 5,
	PLACE_ALLGATHER = 6,
	PLACE_ALLTOALL = 6,
	PLACE_REDUCE = 6,
	PLACE_NEIGHBOR_ALLGATHER = 6,
	PLACE_NEIGHBOR_ALLTOALL = 6,
	PLACE_ALLGATHERV = 7,
	PLACE_GATHER = 7,
	PLACE_SCATTER = 7,
	PLACE_NEIGHBOR_ALLGATHERV = 7,
	PLACE_ALLTOALLV = 8,
	PLACE_ALLTOALLW = 8,
	PLACE_GATHERV = 8,
	PLACE_SCATTERV = 8,
	PLACE_NEIGHBOR_ALLTOALLV = 8,
	PLACE_NEIGHBOR_ALLTOALLW = 8,
};

/* --- the three forms -------------------------------------------------------------------------- */

typedef struct volume volume_of(const struct args *args);

static bool measure(struct visit *visit, const uintptr_t *a, unsigned place, volume_of *volume,
                    struct request *request)
{
	struct comm *comm = comm_of(visit->thread, handle_of(a[place]));
	struct args args = {a, comm, visit->info->large};
	struct volume found;

	if (!comm || comm->size <= 0)
		return false;
	comm_neighbors(comm);
	found = volume(&args);
	*request = (struct request){
		.kind = REQUEST_COLLECTIVE,
		.comm = comm->number,
		.peer = found.root,
		.bytes = found.sent,
		.bytes_in = found.received,
	};
	return true;
}

static void blocking(struct visit *visit, const uintptr_t *a, unsigned place, volume_of *volume)
{
	struct request request;

	if (!measure(visit, a, place, volume, &request))
		return;
	put_volume(visit, CALL_COLLECTIVE, &request, request.bytes);
}

static void posted(struct visit *visit, const uintptr_t *a, unsigned place, volume_of *volume)
{
	struct request request;

	if (measure(visit, a, place, volume, &request))
		start_request(visit, handle_at(a[place + 1], 0), &request);
}

/* Behind the communicator stands an info, and then the request. */
static void initialized(struct visit *visit, const uintptr_t *a, unsigned place, volume_of *volume)
{
	struct request request;

	if (!measure(visit, a, place, volume, &request))
		return;
	request.persistent = true;
	request_add(handle_at(a[place + 2], 0), &request, false);
}

#define FORMS(shape)                                                                              \
	static void after_##shape(struct visit *visit, const uintptr_t *a)                        \
	{                                                                                         \
		blocking(visit, a, PLACE_##shape, volume_##shape);                                \
	}                                                                                         \
	static void after_##shape##_posted(struct visit *visit, const uintptr_t *a)               \
	{                                                                                         \
		posted(visit, a, PLACE_##shape, volume_##shape);                                  \
	}                                                                                         \
	static void after_##shape##_init(struct visit *visit, const uintptr_t *a)                 \
	{                                                                                         \
		initialized(visit, a, PLACE_##shape, volume_##shape);                             \
	}                                                                                         \
	const struct handler handler_COLLECTIVE_##shape = {NULL, after_##shape, false};           \
	const struct handler handler_COLLECTIVE_##shape##_POSTED = {NULL, after_##shape##_posted, \
	                                                            false};                       \
	const struct handler handler_COLLECTIVE_##shape##_INIT = {NULL, after_##shape##_init,     \
	                                                          false};

FORMS(ALLGATHER)
FORMS(ALLGATHERV)
FORMS(ALLREDUCE)
FORMS(ALLTOALL)
FORMS(ALLTOALLV)
FORMS(ALLTOALLW)
FORMS(BARRIER)
FORMS(BCAST)
FORMS(EXSCAN)
FORMS(GATHER)
FORMS(GATHERV)
FORMS(REDUCE)
FORMS(REDUCE_SCATTER)
FORMS(REDUCE_SCATTER_BLOCK)
FORMS(SCATTER)
FORMS(SCATTERV)
FORMS(NEIGHBOR_ALLGATHER)
FORMS(NEIGHBOR_ALLGATHERV)
FORMS(NEIGHBOR_ALLTOALL)
FORMS(NEIGHBOR_ALLTOALLV)
FORMS(NEIGHBOR_ALLTOALLW)
