#include "preload/comms.h"

#include "preload/abi.h"
#include "preload/requests.h"

#include <stdlib.h>
#include <string.h>

#define NR_CHAINS 4096

struct members {
	uint32_t nr_local, nr_remote;
	uint32_t *ranks; /* in the world, or UINT32_MAX */
};

/*
 * The existing communicators, in hash chains by their handle in this process and by their id in the
 * job.
 */
static struct {
	struct comm *by_handle[NR_CHAINS], *by_id[NR_CHAINS];
	struct comm *free;
	uint32_t nr;
	uintptr_t job; /* a group */
	size_t widest; /* members of a communicator at most */
} comms;

uint32_t comm_generation;

uint64_t comm_mix(uint64_t a, uint64_t b)
{
	uint64_t z = (a ^ b * 0x9e3779b97f4a7c15) + 0xd6e8feb86659fd93;

	z = (z ^ z >> 32) * 0xd6e8feb86659fd93;
	z = (z ^ z >> 29) * 0x9e3779b97f4a7c15;
	return z ^ z >> 32;
}

static size_t chain_of(uint64_t key)
{
	return key * 0x9e3779b97f4a7c15 >> 52;
}

static_assert(NR_CHAINS == 1 << 12, "chain_of() gives 12 bits");

static struct comm *find_alive(uint64_t handle)
{
	struct comm *comm = comms.by_handle[chain_of(handle)];

	while (comm && comm->handle != handle)
		comm = comm->next_handle;
	return comm;
}

static bool is_taken(uint64_t id)
{
	const struct comm *comm = comms.by_id[chain_of(id)];

	while (comm && comm->id != id)
		comm = comm->next_id;
	return comm;
}

static void link_comm(struct comm *comm)
{
	struct comm **handles = &comms.by_handle[chain_of(comm->handle)];
	struct comm **ids = &comms.by_id[chain_of(comm->id)];

	comm->next_handle = *handles;
	*handles = comm;
	comm->next_id = *ids;
	*ids = comm;
	__atomic_fetch_add(&comm_generation, 1, __ATOMIC_RELEASE);
}

/* Threads may have it as their last one, so its memory stays a communicator. */
static void unlink_comm(struct comm *comm)
{
	struct comm **at = &comms.by_handle[chain_of(comm->handle)];

	while (*at != comm)
		at = &(*at)->next_handle;
	*at = comm->next_handle;
	for (at = &comms.by_id[chain_of(comm->id)]; *at != comm;)
		at = &(*at)->next_id;
	*at = comm->next_id;
	comm->next_handle = comms.free;
	comms.free = comm;
	__atomic_fetch_add(&comm_generation, 1, __ATOMIC_RELEASE);
}

/* --- members ---------------------------------------------------------------------------------- */

static bool translate(uintptr_t group, uint32_t nr, uint32_t *ranks)
{
	int *numbers = malloc((nr + 1) * sizeof(*numbers));
	bool done;

	if (!numbers)
		return false;
	for (uint32_t i = 0; i < nr; i++)
		numbers[i] = (int)i;
	done = comms.job &&
	       !mpi.group_translate_ranks(group, (int)nr, numbers, comms.job, (int *)ranks);
	for (uint32_t i = 0; i < nr; i++)
		if (!done || (int)ranks[i] < 0)
			ranks[i] = UINT32_MAX;
	free(numbers);
	return true;
}

static bool add_members(struct members *members, uintptr_t group, uint32_t *nr)
{
	uint32_t before = members->nr_local + members->nr_remote, *more;
	int size = 0;

	if (mpi.group_size(group, &size) || size < 0)
		return false;
	more = realloc(members->ranks, (before + (uint32_t)size + 1) * sizeof(*more));
	if (!more)
		return false;
	members->ranks = more;
	*nr = (uint32_t)size;
	return translate(group, (uint32_t)size, more + before);
}

