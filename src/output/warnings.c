#include "output/warnings.h"
#include "output/clock_sides.h"
#include "output/counter_columns.h"
#include "output/text.h"
#include "output/trace_rename.h"

#include "symbolize/module.h"

#include <math.h>
#include <stdarg.h>

#define MAX_BLAMED   3      /* rows and commands by name */
#define MISSED_SHARE 50     /* 1/50 of the total missing is worth a word */
#define SEEN_FACTOR  0.0005 /* what "times 1.000" shows nothing of */
/* From what share on something is worth a line. */
#define WORTH_SAYING 0.005
/* Counters should be known for as much of what was sampled. */
#define COUNTED_SHARE  0.9
#define MIXED_SHARE    0.25
#define MANY_SAMPLES   30
#define MANY_COUNTED   1000 /* of few a share says little */
#define NAMELESS_SHARE 0.05
/* CPUs of one recording have periods up to 2 % apart. */
#define SAME_PERIOD 1.05

struct warner {
	warning_fn *fn;
	void *arg;
};

__attribute__((format(printf, 2, 3))) static void warn(const struct warner *warner,
                                                       const char *format, ...)
{
	char text[WARNING_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	warner->fn(warner->arg, text);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void warn_of_flags(const struct trace_run *run, const struct warner *warner)
{
	if (run->flags & TRACE_RUN_RECOVERED)
		warn(warner,
		     "this was recovered: the recorder was killed, or could not write its trace");
	if (run->flags & TRACE_RUN_SNAPSHOT)
		warn(warner, "this is a snapshot: the recording went on, and what the kernel "
		             "reports at its end is missing");
	if (run->flags & TRACE_RUN_LEFT_CGROUP)
		warn(warner, "a process moved itself to another cgroup and was not sampled there");
	if (run->flags & TRACE_RUN_MISSED_CPU)
		warn(warner, "a CPU was switched off or on: what ran on it from then on was not "
		             "sampled");
	if (run->flags & TRACE_RUN_USER_ONLY)
		warn(warner, "the kernel was not sampled, for want of permission");
	if (run->flags & TRACE_RUN_ONE_KIND)
		warn(warner,
		     "the machine has several kinds of cores, and hardware events counted on "
		     "one of them alone: what ran on the others has no samples");
	if (run->flags & TRACE_RUN_KERNEL_HIDDEN)
		warn(warner, "functions of the kernel have no names: its addresses are hidden "
		             "(see /proc/sys/kernel/kptr_restrict)");
}

void warnings_of_lines(uint32_t flags, warning_fn *fn, void *arg)
{
	const struct warner warner = {fn, arg};

	if (flags & TRACE_RUN_SPLIT_MISSING)
		warn(&warner, "inlined functions are missing where programs were built with "
		              "-gsplit-dwarf: their .dwo files were not found");
	if (flags & TRACE_RUN_LINES_PACKED)
		warn(&warner,
		     "no lines of files whose debug information is compressed as libelf cannot "
		     "unpack it (zstd); 'objcopy --decompress-debug-sections FILE' does, and "
		     "then: adaptrace report --symbols");
	if (flags & TRACE_RUN_LINES_REFUSED)
		warn(&warner, "no lines of files whose debug information is damaged, or larger "
		              "than memory allows");
}

/* All counters have the hardware at the same times, so that one line is enough for that. */
static void warn_of_counters(const struct trace *trace, const struct warner *warner)
{
	const struct trace_counter *counter;
	char text[WARNING_SIZE];
	bool scaled = false;

	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++) {
		bool again = trace_counter_state(counter) == COUNTER_SCALED && scaled;

		if (!trace_counter_trouble(counter, trace_string(trace, counter->name), text,
		                           sizeof(text)) ||
		    again)
			continue;
		scaled |= trace_counter_state(counter) == COUNTER_SCALED;
		warner->fn(warner->arg, text);
	}
}

static uint64_t all_taken(const struct trace *trace)
{
	const struct trace_event *event;
	uint64_t taken = 0;

	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		taken += event->taken;
	return taken;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

void warning_of_silence(char text[WARNING_SIZE], const char *name, const struct trace_event *event,
                        bool counted)
{
	char exact[TEXT_SIZE], period[TEXT_SIZE];

	text_quantity(exact, (double)event->exact, event->unit);
	text_period(period, trace_period(event, event->initial_shift), event->unit);
	if (event->exact)
		snprintf(text, WARNING_SIZE,
		         "no samples of %.200s: %s in all, and one is taken every %s", name, exact,
		         period);
	else if (counted)
		snprintf(text, WARNING_SIZE,
		         "%.200s never occurred: the program caused none, or this machine does "
		         "not count it",
		         name);
	else if (event->unit == TRACE_NS)
		snprintf(text, WARNING_SIZE,
		         "no samples of %.200s: one is taken every %s, and no thread ran that long",
		         name, period);
	else
		snprintf(text, WARNING_SIZE,
		         "no samples of %.200s: one is taken every %s, and that was reached "
		         "nowhere, if this machine counts it at all",
		         name, period);
}

/* By record --delay. */
static bool never_began(const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);

	return run->start && run->end == run->start && !all_taken(trace);
}

/*
 * The totals of events that were inherited are not known, but for the first, and none is that the
 * recorder reads at the end.
 */
static void warn_of_silence(const struct trace *trace, const struct warner *warner)
{
	uint32_t flags = trace_run(trace)->flags;
	bool counted = flags & (TRACE_RUN_WIDE | TRACE_RUN_CGROUP) &&
	               !(flags & (TRACE_RUN_RECOVERED | TRACE_RUN_SNAPSHOT));
	const struct trace_event *event;
	char text[WARNING_SIZE];

	if (never_began(trace)) {
		warn(warner, "nothing was sampled: the run ended before sampling started");
		return;
	}
	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		if (event->taken)
			continue;
		warning_of_silence(text, trace_string(trace, event->name), event, counted);
		warner->fn(warner->arg, text);
	}
}

