#include "record/session.h"
#include "base/clock.h"
#include "symbolize/modules/kernel_code.h"

#include <time.h>

/*
 * The kernel tells of lost samples with the next that finds room, which on a CPU that the target
 * seldom uses is long after. What may have been lost before sampling was slowed down is no reason
 * to do so once more: else one stall of ours would be one for every CPU.
 */
static void count_loss(struct session *s, const struct record *record,
                       const struct sampler_origin *origin)
{
	if (s->cpu_events[origin->cpu].heard >= s->guard.slowed)
		s->guard.lost += record->lost.count;
}

static void count_trouble(struct session *s, const struct record *record,
                          const struct sampler_origin *origin)
{
	/* Lost mappings and tasks do not come back by slower sampling. */
	if (origin->event < 0)
		return;
	if (record->type == RECORD_SAMPLE)
		s->cpu_events[origin->cpu].heard = record->time;
	if (record->type == RECORD_LOST)
		count_loss(s, record, origin);
	if (record->type == RECORD_THROTTLE) {
		s->guard.throttled++;
		session_cpu_event(s, origin)->throttled++;
	}
}

/* The guard is told what all but samples cost: slower sampling would not save that. */
static void end_others(struct session *s, uint64_t *since)
{
	if (*since)
		s->guard.others_ns += overhead_guard_cpu_time() - *since;
	*since = 0;
}

static void note_code(struct session *s, const struct record *record)
{
	struct kernel_code *code = module_table_kernel_code(s->modules);

	if (record->code.gone)
		kernel_code_go(code, record->code.start, record->code.size, record->code.name);
	else
		kernel_code_come(code, record->code.start, record->code.size, record->code.name);
}

static void take_in(struct session *s, const struct record *record,
                    const struct sampler_origin *origin, uint64_t *others_since)
{
	if (record->type == RECORD_SAMPLE) {
		end_others(s, others_since);
		session_sample(s, record, origin);
		return;
	}
	if (!*others_since)
		*others_since = overhead_guard_cpu_time();
	if (s->calls && record->type == RECORD_COMM && record->comm.exec)
		calls_executed(s->calls, (pid_t)record->pid, record->time);
	if (s->calls && record->type == RECORD_MMAP)
		calls_mapped(s->calls, record->mmap.path);
	if (record->type == RECORD_CODE)
		note_code(s, record);
	tasks_record(&s->tasks, record);
}

/*
 * Returns whether a record is about this process or one that it has forked. What those used that
 * were forked is known by their samples alone.
 */
static bool is_own(struct session *s, const struct record *record,
                   const struct sampler_origin *origin)
{
	if (!own_processes_has(&s->sampling.own, record))
		return false;
	if (record->type == RECORD_SAMPLE && !origin->event &&
	    record->pid != (uint32_t)s->sampling.own.pids[0])
		s->sampling.forked_ns += sampler_period(s->sampler, 0, origin->cpu, origin->shift);
	return true;
}

void session_drain(struct session *s, bool all)
{
	uint64_t others_since = 0;
	struct record record;
	struct sampler_origin origin;

	if (s->calls) /* whose threads must be known until they have been read */
		s->tasks.kept = calls_drained(s->calls);
	sampler_drain(s->sampler, all);
	pace_note_fill(&s->pace, sampler_fill(s->sampler), sampler_now());
	if (sampler_is_crowded(s->sampler))
		wakers_wake(&s->wakers, s->sampler);
	while (sampler_next(s->sampler, &record, &origin)) {
		if (is_own(s, &record, &origin))
			continue;
		take_in(s, &record, &origin, &others_since);
		count_trouble(s, &record, &origin);
	}
	end_others(s, &others_since);
}

void session_catch_up(struct session *s)
{
	const struct timespec slack = clock_timespec(SAMPLER_SLACK_NS + 100000);

	nanosleep(&slack, NULL);
	session_drain(s, false);
	windows_drained(s);
	if (s->calls)
		calls_read(s->calls);
}
