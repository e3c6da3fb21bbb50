#include "record/calls/calls_put.h"

#include "record/calls/call_libraries.h"
#include "base/frame.h"
#include "hmb/call_run.h"

#define CLOCK_ERROR 1000 /* ns by which two conversions of one time differ at most */

static uint32_t find_thread(struct calls_put *put, struct calls_process *process, pid_t tid,
                            uint64_t time)
{
	struct tasks *tasks = put->config.tasks;
	struct task *task = NULL;

	put->last_process = process;
	put->last_tid = tid;
	if (tid == (pid_t)process->shared->pid)
		tid = process->pid;
	else if ((pid_t)process->shared->pid != process->pid)
		tid = outer_thread(&put->outer, process->pid, tid);
	if (tid)
		task = tasks_of_claim(tasks, process->pid, tid);
	if (task && task->process->pid != process->pid)
		task = tasks_of_sample(tasks, process->pid, process->pid);
	put->last_thread =
		task && !task->process->awaits_exec ? tasks_thread(tasks, task, time) : NO_THREAD;
	return put->last_thread;
}

static inline bool is_last_thread(const struct calls_put *put, const struct calls_process *process,
                                  pid_t tid)
{
	return process == put->last_process && tid == put->last_tid;
}

/* Parts are the reader's: what is given away is a copy. */
static bool put_stripped(const struct calls_config *config, unsigned level, const struct call *call)
{
	struct call_part parts[RING_MAX_PARTS];
	struct call stripped = *call;

	for (uint32_t i = 0; i < call->nr_parts; i++)
		parts[i] = call->parts[i];
	stripped.parts = parts;
	stripped.nr_parts = calls_strip(config->policy, parts, call->nr_parts);
	return hmb_put_call(config->hmb, config->kind, level, &stripped);
}

/* Levels of threads are noted once a round, where they come in a row. */
static inline void note_stored(struct calls_put *put, uint32_t thread, unsigned level)
{
	if (thread == put->stored_thread && level == put->stored_level)
		return;
	tables_thread_stored(put->config.tables, thread, put->config.kind, level);
	put->stored_thread = thread;
	put->stored_level = level;
}

/* --- the last seconds ------------------------------------------------------------------------- */

/*
 * Returns a time from which on all calls end that are still to come, and no others. Calls of an
 * ended thread that have not returned end after the last look.
 */
static uint64_t next_start(const struct calls_put *put)
{
	return put->kept_until < put->looked ? put->looked : put->kept_until + 1;
}

/* In a half nothing is stripped, and all calls have one level. */
static void keep(struct calls_put *put, const struct call *call)
{
	struct halves *kept = &put->kept;
	const unsigned before = halves_kind(kept);
	unsigned kind;

	if (halves_are_used_up(kept))
		halves_follow(kept, next_start(put));
	if (call->leave > put->kept_until)
		put->kept_until = call->leave;
	kind = halves_kind(kept);
	if (!hmb_put_call(kept->hmb, kind, 0, call) ||
	    (call->thread == put->kept_thread && kind == before))
		return;
	tables_thread_stored(put->config.tables, call->thread, kind, 0);
	put->kept_thread = call->thread;
}

static bool keeps(const struct calls_put *put)
{
	return put->kept.hmb != NULL;
}

void calls_put_keep(struct calls_put *put, const struct halves *halves, uint64_t time)
{
	put->kept = *halves;
	put->sink.begin = NULL;
	halves_restart(&put->kept, time);
}

void calls_put_round(struct calls_put *put, uint64_t looked)
{
	calls_put_forget(put);
	if (keeps(put))
		halves_follow(&put->kept, next_start(put));
	put->looked = looked;
}

/* They count where they became known, which may be a round late. */
void calls_put_missing(struct calls_put *put, uint64_t nr)
{
	struct hmb_ledger *ledger = tables_ledger(put->config.tables);
	const uint64_t more = nr > put->missing ? nr - put->missing : 0;

	put->missing = nr;
	if (!keeps(put) || !more)
		return;
	ledger->taken[halves_kind(&put->kept)] += more;
	ledger->reduced[halves_kind(&put->kept)] += more;
}

/* --- calls ------------------------------------------------------------------------------------ */

static uint32_t thread_of_sums(void *arg, struct calls_process *process, pid_t tid, uint64_t time)
{
	struct calls_put *put = arg;
	uint32_t thread = find_thread(put, process, tid, time);

	/* The reader of sums keeps the number, and may add the first sum much later. */
	if (thread != NO_THREAD)
		tables_hold_thread(put->config.tables, thread);
	return thread;
}

static uint64_t frame_of(void *arg, const struct calls_process *process, uint64_t address)
{
	const struct calls_put *put = arg;
	struct task *task = tasks_of_claim(put->config.tasks, process->pid, process->pid);
	uint64_t frame = task ? space_frame(task->process->space, address) : FRAME_UNKNOWN;

	if (put->config.note_frame)
		put->config.note_frame(put->config.arg, frame);
	return frame;
}

static void count_reduced(const struct calls_config *config, const struct call *call)
{
	struct hmb_ledger *ledger = tables_ledger(config->tables);
	const bool whole = !(call->flags & CALL_CONTINUED);

	ledger->taken[config->kind] += whole;
	ledger->reduced[config->kind] += whole;
}

static inline bool has_wanted_level(const struct calls_config *config, unsigned wanted_level)
{
	return wanted_level && config->policy == TRACE_POLICY_ITERATIONS;
}