static bool find_members(const struct comm *comm, struct members *members)
{
	uintptr_t group = 0;
	bool done;

	if (mpi.comm_group(comm->handle, &group))
		return false;
	done = add_members(members, group, &members->nr_local);
	mpi.group_free(&group);
	if (!done || !comm->inter)
		return done;
	group = 0;
	if (!mpi.comm_remote_group || mpi.comm_remote_group(comm->handle, &group))
		return false;
	done = add_members(members, group, &members->nr_remote);
	mpi.group_free(&group);
	return done;
}

/* Both sides of an intercommunicator see the same two groups, the other way round. */
static uint64_t hash_members(const struct members *members)
{
	uint64_t local = 0, remote = 0;

	for (uint32_t i = 0; i < members->nr_local; i++)
		local = comm_mix(local, members->ranks[i]);
	for (uint32_t i = 0; i < members->nr_remote; i++)
		remote = comm_mix(remote, members->ranks[members->nr_local + i]);
	return local + remote;
}

/* --- defining --------------------------------------------------------------------------------- */

static bool define_members(uint32_t number, const struct members *members)
{
	uint32_t nr = members->nr_local + members->nr_remote;
	uint64_t words[2 + RING_MAX_MEMBERS / 2];

	for (uint32_t first = 0; first < nr; first += RING_MAX_MEMBERS) {
		uint32_t now = nr - first < RING_MAX_MEMBERS ? nr - first : RING_MAX_MEMBERS;
		size_t size = 2 + (now + 1) / 2;

		words[size - 1] = 0;
		words[0] = ring_head(RING_MEMBERS, size, 0, 0, number);
		words[1] = first;
		memcpy(&words[2], members->ranks + first, now * sizeof(uint32_t));
		if (!process_define(words, size))
			return false;
	}
	return true;
}

static bool is_job(const struct comm *comm)
{
	return comm->handle == abi.comm_world && comms.job;
}

/* Programs make their widest communicators first, so that few numbers are remembered. */
static void note_width(uint32_t number, size_t members)
{
	if (number >= 64 || members < comms.widest)
		return;
	if (members > comms.widest)
		process.wide_comms = 0;
	comms.widest = members;
	process.wide_comms |= UINT64_C(1) << number;
}

static void note_end(uint32_t number, const struct comm *comm)
{
	if (number < COMM_ENDS)
		process.comm_ends[number] = (struct comm_end){comm->id, (uint32_t)comm->rank};
}

static void define(struct comm *comm, const struct members *members)
{
	bool world = is_job(comm), self = comm->handle == abi.comm_self;
	uint64_t words[4] = {
		ring_head(RING_COMM, 4, 0, 0, comms.nr + 1),
		comm->id,
		(world ? RING_COMM_WORLD : 0U) | (self ? RING_COMM_SELF : 0U) |
			(comm->inter ? RING_COMM_INTER : 0U),
		members->nr_local | (uint64_t)members->nr_remote << 32,
	};

	if (comms.nr + 1 >= RING_MAX_COMMS || !process_define(words, 4))
		return;
	comms.nr++;
	note_width(comms.nr, members->nr_local);
	note_end(comms.nr, comm);
	if (world || define_members(comms.nr, members))
		comm->number = comms.nr;
}

static struct comm *new_comm(uint64_t handle)
{
	struct comm *comm = comms.free;

	if (comm)
		comms.free = comm->next_handle;
	else
		comm = malloc(sizeof(*comm));
	if (!comm)
		return NULL;
	*comm = (struct comm){.handle = handle};
	return comm;
}

/*
 * The same group may make several with the same tag. As long as they are alive they differ in which
 * came first, and for that all members have the same order.
 */
static uint64_t id_of(uint64_t seed, const struct members *members)
{
	uint64_t id = comm_mix(seed, hash_members(members)) | 2;

	while (is_taken(id))
		id = comm_mix(id, 1) | 2;
	return id;
}

