/*
 * The text of perf script, which many programs parse: a sample with its stack, leaf first.
 *
 *     app  1234/1236  [001]  4507.700523:  6213184  cpu-clock:
 *                 5652 compare+0x12 (/opt/app)
 *                 5a31 main+0x31 (/opt/app)
 *
 * The number before the event is the period: what the sample stands for. Addresses are those of the
 * file, as addr2line takes them. Counters follow as samples of their own at the same time and
 * place, with what was counted as their period, as perf script does with groups of events.
 */
#include "output/convert/convert.h"
#include "output/text/escape.h"
#include "output/profile/frame_names.h"
#include "base/new_file.h"

#include "base/frame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct script {
	struct conversion *conversion;
	const struct trace *trace;
	struct frame_names names; /* inlined functions included */
	uint64_t *frames;         /* of a stack */
	FILE *file;
};

/*
 * Blanks end a comm, of which parsers expect two characters, and they find the name of an event by
 * its colon. Perfetto knows a time by its six digits.
 */
static void print_head(const struct script *script, const struct trace_sample *sample,
                       const char *event, uint64_t period)
{
	const struct trace_thread *thread = trace_thread(script->trace, sample->thread);
	const char *comm = trace_command_name(script->trace, thread ? thread->comm : 0);
	FILE *file = script->file;

	escape_line(file, comm, " ", '_');
	fprintf(file, "%s %d/%d ", comm[1] ? "" : " ", thread ? thread->pid : 0,
	        thread ? thread->tid : 0);
	if (sample->cpu < 1 << 16)
		fprintf(file, "[%03" PRIu32 "] ", sample->cpu);
	fprintf(file, "%" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " ", sample->time / 1000000000,
	        sample->time % 1000000000 / 1000, period);
	escape_line(file, event, " ", '_');
	fputs(": \n", file);
}

/* Where code is of no file perf names the map that would tell of it; readers know JITs by that. */
static void print_module(const struct trace *trace, FILE *file, uint64_t frame)
{
	const struct trace_module *module =
		frame_module(frame) ? trace_module(trace, frame_module(frame)) : NULL;

	fputs(" (", file);
	if (!module)
		fputs("[unknown]", file);
	else if (module->type == MODULE_KERNEL)
		fputs("[kernel.kallsyms]", file);
	else if (module->type == MODULE_ANON)
		fprintf(file, "/tmp/perf-%d.map", module->pid);
	else
		escape_line(file, trace_string(trace, module->path), "() ", '_');
	fputs(")\n", file);
}

/*
 * A C++ name such as (anonymous namespace)::f() begins with a parenthesis. Parsers skip such a
 * line, and its cost would go to its caller. A leading "::" avoids this.
 */
static void print_name(FILE *file, const char *name)
{
	if (*name == '(')
		fputs("::", file);
	escape_line(file, name, "", 0);
}

/* The functions that were inlined there come first, innermost first. */
static int print_frame(struct script *script, uint64_t frame)
{
	const struct trace *trace = script->trace;
	const struct trace_symbol *symbol = trace_symbol(trace, trace_find_symbol(trace, frame));
	uint64_t address = frame_address(trace, frame);
	char text[FRAME_TEXT_SIZE];
	const uint32_t *names;
	uint32_t nr = frame_names_chain(&script->names, frame, &names);

	for (uint32_t i = nr; i-- > 0;) {
		fprintf(script->file, "\t%16" PRIx64 " ", address);
		print_name(script->file, frame_name_symbol(&script->names, names[i], text));
		if (i) {
			fputs(" (inlined)\n", script->file);
			continue;
		}
		if (symbol && symbol->name)
			fprintf(script->file, "+0x%" PRIx32, frame_offset(frame) - symbol->lo);
		print_module(trace, script->file, frame);
	}
	return nr ? 0 : -ENOMEM;
}

static int print_stack(struct script *script, size_t depth)
{
	int err = 0;

	for (size_t i = 0; i < depth && !err; i++)
		err = print_frame(script, script->frames[i]);
	putc('\n', script->file);
	return err;
}

/* Where nothing was counted there is no sample. */
static int print_counters(struct script *script, const struct trace_sample *sample, size_t depth)
{
	int err = 0;

	for (unsigned i = 1; i < sample->nr_counters && !err; i++) {
		if (!sample->counters[i])
			continue;
		print_head(script, sample,
		           trace_string(script->trace, trace_counter(script->trace, i - 1)->name),
		           sample->counters[i]);
		err = print_stack(script, depth);
	}
	return err;
}

static int print_sample(struct script *script, const struct trace_sample *sample)
{
	size_t depth = trace_stack(script->trace, sample, script->frames, TRACE_MAX_STACK);
	const struct trace_event *event = trace_event(script->trace, sample->event);
	int err;

	print_head(script, sample, event ? trace_string(script->trace, event->name) : "[unknown]",
	           sample->weight);
	err = print_stack(script, depth);
	if (!err && !script->conversion->event_alone)
		err = print_counters(script, sample, depth);
	if (!err && ferror(script->file))
		err = new_file_flush(script->file);
	return err;
}

static int take_sample(void *arg, const struct trace_sample *sample)
{
	struct script *script = arg;
	int err = 0;

	if (selection_has(script->conversion->selection, sample))
		err = print_sample(script, sample);
	return err ? err : convert_step(script->conversion);
}

int perf_script_write(struct conversion *conversion, FILE *file)
{
	uint32_t event = conversion->event_alone ? conversion->event : TRACE_ALL_EVENTS;
	struct script script = {
		.conversion = conversion,
		.trace = conversion->trace,
		.frames = calloc(TRACE_MAX_STACK, sizeof(*script.frames)),
		.file = file,
	};
	int err = -ENOMEM;

	frame_names_init(&script.names, conversion->trace, FRAME_BY_SYMBOL | FRAME_INLINED);
	convert_plan(conversion, 1, event);
	if (script.frames)
		err = trace_each_sample(trace_walk_new(conversion->trace, event), take_sample,
		                        &script);
	frame_names_fini(&script.names);
	free(script.frames);
	return err;
}
