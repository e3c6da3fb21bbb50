#include "output/report/dump.h"
#include "output/report/dump_calls.h"
#include "output/profile/frame_names.h"
#include "output/text/json_writer.h"
#include "output/text/text.h"

#include "base/access_class.h"
#include "base/frame.h"
#include "trace/call_order.h"

#include <errno.h>
#include <stdlib.h>

/* The JSON of frames, which most samples share with earlier ones: an object for each function. */
#define CACHE_SIZE  4096
#define CACHE_BYTES ((size_t)16 << 20)

struct cached_frame {
	uint64_t frame;
	char *text; /* NULL: no frame */
	size_t size;
};

struct dump {
	FILE *to;
	int err; /* of the cache */
	const struct trace *trace;
	uint64_t *frames;
	size_t nr_frames;
	struct cached_frame *cache;
	size_t cached; /* bytes of text */
	struct trace_source chain[TRACE_MAX_CHAIN];
	char text[FRAME_TEXT_SIZE];
};

static int dump_init(struct dump *dump, FILE *to, const struct trace *trace)
{
	*dump = (struct dump){
		.to = to,
		.trace = trace,
		.frames = calloc(TRACE_MAX_STACK, sizeof(*dump->frames)),
		.cache = calloc(CACHE_SIZE, sizeof(*dump->cache)),
	};
	return dump->frames && dump->cache ? 0 : -ENOMEM;
}

static void forget_frames(struct dump *dump)
{
	for (size_t i = 0; i < CACHE_SIZE; i++) {
		free(dump->cache[i].text);
		dump->cache[i] = (struct cached_frame){0};
	}
	dump->cached = 0;
}

static void dump_fini(struct dump *dump)
{
	if (dump->cache)
		forget_frames(dump);
	free(dump->cache);
	free(dump->frames);
}

/* Whether the outermost frame is where its thread began. */
static bool complete(const struct dump *dump)
{
	uint64_t root = dump->frames[dump->nr_frames - 1];

	return trace_run(dump->trace)->stacks != TRACE_STACKS_NONE && frame_module(root) != 0;
}

/* --- text ------------------------------------------------------------------------------------- */

/* Prints an inlined function like a call, with a mark. */
static void put_frame(struct dump *dump, uint64_t frame)
{
	size_t nr = trace_inline_chain(dump->trace, frame, dump->chain);

	for (size_t i = 0; i + 1 < nr; i++) {
		text_put(dump->to, trace_string(dump->trace, dump->chain[i].function), 0);
		fputs(" (inlined) < ", dump->to);
	}
	text_put(dump->to, frame_symbol(dump->trace, frame, dump->text), 0);
}

static const char *counter_name(const struct dump *dump, unsigned i)
{
	return trace_string(dump->trace, trace_counter(dump->trace, i)->name);
}

/* "page-faults=3 " */
static void put_counters(const struct dump *dump, const struct trace_sample *sample)
{
	for (unsigned i = 1; i < sample->nr_counters; i++) {
		fputs(i == 1 ? "" : " ", dump->to);
		text_put(dump->to, counter_name(dump, i - 1), 0);
		fprintf(dump->to, "=%llu", (unsigned long long)sample->counters[i]);
	}
	if (sample->nr_counters)
		fputs("  ", dump->to);
}

