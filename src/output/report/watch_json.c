#include "output/report/watch_json.h"

#include "base/map64.h"
#include "hmb/arena.h"
#include "hmb/limits.h"
#include "output/profile/frame_names.h"
#include "output/text/json_writer.h"
#include "trace/call_sources.h"
#include "trace/new_calls.h"
#include "trace/selection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define MAX_DEFINED (1U << 22) /* paths; beyond, all are defined anew */
#define MAX_DEPTH   512        /* frames of a stack; outer ones are left out */

struct watch_json {
	struct map64 functions; /* by a hash of name and module */
	struct map64 paths;     /* by the path of the caller and the function */
	struct map64 threads;   /* by pid, tid and comm */
	struct map64 regions;   /* by number in the trace */
	struct new_calls calls; /* those that were written */
	uint64_t last_time;
	/* The lists of the present line: definitions, and samples. */
	struct part {
		char *text;
		size_t size;
		FILE *to;
		struct json_writer json;
	} new_functions, new_paths, new_threads, samples; /* regions are functions, calls samples */
	const struct trace *trace;
	uint64_t from, until, nr;
	char text[FRAME_TEXT_SIZE];
};

struct watch_json *watch_json_new(void)
{
	return calloc(1, sizeof(struct watch_json));
}

static void forget(struct watch_json *watch)
{
	map64_fini(&watch->functions);
	map64_fini(&watch->paths);
	map64_fini(&watch->threads);
	map64_fini(&watch->regions);
	watch->regions = (struct map64){0};
	watch->functions = watch->paths = watch->threads = (struct map64){0};
}

void watch_json_free(struct watch_json *watch)
{
	if (watch) {
		forget(watch);
		new_calls_fini(&watch->calls);
	}
	free(watch);
}

/* --- definitions ------------------------------------------------------------------------------ */

/* Returns the number of a key; *is_new: it has no definition yet. */
static uint32_t number_of(struct map64 *map, uint64_t key, bool *is_new)
{
	uint32_t nr = map->nr, number = map64_number(map, key);

	*is_new = number == nr;
	return number;
}

static uint32_t define_function(struct watch_json *watch, uint64_t frame)
{
	const char *symbol = frame_symbol(watch->trace, frame, watch->text);
	const char *module = frame_module_text(watch->trace, frame);
	uint64_t key = XXH3_64bits(symbol, strlen(symbol));
	struct json_writer *json = &watch->new_functions.json;
	bool is_new;
	uint32_t number = number_of(&watch->functions,
	                            XXH3_64bits_withSeed(module, strlen(module), key), &is_new);

	if (!is_new || number == UINT32_MAX)
		return number;
	json_begin_list(json, NULL);
	json_number(json, NULL, number);
	json_text(json, NULL, symbol);
	json_text(json, NULL, module);
	json_end_list(json);
	return number;
}

/* Path 0 is that of a function without callers. */
static uint32_t define_path(struct watch_json *watch, uint32_t caller, uint32_t function)
{
	struct json_writer *json = &watch->new_paths.json;
	bool is_new;
	uint32_t number = number_of(&watch->paths, (uint64_t)caller << 32 | function, &is_new);

	if (number >= UINT32_MAX - 1)
		return UINT32_MAX;
	if (is_new) {
		json_begin_list(json, NULL);
		json_number(json, NULL, number + 1);
		json_number(json, NULL, caller);
		json_number(json, NULL, function);
		json_end_list(json);
	}
	return number + 1;
}

static uint32_t path_of(struct watch_json *watch, const struct trace_sample *sample)
{
	uint64_t frames[MAX_DEPTH];
	size_t depth = trace_stack(watch->trace, sample, frames, MAX_DEPTH);
	uint32_t path = 0;

	for (size_t i = depth < MAX_DEPTH ? depth : MAX_DEPTH; i-- && path != UINT32_MAX;) {
		uint32_t function = define_function(watch, frames[i]);

		path = function == UINT32_MAX ? UINT32_MAX : define_path(watch, path, function);
	}
	return path;
}

static uint32_t define_thread(struct watch_json *watch, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(watch->trace, thread);
	const int ids[3] = {entry ? entry->pid : 0, entry ? entry->tid : 0,
	                    entry ? (int)entry->comm : 0};
	struct json_writer *json = &watch->new_threads.json;
	bool is_new;
	uint32_t number = number_of(&watch->threads, XXH3_64bits(ids, sizeof(ids)), &is_new);

	if (!is_new || number == UINT32_MAX)
		return number;
	json_begin_list(json, NULL);
	json_number(json, NULL, number);
	json_int(json, NULL, ids[0]);
	json_int(json, NULL, ids[1]);
	json_text(json, NULL, trace_command_name(watch->trace, entry ? entry->comm : 0));
	json_end_list(json);
	return number;
}

/* --- samples ---------------------------------------------------------------------------------- */

