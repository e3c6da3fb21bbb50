/* The world, communicators. */
#include "preload/handlers.h"

#define THREAD_MULTIPLE 3

const struct handler handler_PLAIN = {NULL, NULL, false};

/* --- the world -------------------------------------------------------------------------------- */

/* 0 to 3; in the standard for all libraries they are powers of two. */
static int level_of(int level)
{
	return level < 1024 ? level : (level >> 10) - (level >> 12);
}

/*
 * Whether this process was spawned by other processes of the job. It then has a world of its own
 * and no rank in the job.
 */
static bool is_spawned(void)
{
	uintptr_t parent = 0;

	return mpi.comm_get_parent && !mpi.comm_get_parent(&parent) && parent != abi.comm_null;
}

/* The job's group is 0 where it is not known. */
static void job_begins(int level, int rank, int size, uintptr_t job)
{
	uint64_t words[2] = {(uint64_t)level, (uint32_t)rank | (uint64_t)(uint32_t)size << 32};

	process.threaded = level >= THREAD_MULTIPLE || process.nr_sessions;
	process.in_world = true;
	comm_start(job);
	pthread_mutex_lock(&process.lock);
	process_define_name(RING_PROCESS, 0, words, 2, abi.version);
	pthread_mutex_unlock(&process.lock);
}

static void world_begins(void)
{
	uintptr_t world = 0;
	int rank, size, level = 0;

	abi_learn();
	if (!abi.known || mpi.comm_rank(abi.comm_world, &rank) ||
	    mpi.comm_size(abi.comm_world, &size))
		return;
	/* Variables of the environment may give more than MPI_Init asks for. */
	if (mpi.query_thread && mpi.query_thread(&level))
		level = 0;
	process.world = true;
	if (is_spawned())
		rank = -1;
	else if (mpi.comm_group(abi.comm_world, &world))
		world = 0;
	job_begins(level_of(level), rank, size, world);
	comm_find(&this_thread, abi.comm_world);
}

static void init_after(struct visit *visit, const uintptr_t *a)
{
	(void)visit;
	(void)a;
	world_begins();
	process_hold();
}

const struct handler handler_INIT = {.after = init_after, .unknown = true};

static void mpi_ends(void)
{
	process.in_world = false;
	abi.known = false;
}

static void finalize_before(struct visit *visit, uintptr_t *a)
{
	(void)visit;
	(void)a;
	process.world = false;
	if (!process.nr_sessions)
		mpi_ends();
}

const struct handler handler_FINALIZE = {.before = finalize_before, .unknown = true};

/*
 * Without MPI_Init, the first session tells what the job is. Its thread level may be any. A group
 * that it gives must not outlive it. Sessions may outlive MPI_Finalize.
 */
static void session_begins(const uintptr_t *a)
{
	uintptr_t session, job = 0;
	int rank, size;

	session = handle_at(a[2], 0);
	if (mpi.group_from_session_pset(session, "mpi://WORLD", &job))
		return;
	if (mpi.group_rank(job, &rank) || mpi.group_size(job, &size)) {
		mpi.group_free(&job);
		return;
	}
	process.session = session;
	process.session_group = job;
	job_begins(THREAD_MULTIPLE, rank, size, job);
}

static void session_init_after(struct visit *visit, const uintptr_t *a)
{
	(void)visit;
	abi_learn();
	process.nr_sessions++;
	if (abi.known && !process.in_world && mpi.group_from_session_pset && mpi.group_rank)
		session_begins(a);
	process_hold();
}

const struct handler handler_SESSION_INIT = {.after = session_init_after, .unknown = true};

static void session_finalize_before(struct visit *visit, uintptr_t *a)
{
	(void)visit;
	if (process.session && handle_at(a[0], 0) == process.session) {
		process.session = 0;
		if (!process.world)
			comm_start(0);
		mpi.group_free(&process.session_group);
	}
	process.nr_sessions -= process.nr_sessions > 0;
	if (!process.nr_sessions && !process.world)
		mpi_ends();
}

const struct handler handler_SESSION_FINALIZE = {.before = session_finalize_before,
                                                 .unknown = true};

/* --- communicators ---------------------------------------------------------------------------- */

/* A new one, whose handle stands there; all its members know the seed. */
static void put_created(struct visit *visit, uintptr_t made, uint64_t seed)
{
	const struct comm *comm = comm_create(handle_at(made, 0), seed);

	if (comm)
		visit_part(visit, CALL_COMM_CREATED, comm->number, CALL_NO_PEER);
}

