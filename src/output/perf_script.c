/*
 * The text of perf script, which many programs parse: a sample with its stack, leaf first.
 *
 *     app  1234/1236  [001]  4507.700523:  6213184  cpu-clock:
 *                 5652 compare+0x12 (/opt/app)
 *                 5a31 main+0x31 (/opt/app)
 *
 * The number before the event is the period: what the sample stands for. Addresses are those of the
 * file, as addr2line takes them.
 */
#include "output/convert.h"
#include "output/escape.h"
#include "output/frame_names.h"

#include "symbolize/module.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STACK (1 << 16) /* of trace_stack() */

/* Blanks end a comm, and parsers find the name of an event by its colon. */
static void print_head(const struct conversion *conversion, FILE *file,
                       const struct trace_sample *sample)
{
	const struct trace_thread *thread = trace_thread(conversion->trace, sample->thread);
	const struct trace_event *event = trace_event(conversion->trace, sample->event);
	const char *comm = thread ? trace_string(conversion->trace, thread->comm) : "";

	escape_line(file, *comm ? comm : "[unknown]", " ", '_');
	fprintf(file, " %d/%d ", thread ? thread->pid : 0, thread ? thread->tid : 0);
	if (sample->cpu < 1 << 16)
		fprintf(file, "[%03" PRIu32 "] ", sample->cpu);
	fprintf(file, "%" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " ", sample->time / 1000000000,
	        sample->time % 1000000000, sample->weight);
	escape_line(file, event ? trace_string(conversion->trace, event->name) : "[unknown]", " ",
	            '_');
	fputs(": \n", file);
}

static void print_module(const struct trace *trace, FILE *file, uint64_t frame)
{
	const struct trace_module *module =
		frame_module(frame) ? trace_module(trace, frame_module(frame)) : NULL;

	fputs(" (", file);
	if (!module)
		fputs("[unknown]", file);
	else if (module->kind == MODULE_KERNEL)
		fputs("[kernel.kallsyms]", file);
	else
		escape_line(file, trace_string(trace, module->path), "()", '_');
	fputs(")\n", file);
}

static void print_frame(const struct trace *trace, FILE *file, uint64_t frame)
{
	const struct trace_module *module = trace_module(trace, frame_module(frame));
	const struct trace_symbol *symbol = trace_symbol(trace, trace_find_symbol(trace, frame));
	uint64_t address = frame_offset(frame);
	char text[FRAME_TEXT_SIZE];

	if (module && (module->kind == MODULE_KERNEL || module->kind == MODULE_ANON))
		address |= module->window << 32;
	fprintf(file, "\t%16" PRIx64 " ", address);
	escape_line(file, frame_symbol(trace, frame, text), "", 0);
	if (symbol && symbol->name)
		fprintf(file, "+0x%" PRIx32, frame_offset(frame) - symbol->lo);
	print_module(trace, file, frame);
}

static int print_samples(struct conversion *conversion, struct trace_walk *walk, FILE *file)
{
	uint64_t *frames = calloc(MAX_STACK, sizeof(*frames));
	struct trace_sample sample;
	int got = 0, err = frames ? 0 : -ENOMEM;

	while (!err && (got = trace_walk_next(walk, &sample)) == 1) {
		size_t depth = trace_stack(conversion->trace, &sample, frames, MAX_STACK);

		print_head(conversion, file, &sample);
		for (size_t i = 0; i < depth && i < MAX_STACK; i++)
			print_frame(conversion->trace, file, frames[i]);
		putc('\n', file);
		err = ferror(file) ? -EIO : convert_step(conversion);
	}
	free(frames);
	return err ? err : got;
}

int perf_script_write(struct conversion *conversion, FILE *file)
{
	struct trace_walk *walk = trace_walk_new(conversion->trace, TRACE_ALL_EVENTS);
	int err;

	if (!walk)
		return -errno;
	convert_plan(conversion, 1, TRACE_ALL_EVENTS);
	err = print_samples(conversion, walk, file);
	trace_walk_free(walk);
	return err;
}
