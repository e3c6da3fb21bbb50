#include "record/session.h"
#include "record/summary.h"

#include <stdlib.h>

/* Events may be added while the task lives. Without memory those of a CPU share its stream. */
static struct stream *added_stream(struct session *s, struct cpu_event *kept, struct task *task,
                                   unsigned event)
{
	const unsigned first = s->tasks.nr_streams;

	if (!task->added) {
		task->added = calloc(SAMPLER_MAX_EVENTS - first, sizeof(*task->added));
		if (!task->added)
			return &kept->stream;
		for (unsigned e = first; e < SAMPLER_MAX_EVENTS; e++)
			task->added[e - first] = stream_start(s->config->seed, s->nr_streams++, 0);
	}
	return &task->added[event - first];
}

static struct stream *stream_of(struct session *s, struct cpu_event *kept, struct task *task,
                                const struct sampler_origin *origin)
{
	if (s->sampling.way == SAMPLER_CGROUP)
		return &kept->stream;
	if ((unsigned)origin->event >= s->tasks.nr_streams)
		return added_stream(s, kept, task, (unsigned)origin->event);
	/* Streams start at shift 0: the kernel may use a shorter period than it was asked for. Each
	 * sample tells its period. */
	if (!task->streams_started) {
		for (unsigned e = 0; e < s->tasks.nr_streams; e++)
			task->streams[e] = stream_start(s->config->seed, s->nr_streams++, 0);
		task->streams_started = true;
	}
	return &task->streams[origin->event];
}

/* Counters have no period in time: what separates their samples stands for it. */
static void learn_interval(struct cpu_event *kept, uint64_t time, unsigned shift)
{
	uint64_t elapsed = (time - kept->last) >> shift;

	if (kept->last && time > kept->last)
		kept->interval += (elapsed >> 3) - (kept->interval >> 3);
	kept->last = time;
}

/*
 * Returns the expected time between two samples of a level in ns, or 0 where it is too long to be
 * of use.
 */
static uint64_t time_step(const struct session *s, const struct cpu_event *kept,
                          const struct sampler_origin *origin, unsigned level)
{
	unsigned event = (unsigned)origin->event;
	uint64_t period = s->config->events[event].unit == EVENT_COUNT
	                          ? kept->interval
	                          : sampler_base_period(s->sampler, event, origin->cpu);

	return level < 24 && period < (uint64_t)1 << 38 ? period << (level + 1) : 0;
}

/*
 * Returns how many occurrences of the event a sample stands for. The period is cached because
 * finding a prime number takes longer than storing a sample.
 */
static uint64_t stands_for(const struct session *s, struct cpu_event *kept,
                           const struct sampler_origin *origin)
{
	if (!kept->period || kept->shift != origin->shift) {
		kept->period = sampler_period(s->sampler, (unsigned)origin->event, origin->cpu,
		                              origin->shift);
		kept->shift = origin->shift;
	}
	return kept->period;
}

/*
 * Whether a change of the period cut off a part of one since the stream's last sample, which
 * windows must make up for. The rungs of a ladder go on where they stopped.
 */
static bool is_cut(const struct session *s, const struct stream *stream)
{
	return s->windows.nr && s->sampling.way == SAMPLER_CGROUP && stream->change;
}

static void follow_rise(struct stream *stream, const struct sampler_origin *origin, bool cut)
{
	if (cut)
		stream_leave(stream, origin->shift);
	else
		stream_slow(stream, origin->shift);
}

static void follow_counts_rise(struct stream *stream, const struct sampler_origin *origin, bool cut,
                               uint64_t base)
{
	if (cut)
		stream_leave_counts(stream, origin->shift, base);
	else
		stream_slow_counts(stream, origin->shift, base);
}

/*
 * Lets a stream follow the changes of the period since its last sample. If these were the start and
 * the end of a window in which it had no sample, half a period is missing on average.
 */
static void follow_period(const struct session *s, struct stream *stream,
                          const struct sampler_origin *origin)
{
	const unsigned event = (unsigned)origin->event;
	const uint64_t base = sampler_base_period(s->sampler, event, origin->cpu);
	const bool small = sampler_counts_in_small_steps(s->sampler, event);
	const bool cut = is_cut(s, stream);
	const uint32_t change = origin->change + 1;

	/* A late sample tells nothing new. */
	if (origin->shift < stream->shift && change <= stream->change)
		return;
	if (origin->shift < stream->shift && small)
		stream_enter_counts(stream, origin->shift, base);
	else if (origin->shift < stream->shift)
		stream_enter(stream, origin->shift);
	else if (origin->shift > stream->shift && small)
		follow_counts_rise(stream, origin, cut, base);
	else if (origin->shift > stream->shift)
		follow_rise(stream, origin, cut);
	else if (cut && change >= stream->change + 2)
		stream->owed += stream_chance(stream, 1) != 0;
	stream->change = change;
}

