/*
 * The processes and threads of the target according to the kernel's records: which exist, their
 * names and their mappings.
 */
#ifndef RECORD_TASKS_TASKS_H
#define RECORD_TASKS_TASKS_H

#include "record/tasks/counter_sums.h"
#include "record/tasks/unobserved.h"
#include "hmb/lambda.h"
#include "trace/live/tables.h"
#include "perf/machine/cgroup.h"
#include "perf/sampler/sampler.h"
#include "symbolize/modules/space.h"

#define HASH_NONFATAL_OOM 1 /* an entry that could not be added has no table */
#include <uthash.h>

#define NO_THREAD UINT32_MAX

/*
 * Memory for mappings of code. It suffices for a million mappings, and for fewer where many
 * processes leave some unused.
 */
#define TASKS_MAX_MAPPINGS ((size_t)32 << 20)

struct process {
	pid_t pid; /* key */
	struct space *space;
	unsigned nr_tasks;
	uint32_t comm; /* string: name of its first thread, which may have ended; 0: unknown */
	/* found through a sample: it had no FORK record, or it had ended and is being torn down */
	bool discovered;
	bool awaits_exec; /* it still executes the recorder's own image */
	bool rereads;     /* tasks_reread_maps() is running, or is useless */
	bool bare;        /* it executed a program whose code is not mapped yet */
	unsigned mapped;  /* mappings of code that were entered since the last reread */
	UT_hash_handle hh;
};

/* A task's use of event 0, in the event's units; only for accounting with inherited events. */
struct task_usage {
	/* reported total; before the first report: what a process had used at the start */
	uint64_t observed;
	uint64_t sampled;        /* sum of the samples of the program that it executes now */
	uint64_t sampled_before; /* the same at the last look, see adoption.c */
	uint64_t earlier; /* use by its earlier programs, which the reported total will include */
	uint64_t ran;     /* ns that it ran until runs_since, from switch records */
	uint64_t runs_since; /* ns, see tasks_unpaused(); 0: it does not run */
	uint64_t before;     /* the thread's CPU clock when sampling began, ns */
	bool told;           /* a READ record or switch records gave its exact total */
};

struct task {
	pid_t tid;       /* key */
	uint32_t comm;   /* string */
	uint32_t thread; /* slot in the tables; NO_THREAD until the first sample */
	/* slot with which counters were last stored; NO_THREAD: none yet */
	uint32_t counted_thread;
	struct process *process;
	struct counter_sums *counters; /* NULL: none yet */
	struct task_names *names;      /* see task_names.h; NULL: it had no other name */
	struct task_usage usage;
	uint64_t ended;           /* ns; 0: lives */
	uint64_t seen;            /* when it was found in /proc, ns; 0: never */
	uint64_t gone;            /* end time (ns), set when it was no longer found; 0: not yet */
	struct task *prev, *next; /* list of ended tasks */
	bool claimed;             /* known only from a claim of its process; see tasks_of_claim() */
	bool unobserved;          /* the kernel sends no more records of it, nor of its end */
	bool dead;                /* it was dead when tasks_note_dead() was called */
	bool streams_started;
	struct stream *added; /* of all events that were added later, by their number; NULL: none */
	UT_hash_handle hh;
	struct stream streams[]; /* one per event, if each thread has its own streams */
};

static inline bool task_lives(const struct task *task)
{
	return !task->ended && !task->dead;
}

struct tasks {
	struct tables *tables;
	struct module_table *modules;
	void (*forget)(void *arg, pid_t tid); /* called when a task has ended for good */
	void *forget_arg;

	/*
	 * How tasks are observed. Except for nr_streams and user_only, set by the code that opens
	 * the sampler.
	 */
	unsigned nr_streams; /* in each task */
	bool inherited;      /* events are inherited: then executing a setuid program ends them */
	/* events are inherited, and event 0 is a clock that samples user code only */
	bool user_only;
	bool by_switches;   /* the use of tasks is known from RECORD_RUN and RECORD_STOP */
	bool everyone;      /* all processes are the target, and so are idle CPUs */
	const char *nobody; /* name of process 0 */
	uint32_t scale;     /* units of event 0 per occurrence; initially 1 */

	struct space_room room; /* for the mappings of all processes */
	struct process *processes;
	struct task *tasks;
	struct task *oldest_ended; /* head of the list of ended tasks */
	unsigned nr_claimed;       /* tasks with claimed set */
	uint64_t nr_ended;         /* EXIT records */
	uint64_t nr_told;          /* ended tasks whose exact total is known */
	uint64_t nr_switches;      /* RUN and STOP records since the last look at this number */
	uint64_t unobserved; /* processes that the kernel stopped observing while they lived */
	struct unobserved_list unobserved_list;
	uint64_t now; /* time of the newest record, ns */
	/* The last pause, ns; resumed UINT64_MAX: it goes on. In those before it was paused. */
	uint64_t paused, resumed, paused_before;
	uint64_t kept; /* tasks that ended after this time (ns) are kept; UINT64_MAX: none is */
};

/*
 * nr_streams: number of streams per task: with inherited events the number of events, else 0.
 * forget is called when the ID of a task may be reused.
 */
