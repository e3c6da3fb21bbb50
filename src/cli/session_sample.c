#include "cli/branch_stack.h"
#include "cli/session.h"
#include "cli/summary.h"
#include "symbolize/arch.h"
#include "symbolize/memory.h"

#include <string.h>

#define RED_ZONE      256
#define VSYSCALL_SIZE 4096
#define STACK_MAX     ((uint64_t)8 << 20) /* the usual limit of a thread's stack */

static uint64_t frame_of(struct session *s, const struct space *space, uint64_t address)
{
	struct module *kernel;

	if (!(address >> 63))
		return space_frame(space, address);
	kernel = module_table_kernel(s->modules, address);
	return kernel ? frame_make(kernel->id, (uint32_t)address) : FRAME_UNKNOWN;
}

/*
 * Where a program keeps no frame pointers, the kernel takes whatever is there for addresses. Those
 * of its own half are none that a program calls from, but for one page.
 */
static uint64_t frame_of_user(struct session *s, const struct space *space, uint64_t address)
{
	bool is_beyond = address >> 63 && address - ARCH_VSYSCALL >= VSYSCALL_SIZE;

	return is_beyond ? FRAME_UNKNOWN : frame_of(s, space, address);
}

/* Adds what the link register says has called the user's innermost function, if it does. */
static unsigned add_hidden_caller(struct session *s, const struct space *space,
                                  const struct record *record, unsigned nr)
{
	const struct unwind_sample sample = {.regs = record->sample.regs};
	uint64_t frames[2];
	enum unwind_end end;

	if (!ARCH_HIDDEN_CALLER || !s->unwinder || !sample.regs || record->sample.regs_32 ||
	    unwinder_walk(s->unwinder, space, &sample, frames, 2, &end) < 2 ||
	    frames[0] != s->frames[nr - 1])
		return nr;
	s->frames[nr] = frames[1];
	return nr + 1;
}

/* At most max parts of a call chain; the first address behind a mark is exact, others return. */
static unsigned add_chain(struct session *s, const struct space *space, const struct record *record,
                          unsigned max)
{
	bool exact = true, user = false;
	unsigned nr = 0;

	for (size_t i = 0; i < record->sample.chain_size && nr < max; i++) {
		uint64_t address = record->sample.chain[i];

		if (record_is_mark(address)) {
			exact = true;
			user = record_is_user_mark(address);
			continue;
		}
		address -= !exact;
		s->frames[nr++] =
			user ? frame_of_user(s, space, address) : frame_of(s, space, address);
		if (exact && user && nr < max)
			nr = add_hidden_caller(s, space, record, nr);
		exact = false;
	}
	return nr;
}

static unsigned add_truncated(struct session *s, unsigned nr)
{
	s->truncated++;
	s->frames[nr++] = FRAME_TRUNCATED;
	return nr;
}

/* An exec under way: the user's registers are of the old program, of which nothing is mapped. */
static bool between_programs(const struct space *space, const struct record *record)
{
	uint64_t pc = arch_sample_reg(record->sample.regs, ARCH_PC);

	return record->sample.in_kernel && !(pc >> 63) && !space_find(space, pc);
}

/* What calls the vsyscall page comes to the kernel, which tells that page as a part of its side. */
static unsigned join_vsyscall(struct session *s, const struct record *record, unsigned first,
                              unsigned nr)
{
	if (!first || !(arch_sample_reg(record->sample.regs, ARCH_PC) >> 63))
		return nr;
	memmove(&s->frames[first], &s->frames[first + 1], (nr - first - 1) * sizeof(s->frames[0]));
	return nr - 1;
}

static unsigned add_unwound(struct session *s, const struct space *space,
                            const struct record *record, unsigned nr)
{
	struct unwind_sample sample = {
		.regs = record->sample.regs,
		.stack = record->sample.stack,
		.stack_size = record->sample.stack_size,
		.tid = (pid_t)record->tid,
		.time = record->time,
	};
	enum unwind_end end;
	unsigned max = s->options->max_stack, first;

	if (nr && between_programs(space, record))
		return nr;
	first = nr;
	nr += unwinder_walk(s->unwinder, space, &sample, s->frames + nr, max - nr, &end);
	nr = join_vsyscall(s, record, first, nr);
	s->stitched += end == UNWIND_STITCHED;
	/* Not those that were copied before larger copies were asked for. */
	stack_copy_note(&s->stack_copy, end == UNWIND_TRUNCATED && record->sample.stack_cut &&
	                                        sample.stack_size >= sampler_copied(s->sampler));
	return end == UNWIND_TRUNCATED ? add_truncated(s, nr) : nr;
}