static void warn_of_lost_calls(const struct trace *trace, const struct warner *warner)
{
	const struct trace_instrument *instrument;
	uint64_t lost = 0;

	for (uint32_t i = 0; (instrument = trace_instrument(trace, i)); i++)
		lost += instrument->lost;
	if (lost)
		warn(warner,
		     "%llu call%s lost on the way to the recorder, and no sum here has %s; if the "
		     "recorder could not keep up, --events-wait lets the program wait for it",
		     (unsigned long long)lost, lost == 1 ? " was" : "s were",
		     lost == 1 ? "it" : "them");
}

/* Code that no file has. */
static bool is_made(const struct trace_module *module)
{
	return module->kind == MODULE_ANON;
}

static bool has_made_code(const struct trace *trace)
{
	const struct trace_module *module;

	for (uint32_t i = 0; (module = trace_module(trace, i)); i++)
		if (is_made(module))
			return true;
	return false;
}

/* Copies of what is sampled in a cgroup, or on CPUs, grow by themselves. */
static const char *way_to_the_root(const struct trace *trace, double missing)
{
	const struct trace_run *run = trace_run(trace);

	if (run->stacks == TRACE_STACKS_FP)
		return "; programs without frame pointers need record -g dwarf, the default";
	if (run->stacks != TRACE_STACKS_DWARF)
		return "";
	if (!(run->flags & TRACE_RUN_CGROUP))
		return "; where they are deeper than what was copied of them, record -g "
		       "dwarf,65528 copies more";
	if (missing >= NAMELESS_SHARE && has_made_code(trace))
		return "; through code that was made at run time they do where it keeps frame "
		       "pointers, as with java -XX:+PreserveFramePointer";
	return "";
}

