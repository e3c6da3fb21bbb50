#include "output/profile/thread_shares.h"
#include "output/text/text.h"
#include "output/profile/warnings_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLAMED   3     /* rows and commands by name */
#define MISSED_SHARE 50    /* 1/50 of the total missing is worth a word */
#define TOLD_FACTOR  0.01  /* a smaller correction is not worth a word */
#define LOST_SHARE   0.005 /* more is worth a way out */
/* Counters should be known for as much of what was sampled. */
#define COUNTED_SHARE 0.9
#define MIXED_SHARE   0.25
#define MANY_SAMPLES  30
#define MANY_COUNTED  1000 /* of few a share says little */
/* CPUs of one recording have periods up to 2 % apart. */
#define SAME_PERIOD 1.05

/* Bursts of what is counted fill a ring before anyone can empty it; clocks have none. */
static const char *way_to_lose_less(const struct profile *profile, const struct trace_event *event,
                                    uint64_t lost)
{
	if (event->unit == TRACE_NS || share(lost, lost + event->taken) < LOST_SHARE)
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
	char part[TEXT_SIZE];

	if (lost)
		warn(warner,
		     "%llu sample%s of %s %s lost (%s): shares may be wrong by as much "
		     "beyond their errors%s",
		     (unsigned long long)lost, plural(lost), name, lost == 1 ? "was" : "were",
		     text_share(part, lost, lost + event->taken),
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

/*
 * A busy machine lets ticks of a clock pass without a word: the kernel's own total tells. Where
 * nothing was sampled at all another warning says so.
 */
static void warn_of_coverage(const struct profile *profile, const struct warner *warner)
{
	const struct trace_event *event = trace_event(profile->trace, profile->config.event);
	uint64_t rounding = profile->max_weight * (trace_nr_cpus(profile->trace) + 1ULL);
	uint64_t total = profile_exact(profile);
	bool in_full = trace_run(profile->trace)->flags & (TRACE_RUN_CGROUP | TRACE_RUN_WIDE);
	bool by_command = !profile->config.event && shares_exact_known(profile->trace);
	bool left_out = profile->config.sampled_alone;
	char exact[TEXT_SIZE], part[TEXT_SIZE];

	if (!event->taken || total <= profile->sampled + profile->sampled / MISSED_SHARE + rounding)
		return;
	text_quantity(exact, (double)total, event->unit);
	warn(warner,
	     "samples stand for %s of the exact %s of %s: the kernel skipped the rest%s%s%s",
	     text_share(part, profile->sampled, total), exact,
	     trace_string(profile->trace, event->name),
	     in_full || (by_command && !left_out) ? "" : ", or tasks were too short",
	     trace_losses(profile->trace, profile->config.event).lost ? ", or it was lost" : "",
	     by_command && left_out ? "; rows of [unsampled] are left out, because it "
	                              "is not the first event of all runs"
	                            : "");
}

/* The part of what a counter, or the event itself, had in all that is told of functions. */
static double counted_share(const struct profile *profile, uint32_t i)
{
	const struct trace_counter *counter = trace_counter(profile->trace, i);
	bool whole = selection_is_all(profile->config.selection);

	if (!whole || !(counter->flags & TRACE_COUNTER_TOTAL) || counter->total < MANY_COUNTED)
		return share(profile->counted[0], profile->sampled);
	return share(profile->counted[1 + i], counter->total);
}

/*
 * Warns of counts that no function has: a thread's counts behind its last stored sample are
 * attributed to none.
 */
static void warn_of_uncounted(const struct profile *profile, const struct warner *warner)
{
	uint32_t least = 0;

	if (!trace_nr(profile->trace, TRACE_COUNTERS) || profile->config.event || !profile->samples)
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
 * Counts between two samples are attributed to the function of the second one. Where functions take
 * turns within a period, this mixes their counts, and more samples do not help.
 */
static void warn_of_mixing(const struct profile *profile, const struct warner *warner)
{
	const uint64_t *between = profile->between, *counted = profile->counted;
	uint32_t most = 0;
	char part[TEXT_SIZE];
	const char *name;

	/* Profiles for comparisons with other runs have no counters. */
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
	     "%s of '%s' was counted between samples of two functions and is attributed to the "
	     "second, whichever caused it; record -e %s tells which",
	     text_share(part, between[1 + most], counted[1 + most]), name, name);
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
	char exact[TEXT_SIZE], part[TEXT_SIZE];

	for (uint32_t i = 0; i < profile->nr_unsampled && i < MAX_BLAMED; i++) {
		const struct profile_unsampled *u = &profile->unsampled[i];

		if (u->why == PROFILE_IDLE)
			continue;
		text_quantity(exact, (double)u->exact, event->unit);
		if (u->why == PROFILE_UNOBSERVED) {
			warn(warner, "'%s' " WENT_UNOBSERVED ": %s are [unobserved]",
			     trace_command_name(profile->trace, u->comm), exact);
			continue;
		}
		warn(warner, "samples of '%s' cover %s of its exact %s; the rest is %s",
		     trace_command_name(profile->trace, u->comm),
		     text_share(part, u->sampled, u->exact), exact, profile_unsampled_name(u));
	}
	if (profile->nr_unsampled > MAX_BLAMED)
		warn(warner, "parts of %u more command%s are not sampled", more, plural(more));
}

static void warn_of_scaling(const struct profile *profile, const struct warner *warner)
{
	const struct trace_event *event = trace_event(profile->trace, 0);
	uint32_t told = 0;
	char exact[TEXT_SIZE], part[TEXT_SIZE];

	for (uint32_t i = 0; i < profile->nr_scaled; i++) {
		const struct profile_scaled *scaled = &profile->scaled[i];
		double factor = (double)scaled->exact / (double)scaled->sampled;

		if (fabs(factor - 1) < TOLD_FACTOR || told++ >= MAX_BLAMED)
			continue;
		text_quantity(exact, (double)scaled->exact, event->unit);
		warn(warner,
		     "samples of '%s' cover %s of its exact %s; its functions are scaled by "
		     "%.3f",
		     trace_command_name(profile->trace, scaled->comm),
		     text_share(part, scaled->sampled, scaled->exact), exact, factor);
	}
	if (told > MAX_BLAMED)
		warn(warner, "functions of %u more command%s are scaled, too", told - MAX_BLAMED,
		     plural(told - MAX_BLAMED));
}

/* The weight in code of some files that no symbol covers. */
struct nameless {
	uint64_t self;
	uint32_t module; /* where most of it is */
	bool others;     /* is in other files */
};

static bool is_unseen(const struct trace_module *module)
{
	return module->flags & TRACE_MODULE_UNSEEN && !(module->flags & TRACE_MODULE_NO_ELF);
}

static bool is_stripped(const struct trace_module *module)
{
	return module->type == MODULE_FILE && module->build_id_size;
}

/* Nobody could find the symbols of a file without a build-id. */
static bool is_stripped_for_good(const struct trace_module *module)
{
	return module->type == MODULE_FILE && !module->build_id_size &&
	       !(module->flags & (TRACE_MODULE_UNSEEN | TRACE_MODULE_NO_ELF));
}

static bool is_no_elf(const struct trace_module *module)
{
	return module->flags & TRACE_MODULE_NO_ELF;
}

static void add_nameless(uint64_t *by_module, const struct profile *profile,
                         const struct profile_row *row,
                         bool (*belongs)(const struct trace_module *module))
{
	const struct frame_name *name;
	const struct trace_module *module;

	if (row->name == PROFILE_NONE)
		return;
	name = &profile->names.names[row->name];
	module = trace_module(profile->trace, frame_module(name->frame));
	if (!name->symbol && module && belongs(module))
		by_module[frame_module(name->frame)] += row->self;
}

static struct nameless nameless_in(const struct trace *trace, const uint64_t *by_module,
                                   uint32_t nr_modules)
{
	struct nameless nameless = {0};

	for (uint32_t i = 0; i < nr_modules; i++) {
		nameless.self += by_module[i];
		if (by_module[i] > by_module[nameless.module])
			nameless.module = i;
	}
	for (uint32_t i = 0; i < nr_modules; i++)
		nameless.others |=
			by_module[i] &&
			trace_module(trace, i)->path != trace_module(trace, nameless.module)->path;
	return nameless;
}

static struct nameless nameless_of(const struct profile *profile,
                                   bool (*belongs)(const struct trace_module *module))
{
	uint32_t nr_modules = trace_nr(profile->trace, TRACE_MODULES);
	uint64_t *by_module = calloc(nr_modules, sizeof(*by_module));
	struct nameless nameless = {0};

	if (!by_module)
		return nameless;
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		add_nameless(by_module, profile, &profile->rows[i], belongs);
	nameless = nameless_in(profile->trace, by_module, nr_modules);
	free(by_module);
	return nameless;
}

/* before, behind: the names of files. */
static void warn_of_files(const struct profile *profile, const struct warner *warner,
                          bool (*belongs)(const struct trace_module *module), const char *before,
                          const char *behind)
{
	const struct nameless found = nameless_of(profile, belongs);
	char part[TEXT_SIZE];

	if (share(found.self, profile->total) >= NAMELESS_SHARE)
		warn(warner, "%s are in %s of %s%s %s",
		     text_share(part, found.self, profile->total), before,
		     trace_module_name(profile->trace, found.module),
		     found.others ? " and others" : "", behind);
}

/* The interpreter has names; what it runs has them only if it is asked to tell them. */
static void warn_of_python(const struct profile *profile, const struct warner *warner)
{
	const struct frame_name *names = profile->names.names;
	char part[TEXT_SIZE];
	uint64_t self = 0;

	for (uint32_t i = 0; i < profile->names.nr; i++)
		if (!strncmp(trace_string(profile->trace, names[i].symbol), "py::", 4))
			return;
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		if (profile->rows[i].name != PROFILE_NONE &&
		    !strcmp(trace_string(profile->trace, names[profile->rows[i].name].symbol),
		            "_PyEval_EvalFrameDefault"))
			self += profile->rows[i].self;
	if (share(self, profile->total) >= NAMELESS_SHARE)
		warn(warner,
		     "%s are in Python's interpreter itself; python3 -X perf, from 3.12 on, "
		     "tells which functions it runs",
		     text_share(part, self, profile->total));
}

static void warn_of_nameless(const struct profile *profile, const struct warner *warner)
{
	char part[TEXT_SIZE];
	uint64_t made;

	if (!(profile->config.keys & PROFILE_BY_SYMBOL))
		return;
	made = nameless_of(profile, module_is_made).self;
	if (share(made, profile->total) >= NAMELESS_SHARE)
		warn(warner,
		     "%s are in code without names that was generated at run time; "
		     "adaptrace-report(1) tells how java, node, python3 and others write them",
		     text_share(part, made, profile->total));
	warn_of_python(profile, warner);
	warn_of_files(profile, warner, is_stripped, "functions",
	              "without names; report --debuginfod asks a server for the names, --symbols "
	              "takes them from an installed debug package");
	warn_of_files(profile, warner, is_stripped_for_good, "functions",
	              "without names; it was stripped and has no build-id to find its symbols by: "
	              "build it without strip, -s");
	warn_of_files(profile, warner, is_unseen, "code",
	              "that has no names, as the file could not be read when it was mapped; a "
	              "recorder of root reads deleted ones, too, and one of the same user what is "
	              "mounted for that user alone (FUSE)");
	warn_of_files(profile, warner, is_no_elf, "code",
	              "that has no names, as what is mapped there is no ELF file");
}

void warnings_of_profile(const struct profile *profile, warning_fn *fn, void *arg)
{
	const struct warner warner = {fn, arg};
	const struct warner_of_whole whole = {warner, profile->config.selection};
	const struct warner of_whole = warner_of_whole(&whole);

	warn_of_losses(profile, &of_whole);
	warn_of_periods(profile, &of_whole);
	warn_of_coverage(profile, &warner);
	warn_of_uncounted(profile, &warner);
	warn_of_mixing(profile, &warner);
	warn_of_lockstep(profile, &warner);
	warn_of_nameless(profile, &warner);
	warn_of_unsampled(profile, &warner);
	warn_of_scaling(profile, &warner);
}