static void fill_in(struct comm *comm, uint64_t seed)
{
	struct members members = {0};
	int inter = 0;

	if (mpi.comm_rank(comm->handle, &comm->rank) || mpi.comm_size(comm->handle, &comm->size))
		return;
	if (mpi.comm_test_inter && !mpi.comm_test_inter(comm->handle, &inter))
		comm->inter = inter;
	if (!find_members(comm, &members))
		goto out;
	comm->peers = (int)(comm->inter ? members.nr_remote : members.nr_local);
	comm->id = is_job(comm) ? RING_COMM_WORLD_ID : id_of(seed, &members);
	define(comm, &members);
out:
	free(members.ranks);
}

/* The lock is held. */
static struct comm *add_comm(uint64_t handle, uint64_t seed)
{
	struct comm *old = find_alive(handle), *comm;

	if (old)
		unlink_comm(old); /* gone without a word */
	comm = new_comm(handle);
	if (!comm)
		return NULL;
	fill_in(comm, seed);
	link_comm(comm);
	return comm;
}

/* --- for the handlers ------------------------------------------------------------------------- */

static bool is_null(uint64_t handle)
{
	return !handle || handle == abi.comm_null;
}

/* Takes the seed that the handler of MPI_Comm_idup kept for this communicator; 0: there is none. */
static uint64_t kept_seed(uint64_t handle)
{
	struct request *kept = request_find(handle | KEY_COMM);
	uint64_t seed = kept ? kept->bytes : 0;

	if (kept)
		request_remove(kept);
	return seed;
}

struct comm *comm_find(struct thread *thread, uint64_t handle)
{
	struct comm *comm;

	if (!process.in_world || is_null(handle))
		return NULL;
	pthread_mutex_lock(&process.lock);
	comm = find_alive(handle);
	if (!comm)
		comm = add_comm(handle, kept_seed(handle));
	thread->comm_generation = comm_generation;
	thread->comm_handle = handle;
	thread->comm = comm;
	pthread_mutex_unlock(&process.lock);
	return comm;
}

struct comm *comm_create(uint64_t handle, uint64_t seed)
{
	struct comm *comm;

	if (!process.in_world || is_null(handle))
		return NULL;
	pthread_mutex_lock(&process.lock);
	comm = add_comm(handle, seed);
	pthread_mutex_unlock(&process.lock);
	return comm;
}

uint32_t comm_open_file(struct comm *comm, const char *name)
{
	uint64_t more[] = {comm_mix(comm->id, ++comm->children) | 2, comm->number};
	uint32_t number = 0;

	pthread_mutex_lock(&process.lock);
	if (comms.nr + 1 < RING_MAX_COMMS &&
	    process_define_name(RING_FILE, comms.nr + 1, more, 2, name))
		number = ++comms.nr;
	pthread_mutex_unlock(&process.lock);
	return number;
}

void comm_forget(uint64_t handle)
{
	struct comm *comm;

	pthread_mutex_lock(&process.lock);
	comm = find_alive(handle);
	if (comm)
		unlink_comm(comm);
	pthread_mutex_unlock(&process.lock);
}

static void count_neighbors(struct comm *comm, int topology)
{
	int n = 0, weighted;

	if (topology == abi.cart && mpi.cartdim_get && !mpi.cartdim_get(comm->handle, &n))
		comm->in_degree = comm->out_degree = 2 * n;
	else if (topology == abi.graph && mpi.graph_neighbors_count &&
	         !mpi.graph_neighbors_count(comm->handle, comm->rank, &n))
		comm->in_degree = comm->out_degree = n;
	else if (topology == abi.dist_graph && mpi.dist_graph_neighbors_count)
		mpi.dist_graph_neighbors_count(comm->handle, &comm->in_degree, &comm->out_degree,
		                               &weighted);
}

void comm_neighbors(struct comm *comm)
{
	int topology = 0;

	if (comm->has_neighbors)
		return;
	if (mpi.topo_test && !mpi.topo_test(comm->handle, &topology))
		count_neighbors(comm, topology);
	comm->has_neighbors = true;
}

void comm_start(uintptr_t job)
{
	comms.job = job;
}

/* The child has its own recorder's memory, in which nothing is defined yet. */
void comm_forked(void)
{
	memset(&comms, 0, sizeof(comms));
	process.wide_comms = 0;
	comm_generation++;
}