void warnings_of_run(const struct trace *trace, warning_fn *fn, void *arg)
{
	const struct trace_run *run = trace_run(trace);
	const struct warner warner = {fn, arg};
	uint64_t taken = all_taken(trace);

	warn_of_silence(trace, &warner);
	warn_of_flags(run, &warner);
	if (!trace_is_renamed(trace))
		warnings_of_lines(run->flags, fn, arg);
	warn_of_counters(trace, &warner);
	warn_of_lost_calls(trace, &warner);
	if (run->lost_records)
		warn(&warner,
		     "the kernel dropped %llu record%s of mappings and tasks: some code and "
		     "threads may have wrong names%s",
		     (unsigned long long)run->lost_records, plural(run->lost_records),
		     run->flags & TRACE_RUN_CGROUP ? "" : ", and exact totals may be too small");
	if (run->unobserved)
		warn(&warner,
		     "the kernel stopped observing %llu process%s that executed a setuid program "
		     "or an unreadable one",
		     (unsigned long long)run->unobserved, run->unobserved == 1 ? "" : "es");
	if (run->malformed)
		warn(&warner, "%llu record%s made no sense and %s left out",
		     (unsigned long long)run->malformed, plural(run->malformed),
		     run->malformed == 1 ? "was" : "were");
	if (share(run->truncated_stacks, taken) >= WORTH_SAYING)
		warn(&warner, "%.1f %% of the stacks do not reach their root%s",
		     100 * share(run->truncated_stacks, taken),
		     way_to_the_root(trace, share(run->truncated_stacks, taken)));
	if (share(run->folded_contexts, taken) >= WORTH_SAYING)
		warn(&warner,
		     "%.1f %% of the call paths found no room and end in [truncated]; "
		     "a larger budget (-m) keeps them",
		     100 * share(run->folded_contexts, taken));
}

/* --- one event -------------------------------------------------------------------------------- */

/* Bursts of what is counted fill a ring before anyone can empty it; clocks have none. */
static const char *way_to_lose_less(const struct profile *profile, const struct trace_event *event,
                                    uint64_t lost)
{
	if (event->unit == TRACE_NS || share(lost, lost + event->taken) < WORTH_SAYING)
		return "";
	return trace_run(profile->trace)->stacks == TRACE_STACKS_DWARF
	               ? "; record -c PERIOD takes fewer, -g fp smaller ones"
	               : "; record -c PERIOD takes fewer";
}

static void warn_of_losses(const struct profile *profile, const struct warner *warner)
{
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	const char *name = trace_string(profile->trace, event->name);
	const struct trace_losses losses = trace_losses(profile->trace, profile->config.event);
	uint64_t lost = losses.lost;

	if (lost)
		warn(warner,
		     "%llu sample%s of %s %s lost (%.2f %%): shares may be wrong by as much "
		     "beyond their errors%s",
		     (unsigned long long)lost, plural(lost), name, lost == 1 ? "was" : "were",
		     100 * share(lost, lost + event->taken),
		     way_to_lose_less(profile, event, lost));
	if (losses.throttled)
		warn(warner, "the kernel throttled %s %llu time%s: bursts are under-sampled", name,
		     (unsigned long long)losses.throttled, plural(losses.throttled));
}

static void period_with_base(char text[TEXT_SIZE], struct trace_event event, uint64_t base)
{
	event.base_period = base;
	text_period(text, trace_period(&event, trace_shift(&event)), event.unit);
}

/* Ranks that were recorded with other options than the rest. */
static void warn_of_periods(const struct profile *profile, const struct warner *warner)
{
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	uint64_t least = UINT64_MAX, most = 0;
	const struct trace_stream *stream;
	char first[TEXT_SIZE], last[TEXT_SIZE];

	for (uint32_t i = 0; (stream = trace_stream(profile->trace, i)); i++) {
		if (stream->event != profile->config.event)
			continue;
		least = stream->base_period < least ? stream->base_period : least;
		most = stream->base_period > most ? stream->base_period : most;
	}
	if ((double)most <= (double)least * SAME_PERIOD)
		return;
	period_with_base(first, *event, least);
	period_with_base(last, *event, most);
	warn(warner, "%s was not sampled with one period: one sample every %s to %s",
	     trace_string(profile->trace, event->name), first, last);
}

/* A busy machine lets ticks of a clock pass without a word: the kernel's own total tells. */
static void warn_of_coverage(const struct profile *profile, const struct warner *warner)
{
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	uint64_t rounding = profile->max_weight * (trace_run(profile->trace)->nr_cpus + 1ULL);
	uint64_t total = profile_exact(profile);
	char exact[TEXT_SIZE];

	if (total <= profile->sampled + profile->sampled / MISSED_SHARE + rounding)
		return;
	text_quantity(exact, (double)total, event->unit);
	warn(warner,
	     "samples stand for %.1f %% of the exact %s of %s: the kernel skipped the rest%s",
	     100 * share(profile->sampled, total), exact, trace_string(profile->trace, event->name),
	     trace_losses(profile->trace, profile->config.event).lost ? ", or it was lost" : "");
}