void tasks_init(struct tasks *tasks, struct tables *tables, struct module_table *modules,
                unsigned nr_streams, void (*forget)(void *arg, pid_t tid), void *arg);
void tasks_fini(struct tasks *tasks);

/* --- who is there ----------------------------------------------------------------------------- */

/*
 * Adds the target that we forked. Its activity does not count until it executes its program.
 * Returns 0 or -ENOMEM.
 */
int tasks_add_forked(struct tasks *tasks, pid_t pid);
/*
 * Adds a process that runs already, with its threads, names and mappings from /proc. Returns 0, or
 * -errno if not all could be read.
 */
int tasks_add_running(struct tasks *tasks, pid_t pid);

/*
 * Returns the task of a sample and creates it if it is unknown; with `everyone`, from /proc. A
 * sample without a tid belongs to the first thread of its process. NULL: there is no memory, or the
 * task is not part of the target.
 */
struct task *tasks_of_sample(struct tasks *tasks, pid_t pid, pid_t tid);

/*
 * Returns the task of a thread that the process itself claims as its own. The claim is rejected if
 * the thread is alive in another process, or if more than TASKS_MAX_CLAIMED threads are known from
 * claims only. Then the first thread of the process is returned.
 */
#define TASKS_MAX_CLAIMED (1U << 14)
struct task *tasks_of_claim(struct tasks *tasks, pid_t pid, pid_t tid);

/* Returns the task's slot in the table of threads. The first call takes the slot. */
uint32_t tasks_thread(struct tasks *tasks, struct task *task, uint64_t time);

/* Tells whether there is no such process or thread any more. */
bool tasks_gone(pid_t tid);
/*
 * Adds the threads that a process has now to an array, which the caller frees, until it has `most`.
 * A process that has ended meanwhile adds none. 0 or -errno.
 */
int tasks_list_threads(pid_t pid, size_t most, pid_t **tids, size_t *nr);

/* --- what becomes of them --------------------------------------------------------------------- */

/*
 * Resets the accounting because sampling starts now. Known tasks stay known. Ended tasks, and the
 * use of all tasks until now, no longer count.
 */
void tasks_begin(struct tasks *tasks);

/* Enters a record, unless it is a sample. */
void tasks_record(struct tasks *tasks, const struct record *record);

/* Removes ended tasks. Call it regularly with the time up to which records have been entered. */
void tasks_tick(struct tasks *tasks, uint64_t time);

/*
 * Counts the use of unobserved processes. Call it when unobserved_list.poll_fd is readable, and at
 * the end before the target is reaped.
 */
void tasks_count_unobserved(struct tasks *tasks);

/*
 * A task that moves itself to another cgroup is not observed there, and its end is not reported.
 * Call tasks_note_dead() before the last records are read and tasks_left() afterwards. tasks_left()
 * tells whether a process was dead by then without a record of its end, or lives in another cgroup.
 */
void tasks_note_dead(struct tasks *tasks);
bool tasks_left(const struct tasks *tasks, const struct cgroup *cgroup);

/* Returns how many processes still run, judging by their first threads, and the oldest of them. */
unsigned tasks_running_on(const struct tasks *tasks, pid_t *oldest);

/* Ends all tasks. No records come afterwards. */
void tasks_end(struct tasks *tasks);

/* --- what they used --------------------------------------------------------------------------- */

/* The use of tasks between these two times, ns, does not count. */
void tasks_pause(struct tasks *tasks, uint64_t time);
void tasks_resume(struct tasks *tasks, uint64_t time);
/*
 * Returns a time less all pauses before it. It is exact for times behind the last pause but one;
 * records are not older than that unless pauses are shorter than the time that records wait.
 */
uint64_t tasks_unpaused(const struct tasks *tasks, uint64_t time);
/* Returns the CPU time, ns, that switch records give for tasks that have not ended. */
uint64_t tasks_still_to_tell(const struct tasks *tasks);
/*
 * Discards the use known from switch records: it is incomplete, because no more such records come.
 */
void tasks_forget_switches(struct tasks *tasks);

/* --- parts of tasks_record() ------------------------------------------------------------------ */

/*
 * Replaces the mappings of a process by those in /proc when there is no room for more: the kernel
 * does not report what is unmapped. Returns false if there are too many even then, or the process
 * is gone.
 */
bool tasks_reread_maps(struct tasks *tasks, struct process *process);

/* Enters the new name of a task, which may be the name of its process as well. */
void tasks_note_name(const struct task *task);

/* Enter the use of a task: its reported total; its running time when it ends; its switches. */
void tasks_tell(struct tasks *tasks, struct task *task, uint64_t units);
void tasks_tell_ran(struct tasks *tasks, struct task *task, uint64_t time);
void tasks_switch(struct tasks *tasks, struct task *task, const struct record *record);
/* Ends the accounting under the present name because the thread changes its name. */
void tasks_leave_name(struct tasks *tasks, struct task *task, uint64_t time);
/*
 * Moves the accounting from the earlier program of a thread to the next program, which is executed
 * by this thread or by one that took its ID.
 */
void tasks_leave_program(struct tasks *tasks, struct task *from, struct task *to, uint64_t time);

#endif