static unsigned next_level(struct session *s, struct stream *stream,
                           const struct sampler_origin *origin, uint64_t period)
{
	unsigned event = (unsigned)origin->event;

	follow_period(s, stream, origin);
	if (!sampler_counts_in_small_steps(s->sampler, event))
		return stream_next(stream);
	return stream_next_count(stream, sampler_base_period(s->sampler, event, origin->cpu),
	                         period);
}

/* The first clock, if there is one, tells the target's time. */
static void tell_guard(struct session *s, const struct sampler_origin *origin, uint64_t period)
{
	const struct event *events = s->config->events;
	unsigned event = (unsigned)origin->event;

	s->guard.samples++;
	s->guard.all_samples++;
	if (events[event].unit == EVENT_COUNT) {
		s->guard.unbounded++;
		return;
	}
	for (unsigned e = 0; e < event; e++)
		if (events[e].unit == EVENT_NS && s->events[e].on)
			return;
	s->guard.target_ns += period;
	s->guard.all_target_ns += period;
}

/* An occurrence may stand for several units of what it is called. */
static const uint64_t *in_units(struct session *s, const uint64_t *counts)
{
	const struct record_config *config = s->config;

	s->counts[0] = counts[0] * config->events[0].scale;
	for (unsigned i = 0; i < s->sampling.nr_counters; i++)
		s->counts[1 + i] = counts[1 + i] * config->counters[i].scale;
	return s->counts;
}

/* The running totals of a sample's stream; of samples that will not be stored, too. */
static const uint64_t *count(struct session *s, struct task *task, const struct record *record,
                             const struct sampler_origin *origin)
{
	unsigned nr = 1 + s->sampling.nr_counters;

	if (s->sampling.way == SAMPLER_LADDER && !task->counters) {
		task->counters = counter_sums_new();
		task->counted_thread = NO_THREAD;
	}
	if (s->sampling.way == SAMPLER_CGROUP || !task->counters) {
		counter_counts(s->counts, nr, record);
		return in_units(s, s->counts);
	}
	/* It executed another program since it was given its place in the table of threads. */
	if (task->counted_thread != NO_THREAD && task->counted_thread != task->thread) {
		counter_sums_restart(task->counters);
		task->counted_thread = NO_THREAD;
	}
	return in_units(s, counter_sums_add(task->counters, nr, record, origin));
}

static bool is_each_sampled(const struct session *s, const struct sampler_origin *origin)
{
	return origin->shift == 0 &&
	       sampler_base_period(s->sampler, (unsigned)origin->event, origin->cpu) == 1;
}

/* Fills in the stack and the thread. Samples that are not stored do not need them. */
static void find_place(struct session *s, struct task *task, const struct record *record,
                       struct hmb_sample *sample)
{
	struct sample_stack *stack = &s->stack;

	sample_stack_build(stack, s->sampler, task->process->space, record);
	summary_modules(s, stack->frames, stack->nr);
	sample->leaf = stack->frames[0];
	sample->path = stack->frames + 1;
	sample->path_size = stack->nr - 1;
	sample->thread = tasks_thread(&s->tasks, task, record->time);
	if (sample->counters)
		task->counted_thread = sample->thread;
}

static bool is_taken_by(const struct window *window, const struct sampler_origin *origin,
                        const struct hmb_sample *sample)
{
	return window_takes(window, (unsigned)origin->event, sample->level, origin->shift,
	                    sample->time);
}

/* Whether the level is open in a window that takes the sample. */
static bool is_wanted_by_window(const struct session *s, const struct sampler_origin *origin,
                                const struct hmb_sample *sample)
{
	for (unsigned i = 0; i < s->windows.nr && s->windows.nr_live; i++) {
		const struct window *window = &s->windows.windows[i];

		if (is_taken_by(window, origin, sample) &&
		    sample->level >= hmb_floor(s->hmb, window->kind))
			return true;
	}
	return false;
}

static void put(struct session *s, struct hmb_sample *sample, unsigned kind)
{
	sample->kind = kind;
	if (hmb_put(s->hmb, sample))
		tables_thread_stored(s->tables, sample->thread, kind, sample->level);
}

static void put_into_windows(struct session *s, const struct sampler_origin *origin,
                             struct hmb_sample *sample)
{
	for (unsigned i = 0; i < s->windows.nr && s->windows.nr_live; i++) {
		const struct window *window = &s->windows.windows[i];

		if (is_taken_by(window, origin, sample))
			put(s, sample, window->kind);
	}
}