/* The part of what a counter, or the event itself, had in all that is told of functions. */
static double counted_share(const struct profile *profile, uint32_t i)
{
	const struct trace_counter *counter = trace_counter(profile->trace, i);
	bool whole = part_is_all(profile->config.part);

	if (!whole || !(counter->flags & TRACE_COUNTER_TOTAL) || counter->total < MANY_COUNTED)
		return share(profile->counted[0], profile->sampled);
	return share(profile->counted[1 + i], counter->total);
}

/* What a thread counts behind its last sample that is left is told of no function. */
static void warn_of_uncounted(const struct profile *profile, const struct warner *warner)
{
	uint32_t least = 0;

	if (!trace_nr_counters(profile->trace) || profile->config.event || !profile->samples)
		return;
	for (uint32_t i = 1; trace_counter(profile->trace, i); i++)
		if (counted_share(profile, i) < counted_share(profile, least))
			least = i;
	if (counted_share(profile, least) >= COUNTED_SHARE)
		return;
	warn(warner,
	     "functions show %.1f %% of all %s: the rest was counted after the last sample of a "
	     "thread, or in threads without a sample; ratios are of what is shown",
	     100 * counted_share(profile, least),
	     trace_string(profile->trace, trace_counter(profile->trace, least)->name));
}

/*
 * What is counted between two samples is told of the second one. Functions that take turns within a
 * period are mixed by that, and no number of samples helps.
 */
static void warn_of_mixing(const struct profile *profile, const struct warner *warner)
{
	const uint64_t *between = profile->between, *counted = profile->counted;
	uint32_t most = 0;
	const char *name;

	/* What is compared with other runs has no counters. */
	if (!(profile->config.keys & PROFILE_NAME_KEYS) || profile->config.self_alone ||
	    profile->samples < MANY_SAMPLES)
		return;
	for (uint32_t i = 1; trace_counter(profile->trace, i); i++)
		if (share(between[1 + i], counted[1 + i]) >
		    share(between[1 + most], counted[1 + most]))
			most = i;
	if (share(between[1 + most], counted[1 + most]) <= MIXED_SHARE)
		return;
	name = trace_string(profile->trace, trace_counter(profile->trace, most)->name);
	warn(warner,
	     "%.1f %% of '%s' was counted between samples of two functions and is "
	     "attributed to the second, whichever caused it; record -e %s tells which",
	     100 * share(between[1 + most], counted[1 + most]), name, name);
}

static void warn_of_lockstep(const struct profile *profile, const struct warner *warner)
{
	char text[FRAME_TEXT_SIZE];
	unsigned blamed = 0;

	for (uint32_t i = 0; i < profile->nr_rows && blamed < MAX_BLAMED; i++) {
		const struct profile_row *row = &profile->rows[i];

		if (!profile_in_lockstep(profile, row))
			continue;
		warn(warner,
		     "sampling ran in step with '%.200s': its share is less certain than its error "
		     "says; record again with another period (-c)",
		     frame_name_symbol(&profile->names, row->name, text));
		blamed++;
	}
}

static void warn_of_unsampled(const struct profile *profile, const struct warner *warner)
{
	const struct trace_event *event = trace_event(profile->trace, 0);
	uint32_t more = profile->nr_unsampled - MAX_BLAMED;
	char exact[TEXT_SIZE];

	for (uint32_t i = 0; i < profile->nr_unsampled && i < MAX_BLAMED; i++) {
		const struct profile_unsampled *u = &profile->unsampled[i];

		text_quantity(exact, (double)u->exact, event->unit);
		if (u->why == PROFILE_UNOBSERVED) {
			warn(warner,
			     "%s executed a setuid or unreadable program, which the kernel does "
			     "not let inherited events observe: %s are [unobserved]",
			     trace_command_name(profile->trace, u->comm), exact);
			continue;
		}
		warn(warner, "samples of %s cover %.1f %% of its exact %s; the rest is %s",
		     trace_command_name(profile->trace, u->comm), 100 * share(u->sampled, u->exact),
		     exact, profile_unsampled_name(u));
	}
	if (profile->nr_unsampled > MAX_BLAMED)
		warn(warner, "parts of %u more command%s are not sampled", more, plural(more));
}

