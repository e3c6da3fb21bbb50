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

/* A call of a thread, from when it begins. */
struct omp_call {
	struct thread *thread;         /* NULL: it is not recorded */
	const struct ring_process *of; /* process.shared at its begin */
	uint32_t region;
	unsigned depth; /* calls that were open then */
	uint64_t enter; /* ticks */
};

/* Members behind nr_others are only valid as far as threads have written them. */
struct omp_team {
	/* GOMP_parallel_reductions() reads a pointer at the start of what it passes to the body. */
	uintptr_t reductions;
	void (*body)(void *data);
	void *data;
	struct omp_call call; /* of the thread that forked */
	struct omp_site *site;
	bool outermost;
	bool own_ended;                  /* the work of the thread that forked */
	struct omp_done own;             /* of that thread */
	_Alignas(64) uint32_t nr_others; /* threads that ended their work */
	struct omp_done rest;            /* of those without a place */
	uint64_t late; /* ticks: tasks that threads ran after their work had ended */
	struct omp_place others[OMP_PLACES];
};

enum omp_wait_type { OMP_BARRIER, OMP_CRITICAL, NR_OMP_WAITS };

struct omp_wait {
	enum omp_wait_type type;
	uint64_t since;         /* ticks; 0: it has not begun */
	uint64_t tasks;         /* ticks of tasks that the thread ran meanwhile */
	struct omp_wait *outer; /* the wait that the thread is in; NULL: none, or in a task */
	struct omp_call call;
};

/* The work and waits of one thread in a region. */
struct omp_part {
	struct omp_team *team;
	struct omp_part *outer; /* the region that this one is inside of */
	uint64_t begin, waits[NR_OMP_WAITS];
	struct omp_call call; /* of a thread that has not forked */
};

/* The part that this thread is in; NULL: none. */
extern __thread struct omp_part *omp_part __attribute__((tls_model("initial-exec")));

/* The wait that this thread is in, unless it runs a task there; NULL: none. */
extern __thread struct omp_wait *omp_waiting __attribute__((tls_model("initial-exec")));

/* Tells whether the recorder wants to know of OpenMP. */
extern bool omp_wanted;
/* Tells whether it wants the work and waits of each thread as calls, too. */
extern bool omp_threads;
/* Finds that out. It is done at the start, but a library may come before. */
bool omp_look_whether_wanted(void);

/*
 * Begins a region. address is that of its outlined function, or of the call that forked. Returns
 * false if the region is not recorded; the team is then not to be used.
 */
bool omp_team_begin(struct omp_team *team, uintptr_t address, uintptr_t frame);
/* Ends a region, after all of its threads have ended their work. */
void omp_team_end(struct omp_team *team);

/* Begins the call of a part, if its thread has not forked the team. */
RARE void omp_part_call(struct omp_part *part, uintptr_t frame);

/* begin: ticks. */
static inline void omp_part_begin(struct omp_part *part, struct omp_team *team, uint64_t begin,
                                  uintptr_t frame)
{
	part->team = team;
	part->outer = omp_part;
	part->begin = begin;
	for (unsigned i = 0; i < NR_OMP_WAITS; i++)
		part->waits[i] = 0;
	part->call.thread = NULL;
	omp_part = part;
	if (unlikely(omp_threads))
		omp_part_call(part, frame);
}

/* Ends the work of this thread: adds its part to the team. */
void omp_part_end(struct omp_part *part);

/* These begin and end the call of a wait. */
RARE void omp_wait_call(struct omp_wait *wait, uintptr_t frame);
RARE void omp_wait_call_end(struct omp_wait *wait, uint64_t end);

static inline void omp_wait_begin(struct omp_wait *wait, enum omp_wait_type type, uintptr_t frame)
{
	wait->type = type;
	wait->since = process_ticks();
	wait->tasks = 0;
	wait->outer = omp_waiting;
	omp_waiting = wait;
	wait->call.thread = NULL;
	if (unlikely(omp_threads))
		omp_wait_call(wait, frame);
}

/* Ends a wait of a thread in this part. */
static inline void omp_wait_end(struct omp_wait *wait, struct omp_part *part)
{
	uint64_t end = process_ticks();

	part->waits[wait->type] += end - wait->since - wait->tasks;
	wait->since = 0;
	omp_waiting = wait->outer;
	if (unlikely(wait->call.thread != NULL))
		omp_wait_call_end(wait, end);
}

/*
 * A task that a thread runs while it waits is work: its time is no part of the wait, nor of the
 * idle time at the end of a region.
 */
struct omp_task {
	struct omp_team *team; /* that it was made in; NULL: none is recorded */
	struct omp_wait *outer;
	uint64_t since; /* ticks */
};

static inline void omp_task_begin(struct omp_task *task, struct omp_team *team)
{
	task->team = team;
	task->outer = omp_waiting;
	omp_waiting = NULL;
	task->since = process_ticks();
}

static inline void omp_task_end(const struct omp_task *task)
{
	uint64_t time = process_ticks() - task->since;

	omp_waiting = task->outer;
	if (task->outer)
		task->outer->tasks += time;
	else if (task->team && (!omp_part || omp_part->team != task->team))
		__atomic_fetch_add(&task->team->late, time, __ATOMIC_RELAXED);
}

/* Must be called in the child of a fork. */
void omp_forked(void);

#endif
