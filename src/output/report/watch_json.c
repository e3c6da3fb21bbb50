#include "output/report/watch_json.h"

#include "base/map64.h"
#include "hmb/arena.h"
#include "hmb/limits.h"
#include "output/profile/frame_names.h"
#include "output/text/json_writer.h"
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
	uint64_t last_time;
	/* The lists of the present line: definitions, and samples. */
	struct part {
		char *text;
		size_t size;
		FILE *to;
		struct json_writer json;
	} new_functions, new_paths, new_threads, samples;
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
	watch->functions = watch->paths = watch->threads = (struct map64){0};
}

void watch_json_free(struct watch_json *watch)
{
	if (watch)
		forget(watch);
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

void watch_json_begin(FILE *to, const struct trace *trace, const char *path)
{
	static const char *const fields[] = {"after_ns", "thread", "path", "event"};
	const struct trace_run *run = trace_run(trace);
	struct json_writer json = {.to = to};

	json_begin(&json, NULL);
	json_number(&json, "watch", 1);
	json_text(&json, "trace", path);
	json_int(&json, "pid", run->pid);
	json_number(&json, "start_ns", run->start);
	json_number(&json, "real_start_ns", run->real_start);
	put_events(&json, trace);
	json_begin_list(&json, "sample");
	for (unsigned i = 0; i < (trace_nr_events(trace) > 1 ? 4 : 3); i++)
		json_text(&json, NULL, fields[i]);
	json_end_list(&json);
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