static void warn_of_scaling(const struct profile *profile, const struct warner *warner)
{
	const struct trace_event *event = trace_event(profile->trace, 0);
	uint32_t told = 0;
	char exact[TEXT_SIZE];

	for (uint32_t i = 0; i < profile->nr_scaled; i++) {
		const struct profile_scaled *scaled = &profile->scaled[i];
		double factor = (double)scaled->exact / (double)scaled->sampled;

		if (fabs(factor - 1) < SEEN_FACTOR || told++ >= MAX_BLAMED)
			continue;
		text_quantity(exact, (double)scaled->exact, event->unit);
		warn(warner,
		     "samples of %s cover %.1f %% of its exact %s; its functions are scaled by "
		     "%.3f",
		     trace_command_name(profile->trace, scaled->comm),
		     100 * share(scaled->sampled, scaled->exact), exact, factor);
	}
	if (told > MAX_BLAMED)
		warn(warner, "functions of %u more command%s are scaled, too", told - MAX_BLAMED,
		     plural(told - MAX_BLAMED));
}

/* What is spent in code of a kind that no symbol names. */
struct nameless {
	uint64_t self, most;
	uint32_t module, path; /* where one function has most of it */
	bool others;           /* is not the only one */
};

static void add_nameless(struct nameless *nameless, const struct profile_row *row, uint32_t module,
                         uint32_t path)
{
	if (!row->self)
		return;
	nameless->others |= nameless->self && nameless->path != path;
	nameless->self += row->self;
	if (row->self > nameless->most) {
		nameless->most = row->self;
		nameless->module = module;
		nameless->path = path;
	}
}

/* Files without a build-id are left out: nobody could find their symbols. */
static bool is_stripped(const struct trace_module *module)
{
	return module->kind == MODULE_FILE && module->build_id_size;
}

static bool is_unseen(const struct trace_module *module)
{
	return module->flags & TRACE_MODULE_UNSEEN;
}

static struct nameless nameless_of(const struct profile *profile,
                                   bool (*belongs)(const struct trace_module *module))
{
	struct nameless nameless = {0};

	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_row *row = &profile->rows[i];
		const struct frame_name *name;
		const struct trace_module *module;

		if (row->name == PROFILE_NONE)
			continue;
		name = &profile->names.names[row->name];
		module = trace_module(profile->trace, frame_module(name->frame));
		if (!name->symbol && module && belongs(module))
			add_nameless(&nameless, row, frame_module(name->frame), module->path);
	}
	return nameless;
}

static void warn_of_nameless(const struct profile *profile, const struct warner *warner)
{
	struct nameless made, stripped, unseen;

	if (!(profile->config.keys & PROFILE_BY_SYMBOL))
		return;
	made = nameless_of(profile, is_made);
	stripped = nameless_of(profile, is_stripped);
	unseen = nameless_of(profile, is_unseen);
	if (share(made.self, profile->total) >= NAMELESS_SHARE)
		warn(warner,
		     "%.1f %% are in code without names that was generated at run time; "
		     "adaptrace-report(1) tells how java, node, python3 and others write them",
		     100 * share(made.self, profile->total));
	if (share(stripped.self, profile->total) >= NAMELESS_SHARE)
		warn(warner,
		     "%.1f %% are in functions of %s%s without names; report --debuginfod "
		     "asks a server for the names, --symbols takes them from an installed "
		     "debug package",
		     100 * share(stripped.self, profile->total),
		     trace_module_name(profile->trace, stripped.module),
		     stripped.others ? " and others" : "");
	if (share(unseen.self, profile->total) >= NAMELESS_SHARE)
		warn(warner,
		     "%.1f %% are in code of %s%s that has no names, as no ELF file could be read "
		     "there when it was mapped; a recorder of root reads deleted ones, too",
		     100 * share(unseen.self, profile->total),
		     trace_module_name(profile->trace, unseen.module),
		     unseen.others ? " and others" : "");
}

void warnings_of_profile(const struct profile *profile, warning_fn *fn, void *arg)
{
	const struct warner warner = {fn, arg};

	warn_of_losses(profile, &warner);
	warn_of_periods(profile, &warner);
	warn_of_coverage(profile, &warner);
	warn_of_uncounted(profile, &warner);
	warn_of_mixing(profile, &warner);
	warn_of_lockstep(profile, &warner);
	warn_of_nameless(profile, &warner);
	warn_of_unsampled(profile, &warner);
	warn_of_scaling(profile, &warner);
}
