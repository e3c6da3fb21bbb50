#include "hmb/hmb.h"
#include "output/views/run_properties.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct teller {
	const struct trace *trace;
	run_property_fn *fn;
	void *arg;
	int err;
};

static void tell(struct teller *teller, const char *name, const char *value)
{
	if (!teller->err)
		teller->err = teller->fn(teller->arg, name, value);
}

__attribute__((format(printf, 3, 4))) static void
tell_value(struct teller *teller, const char *name, const char *format, ...)
{
	char value[256];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	tell(teller, name, value);
}

const char *reduction_cause(uint32_t cause)
{
	static const char *const texts[] = {
		[HMB_CAUSE_MEMORY] = "memory",
		[HMB_CAUSE_OVERHEAD] = "overhead",
		[HMB_CAUSE_SHARE] = "share",
	};

	return cause < sizeof(texts) / sizeof(*texts) ? texts[cause] : "unknown";
}

void reduction_text(const struct trace *trace, const struct trace_reduction *reduction, char *text,
                    size_t size)
{
	const struct trace_event *event = trace_event(trace, reduction->event);
	const struct trace_event *kind = trace_kind(trace, reduction->event);

	if (!event && kind) {
		snprintf(text, size, "%.64s: removed, %s", trace_string(trace, kind->name),
		         reduction_cause(reduction->cause));
		return;
	}
	snprintf(text, size, "%.64s: period %" PRIu64 ", %s",
	         event ? trace_string(trace, event->name) : "[unknown]",
	         event ? trace_period(event, reduction->floor) : 0,
	         reduction_cause(reduction->cause));
}

/* --- the run ---------------------------------------------------------------------------------- */

char *run_command(const struct trace *trace)
{
	char *command = strdup(trace_string(trace, trace_run(trace)->command));

	for (char *c = command; c && *c; c++)
		if (*c == '\x1f')
			*c = ' ';
	return command;
}

static void tell_command(struct teller *teller)
{
	char *command = run_command(teller->trace);

	if (command)
		tell(teller, "COMMAND", command);
	else
		teller->err = -ENOMEM;
	free(command);
}

static void tell_strings(struct teller *teller)
{
	const struct trace_run *run = trace_run(teller->trace);

	tell_command(teller);
	tell(teller, "DIRECTORY", trace_string(teller->trace, run->directory));
	tell(teller, "HOST", trace_string(teller->trace, run->host));
	tell(teller, "KERNEL", trace_string(teller->trace, run->kernel));
	tell(teller, "CPU_MODEL", trace_string(teller->trace, run->cpu_model));
	tell(teller, "RECORDED_BY", trace_string(teller->trace, run->version));
}

static void tell_numbers(struct teller *teller)
{
	const struct trace_run *run = trace_run(teller->trace);
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{"FLAGS", run->flags},
		{"STACKS", run->stacks},
		{"CPUS", run->nr_cpus},
		{"MAX_OVERHEAD_PERMILLE", run->max_overhead},
		{"START", run->start},
		{"END", run->end},
		{"MEMORY::BUDGET", run->budget},
		{"MEMORY::USED", run->used},
		{"MEMORY::CONTEXTS", run->contexts},
		{"MEMORY::RECORDS", run->records},
		{"MEMORY::PEAK_RSS", run->peak_rss},
		{"RECORDER_CPU_NS", run->recorder_cpu},
		{"SAMPLE_PRICE_NS", run->sample_price},
		{"LATE", run->late},
		{"MALFORMED", run->malformed},
		{"LOST_RECORDS", run->lost_records},
		{"TRUNCATED_STACKS", run->truncated_stacks},
		{"STITCHED_STACKS", run->stitched_stacks},
		{"FOLDED_CONTEXTS", run->folded_contexts},
		{"FOLDED_THREADS", run->folded_threads},
		{"REFUSED_MODULES", run->refused_modules},
		{"REFUSED_STRINGS", run->refused_strings},
		{"DRAIN_LATENCY_NS", run->drain_latency},
		{"SEED", run->seed},
		{"UNOBSERVED", run->unobserved},
		{"DELAY_NS", run->delay},
		{"REFUSED_MAPPINGS", run->refused_mappings},
		{"UNANSWERED_FILES", run->unanswered_files},
		{"GRID_NS", run->grid},
		{"MEDIAN_OFF_NS", run->median_off},
		{"P90_OFF_NS", run->p90_off},
		{"RESTARTS", run->restarts},
		{"UNSTEERED_CPUS", run->unsteered_cpus},
		{"CALLS_COST_NS", run->calls_cost},
		{"ONE_CPU_COST_PPM", run->one_cpu_cost},
		{"COUPLED_COST_PPM", run->coupled_cost},
	};

	tell_value(teller, "PID", "%d", run->pid);
	tell_value(teller, "EXIT_STATUS", "%d", run->exit_status);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		tell_value(teller, numbers[i].name, "%" PRIu64, numbers[i].value);
}

