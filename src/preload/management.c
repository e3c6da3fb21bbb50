/* The world, communicators. */
#include "preload/handlers.h"

#define THREAD_MULTIPLE 3

const struct handler handler_PLAIN = {NULL, NULL, false};

/* --- the world -------------------------------------------------------------------------------- */

/* What other processes of the job have spawned has a world of its own, and no rank in the job. */
static bool is_spawned(void)
{
	uintptr_t parent = 0;

	return mpi.comm_get_parent && !mpi.comm_get_parent(&parent) && parent != abi.comm_null;
}

static void world_begins(int level)
{
	bool spawned;
	uint64_t words[2];

	abi_learn();
	if (!abi.known)
		return;
	process.threaded = level >= THREAD_MULTIPLE;
	if (mpi.comm_rank(abi.comm_world, &process.world_rank) ||
	    mpi.comm_size(abi.comm_world, &process.world_size))
		return;
	process.in_world = true;
	spawned = is_spawned();
	comm_start(!spawned);
	words[0] = (uint64_t)level;
	words[1] = (spawned ? UINT32_MAX : (uint32_t)process.world_rank) |
	           (uint64_t)(uint32_t)process.world_size << 32;
	pthread_mutex_lock(&process.lock);
	process_define_name(RING_PROCESS, 0, words, 2, abi.version);
	pthread_mutex_unlock(&process.lock);
	comm_find(&this_thread, abi.comm_world);
}

static void init_after(struct visit *visit, const uintptr_t *a, bool large)
{
	(void)visit;
	(void)a;
	(void)large;
	world_begins(0);
}

const struct handler handler_INIT = {NULL, init_after, false};

static void init_thread_after(struct visit *visit, const uintptr_t *a, bool large)
{
	const int *provided = (const int *)a[3];

	(void)visit;
	(void)large;
	world_begins(*provided);
}

const struct handler handler_INIT_THREAD = {NULL, init_thread_after, false};

static void finalize_before(struct visit *visit, uintptr_t *a)
{
	(void)visit;
	(void)a;
	process.in_world = false;
	abi.known = false;
}

const struct handler handler_FINALIZE = {finalize_before, NULL, false};

/* --- communicators ---------------------------------------------------------------------------- */

static void put_comm(struct visit *visit, enum call_part_kind kind, const struct comm *comm)
{
	if (comm)
		visit_part(visit, kind, comm->number, CALL_NO_PEER);
}

/* Every member of the parent makes the same ones of it in the same order. */
static void comm_after(struct visit *visit, const uintptr_t *a, unsigned parent, unsigned child)
{
	struct comm *of = abi.known ? comm_of(visit->thread, handle_of(a[parent])) : NULL;
	uint64_t seed;

	if (!of)
		return;
	seed = comm_mix(of->id, ++of->children);
	put_comm(visit, CALL_COMM_CREATED, comm_create(handle_at(a[child], 0), seed));
}

#define COMM_HANDLER(parent, child)                                                              \
	static void comm_##parent##_##child(struct visit *visit, const uintptr_t *a, bool large) \
	{                                                                                        \
		(void)large;                                                                     \
		comm_after(visit, a, parent, child);                                             \
	}                                                                                        \
	const struct handler handler_COMM_##parent##_##child = {NULL, comm_##parent##_##child,   \
	                                                        false};

COMM_HANDLER(0, 1)
COMM_HANDLER(0, 2)
COMM_HANDLER(0, 3)
COMM_HANDLER(0, 4)
COMM_HANDLER(0, 5)
COMM_HANDLER(0, 8)
COMM_HANDLER(0, 9)
COMM_HANDLER(3, 4)
COMM_HANDLER(5, 6)
COMM_HANDLER(6, 7)

/* Until its request is complete the new handle must not be asked: it is known at its first use. */
static void comm_idup_after(struct visit *visit, const uintptr_t *a, bool large)
{
	struct comm *of = abi.known ? comm_of(visit->thread, handle_of(a[0])) : NULL;
	struct request kept = {.kind = REQUEST_OTHER};

	(void)large;
	if (!of)
		return;
	kept.bytes = comm_mix(of->id, ++of->children);
	request_add(handle_at(a[1], 0) | KEY_COMM, &kept, false);
}

const struct handler handler_COMM_IDUP = {NULL, comm_idup_after, false};

/* The new handle stands behind an info. */
static void comm_idup_info_after(struct visit *visit, const uintptr_t *a, bool large)
{
	const uintptr_t without_info[] = {a[0], a[2]};

	comm_idup_after(visit, without_info, large);
}

const struct handler handler_COMM_IDUP_INFO = {NULL, comm_idup_info_after, false};

/* Not all members of the parent take part: what they share is the tag. */
static void create_group_after(struct visit *visit, const uintptr_t *a, bool large)
{
	struct comm *of = abi.known ? comm_of(visit->thread, handle_of(a[0])) : NULL;

	(void)large;
	if (of)
		put_comm(visit, CALL_COMM_CREATED,
		         comm_create(handle_at(a[3], 0), comm_mix(of->id, ~(uint64_t)(int)a[2])));
}

const struct handler handler_COMM_CREATE_GROUP = {NULL, create_group_after, false};

static void from_group_after(struct visit *visit, const uintptr_t *a, bool large)
{
	uint64_t seed = 0;

	(void)large;
	for (const char *tag = (const char *)a[1]; tag && *tag; tag++)
		seed = comm_mix(seed, (unsigned char)*tag);
	if (abi.known)
		put_comm(visit, CALL_COMM_CREATED, comm_create(handle_at(a[4], 0), seed));
}

const struct handler handler_COMM_FROM_GROUP = {NULL, from_group_after, false};

/* Its two sides have different parents. */
static void intercomm_create_after(struct visit *visit, const uintptr_t *a, bool large)
{
	(void)large;
	if (abi.known)
		put_comm(visit, CALL_COMM_CREATED,
		         comm_create(handle_at(a[5], 0), comm_mix(1, (uint64_t)(int)a[4])));
}

const struct handler handler_INTERCOMM_CREATE = {NULL, intercomm_create_after, false};

static void comm_free_before(struct visit *visit, uintptr_t *a)
{
	struct comm *comm;

	visit->saved = 0;
	visit->nr_saved = 0;
	if (!abi.known)
		return;
	visit->saved = handle_at(a[0], 0);
	comm = comm_of(visit->thread, visit->saved);
	visit->nr_saved = comm ? comm->number : 0;
	/* Before the library may give the handle to another thread. */
	comm_forget(visit->saved);
}

static void comm_free_after(struct visit *visit, const uintptr_t *a, bool large)
{
	(void)a;
	(void)large;
	if (visit->nr_saved)
		visit_part(visit, CALL_COMM_FREED, (uint32_t)visit->nr_saved, CALL_NO_PEER);
}

const struct handler handler_COMM_FREE = {comm_free_before, comm_free_after, false};
