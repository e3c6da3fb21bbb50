/*
 * The communicators of a process. Each has a number, which records carry, and an id that is the
 * same in all processes of the job.
 *
 * The id is computed, not agreed upon: all members of a new communicator know its parent, how many
 * were made of that before, for their order is the same everywhere, and who the members are. A
 * broadcast would do as well, but not where some ranks run under a recorder and others do not.
 */
#ifndef PRELOAD_COMMS_H
#define PRELOAD_COMMS_H

#include "preload/preload.h"
#include "hmb/channel.h"

struct comm {
	uint64_t handle, id;
	uint32_t number; /* in records; 0: it could not be defined */
	int rank, size;  /* in the local group */
	int peers;       /* size of the group that peers are of: the remote one, if there is one */
	bool inter;
	bool has_neighbors;
	int in_degree, out_degree;          /* valid with has_neighbors */
	uint64_t children;                  /* communicators made of it, and files opened, so far */
	struct comm *next_handle, *next_id; /* in its chains; free ones are one by the first */
};

/*
 * Finds a communicator by its handle. A new one is added. NULL: no memory, or MPI is not
 * initialized.
 */
RARE struct comm *comm_find(struct thread *thread, uint64_t handle);

/* Finds a communicator like comm_find(), but first checks the one that the thread used last. */
static inline struct comm *comm_of(struct thread *thread, uint64_t handle)
{
	extern uint32_t comm_generation;

	if (likely(handle == thread->comm_handle &&
	           thread->comm_generation == __atomic_load_n(&comm_generation, __ATOMIC_ACQUIRE)))
		return thread->comm;
	return comm_find(thread, handle);
}

static inline uint32_t comm_number(struct thread *thread, uint64_t handle)
{
	struct comm *comm = comm_of(thread, handle);

	return comm ? comm->number : 0;
}

/* Adds a communicator. All members must pass the same seed. */
struct comm *comm_create(uint64_t handle, uint64_t seed);
/* Removes a communicator that is freed. */
void comm_forget(uint64_t handle);
/* Tells whether no communicator has more members: all processes take part in its collectives. */
static inline bool comm_is_wide(uint32_t number)
{
	return number < 64 && process.wide_comms >> number & 1;
}

/* Tells whether channels of a communicator have hashes: those of the first ones have. */
static inline bool comm_has_channels(uint32_t number)
{
	return number < COMM_ENDS && process.comm_ends[number].id;
}

/*
 * Returns the hash of the channel of a message that this process sent to a peer, or received from
 * it.
 */
static inline uint64_t comm_channel(uint32_t number, int32_t peer, int32_t tag, bool receives)
{
	const struct comm_end *own = &process.comm_ends[number];
	uint32_t other = (uint32_t)peer;

	return channel_hash(own->id, receives ? other : own->rank, receives ? own->rank : other,
	                    tag);
}

/* Returns the number of a file that the communicator's members open together; 0: it has none. */
uint32_t comm_open_file(struct comm *comm, const char *name);
/* Reads the numbers of neighbours that the topology gives this process. */
void comm_neighbors(struct comm *comm);

/* Hashes two numbers in their order. */
uint64_t comm_mix(uint64_t a, uint64_t b);

/*
 * Must be called when MPI is initialized. Ranks are reported as ranks in the group `job` of the
 * whole job; 0: they are unknown.
 */
void comm_start(uintptr_t job);
/* Must be called in the child of a fork, which has to define all communicators again. */
void comm_forked(void);

#endif