/* --- events ----------------------------------------------------------------------------------- */

static void tell_of_event(struct teller *teller, uint32_t number, const char *what, uint64_t value)
{
	char name[64];

	snprintf(name, sizeof(name), "EVENT_%u::%s", number, what);
	tell_value(teller, name, "%" PRIu64, value);
}

static void tell_event(struct teller *teller, uint32_t number, const struct trace_event *event)
{
	const struct trace_losses losses = trace_losses(teller->trace, number);
	char name[64];

	snprintf(name, sizeof(name), "EVENT_%u::NAME", number);
	tell(teller, name, trace_string(teller->trace, event->name));
	snprintf(name, sizeof(name), "EVENT_%u::UNIT", number);
	tell(teller, name, trace_unit_name(event->unit));
	tell_of_event(teller, number, "BASE_PERIOD", event->base_period);
	tell_of_event(teller, number, "INITIAL_PERIOD", trace_period(event, event->initial_shift));
	tell_of_event(teller, number, "FINAL_PERIOD", trace_period(event, trace_shift(event)));
	tell_of_event(teller, number, "TAKEN", event->taken);
	tell_of_event(teller, number, "STORED", event->stored);
	tell_of_event(teller, number, "REDUCED", event->taken - event->stored);
	tell_of_event(teller, number, "LOST", losses.lost);
	tell_of_event(teller, number, "THROTTLED", losses.throttled);
	if (event->exact)
		tell_of_event(teller, number, "EXACT", event->exact);
}

static void tell_stream(struct teller *teller, uint32_t number, const struct trace_stream *stream)
{
	char name[64];

	snprintf(name, sizeof(name), "STREAM_%u", number);
	tell_value(teller, name,
	           "event %" PRIu32 " cpu %" PRId32 " base_period %" PRIu64 " lost %" PRIu64
	           " throttled %" PRIu64,
	           stream->event, (int32_t)stream->cpu, stream->base_period, stream->lost,
	           stream->throttled);
}

static void tell_reduction(struct teller *teller, uint32_t number,
                           const struct trace_reduction *reduction)
{
	char name[64];

	snprintf(name, sizeof(name), "REDUCTION_%u", number);
	tell_value(teller, name,
	           "time %" PRIu64 " event %" PRIu32 " floor %" PRIu32 " bins %" PRIu32 " cause %s",
	           reduction->time, reduction->event, reduction->floor, reduction->bins,
	           reduction_cause(reduction->cause));
}

/* Emits the exact totals of a command and the number of its tasks. */
static void tell_task_totals(struct teller *teller, uint32_t number,
                             const struct trace_command *command)
{
	char name[64];

	if (!command->tasks && !command->exact && !command->unobserved)
		return;
	snprintf(name, sizeof(name), "COMMAND_%u::NAME", number);
	tell(teller, name, trace_string(teller->trace, command->comm));
	snprintf(name, sizeof(name), "COMMAND_%u::TASKS", number);
	tell_value(teller, name, "%" PRIu64, command->tasks);
	snprintf(name, sizeof(name), "COMMAND_%u::UNOBSERVED_NS", number);
	tell_value(teller, name, "%" PRIu64, command->unobserved);
	if (!(command->flags & TRACE_THREAD_EXACT))
		return;
	snprintf(name, sizeof(name), "COMMAND_%u::EXACT", number);
	tell_value(teller, name, "%" PRIu64, command->exact);
}

int run_properties(const struct trace *trace, run_property_fn *fn, void *arg)
{
	struct teller teller = {.trace = trace, .fn = fn, .arg = arg};
	const struct trace_event *event;
	const struct trace_stream *stream;
	const struct trace_reduction *reduction;
	const struct trace_command *command;

	tell_strings(&teller);
	tell_numbers(&teller);
	for (uint32_t i = 0; (event = trace_event(trace, i)) && !teller.err; i++)
		tell_event(&teller, i, event);
	for (uint32_t i = 0; (stream = trace_stream(trace, i)) && !teller.err; i++)
		tell_stream(&teller, i, stream);
	for (uint32_t i = 0; (reduction = trace_reduction(trace, i)) && !teller.err; i++)
		tell_reduction(&teller, i, reduction);
	for (uint32_t i = 0; (command = trace_command(trace, i)) && !teller.err; i++)
		tell_task_totals(&teller, i, command);
	return teller.err;
}