static unsigned add_branches(struct session *s, const struct space *space,
                             const struct record *record, unsigned max)
{
	bool cut;
	unsigned nr = branch_stack(record, s->options->branches, s->frames, max, &cut);

	for (unsigned i = 0; i < nr; i++)
		s->frames[i] = frame_of(s, space, s->frames[i]);
	return cut ? add_truncated(s, nr) : nr;
}

/* Call chains of this length have been cut. */
static unsigned longest_chain(const struct session *s)
{
	unsigned max = s->options->max_stack;

	if (s->options->stacks == TRACE_STACKS_FP && max > sampler_max_chain(s->sampler))
		max = sampler_max_chain(s->sampler);
	return max;
}

/* The stack, leaf first. */
static unsigned build_stack(struct session *s, const struct space *space,
                            const struct record *record)
{
	bool unwinds = record->sample.regs && s->options->stacks == TRACE_STACKS_DWARF;
	unsigned max = longest_chain(s), nr;

	if (record->sample.nr_branches)
		return add_branches(s, space, record, max);
	nr = add_chain(s, space, record, max);
	if (nr == max)
		return add_truncated(s, nr);
	if (!nr && (record->sample.in_kernel || !unwinds))
		s->frames[nr++] = frame_of(s, space, record->sample.ip);
	if (unwinds && !record->sample.regs_32)
		return add_unwound(s, space, record, nr);
	if (!nr)
		s->frames[nr++] = frame_of(s, space, record->sample.ip);
	/* The kernel took something else for a frame pointer, and what is there for a caller. */
	s->truncated += nr > 1 && s->frames[nr - 1] == FRAME_UNKNOWN;
	if (!unwinds || !record->sample.regs_32)
		return nr;
	s->unknown_abi++;
	return add_truncated(s, nr);
}

/* What the address of a memory access belongs to, as far as is known without a look at the target.
 */
static enum memory_place place_of(const struct space *space, const struct record *record)
{
	uint64_t address = record->sample.address;
	uint64_t sp = record->sample.regs && !record->sample.regs_32
	                      ? arch_sample_reg(record->sample.regs, ARCH_SP)
	                      : 0;

	if (!address)
		return MEMORY_NOWHERE;
	if (address >> 63)
		return MEMORY_KERNEL;
	if (space_find(space, address))
		return MEMORY_CODE;
	/* what is being pushed lies below */
	return sp && address + RED_ZONE >= sp && address - sp + RED_ZONE < STACK_MAX ? MEMORY_STACK
	                                                                             : MEMORY_DATA;
}

/* Puts the class of the access between the leaf and its callers. */
static unsigned add_memory(struct session *s, const struct space *space,
                           const struct record *record, unsigned nr)
{
	uint32_t class = memory_make(record->sample.data_src, record->sample.latency,
	                             place_of(space, record));

	memmove(&s->frames[2], &s->frames[1], (nr - 1) * sizeof(s->frames[0]));
	s->frames[1] = frame_of_memory(class);
	return nr + 1;
}

static struct stream *stream_of(struct session *s, struct task *task,
                                const struct sampler_source *source)
{
	if (s->way == SAMPLER_CGROUP)
		return &session_source(s, source)->stream;
	/* At shift 0: what the kernel samples at may lie below what it was asked for, and is said
	 * with each sample. */
	if (!task->streams_started) {
		for (unsigned e = 0; e < s->options->nr_events; e++)
			task->streams[e] = stream_start(s->options->seed, s->nr_streams++, 0);
		task->streams_started = true;
	}
	return &task->streams[source->event];
}

/* Counters have no period in time: what separated their last samples stands for it. */
static uint64_t time_step(struct session *s, const struct record *record,
                          const struct sampler_source *source, unsigned level)
{
	unsigned event = (unsigned)source->event;
	struct session_source *kept = session_source(s, source);
	uint64_t period = sampler_base_period(s->sampler, event, source->cpu);

	if (s->options->events[event].unit == EVENT_COUNT) {
		uint64_t elapsed = (record->time - kept->last) >> source->shift;

		if (kept->last && record->time > kept->last)
			kept->interval += (elapsed >> 3) - (kept->interval >> 3);
		kept->last = record->time;
		period = kept->interval;
	}
	return level < 24 && period < (uint64_t)1 << 38 ? period << (level + 1) : 0;
}

/* Occurrences of its event. To look for a prime number takes longer than to put a sample. */
static uint64_t stands_for(const struct session *s, const struct sampler_source *source)
{
	struct session_source *kept = session_source(s, source);

	if (!kept->period || kept->shift != source->shift) {
		kept->period = sampler_period(s->sampler, (unsigned)source->event, source->cpu,
		                              source->shift);
		kept->shift = source->shift;
	}
	return kept->period;
}