static inline unsigned level_of_call(const struct calls_config *config,
                                     const struct calls_process *process, uint32_t local_region,
                                     const struct call *call)
{
	if (config->policy == TRACE_POLICY_ALL)
		return 0;
	if (has_wanted_level(config, process->wanted_level))
		return process->wanted_level - 1U;
	return calls_level(config->policy, call_class_of(local_region), call);
}

static void put_call(void *arg, struct calls_process *process, pid_t tid, uint32_t local_region,
                     struct call *call)
{
	struct calls_put *put = arg;
	const struct calls_config *config = &put->config;
	unsigned level = level_of_call(config, process, local_region, call);

	if (call->leave < put->from)
		return;
	if (call->enter < put->from)
		call->enter = put->from;
	if (level < hmb_floor(config->hmb, config->kind) && !keeps(put)) {
		count_reduced(config, call);
		return;
	}
	call->thread = is_last_thread(put, process, tid)
	                       ? put->last_thread
	                       : find_thread(put, process, tid, call->enter);
	if (call->thread == NO_THREAD) {
		put->unknown_threads++;
		return;
	}
	if (keeps(put))
		keep(put, call);
	if (level < hmb_floor(config->hmb, config->kind)) {
		count_reduced(config, call);
		return;
	}
	if (calls_policy_keeps_halves(config->policy)
	            ? hmb_put_call(config->hmb, config->kind, level, call)
	            : put_stripped(config, level, call))
		note_stored(put, call->thread, level);
}

/* --- runs: with policies that strip nothing, and whose levels last for a while ---------------- */

static bool begin_run(void *arg, struct calls_process *process, pid_t tid, uint64_t time,
                      const struct call_requests *last, struct call_run *run)
{
	struct calls_put *put = arg;
	const struct calls_config *config = &put->config;

	if (time < put->from)
		return false;
	if (has_wanted_level(config, process->wanted_level))
		put->run_level = process->wanted_level - 1U;
	else if (calls_policy_has_moments(config->policy))
		put->run_level = ring_moment_level(time, time);
	return is_last_thread(put, process, tid) && put->last_thread != NO_THREAD &&
	       hmb_begin_run(config->hmb, config->kind, put->run_level, run, put->last_thread, time,
	                     last);
}

static void end_run(void *arg, const struct call_run *run)
{
	struct calls_put *put = arg;

	hmb_end_run(put->config.hmb, put->config.kind, run);
	if (run->nr)
		note_stored(put, put->last_thread, put->run_level);
}

/*
 * Returns a level that is not above that of any of its calls. One of two moments in a row has level
 * 0; those of other policies are of no use here.
 */
static unsigned level_of_iteration(const struct calls_config *config,
                                   const struct calls_iteration *iteration)
{
	uint64_t first = (iteration->begin - CLOCK_ERROR) >> RING_MOMENT_SHIFT;
	uint64_t last = (iteration->end + CLOCK_ERROR) >> RING_MOMENT_SHIFT;

	if (has_wanted_level(config, iteration->wanted_level))
		return iteration->wanted_level - 1U;
	if (!calls_policy_has_moments(config->policy) || iteration->is_mixed || first != last)
		return 0;
	return ring_moment_level(iteration->begin, iteration->begin);
}

/* Calls that the target dropped with their iteration were seen, and are not stored. */
static void put_iteration(void *arg, struct calls_process *process, pid_t tid,
                          const struct calls_iteration *iteration)
{
	struct calls_put *put = arg;
	const struct calls_config *config = &put->config;
	struct hmb_ledger *ledger = tables_ledger(config->tables);
	uint32_t thread;

	if (iteration->begin < put->from)
		return;
	thread = is_last_thread(put, process, tid)
	                 ? put->last_thread
	                 : find_thread(put, process, tid, iteration->begin);
	if (iteration->flags & RING_ITERATION_DROPPED) {
		ledger->taken[config->kind] += iteration->calls;
		ledger->reduced[config->kind] += iteration->calls;
		put->iterations.dropped += iteration->calls;
	}
	if (thread != NO_THREAD)
		calls_iterations_add(&put->iterations, config->tables, thread, iteration,
		                     level_of_iteration(config, iteration));
}

void calls_put_begin(struct calls_put *put, const struct calls_config *config)
{
	bool runs = calls_policy_keeps_halves(config->policy);
	bool moments = calls_policy_has_moments(config->policy);

	*put = (struct calls_put){
		.sink = {.put = put_call,
	                 .begin = runs ? begin_run : NULL,
	                 .end = end_run,
	                 .iteration = put_iteration,
	                 .arg = put,
	                 .frame = frame_of,
	                 .thread = thread_of_sums,
	                 .moment_shift = moments ? RING_MOMENT_SHIFT : 0},
		.config = *config,
		.stored_thread = NO_THREAD,
		.kept_thread = NO_THREAD,
		.iterations = {.few = config->keep != 0},
	};
}

void calls_put_restart(struct calls_put *put, uint64_t time)
{
	calls_put_forget(put);
	calls_iterations_restart(&put->iterations);
	put->unknown_threads = put->missing = 0;
	put->from = put->looked = time;
	put->kept_until = 0;
	if (keeps(put))
		halves_restart(&put->kept, time);
}

void calls_put_forget(struct calls_put *put)
{
	put->last_process = NULL;
	put->stored_thread = put->kept_thread = NO_THREAD;
}
