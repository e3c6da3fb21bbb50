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

/* By handle; one that was not seen before is made known. NULL: no memory, or MPI is not up. */
RARE struct comm *comm_find(struct thread *thread, uint64_t handle);

/* The thread's last one again, without a look around. */
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

/* A new one, of which all members know the seed. */
struct comm *comm_create(uint64_t handle, uint64_t seed);
/* Forgets one that is freed. */
void comm_forget(uint64_t handle);
/* The number of a file that the communicator's members open together; 0: it has none. */
uint32_t comm_open_file(struct comm *comm, const char *name);
/* How many neighbours a topology gives this process. */
void comm_neighbors(struct comm *comm);

/* A hash of both, in which their order counts. */
uint64_t comm_mix(uint64_t a, uint64_t b);

/* MPI is up. Ranks are told as those in this group, of the whole job; 0: they are not known. */
void comm_start(uintptr_t job);
/* In the child of a fork, which has to define all of them again. */
void comm_forked(void);

#endif
