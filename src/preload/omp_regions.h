/*
 * Parallel regions of OpenMP, whichever runtime library tells of them.
 *
 * A region is a call of the thread that forked it. The threads of its team add what they did to the
 * team, which lies on the stack of the forking thread; after the join that thread adds it to a row
 * of the sums: see struct ring_team_sum. Only threads that fork need a ring.
 */
#ifndef PRELOAD_OMP_REGIONS_H
#define PRELOAD_OMP_REGIONS_H

#include "preload/preload.h"

/* The sums of a region's calls by one thread. */
struct omp_site {
	uintptr_t address; /* of the region's code; 0: the place is free */
	uint32_t thread;   /* number of the ring of the thread that forks */
	uint32_t region;
	struct ring_team_sum *row;
};

/* The sum over some threads of a team. Times are ticks. */
struct omp_done {
	uint64_t ends;              /* from the fork to the end of work */
	uint64_t work;              /* without waits */
	uint64_t longest;           /* work of one thread */
	uint64_t barrier, critical; /* waits */
};

/* So many threads of a team, beside the one that forks, need not write where others do. */
#define OMP_PLACES 15

struct omp_place {
	_Alignas(64) struct omp_done done;
};

/* Members behind nr_others are only valid as far as threads have written them. */
struct omp_team {
	/* GOMP_parallel_reductions() reads a pointer at the start of what it passes to the body. */
	uintptr_t reductions;
	void (*body)(void *data);
	void *data;
	const struct ring_process *of; /* process.shared at the fork */
	struct thread *thread;         /* the one that forked */
	struct omp_site *site;
	uint64_t enter;
	unsigned depth; /* calls that were open at the fork */
	bool outermost;
	bool own_ended;                  /* the work of the thread that forked */
	struct omp_done own;             /* of that thread */
	_Alignas(64) uint32_t nr_others; /* threads that ended their work */
	struct omp_done rest;            /* of those without a place */
	struct omp_place others[OMP_PLACES];
};

/* The work and waits of one thread in a region. */
struct omp_part {
	struct omp_team *team;
	struct omp_part *outer; /* the region that this one is inside of */
	uint64_t begin, barrier, critical;
};

/* The part that this thread is in; NULL: none. */
extern __thread struct omp_part *omp_part __attribute__((tls_model("initial-exec")));

/* Tells whether the recorder wants to know of OpenMP. */
extern bool omp_wanted;
/* Finds that out. It is done at the start, but a library may come before. */
bool omp_look_whether_wanted(void);

/*
 * Begins a region. address is that of its outlined function, or of the call that forked. Returns
 * false if the region is not recorded; the team is then not to be used.
 */
bool omp_team_begin(struct omp_team *team, uintptr_t address, uintptr_t frame);
/* Ends a region, after all of its threads have ended their work. */
void omp_team_end(struct omp_team *team);

static inline void omp_part_begin(struct omp_part *part, struct omp_team *team)
{
	*part = (struct omp_part){.team = team, .outer = omp_part, .begin = process_ticks()};
	omp_part = part;
}

/* Ends the work of this thread: adds its part to the team. */
void omp_part_end(struct omp_part *part);

/* Must be called in the child of a fork. */
void omp_forked(void);

#endif