static int put_sample(void *arg, const struct trace_sample *sample)
{
	struct watch_json *watch = arg;
	struct json_writer *json = &watch->samples.json;
	uint32_t thread, path;

	if (sample->time < watch->from || sample->time >= watch->until)
		return 0;
	thread = define_thread(watch, sample->thread);
	path = path_of(watch, sample);
	if (thread == UINT32_MAX || path == UINT32_MAX)
		return -ENOMEM;
	json_int(json, NULL, (int64_t)(sample->time - watch->last_time));
	json_number(json, NULL, thread);
	json_number(json, NULL, path);
	if (trace_nr_events(watch->trace) > 1)
		json_number(json, NULL, sample->event);
	watch->last_time = sample->time;
	watch->nr++;
	return 0;
}

static bool part_begin(struct part *part)
{
	*part = (struct part){0};
	part->to = open_memstream(&part->text, &part->size);
	part->json.to = part->to;
	return part->to;
}

static void part_free(struct part *part)
{
	if (part->to)
		fclose(part->to);
	free(part->text);
	*part = (struct part){0};
}

static bool part_put(struct part *part, struct json_writer *json, const char *key)
{
	bool whole = !fclose(part->to) && part->text;

	part->to = NULL;
	if (whole && (part->size || key[0] == 's'))
		json_raw(json, key, "[%s]", part->text);
	return whole;
}

static bool parts_begin(struct watch_json *watch)
{
	return part_begin(&watch->new_functions) && part_begin(&watch->new_paths) &&
	       part_begin(&watch->new_threads) && part_begin(&watch->samples);
}

static void parts_free(struct watch_json *watch)
{
	part_free(&watch->new_functions);
	part_free(&watch->new_paths);
	part_free(&watch->new_threads);
	part_free(&watch->samples);
}

static void put_weights(struct json_writer *json, const struct trace *trace)
{
	const struct trace_event *event;

	json_begin_list(json, "weights");
	for (uint32_t i = 0; (event = trace_event(trace, i)); i++)
		json_number(json, NULL, trace_period(event, trace_shift(event)));
	json_end_list(json);
}

static int put_line(struct watch_json *watch, FILE *to, uint64_t left_out, bool anew)
{
	struct json_writer json = {.to = to};
	bool whole;

	json_begin(&json, NULL);
	json_number(&json, "time_ns", watch->until);
	json_number(&json, "left_out", left_out);
	if (anew)
		json_flag(&json, "anew", true);
	put_weights(&json, watch->trace);
	whole = part_put(&watch->new_threads, &json, "threads") &&
	        part_put(&watch->new_functions, &json, "functions") &&
	        part_put(&watch->new_paths, &json, "paths");
	json_number(&json, "first_ns", watch->from);
	json_number(&json, "nr", watch->nr);
	whole = whole && part_put(&watch->samples, &json, "samples");
	json_end(&json);
	fputc('\n', to);
	return whole ? 0 : -ENOMEM;
}

int watch_json_samples(struct watch_json *watch, FILE *to, const struct trace *trace, uint64_t from,
                       uint64_t until, uint64_t left_out)
{
	bool anew = watch->paths.nr > MAX_DEFINED;
	int err = -ENOMEM;

	if (anew)
		forget(watch);
	watch->trace = trace;
	watch->from = watch->last_time = from;
	watch->until = until;
	watch->nr = 0;
	if (parts_begin(watch))
		err = trace_each_sample(trace_walk_new(trace, TRACE_ALL_EVENTS), put_sample, watch);
	if (!err)
		err = put_line(watch, to, left_out, anew);
	parts_free(watch);
	return err;
}

/* --- calls ------------------------------------------------------------------------------------ */

static const char *class_text(const struct region_traits *traits)
{
	switch (traits->type) {
	case REGION_MARKER:
		return "mark";
	case REGION_VALUE:
		return "value";
	default:
		return call_sources[traits->source].calls;
	}
}

static bool is_value(const struct trace *trace, uint32_t region)
{
	return trace_region_traits(trace, region)->type == REGION_VALUE;
}

static uint32_t define_region(struct watch_json *watch, uint32_t region)
{
	struct json_writer *json = &watch->new_functions.json;
	bool is_new;
	uint32_t number = number_of(&watch->regions, region, &is_new);

	if (!is_new || number == UINT32_MAX)
		return number;
	json_begin_list(json, NULL);
	json_number(json, NULL, number);
	json_text(json, NULL, trace_region_name(watch->trace, region));
	json_text(json, NULL, class_text(trace_region_traits(watch->trace, region)));
	json_end_list(json);
	return number;
}

static void put_call(void *arg, const struct call *call)
{
	struct watch_json *watch = arg;
	struct json_writer *json = &watch->samples.json;
	double value;

	json_int(json, NULL, (int64_t)(call->leave - watch->last_time));
	json_number(json, NULL, define_thread(watch, call->thread));
	json_number(json, NULL, define_region(watch, call->region));
	if (call_value(call, &value))
		json_real(json, NULL, value);
	else
		json_number(json, NULL, call->leave - call->enter);
	watch->last_time = call->leave;
	watch->nr++;
}

static void skip_call(void *arg, const struct call *call)
{
	(void)arg;
	(void)call;
}

/* A region's sums over all threads and peers. */
struct region_sum {
	uint64_t calls, time;
	double last;
	uint64_t last_time;
};

