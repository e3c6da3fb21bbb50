/*
 * Runtime libraries with OMPT, the tool interface of OpenMP 5: LLVM's libomp and those that come of
 * it. No header of theirs is used.
 */
#include "preload/omp_regions.h"

#include <dlfcn.h>

#define EXPORT __attribute__((visibility("default")))

/* --- the interface ---------------------------------------------------------------------------- */

union tool_data {
	uint64_t value;
	void *ptr;
};

enum tool_callback {
	TOOL_PARALLEL_BEGIN = 3,
	TOOL_PARALLEL_END = 4,
	TOOL_TASK_CREATE = 5,
	TOOL_TASK_SCHEDULE = 6,
	TOOL_IMPLICIT_TASK = 7,
	TOOL_SYNC_REGION_WAIT = 16,
	TOOL_SYNC_REGION = 23,
	TOOL_MUTEX_ACQUIRE = 26,
	TOOL_MUTEX_ACQUIRED = 27,
};

enum tool_endpoint { TOOL_BEGIN = 1, TOOL_END = 2 };

enum tool_sync {
	TOOL_BARRIER = 1,
	TOOL_BARRIER_IMPLICIT = 2, /* of a join, too: before OpenMP 5.1 */
	TOOL_BARRIER_EXPLICIT = 3,
	TOOL_BARRIER_IMPLEMENTATION = 4,
	TOOL_TASKWAIT = 5,
	TOOL_TASKGROUP = 6,
	TOOL_BARRIER_WORKSHARE = 8,
	TOOL_BARRIER_JOIN = 9,
};

#define TOOL_MUTEX_CRITICAL     5
#define TOOL_TASK_INITIAL_FLAG  1
#define TOOL_TASK_EXPLICIT_FLAG 4

enum tool_task_status { TOOL_TASK_COMPLETE = 1, TOOL_TASK_CANCEL = 3, TOOL_TASK_DETACH = 4 };

typedef void tool_function(void);
typedef tool_function *tool_lookup(const char *name);
typedef int tool_set_callback(int callback, tool_function *function);

struct ompt_start_tool_result {
	int (*initialize)(tool_lookup *lookup, int device, union tool_data *data);
	void (*finalize)(union tool_data *data);
	union tool_data data;
};

/* --- what a thread is in ---------------------------------------------------------------------- */

#define MAX_NESTED                                                                    \
	4 /* regions of a thread inside each other; those inside of more are not seen \
	   */

/* Tasks of a thread inside each other; those inside of more count as the time of the last one. */
#define MAX_TASKS 32

struct running_task {
	union tool_data *data;
	struct omp_task task;
};

static __thread struct nested {
	struct omp_team teams[MAX_NESTED];
	uintptr_t calls[MAX_NESTED]; /* where they were forked */
	struct omp_part parts[MAX_NESTED];
	struct omp_wait waits[MAX_TASKS + 1]; /* of the implicit task, and in each explicit one */
	struct running_task tasks[MAX_TASKS];
	unsigned outside[MAX_NESTED]; /* of each part: tasks around it */
	unsigned nr_teams, nr_parts, nr_tasks;
} nested __attribute__((tls_model("initial-exec")));

/* --- regions ---------------------------------------------------------------------------------- */

static void parallel_begin(union tool_data *task, const void *task_frame, union tool_data *parallel,
                           unsigned requested, int flags, const void *call)
{
	struct omp_team *team;

	(void)task;
	(void)task_frame;
	(void)requested;
	(void)flags;
	parallel->ptr = NULL;
	if (!call || nested.nr_teams == MAX_NESTED)
		return;
	team = &nested.teams[nested.nr_teams];
	if (!omp_team_begin(team, (uintptr_t)call - 1, OWN_FRAME))
		return;
	team->data = (void *)(uintptr_t)call;
	nested.nr_teams++;
	parallel->ptr = team;
}

static void parallel_end(union tool_data *parallel, union tool_data *task, int flags,
                         const void *call)
{
	struct omp_team *team = parallel->ptr;

	(void)task;
	(void)flags;
	(void)call;
	if (!team || !nested.nr_teams)
		return;
	omp_team_end(team);
	nested.nr_teams--;
	parallel->ptr = NULL;
}

static void end_part(union tool_data *task)
{
	struct omp_part *part = task->ptr;

	task->ptr = NULL;
	if (!part)
		return;
	omp_part_end(part);
	nested.nr_parts--;
}

/* The end of a worker's task is told when it gets another one, or never. */
static void implicit_task(int endpoint, union tool_data *parallel, union tool_data *task,
                          unsigned nr, unsigned number, int flags)
{
	struct omp_team *team;

	(void)number;
	if (flags & TOOL_TASK_INITIAL_FLAG)
		return;
	if (endpoint == TOOL_END) {
		end_part(task);
		return;
	}
	task->ptr = NULL;
	if (!parallel || !parallel->ptr || nested.nr_parts == MAX_NESTED)
		return;
	nested.outside[nested.nr_parts] = nested.nr_tasks;
	task->ptr = &nested.parts[nested.nr_parts++];
	team = parallel->ptr;
	/* A team of one thread is not waited for: its work begins as it is forked. */
	omp_part_begin(task->ptr, team, nr == 1 ? team->call.enter : process_ticks(), OWN_FRAME);
}

/* --- explicit tasks --------------------------------------------------------------------------- */

/* The data of an explicit task is the team that it was made in; the lowest bit tells it apart. */
static void task_create(union tool_data *from, const void *frame, union tool_data *task, int flags,
                        int has_dependences, const void *call)
{
	(void)from;
	(void)frame;
	(void)has_dependences;
	(void)call;
	if (flags & TOOL_TASK_EXPLICIT_FLAG)
		task->value = (uintptr_t)(omp_part ? omp_part->team : NULL) | 1;
}