/* Every member of the parent makes the same ones of it in the same order. */
static void comm_after(struct visit *visit, const uintptr_t *a)
{
	const uint8_t *at = visit->info->handler->at; /* parent, child */
	struct comm *of = comm_of(visit->thread, handle_of(a[at[0]]));

	if (of)
		put_created(visit, a[at[1]], comm_mix(of->id, ++of->children));
}

const struct handler handler_COMM_0_1 = {.after = comm_after, .at = {0, 1}};
const struct handler handler_COMM_0_2 = {.after = comm_after, .at = {0, 2}};
const struct handler handler_COMM_0_3 = {.after = comm_after, .at = {0, 3}};
const struct handler handler_COMM_0_4 = {.after = comm_after, .at = {0, 4}};
const struct handler handler_COMM_0_5 = {.after = comm_after, .at = {0, 5}};
const struct handler handler_COMM_0_8 = {.after = comm_after, .at = {0, 8}};
const struct handler handler_COMM_0_9 = {.after = comm_after, .at = {0, 9}};
const struct handler handler_COMM_5_6 = {.after = comm_after, .at = {5, 6}};
const struct handler handler_COMM_6_7 = {.after = comm_after, .at = {6, 7}};

/* Until its request is complete the new handle must not be asked: it is known at its first use. */
static void idup_after(struct visit *visit, const uintptr_t *a)
{
	struct comm *of = comm_of(visit->thread, handle_of(a[0]));
	struct request kept = {.type = REQUEST_OTHER};

	if (!of)
		return;
	kept.bytes = comm_mix(of->id, ++of->children);
	request_add(handle_at(a[visit->info->handler->at[0]], 0) | KEY_COMM, &kept, false);
}

const struct handler handler_COMM_IDUP = {.after = idup_after, .at = {1}};
const struct handler handler_COMM_IDUP_INFO = {.after = idup_after, .at = {2}};

/* Not all members of the parent take part: what they share is the tag. */
static void create_group_after(struct visit *visit, const uintptr_t *a)
{
	struct comm *of = comm_of(visit->thread, handle_of(a[0]));

	if (of)
		put_created(visit, a[3], comm_mix(of->id, ~(uint64_t)(int)a[2]));
}

const struct handler handler_COMM_CREATE_GROUP = {NULL, create_group_after, false};

static void from_group_after(struct visit *visit, const uintptr_t *a)
{
	const uint8_t *at = visit->info->handler->at; /* tag, communicator */
	uint64_t seed = 0;

	for (const char *tag = (const char *)a[at[0]]; tag && *tag; tag++)
		seed = comm_mix(seed, (unsigned char)*tag);
	put_created(visit, a[at[1]], seed);
}

const struct handler handler_COMM_FROM_GROUP = {.after = from_group_after, .at = {1, 4}};
const struct handler handler_COMM_FROM_GROUPS = {.after = from_group_after, .at = {4, 7}};

/* Two sides of one have different parents: what they share is at most a tag. */
static void intercomm_create_after(struct visit *visit, const uintptr_t *a)
{
	put_created(visit, a[5], comm_mix(1, (uint64_t)(int)a[4]));
}

const struct handler handler_INTERCOMM_CREATE = {NULL, intercomm_create_after, false};

static void comm_connect_after(struct visit *visit, const uintptr_t *a)
{
	put_created(visit, a[4], 2);
}

const struct handler handler_COMM_CONNECT = {NULL, comm_connect_after, false};

static void comm_join_after(struct visit *visit, const uintptr_t *a)
{
	put_created(visit, a[1], 3);
}

const struct handler handler_COMM_JOIN = {NULL, comm_join_after, false};

static void comm_free_before(struct visit *visit, uintptr_t *a)
{
	struct comm *comm;

	visit->saved = handle_at(a[0], 0);
	comm = comm_of(visit->thread, visit->saved);
	visit->nr_saved = comm ? comm->number : 0;
	/* Before the library may give the handle to another thread. */
	comm_forget(visit->saved);
}

static void comm_free_after(struct visit *visit, const uintptr_t *a)
{
	(void)a;
	if (visit->nr_saved)
		visit_part(visit, CALL_COMM_FREED, (uint32_t)visit->nr_saved, CALL_NO_PEER);
}

const struct handler handler_COMM_FREE = {comm_free_before, comm_free_after, false};