static void put_into_history(struct session *s, const struct sampler_origin *origin,
                             struct hmb_sample *sample)
{
	if (!history_takes(&s->history, (unsigned)origin->event, sample->level))
		return;
	history_choose_half(s, sample);
	put(s, sample, sample->kind);
}

/*
 * The shift of the run: in a window and for the history the kernel takes more samples than the run
 * has.
 */
static unsigned shift_of_run(const struct session *s, const struct sampler_origin *origin)
{
	const unsigned event = (unsigned)origin->event;

	return s->windows.nr || s->history.on
	               ? sampler_shift_for(s->sampler, event, s->sampling.shift[event])
	               : 0;
}

/* The shift outside of windows. */
static unsigned steady_shift(const struct session *s, const struct sampler_origin *origin)
{
	const unsigned event = (unsigned)origin->event;

	return sampler_shift_for(s->sampler, event, session_steady_shift(s, event));
}

/*
 * Restarts of a timer cut periods off. Whenever these are a whole period together, one more sample
 * is owed. In a window the periods are too short for that: what is owed is paid behind it.
 */
static void owe_dropped(const struct session *s, struct cpu_event *kept,
                        const struct sampler_origin *origin, uint64_t period)
{
	const uint64_t dropped = sampler_dropped(s->sampler, (unsigned)origin->event, origin->cpu);

	if (dropped < kept->dropped + period || origin->shift < steady_shift(s, origin))
		return;
	kept->stream.owed++;
	kept->dropped += period;
}

/*
 * Returns the level of a sample that changes of the period have cost the run, and that this one
 * stands for as well; -1: there is none.
 */
static int level_owed(struct session *s, struct stream *stream, const struct sampler_origin *origin)
{
	if (!stream->owed || origin->shift < steady_shift(s, origin))
		return -1;
	return (int)stream_pay(stream,
	                       sampler_counts_in_small_steps(s->sampler, (unsigned)origin->event));
}

/* Puts the sample wherever it belongs. Its stack is built if anybody wants it. */
static void put_sample(struct session *s, struct task *task, const struct record *record,
                       const struct sampler_origin *origin, struct hmb_sample *sample, int owed)
{
	const unsigned kind = s->events[origin->event].kind, level = sample->level;
	const int floor = (int)hmb_floor(s->hmb, kind);

	if ((int)level >= floor || owed >= floor || is_wanted_by_window(s, origin, sample) ||
	    history_takes(&s->history, (unsigned)origin->event, level))
		find_place(s, task, record, sample);
	put_into_windows(s, origin, sample);
	put_into_history(s, origin, sample);
	if (level >= shift_of_run(s, origin))
		put(s, sample, kind);
	if (owed < 0)
		return;
	sample->level = (unsigned)owed;
	put_into_history(s, origin, sample);
	if (sample->level >= shift_of_run(s, origin))
		put(s, sample, kind);
}

static void take(struct session *s, struct task *task, const struct record *record,
                 const struct sampler_origin *origin)
{
	const struct event *event = &s->config->events[origin->event];
	struct cpu_event *kept = session_cpu_event(s, origin);
	struct stream *stream = stream_of(s, kept, task, origin);
	uint64_t period = stands_for(s, kept, origin);
	struct hmb_sample sample = {
		.level = next_level(s, stream, origin, period),
		.time = record->time,
		.cpu = sampler_cpu(s->sampler, origin->cpu),
	};

	tell_guard(s, origin, period);
	if (!origin->event)
		task->usage.sampled += period * event->scale;
	if (s->sampling.nr_counters && !origin->event)
		sample.counters = count(s, task, record, origin);
	if (event->unit == EVENT_COUNT)
		learn_interval(kept, record->time, origin->shift);
	sample.step = time_step(s, kept, origin, sample.level);
	owe_dropped(s, kept, origin, period);
	put_sample(s, task, record, origin, &sample, level_owed(s, stream, origin));
	if (hmb_floor(s->hmb, s->events[origin->event].kind) > s->sampling.shift[origin->event])
		session_follow_floor(s, (unsigned)origin->event);
}

void session_sample(struct session *s, const struct record *record,
                    const struct sampler_origin *origin)
{
	struct task *task;

	/* Samples of before a reset may come after it. */
	if (origin->event < 0 || !session_has_kind(s, (unsigned)origin->event) || origin->stale ||
	    record->time < s->start)
		return;
	task = tasks_of_sample(&s->tasks, (pid_t)record->pid, (pid_t)record->tid);
	if (!task)
		return;
	if (task->process->awaits_exec)
		s->before_exec[origin->event] += is_each_sampled(s, origin);
	else
		take(s, task, record, origin);
}