static bool is_running(const union tool_data *task)
{
	return nested.nr_tasks && nested.tasks[nested.nr_tasks - 1].data == task;
}

static void task_schedule(union tool_data *prior, int status, union tool_data *next)
{
	bool ends = status == TOOL_TASK_COMPLETE || status == TOOL_TASK_CANCEL ||
	            status == TOOL_TASK_DETACH;
	struct running_task *running;

	if (ends && is_running(prior))
		omp_task_end(&nested.tasks[--nested.nr_tasks].task);
	if (!next || !(next->value & 1) || is_running(next) || nested.nr_tasks == MAX_TASKS)
		return;
	running = &nested.tasks[nested.nr_tasks++];
	running->data = next;
	omp_task_begin(&running->task, (struct omp_team *)(uintptr_t)(next->value & ~UINT64_C(1)));
}

/* --- waits ------------------------------------------------------------------------------------ */

/* The join of a team has no call for workers, and for who forked the call that forked. */
static bool is_join(int type, const struct omp_part *part, const void *call)
{
	return type == TOOL_BARRIER_JOIN ||
	       (type == TOOL_BARRIER_IMPLICIT && (!call || call == part->team->data));
}

static bool is_wait(int type)
{
	return type == TOOL_TASKWAIT ||
	       (type >= TOOL_BARRIER && type <= TOOL_BARRIER_IMPLEMENTATION) ||
	       type == TOOL_BARRIER_WORKSHARE;
}

/*
 * The implicit task of a part is back: tasks in it have ended, or go on in other threads, as those
 * that are untied may.
 */
static void leave_tasks(const struct omp_part *part)
{
	nested.nr_tasks = nested.outside[part - nested.parts];
}

/* Its thread is in a part. */
static void note_wait(int endpoint, enum omp_wait_type type)
{
	struct omp_wait *wait = &nested.waits[nested.nr_tasks];

	if (endpoint == TOOL_BEGIN)
		omp_wait_begin(wait, type, OWN_FRAME);
	else if (wait->since)
		omp_wait_end(wait, omp_part);
}

/* A task group is a region from its begin on, and waits at its end alone. */
static void sync_region_wait(int type, int endpoint, union tool_data *parallel,
                             union tool_data *task, const void *call)
{
	(void)parallel;
	(void)task;
	(void)call;
	if (type == TOOL_TASKGROUP && omp_part)
		note_wait(endpoint, OMP_BARRIER);
}

static void sync_region(int type, int endpoint, union tool_data *parallel, union tool_data *task,
                        const void *call)
{
	struct omp_part *part = omp_part;

	(void)parallel;
	if (!part || !task || (task->ptr != part && type != TOOL_TASKWAIT))
		return;
	if (task->ptr == part)
		leave_tasks(part);
	if (is_join(type, part, call)) {
		if (endpoint == TOOL_BEGIN)
			end_part(task);
	} else if (is_wait(type)) {
		note_wait(endpoint, OMP_BARRIER);
	}
}

static void mutex_acquire(int type, unsigned hint, unsigned implementation, uint64_t wait,
                          const void *call)
{
	(void)hint;
	(void)implementation;
	(void)wait;
	(void)call;
	if (type == TOOL_MUTEX_CRITICAL && omp_part)
		note_wait(TOOL_BEGIN, OMP_CRITICAL);
}

static void mutex_acquired(int type, uint64_t wait, const void *call)
{
	(void)wait;
	(void)call;
	if (type == TOOL_MUTEX_CRITICAL && omp_part)
		note_wait(TOOL_END, OMP_CRITICAL);
}

/* --- the start -------------------------------------------------------------------------------- */

static int initialize(tool_lookup *lookup, int device, union tool_data *data)
{
	static const struct {
		int number;
		tool_function *function;
	} callbacks[] = {
		{TOOL_PARALLEL_BEGIN, (tool_function *)parallel_begin},
		{TOOL_PARALLEL_END, (tool_function *)parallel_end},
		{TOOL_IMPLICIT_TASK, (tool_function *)implicit_task},
		{TOOL_TASK_CREATE, (tool_function *)task_create},
		{TOOL_TASK_SCHEDULE, (tool_function *)task_schedule},
		{TOOL_SYNC_REGION_WAIT, (tool_function *)sync_region_wait},
		{TOOL_SYNC_REGION, (tool_function *)sync_region},
		{TOOL_MUTEX_ACQUIRE, (tool_function *)mutex_acquire},
		{TOOL_MUTEX_ACQUIRED, (tool_function *)mutex_acquired},
	};
	tool_set_callback *set = (tool_set_callback *)lookup("ompt_set_callback");

	(void)device;
	(void)data;
	for (size_t i = 0; set && i < sizeof(callbacks) / sizeof(*callbacks); i++)
		set(callbacks[i].number, callbacks[i].function);
	return set != NULL;
}

static void finalize(union tool_data *data)
{
	(void)data;
}

/* Where nobody records, the tool that would have been asked without us is asked. */
EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime);
EXPORT struct ompt_start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct ompt_start_tool_result ours = {initialize, finalize, {0}};
	struct ompt_start_tool_result *(*next)(unsigned, const char *);

	if (omp_look_whether_wanted())
		return &ours;
	next = (struct ompt_start_tool_result * (*)(unsigned, const char *))
		dlsym(RTLD_NEXT, "ompt_start_tool");
	return next ? next(version, runtime) : NULL;
}
