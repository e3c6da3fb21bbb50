/*
 * The processes and threads of the target, as the kernel's records tell of them: who lives, what
 * it is called, and what is mapped where.
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

#define HASH_NONFATAL_OOM 1 /* what is not added has no table */
#include <uthash.h>

#define NO_THREAD UINT32_MAX

/* Of mappings of code: those of a million, and less where many processes leave some to spare. */
#define TASKS_MAX_MAPPINGS ((size_t)32 << 20)

struct process {
	pid_t pid; /* key */
	struct space *space;
	unsigned nr_tasks;
	uint32_t comm;    /* string: of its first thread, which may have ended; 0: not known */
	bool discovered;  /* by a sample: no record told of it, or it was over and is taken apart */
	bool awaits_exec; /* still the recorder's own image */
	bool rereads;     /* tasks_reread_maps() is at work, or of no use */
	bool bare;        /* it executed a program of which no code is mapped yet */
	unsigned mapped;  /* pieces of code, since it was */
	UT_hash_handle hh;
};

/* What a task used of event 0, in its units: of account where events are inherited. */
struct task_usage {
	uint64_t observed; /* its total as told; and before, what a process had used at the start */
	uint64_t sampled;  /* what samples stood for, of the program it executes now */
	uint64_t earlier;  /* used by the programs before, which the total will have in it, too */
	uint64_t ran;      /* ns until runs_since, where switches tell */
	uint64_t runs_since; /* ns; 0: it does not run */
	uint64_t before;     /* what the thread's clock showed when all this began, ns */
	bool told;           /* a READ record, or switches, said its exact total */
};

struct task {
	pid_t tid;               /* key */
	uint32_t comm;           /* string */
	uint32_t thread;         /* slot in the tables; NO_THREAD until the first sample */
	uint32_t counted_thread; /* that a sample told the counters of; NO_THREAD: of none yet */
	struct process *process;
	struct counter_sums *counters; /* NULL: none yet */
	struct task_names *names;      /* see task_names.h; NULL: it had no other one */
	struct task_usage usage;
	uint64_t ended;           /* ns; 0: lives */
	uint64_t seen;            /* when /proc told of it, ns; 0: never */
	uint64_t gone;            /* the same, once it was looked for in vain; 0: not yet */
	struct task *prev, *next; /* of those that ended */
	bool claimed;             /* the process alone has told of it */
	bool unobserved;          /* no more records of it come, nor of its end */
	bool dead;                /* by the time of tasks_note_dead() */
	bool streams_started;
	UT_hash_handle hh;
	struct stream streams[]; /* one an event, where streams are threads */
};

struct tasks {
	struct tables *tables;
	struct module_table *modules;
	void (*forget)(void *arg, pid_t tid); /* a task is gone for good */
	void *forget_arg;

	/* How they are observed: for whoever opens the sampler to set, but for the first two. */
	unsigned nr_streams; /* in each task */
	bool inherited;      /* events are: then executing a setuid program ends them */
	bool user_only;      /* they are, and event 0 is a clock that samples user code alone */
	bool by_switches;    /* what tasks used is known by RECORD_RUN and RECORD_STOP */
	bool everyone;       /* whoever runs, CPUs that idle included, is the target */
	const char *nobody;  /* what process 0 is called */
	uint32_t scale;      /* units of event 0 that an occurrence stands for; 1 to begin with */

	struct space_room room; /* for the mappings of all processes */
	struct process *processes;
	struct task *tasks;
	struct task *oldest_ended; /* of the list of those that ended */
	unsigned nr_claimed;       /* tasks */
	uint64_t nr_ended;         /* EXIT records */
	uint64_t nr_told;          /* of these, whose exact total is known */
	uint64_t nr_switches;      /* RUN and STOP records, since whoever counts them looked */
	uint64_t unobserved; /* processes that the kernel stopped observing while they lived */
	struct unobserved_list unobserved_list;
	uint64_t now;  /* of the newest record, ns */
	uint64_t kept; /* what ended later is still asked for, ns; UINT64_MAX: nothing is */
};

