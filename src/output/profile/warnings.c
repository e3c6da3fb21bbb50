#include "output/profile/warnings_build.h"

#include "output/profile/counter_columns.h"
#include "output/profile/cut_stacks.h"
#include "output/text/text.h"

#include <stdarg.h>

void warn(const struct warner *warner, const char *format, ...)
{
	char text[WARNING_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	warner->fn(warner->arg, text);
}

static void emit_of_whole(void *arg, const char *text)
{
	const struct warner_of_whole *whole = arg;

	if (selection_is_all(whole->selection))
		whole->part.fn(whole->part.arg, text);
	else
		warn(&whole->part, "in the whole recording: %s", text);
}

struct warner warner_of_whole(const struct warner_of_whole *whole)
{
	return (struct warner){emit_of_whole, (void *)(uintptr_t)whole};
}

/* Flags about source lines: later symbolization may have added the lines. */
#define OF_LINES (TRACE_RUN_SPLIT_MISSING | TRACE_RUN_LINES_PACKED | TRACE_RUN_LINES_REFUSED)

static const struct {
	enum trace_run_flags flag;
	const char *text;
} of_flags[] = {
	{TRACE_RUN_RECOVERED,
         "this was recovered: the recorder was killed, or could not write its trace"},
	{TRACE_RUN_SNAPSHOT, "this is a snapshot: the recording went on, and what the kernel "
                             "reports at its end is missing"},
	{TRACE_RUN_LEFT_CGROUP,
         "a process moved itself to another cgroup and was not sampled there; record --inherit "
         "follows it"},
	{TRACE_RUN_MISSED_CPU, "a CPU was switched off or on: what ran on it from then on was not "
                               "sampled"},
	{TRACE_RUN_USER_ONLY, "the kernel was not sampled, for want of permission"},
	{TRACE_RUN_ONE_CORE_TYPE,
         "the machine has several kinds of cores, and hardware events counted "
         "on one of them alone: what ran on the others has no samples"},
	{TRACE_RUN_KERNEL_HIDDEN,
         "functions of the kernel have no names: its addresses were hidden; "
         "adaptrace doctor tells what shows them"},
	{TRACE_RUN_SPLIT_MISSING, "inlined functions are missing where programs were built with "
                                  "-gsplit-dwarf: their .dwo files were not found"},
	{TRACE_RUN_LINES_PACKED,
         "no lines of files whose debug information is compressed as libelf cannot unpack it "
         "(zstd); 'objcopy --decompress-debug-sections FILE' does, and then: adaptrace report "
         "--symbols"},
	{TRACE_RUN_LINES_REFUSED, "no lines of files whose debug information is damaged, or larger "
                                  "than memory allows"},
};

void warnings_of_flags(uint32_t flags, warning_fn *fn, void *arg)
{
	for (size_t i = 0; i < sizeof(of_flags) / sizeof(*of_flags); i++)
		if (flags & of_flags[i].flag)
			fn(arg, of_flags[i].text);
}

/* All counters have the hardware at the same times, so that one line is enough for that. */
static void warn_of_counters(const struct trace *trace, const struct warner *warner)
{
	const struct trace_counter *counter;
	char text[WARNING_SIZE];
	bool scaled = false;

	for (uint32_t i = 0; (counter = trace_counter(trace, i)); i++) {
		bool is_scaled = trace_counter_state(counter) == COUNTER_SCALED;

		if (!(is_scaled && scaled) &&
		    trace_counter_trouble(counter, trace_string(trace, counter->name), text,
		                          sizeof(text)))
			warner->fn(warner->arg, text);
		scaled |= is_scaled;
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
	else if (counted && event->unit == TRACE_NS)
		snprintf(text, WARNING_SIZE,
		         "no samples of %.200s: nothing ran where it was sampled", name);
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

/* Tells whether the program ended before record --delay let sampling begin. */
static bool never_began(const struct trace *trace)
{
	const struct trace_run *run = trace_run(trace);

	return run->start && run->end == run->start && !all_taken(trace);
}

/* It was switched off before a reset. */
static bool was_always_off(const struct trace *trace, uint32_t event)
{
	const struct trace_run *run = trace_run(trace);

	return run->end > run->start && !trace_sampled_time(trace, event, run->start, run->end);
}

/*
 * The totals of events that were inherited are not known, but for the first, and none is that the
 * recorder reads at the end.
 */
static void warn_of_silence(const struct trace *trace, const struct warner *warner)
{
	uint32_t flags = trace_run(trace)->flags;
	bool counted =
		flags & (TRACE_RUN_WIDE | TRACE_RUN_CGROUP) && !(flags & TRACE_RUN_NOT_ENDED);
	const struct trace_event *event;
	char text[WARNING_SIZE];

	if (never_began(trace)) {
		warn(warner, "nothing was sampled: the run ended before sampling started");
		return;
	}
	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		if (event->taken || was_always_off(trace, i))
			continue;
		warning_of_silence(text, trace_string(trace, event->name), event, counted);
		warner->fn(warner->arg, text);
	}
}

void warning_of_lost_calls(char text[WARNING_SIZE], uint64_t lost)
{
	snprintf(
		text, WARNING_SIZE,
		"%llu call%s lost on the way to the recorder, and no sum has %s: it could not keep "
		"up (then --events-wait lets the program wait), or a process made calls in more "
		"than 128 threads, more than 64 inside each other, or with more than 2000 names",
		(unsigned long long)lost, lost == 1 ? " was" : "s were", lost == 1 ? "it" : "them");
}

static void warn_of_lost_calls(const struct trace *trace, const struct warner *warner)
{
	const struct trace_instrument *instrument;
	char text[WARNING_SIZE];
	uint64_t lost = 0;

	for (uint32_t i = 0; (instrument = trace_instrument(trace, i)); i++)
		lost += instrument->lost;
	if (!lost)
		return;
	warning_of_lost_calls(text, lost);
	warner->fn(warner->arg, text);
}

static void warn_of_unknown_mpi(const struct trace *trace, const struct warner *warner)
{
	const struct trace_process *process;
	unsigned nr = 0;

	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		nr += process->start && !(process->flags & TRACE_PROCESS_MPI);
	if (nr)
		warn(warner,
		     "the MPI library of %u process%s is unknown here, or could not be asked: "
		     "their "
		     "calls have times, but no messages, bytes and ranks",
		     nr, nr == 1 ? "" : "es");
}

void warning_of_unobserved(char text[WARNING_SIZE], uint64_t nr)
{
	snprintf(text, WARNING_SIZE, "%llu process%s " WENT_UNOBSERVED, (unsigned long long)nr,
	         nr == 1 ? "" : "es");
}

static void warn_of_records(const struct trace_run *run, bool renamed, const struct warner *warner)
{
	char text[WARNING_SIZE];

	if (run->lost_records)
		warn(warner,
		     "the kernel dropped %llu record%s of mappings and tasks: some code and "
		     "threads may have wrong names%s",
		     (unsigned long long)run->lost_records, plural(run->lost_records),
		     run->flags & TRACE_RUN_CGROUP ? "" : ", and exact totals may be too small");
	if (run->unobserved) {
		warning_of_unobserved(text, run->unobserved);
		warner->fn(warner->arg, text);
	}
	if (run->unanswered_files && !renamed)
		warn(warner,
		     "names of %llu file%s are missing, whose file system did not answer; "
		     "when it does: adaptrace report --symbols",
		     (unsigned long long)run->unanswered_files, plural(run->unanswered_files));
	if (run->malformed)
		warn(warner, "%llu record%s made no sense and %s left out",
		     (unsigned long long)run->malformed, plural(run->malformed),
		     run->malformed == 1 ? "was" : "were");
}

static void warn_of_cut_paths(const struct trace *trace, const struct warner *warner)
{
	const struct trace_run *run = trace_run(trace);
	uint64_t taken = all_taken(trace);
	char part[TEXT_SIZE];

	warnings_of_cut_stacks(run, taken, WORTH_SAYING, warner->fn, warner->arg);
	if (share(run->folded_contexts, taken) >= WORTH_SAYING)
		warn(warner,
		     "%s of the call paths found no room and end in [truncated]; "
		     "a larger budget (-m) keeps them",
		     text_share(part, run->folded_contexts, taken));
}

void warnings_of_callers(const struct trace *trace, warning_fn *fn, void *arg)
{
	if (trace_run(trace)->stacks == TRACE_STACKS_NONE)
		fn(arg, "callers are missing, as record -g none finds none; record without "
		        "-g none finds them");
}

void warnings_of_run(const struct trace *trace, const struct selection *selection, warning_fn *fn,
                     void *arg)
{
	const struct trace_run *run = trace_run(trace);
	const struct warner_of_whole whole = {{fn, arg}, selection};
	const struct warner warner = warner_of_whole(&whole);
	const bool renamed = trace_is_renamed(trace);

	warn_of_silence(trace, &warner);
	warnings_of_flags(renamed ? run->flags & ~(uint32_t)OF_LINES : run->flags, warner.fn,
	                  warner.arg);
	warn_of_counters(trace, &warner);
	warn_of_lost_calls(trace, &warner);
	warn_of_unknown_mpi(trace, &warner);
	warn_of_records(run, renamed, &warner);
	warn_of_cut_paths(trace, &warner);
}