static void add_sum(struct region_sum *to, const struct trace_call_sum *sum, bool value)
{
	to->calls += sum->calls;
	if (!value) {
		to->time += sum->time;
	} else if (sum->values.nr && sum->values.last_time >= to->last_time) {
		to->last = sum->values.last;
		to->last_time = sum->values.last_time;
	}
}

static void put_sum(struct watch_json *watch, struct json_writer *json, uint32_t region,
                    const struct region_sum *sum)
{
	json_begin_list(json, NULL);
	json_number(json, NULL, define_region(watch, region));
	json_number(json, NULL, sum->calls);
	if (is_value(watch->trace, region))
		json_real(json, NULL, sum->last);
	else
		json_number(json, NULL, sum->time);
	json_end_list(json);
}

static int put_sums(struct watch_json *watch, struct part *part)
{
	const uint32_t nr = trace_nr(watch->trace, TRACE_REGIONS);
	struct region_sum *sums = calloc(nr + 1, sizeof(*sums));
	const struct trace_call_sum *sum;

	if (!sums)
		return -ENOMEM;
	for (uint32_t i = 0; (sum = trace_call_sum(watch->trace, i)); i++)
		if (sum->region < nr)
			add_sum(&sums[sum->region], sum, is_value(watch->trace, sum->region));
	for (uint32_t region = 0; region < nr; region++)
		if (sums[region].calls)
			put_sum(watch, &part->json, region, &sums[region]);
	free(sums);
	return 0;
}

static int put_calls_line(struct watch_json *watch, FILE *to, uint64_t from, uint64_t left_out)
{
	struct json_writer json = {.to = to};
	bool whole;

	json_begin(&json, NULL);
	json_number(&json, "time_ns", trace_run(watch->trace)->end);
	json_number(&json, "left_out", left_out);
	whole = part_put(&watch->new_threads, &json, "threads") &&
	        part_put(&watch->new_functions, &json, "regions");
	json_number(&json, "first_ns", from);
	json_number(&json, "nr", watch->nr);
	whole = whole && part_put(&watch->samples, &json, "stored") &&
	        part_put(&watch->new_paths, &json, "sums");
	json_end(&json);
	fputc('\n', to);
	return whole ? 0 : -ENOMEM;
}

int watch_json_calls(struct watch_json *watch, FILE *to, const struct trace *trace, bool skip,
                     uint64_t left_out)
{
	const uint64_t from = trace_run(trace)->start;
	int err = -ENOMEM;

	watch->trace = trace;
	watch->last_time = from;
	watch->nr = 0;
	if (parts_begin(watch))
		err = new_calls_each(&watch->calls, trace, skip ? skip_call : put_call, watch);
	if (!err)
		err = put_sums(watch, &watch->new_paths);
	if (!err)
		err = put_calls_line(watch, to, from, left_out);
	parts_free(watch);
	return err;
}

/* --- other lines ------------------------------------------------------------------------------ */

int watch_json_table(FILE *to, const struct trace *trace, const struct view_query *query,
                     uint64_t left_out)
{
	struct json_writer json = {.to = to};
	int err;

	json_begin(&json, NULL);
	json_number(&json, "time_ns", query->selection ? query->selection->to : 0);
	json_number(&json, "left_out", left_out);
	err = report_json_keys(&json, trace, query);
	json_end(&json);
	fputc('\n', to);
	return err;
}

static void put_events(struct json_writer *json, const struct trace *trace)
{
	const struct trace_event *event;

	json_begin_list(json, "events");
	for (uint32_t i = 0; (event = trace_event(trace, i)); i++) {
		json_begin(json, NULL);
		json_text(json, "name", trace_string(trace, event->name));
		json_text(json, "unit", trace_unit_name(event->unit));
		json_end(json);
	}
	json_end_list(json);
}

static void put_fields(struct json_writer *json, const struct trace *trace, bool calls)
{
	static const char *const sample[] = {"after_ns", "thread", "path", "event"},
				 *const call[] = {"after_ns", "thread", "region", "ns_or_value"};

	json_begin_list(json, calls ? "call" : "sample");
	for (unsigned i = 0; i < (calls || trace_nr_events(trace) > 1 ? 4 : 3); i++)
		json_text(json, NULL, calls ? call[i] : sample[i]);
	json_end_list(json);
}

void watch_json_begin(FILE *to, const struct trace *trace, const char *path, bool calls)
{
	const struct trace_run *run = trace_run(trace);
	struct json_writer json = {.to = to};

	json_begin(&json, NULL);
	json_number(&json, "watch", 1);
	json_text(&json, "trace", path);
	json_int(&json, "pid", run->pid);
	json_number(&json, "start_ns", run->start);
	json_number(&json, "real_start_ns", run->real_start);
	put_events(&json, trace);
	put_fields(&json, trace, calls);
	json_end(&json);
	fputc('\n', to);
}

void watch_json_end(FILE *to, const char *state)
{
	struct json_writer json = {.to = to};

	json_begin(&json, NULL);
	json_text(&json, "state", state);
	json_end(&json);
	fputc('\n', to);
}