/*
 * nr_streams: how many streams a task has: the number of events with inherited ones, else 0.
 * forget is called when a task's number may be reused.
 */
void tasks_init(struct tasks *tasks, struct tables *tables, struct module_table *modules,
                unsigned nr_streams, void (*forget)(void *arg, pid_t tid), void *arg);
void tasks_fini(struct tasks *tasks);

/* --- who is there ----------------------------------------------------------------------------- */

/* The target as forked by us: nothing of it counts until it executes. 0 or -ENOMEM. */
int tasks_add_forked(struct tasks *tasks, pid_t pid);
/*
 * A process that runs already: its threads, names and mappings, from /proc. 0, or -errno where not
 * all could be read.
 */
int tasks_add_running(struct tasks *tasks, pid_t pid);

/*
 * The task of a sample; one not heard of yet is made, with everyone as /proc knows it. What has no
 * tid any more is its process's first. NULL: no memory, or not the target.
 */
struct task *tasks_of_sample(struct tasks *tasks, pid_t pid, pid_t tid);

/*
 * The same of a thread that the process itself says is its own. It is not believed of another's
 * that lives, nor of more than TASKS_MAX_CLAIMED that the kernel has not told of: then it is the
 * process's first.
 */
#define TASKS_MAX_CLAIMED (1U << 14)
struct task *tasks_of_claim(struct tasks *tasks, pid_t pid, pid_t tid);

/* The task's slot in the table of threads, taken at the first call. */
uint32_t tasks_thread(struct tasks *tasks, struct task *task, uint64_t time);

/* Whether there is no such process or thread any more. */
bool tasks_gone(pid_t tid);

/* --- what becomes of them --------------------------------------------------------------------- */

/*
 * Sampling starts now: who is there is known and stays so, but who has ended, and what all used
 * until now, is of no account.
 */
void tasks_begin(struct tasks *tasks);

/* Enters what a record says, unless it is a sample. */
void tasks_record(struct tasks *tasks, const struct record *record);

/* Now and then, with the time up to which records have been entered: looks after ended tasks. */
void tasks_tick(struct tasks *tasks, uint64_t time);

/* When unobserved_list.poll_fd is readable, and at the end before the target is waited for. */
void tasks_count_unobserved(struct tasks *tasks);

/*
 * Who moved itself to another cgroup is not observed there, and does not say when it ends. To be
 * called before the last records are read; and then, whether a process was dead by that time that
 * never said so, or lives elsewhere.
 */
void tasks_note_dead(struct tasks *tasks);
bool tasks_left(const struct tasks *tasks, const struct cgroup *cgroup);

/* How many processes run on, as far as their first threads tell, and the oldest of them. */
unsigned tasks_running_on(const struct tasks *tasks, pid_t *oldest);

/* At the end: no more records come. */
void tasks_end(struct tasks *tasks);

/* --- what they used --------------------------------------------------------------------------- */

/* What those used, ns, that have not ended, as switches told it. */
uint64_t tasks_still_to_tell(const struct tasks *tasks);
/* From now on no records of switches come, and what was told of by them is not all. */
void tasks_forget_switches(struct tasks *tasks);

/* --- parts of tasks_record() ------------------------------------------------------------------ */

/*
 * Nobody tells what is unmapped. Where there is no more room for a process's mappings, those that
 * /proc knows now are all that is remembered; false: they are so many themselves, or it is gone.
 */
bool tasks_reread_maps(struct tasks *tasks, struct process *process);

/* Its name is new, which may be its process's. */
void tasks_note_name(const struct task *task);

/* What a task used: its total is told; it ends; it begins to run or stops. */
void tasks_tell(struct tasks *tasks, struct task *task, uint64_t units);
void tasks_tell_ran(struct tasks *tasks, struct task *task, uint64_t time);
void tasks_switch(struct tasks *tasks, struct task *task, const struct record *record);
/* The thread goes on under another name. */
void tasks_leave_name(struct tasks *tasks, struct task *task, uint64_t time);
/* One program of a thread gives way to another, of this thread or of one that took its number. */
void tasks_leave_program(struct tasks *tasks, struct task *from, struct task *to, uint64_t time);

#endif