static void put_text(struct dump *dump, const struct trace_sample *sample)
{
	const struct trace_event *event = trace_event(dump->trace, sample->event);
	const struct trace_thread *thread = trace_thread(dump->trace, sample->thread);

	fprintf(dump->to, "%llu.%09llu  ", (unsigned long long)(sample->time / 1000000000),
	        (unsigned long long)(sample->time % 1000000000));
	text_put(dump->to, trace_command_name(dump->trace, thread ? thread->comm : 0), 0);
	fprintf(dump->to, " %d/%d  [%u]  ", thread ? thread->pid : 0, thread ? thread->tid : 0,
	        sample->cpu);
	text_put(dump->to, trace_string(dump->trace, event->name), 0);
	fprintf(dump->to, " %llu  ", (unsigned long long)sample->weight);
	put_counters(dump, sample);
	for (size_t i = 0; i < dump->nr_frames; i++) {
		fputs(i ? " < " : "", dump->to);
		put_frame(dump, dump->frames[i]);
	}
	fputc('\n', dump->to);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static const char *known_symbol(struct dump *dump, uint64_t frame)
{
	const struct trace_symbol *symbol =
		trace_symbol(dump->trace, trace_find_symbol(dump->trace, frame));

	if (frame_module(frame) && !(symbol && symbol->name))
		return NULL;
	return frame_symbol(dump->trace, frame, dump->text);
}

/* symbol NULL: it has no name. source NULL: not known. */
static void put_function(struct dump *dump, struct json_writer *json, uint64_t frame,
                         const char *symbol, const struct trace_source *source, bool inlined)
{
	static const struct trace_source unknown;
	const char *module = frame_module_text(dump->trace, frame);
	bool special = !frame_module(frame);

	source = source ? source : &unknown;
	json_begin(json, NULL);
	json_text(json, "symbol", symbol);
	json_text(json, "module", special ? NULL : module);
	json_known(json, "offset", !special, special ? 0 : frame_address(dump->trace, frame));
	json_text(json, "file", source->file ? trace_string(dump->trace, source->file) : NULL);
	json_known(json, "line", source->line, source->line);
	json_flag(json, "inlined", inlined);
	json_end(json);
}

/* The innermost function first. */
static void put_functions(struct dump *dump, uint64_t frame, FILE *to)
{
	size_t nr = trace_inline_chain(dump->trace, frame, dump->chain);
	const struct trace_source *source = dump->chain;
	struct json_writer json = {.to = to};

	for (; nr > 1; nr--, source++)
		put_function(dump, &json, frame, trace_string(dump->trace, source->function),
		             source, true);
	put_function(dump, &json, frame, known_symbol(dump, frame), nr ? source : NULL, false);
}

/* Its text is NULL where there is no memory for it. */
static void cache_frame(struct dump *dump, struct cached_frame *cached, uint64_t frame)
{
	FILE *to;

	if (dump->cached > CACHE_BYTES)
		forget_frames(dump);
	dump->cached -= cached->size;
	free(cached->text);
	*cached = (struct cached_frame){.frame = frame};
	to = open_memstream(&cached->text, &cached->size);
	if (!to)
		return;
	put_functions(dump, frame, to);
	if (fclose(to)) {
		free(cached->text);
		*cached = (struct cached_frame){0};
	}
	dump->cached += cached->size;
}

static void put_frame_json(struct dump *dump, struct json_writer *json, uint64_t frame)
{
	struct cached_frame *cached = &dump->cache[(frame * 0x9e3779b97f4a7c15 >> 32) % CACHE_SIZE];

	if (!cached->text || cached->frame != frame)
		cache_frame(dump, cached, frame);
	if (cached->text)
		json_raw(json, NULL, "%s", cached->text);
	else
		dump->err = -ENOMEM;
}

/* Puts the counts since the previous sample of the same stream. */
static void put_counts(const struct dump *dump, struct json_writer *json,
                       const struct trace_sample *sample)
{
	json_begin(json, "counters");
	for (unsigned i = 1; i < sample->nr_counters; i++)
		json_number(json, counter_name(dump, i - 1), sample->counters[i]);
	json_end(json);
	if (sample->nr_counters)
		json_number(json, "counted", sample->counters[0]);
}

/* Puts null where the trace has no such classes. */
static void put_memory(const struct dump *dump, struct json_writer *json,
                       const struct trace_sample *sample)
{
	static const struct {
		const char *name;
		enum access_field field;
	} fields[] = {
		{"level", ACCESS_BY_LEVEL},     {"operation", ACCESS_BY_OPERATION},
		{"tlb", ACCESS_BY_TLB},         {"snoop", ACCESS_BY_SNOOP},
		{"latency", ACCESS_BY_LATENCY},
	};
	char text[ACCESS_TEXT_SIZE];

	if (!(trace_run(dump->trace)->flags & TRACE_RUN_DATA)) {
		json_null(json, "memory");
		return;
	}
	json_begin(json, "memory");
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		json_text(json, fields[i].name,
		          access_class_text(sample->memory, fields[i].field, text));
	json_end(json);
}

static void put_json(struct dump *dump, const struct trace_sample *sample)
{
	const struct trace_event *event = trace_event(dump->trace, sample->event);
	const struct trace_thread *thread = trace_thread(dump->trace, sample->thread);
	struct json_writer json = {.to = dump->to};

	json_begin(&json, NULL);
	json_number(&json, "time_ns", sample->time);
	json_int(&json, "pid", thread ? thread->pid : 0);
	json_int(&json, "tid", thread ? thread->tid : 0);
	json_text(&json, "comm", trace_string(dump->trace, thread ? thread->comm : 0));
	json_number(&json, "cpu", sample->cpu);
	json_text(&json, "event", trace_string(dump->trace, event->name));
	json_number(&json, "level", sample->level);
	json_number(&json, "weight", sample->weight);
	put_counts(dump, &json, sample);
	put_memory(dump, &json, sample);
	json_flag(&json, "complete", complete(dump));
	json_begin_list(&json, "stack");
	for (size_t i = 0; i < dump->nr_frames && !dump->err; i++)
		put_frame_json(dump, &json, dump->frames[i]);
	json_end_list(&json);
	json_end(&json);
	fputc('\n', dump->to);
}

/* --- the whole -------------------------------------------------------------------------------- */

typedef void put_sample(struct dump *dump, const struct trace_sample *sample);
typedef void put_call(struct dump *dump, const struct trace_call *call);

static void put_call_text(struct dump *dump, const struct trace_call *call)
{
	dump_call_text(dump->to, dump->trace, call);
}

static void put_call_json(struct dump *dump, const struct trace_call *call)
{
	dump_call_json(dump->to, dump->trace, call);
}

/* calls NULL: a window has samples and no calls. */
static int next_call(struct call_order *calls, struct trace_call *call)
{
	return calls ? call_order_next(calls, call) : 0;
}

/* Samples and calls by turns, a call when it was left. */
static int dump_merged(struct dump *dump, struct trace_walk *samples, struct call_order *calls,
                       put_sample *put, put_call *tell)
{
	struct trace_sample sample;
	struct trace_call call;
	int got = trace_walk_next(samples, &sample), got_call = next_call(calls, &call);

	while (!ferror(dump->to) && !dump->err && got >= 0 && got_call >= 0 && (got || got_call)) {
		if (got && (!got_call || sample.time <= call.call.leave)) {
			dump->nr_frames =
				trace_stack(dump->trace, &sample, dump->frames, TRACE_MAX_STACK);
			put(dump, &sample);
			got = trace_walk_next(samples, &sample);
		} else {
			tell(dump, &call);
			got_call = next_call(calls, &call);
		}
	}
	return got < 0 ? got : got_call < 0 ? got_call : dump->err;
}

static int dump_all(FILE *to, const struct trace *trace, put_sample *put, put_call *tell)
{
	const struct trace_window *window = trace_chosen_window(trace);
	struct trace_walk *samples = trace_walk_new(
		trace, window ? trace_window_event(trace, window) : TRACE_ALL_EVENTS);
	struct call_order *calls = NULL;
	int err = samples ? 0 : -errno;
	struct dump dump;

	if (!err && trace_calls_chosen(trace)) {
		calls = call_order_new(trace, CALL_ORDER_CALLS);
		err = calls ? 0 : -errno;
	}
	if (dump_init(&dump, to, trace) && !err)
		err = -ENOMEM;
	if (!err)
		err = dump_merged(&dump, samples, calls, put, tell);
	trace_walk_free(samples);
	call_order_free(calls);
	dump_fini(&dump);
	return err;
}

int dump_text(FILE *to, const struct trace *trace)
{
	return dump_all(to, trace, put_text, put_call_text);
}

int dump_json(FILE *to, const struct trace *trace)
{
	return dump_all(to, trace, put_json, put_call_json);
}