static unsigned next_level(struct session *s, struct stream *stream,
                           const struct sampler_source *source, uint64_t period)
{
	unsigned event = (unsigned)source->event;
	uint64_t base = sampler_base_period(s->sampler, event, source->cpu);

	if (!sampler_counts_in_small_steps(s->sampler, event)) {
		stream_slow(stream, source->shift);
		return stream_next(stream);
	}
	stream_slow_counts(stream, source->shift, base);
	return stream_next_count(stream, base, period);
}

/* Lets the kernel follow the buffer. */
static void follow_floor(struct session *s, unsigned event)
{
	unsigned floor = hmb_floor(s->hmb, event);

	if (floor <= s->shift[event])
		return;
	s->shift[event] = floor;
	sampler_slow(s->sampler, event, floor);
}

/* The first clock, if there is one, tells the target's time. */
static void tell_guard(struct session *s, const struct sampler_source *source, uint64_t period)
{
	const struct event *events = s->options->events;
	unsigned event = (unsigned)source->event;

	s->guard.samples++;
	if (events[event].unit == EVENT_COUNT) {
		s->guard.unbounded++;
		return;
	}
	for (unsigned e = 0; e < event; e++)
		if (events[e].unit == EVENT_NS)
			return;
	s->guard.target_ns += period;
}

/* An occurrence may stand for several units of what it is called. */
static const uint64_t *in_units(struct session *s, const uint64_t *counts)
{
	const struct options *options = s->options;

	s->counts[0] = counts[0] * options->events[0].scale;
	for (unsigned i = 0; i < s->nr_counters; i++)
		s->counts[1 + i] = counts[1 + i] * options->counters[i].scale;
	return s->counts;
}

/* The running totals of a sample's stream; of samples that will not be stored, too. */
static const uint64_t *count(struct session *s, struct task *task, const struct record *record,
                             const struct sampler_source *source)
{
	unsigned nr = 1 + s->nr_counters;

	if (s->way == SAMPLER_LADDER && !task->counters) {
		task->counters = counter_sums_new();
		task->counted_thread = NO_THREAD;
	}
	if (s->way == SAMPLER_CGROUP || !task->counters) {
		counter_counts(s->counts, nr, record);
		return in_units(s, s->counts);
	}
	/* It executed another program since it was given its place in the table of threads. */
	if (task->counted_thread != NO_THREAD && task->counted_thread != task->thread) {
		counter_sums_restart(task->counters);
		task->counted_thread = NO_THREAD;
	}
	return in_units(s, counter_sums_add(task->counters, nr, record, source));
}

static bool is_each_sampled(const struct session *s, const struct sampler_source *source)
{
	return source->shift == 0 &&
	       sampler_base_period(s->sampler, (unsigned)source->event, source->cpu) == 1;
}

void session_sample(struct session *s, const struct record *record,
                    const struct sampler_source *source)
{
	struct task *task;
	struct stream *stream;
	struct hmb_sample sample;
	uint64_t period;
	unsigned nr;

	if (source->event < 0 || source->stale)
		return;
	task = tasks_of_sample(&s->tasks, (pid_t)record->pid, (pid_t)record->tid);
	if (!task)
		return;
	if (task->process->awaits_exec) {
		s->before_exec[source->event] += is_each_sampled(s, source);
		return;
	}
	stream = stream_of(s, task, source);
	period = stands_for(s, source);
	sample = (struct hmb_sample){
		.kind = (unsigned)source->event,
		.level = next_level(s, stream, source, period),
		.time = record->time,
		.cpu = sampler_cpu(s->sampler, source->cpu),
	};
	tell_guard(s, source, period);
	if (!source->event)
		task->sampled += period * s->options->events[0].scale;
	if (s->nr_counters && !source->event)
		sample.counters = count(s, task, record, source);
	sample.step = time_step(s, record, source, sample.level);
	if (sample.level >= hmb_floor(s->hmb, sample.kind)) {
		nr = build_stack(s, task->process->space, record);
		if (s->options->data)
			nr = add_memory(s, task->process->space, record, nr);
		sample.leaf = s->frames[0];
		sample.path = s->frames + 1;
		sample.path_size = nr - 1;
		sample.thread = tasks_thread(&s->tasks, task, record->time);
		if (sample.counters)
			task->counted_thread = sample.thread;
		summary_modules(s, nr);
	}
	if (hmb_put(s->hmb, &sample))
		tables_thread_stored(s->tables, sample.thread, sample.kind, sample.level);
	follow_floor(s, sample.kind);
}
