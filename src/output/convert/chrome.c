/*
 * The Trace Event Format, which Perfetto and chrome://tracing open: what samples in a row have in
 * common becomes a slice of time.
 *
 *     sample    a stands for the time before it   | t - weight … t |
 *     slice     from the first sample with a call path to the last, as long as no time is missing
 *
 * What the samples of a slice stand for is in its arguments: "self" is the weight of those that
 * were in the function itself, so their sum over all slices of a function is what it took; and what
 * was counted with them stands beside it.
 *
 * A slice begins and ends as many nanoseconds within its thread's outermost one as it is deep.
 * Without that, which of two slices of the same time is the caller would depend on their order.
 *
 * Calls have tracks of their own: their times are exact, and those of samples' slices are not.
 */
#include "output/convert/chrome_calls.h"
#include "output/convert/convert.h"
#include "output/profile/processes.h"
#include "output/views/run_properties.h"
#include "output/convert/spool.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PID_LIMIT (1 << 22) /* of the kernel */

struct slice {
	uint32_t path;
	uint64_t start, self, samples;
	uint64_t counters[COUNTER_MAX];
};

/* They come by track, and what took over another's after it, whatever its place in the table. */
struct track_thread {
	uint64_t track, last_time;
	uint32_t thread;
};

struct chrome {
	struct conversion *conversion;
	const struct trace *trace;
	struct spool *spool;
	const struct paths *paths;  /* the spool's */
	uint32_t *process_of;       /* see processes.h */
	bool *named;                /* by these: whether the process was */
	int32_t *pids;              /* of threads, in the file: no two processes have the same */
	struct track_thread *order; /* of all threads */
	uint64_t track, track_end;  /* whose slices came last, and where they ended */
	struct json_writer json;
	uint32_t *depths, *chain;
	struct slice *open; /* the slices of the thread at hand, outermost first */
	uint32_t nr_open;
	uint64_t until; /* ns: up to where they are open */
	uint64_t start; /* ns: time 0 */
	bool time_event;
	unsigned nr_counters; /* 0, but for the event that they were read with */
	struct iteration_index iterations;
};

static void put_task(struct chrome *chrome, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(chrome->trace, thread);

	json_int(&chrome->json, "pid", chrome->pids[thread]);
	json_int(&chrome->json, "tid", entry ? entry->tid : 0);
}

/* --- slices ----------------------------------------------------------------------------------- */

/* Most slices are of callers alone: with arguments for these a file is a quarter larger. */
static void put_arguments(struct chrome *chrome, const struct slice *slice)
{
	struct json_writer *json = &chrome->json;

	if (!slice->samples)
		return;
	json_begin(json, "args");
	json_number(json, "self", slice->self);
	json_number(json, "samples", slice->samples);
	for (unsigned i = 0; i < chrome->nr_counters; i++)
		json_number(json,
		            trace_string(chrome->trace, trace_counter(chrome->trace, i)->name),
		            slice->counters[i]);
	json_end(json);
}

static void put_slice(struct chrome *chrome, uint32_t thread, uint32_t depth)
{
	const struct slice *slice = &chrome->open[depth];
	uint32_t function = paths_leaf(chrome->paths, slice->path);
	uint64_t start = slice->start + depth, end = chrome->until - depth;
	struct json_writer *json = &chrome->json;
	char text[FRAME_TEXT_SIZE];

	json_break_between(json);
	json_begin(json, NULL);
	json_text(json, "ph", "X");
	put_task(chrome, thread);
	chrome_put_us(json, "ts", start - chrome->start);
	chrome_put_us(json, "dur", end - start);
	json_text(json, "name", paths_function(chrome->paths, function, text));
	json_text(json, "cat",
	          frame_module_text(chrome->trace, paths_name(chrome->paths, function)->frame));
	put_arguments(chrome, slice);
	json_end(json);
}

/* Ends all slices deeper than this. */
static void close_slices(struct chrome *chrome, uint32_t thread, uint32_t depth)
{
	while (chrome->nr_open > depth)
		put_slice(chrome, thread, --chrome->nr_open);
}

/* How many of the open slices a path has, too; its own chain is noted from the root. */
static uint32_t common_depth(struct chrome *chrome, uint32_t path)
{
	uint32_t depth = chrome->depths[path], same = 0;

	for (uint32_t at = depth; path != PATH_NONE; path = paths_caller(chrome->paths, path))
		chrome->chain[--at] = path;
	while (same < depth && same < chrome->nr_open &&
	       chrome->open[same].path == chrome->chain[same])
		same++;
	return same;
}

/*
 * Returns the least length of a slice on this path. A slice begins after and ends before those that
 * enclose it, and its own length must not become 0.
 */
static uint64_t least_length(const struct chrome *chrome, uint32_t path)
{
	return 2 * (uint64_t)chrome->depths[path] + 2;
}

/*
 * A sample at `time` that stands for the `length` before it. When more than that is missing since
 * the last sample the thread did not run.
 */
static void add_sample(struct chrome *chrome, uint32_t thread, const struct spool_sample *sample,
                       uint64_t time, uint64_t length)
{
	uint64_t weight = chrome->spool->rates[sample->rate].weight;
	uint64_t start = time - chrome->start > length ? time - length : chrome->start;
	uint32_t same;

	if (start > chrome->until && time - chrome->until > 2 * length)
		close_slices(chrome, thread, 0);
	else
		start = chrome->until;
	same = common_depth(chrome, sample->path);
	close_slices(chrome, thread, same);
	for (; same < chrome->depths[sample->path]; same++)
		chrome->open[chrome->nr_open++] =
			(struct slice){.path = chrome->chain[same], .start = start};
	chrome->until = time > start + least_length(chrome, sample->path)
	                        ? time
	                        : start + least_length(chrome, sample->path);
	chrome->open[chrome->nr_open - 1].self += weight;
	chrome->open[chrome->nr_open - 1].samples++;
	for (unsigned i = 0; i < chrome->nr_counters; i++)
		chrome->open[chrome->nr_open - 1].counters[i] += spool_counters(chrome->spool)[i];
}

/* Samples of what is counted stand for no time; they are told apart by their usual distance. */
static uint64_t usual_distance(struct chrome *chrome, uint32_t thread)
{
	uint64_t nr = chrome->spool->threads[thread].nr;
	struct spool_sample first;

	spool_open(chrome->spool, thread);
	if (nr < 2 || spool_next(chrome->spool, &first) != 1)
		return 1000;
	return (chrome->spool->threads[thread].last_time - first.time) / (nr - 1) + 1;
}

static uint64_t track_of(const struct chrome *chrome, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(chrome->trace, thread);

	return (uint64_t)(uint32_t)chrome->pids[thread] << 32 | (entry ? (uint32_t)entry->tid : 0);
}

/*
 * No slice begins before its thread, which took over the track of another where it was executed,
 * nor before what there is on that track.
 */
static uint64_t first_start(const struct chrome *chrome, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(chrome->trace, thread);
	uint64_t last_time = chrome->spool->threads[thread].last_time, start = chrome->start;

	if (entry && entry->start > start && entry->start < last_time)
		start = entry->start;
	if (chrome->track == track_of(chrome, thread) && chrome->track_end > start &&
	    chrome->track_end < last_time)
		start = chrome->track_end;
	return start;
}

static int put_thread(struct chrome *chrome, uint32_t thread)
{
	uint64_t distance = chrome->time_event ? 0 : usual_distance(chrome, thread);
	struct spool_sample sample;
	int got, err = 0;

	if (!chrome->spool->threads[thread].nr) /* it has calls */
		return 0;
	chrome->until = first_start(chrome, thread);
	spool_open(chrome->spool, thread);
	while ((got = spool_next(chrome->spool, &sample)) == 1) {
		uint64_t weight = chrome->spool->rates[sample.rate].weight;

		add_sample(chrome, thread, &sample, sample.time, distance ? distance : weight);
		err = convert_step(chrome->conversion);
		if (err)
			return err;
	}
	close_slices(chrome, thread, 0);
	chrome->track = track_of(chrome, thread);
	chrome->track_end = chrome->until;
	return got;
}

/* --- the whole -------------------------------------------------------------------------------- */

static void put_name(struct chrome *chrome, uint32_t thread, const char *what, const char *name)
{
	struct json_writer *json = &chrome->json;

	json_break_between(json);
	json_begin(json, NULL);
	json_text(json, "ph", "M");
	json_text(json, "name", what);
	put_task(chrome, thread);
	json_begin(json, "args");
	json_text(json, "name", name);
	json_end(json);
	json_end(json);
}

/* Names a process with the first of its threads. */
static void put_process_name(struct chrome *chrome, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(chrome->trace, thread);
	uint32_t process = chrome->process_of[thread];
	char text[CONVERT_TEXT_SIZE];
	size_t size;

	if (chrome->named[process])
		return;
	chrome->named[process] = true;
	convert_process_text(chrome->trace, thread, trace_thread(chrome->trace, process)->comm,
	                     text);
	size = strlen(text);
	if (chrome->pids[thread] != entry->pid)
		snprintf(text + size, sizeof(text) - size, ", PID %d", entry->pid);
	put_name(chrome, thread, "process_name", text);
}

static void put_names(struct chrome *chrome, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(chrome->trace, thread);

	if (entry && entry->pid)
		put_process_name(chrome, thread);
	put_name(chrome, thread, "thread_name",
	         trace_command_name(chrome->trace, entry ? entry->comm : 0));
}

/* An instant of the whole run, with one argument. */
static void put_instant(struct chrome *chrome, uint64_t time, const char *name,
                        const char *argument, const char *text)
{
	int32_t pid = trace_run(chrome->trace)->pid;
	struct json_writer *json = &chrome->json;

	json_break_between(json);
	json_begin(json, NULL);
	json_text(json, "ph", "i");
	json_text(json, "s", "g");
	json_int(json, "pid", pid);
	json_int(json, "tid", pid);
	chrome_put_us(json, "ts", time > chrome->start ? time - chrome->start : 0);
	json_text(json, "name", name);
	json_begin(json, "args");
	json_text(json, argument, text);
	json_end(json);
	json_end(json);
}

static void put_actions(struct chrome *chrome)
{
	const struct trace_action *action;

	for (uint32_t i = 0; (action = trace_action(chrome->trace, i)); i++)
		put_instant(chrome, action->time, trace_action_text(chrome->trace, action),
		            "action", trace_string(chrome->trace, action->action));
}

static void put_reductions(struct chrome *chrome)
{
	const struct trace_reduction *reduction;
	char text[CONVERT_TEXT_SIZE];

	for (uint32_t i = 0; (reduction = trace_reduction(chrome->trace, i)); i++) {
		reduction_text(chrome->trace, reduction, text, sizeof(text));
		put_instant(chrome, reduction->time, "Reduction", "since then", text);
	}
}

static int put_property(void *json, const char *name, const char *value)
{
	json_break_between(json);
	json_text(json, name, value);
	return 0;
}

static int put_calls(struct chrome *chrome, uint32_t thread)
{
	const struct trace_thread *entry = trace_thread(chrome->trace, thread);
	struct chrome_track track = {
		.json = &chrome->json,
		.trace = chrome->trace,
		.number = thread,
		.pid = chrome->pids[thread],
		.tid = entry ? entry->tid : 0,
		.start = chrome->start,
	};

	chrome_put_iterations(&track, &chrome->iterations);
	return spool_tell_calls(chrome->spool, thread, chrome_put_call, &track);
}

static int put_all(struct chrome *chrome)
{
	struct json_writer *json = &chrome->json;
	int err;

	json_begin(json, NULL);
	json_text(json, "displayTimeUnit", "ns");
	json_break(json);
	json_begin(json, "otherData");
	err = run_properties(chrome->trace, put_property, json);
	json_end(json);
	json_break(json);
	json_begin_list(json, "traceEvents");
	json_break(json);
	for (uint32_t i = 0; i < chrome->spool->nr_threads && !err; i++) {
		uint32_t thread = chrome->order[i].thread;

		if (!chrome->spool->threads[thread].nr && !chrome->spool->calls->nr[thread])
			continue;
		put_names(chrome, thread);
		err = put_thread(chrome, thread);
		if (!err)
			err = put_calls(chrome, thread);
	}
	put_reductions(chrome);
	put_actions(chrome);
	json_end_list(json);
	json_end(json);
	fputc('\n', json->to);
	return err;
}

/*
 * A process has its PID, unless one of another rank had it before: then a number above all that the
 * kernel gives.
 */
static int find_pid(struct chrome *chrome, struct map64 *owners, struct map64 *others,
                    uint32_t thread)
{
	uint64_t process = convert_process(chrome->trace, thread);
	uint32_t owner = map64_get(owners, (uint32_t)process), number;

	chrome->pids[thread] = (int32_t)(uint32_t)process;
	if (owner == UINT32_MAX)
		return map64_add(owners, (uint32_t)process, thread);
	if (convert_process(chrome->trace, owner) == process)
		return 0;
	number = map64_number(others, process);
	if (number == UINT32_MAX)
		return -ENOMEM;
	chrome->pids[thread] = PID_LIMIT + (int32_t)number;
	return 0;
}

static int find_pids(struct chrome *chrome)
{
	struct map64 owners = {0}, others = {0};
	uint32_t nr = chrome->spool->nr_threads;
	int err = 0;

	chrome->pids = calloc(nr + 1UL, sizeof(*chrome->pids));
	if (!chrome->pids)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && !err; i++)
		err = find_pid(chrome, &owners, &others, i);
	map64_fini(&owners);
	map64_fini(&others);
	return err;
}

static int compare_track_threads(const void *a, const void *b)
{
	const struct track_thread *x = a, *y = b;

	return ORDER(x->track, y->track)
	               ?: ORDER(x->last_time, y->last_time)
	               ?: ORDER(x->thread, y->thread);
}

static int order_threads(struct chrome *chrome)
{
	uint32_t nr = chrome->spool->nr_threads;

	chrome->order = calloc(nr, sizeof(*chrome->order));
	if (!chrome->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		chrome->order[i] = (struct track_thread){track_of(chrome, i),
		                                         chrome->spool->threads[i].last_time, i};
	ARRAY_SORT(chrome->order, nr, compare_track_threads);
	return 0;
}

static int prepare(struct chrome *chrome)
{
	const struct trace_event *event = trace_event(chrome->trace, chrome->conversion->event);
	uint32_t deepest;

	chrome->spool = spool_new(chrome->conversion, PATHS_BY_FUNCTION, chrome->conversion->event);
	if (!chrome->spool)
		return -errno;
	chrome->paths = &chrome->spool->paths;
	chrome->nr_counters = chrome->conversion->event ? 0 : chrome->spool->nr_counters;
	chrome->time_event = event && event->unit == TRACE_NS;
	chrome->start = spool_start(chrome->spool);
	chrome->depths = paths_depths(chrome->paths, &deepest);
	chrome->process_of = processes_find(chrome->trace);
	chrome->named =
		calloc(trace_nr(chrome->trace, TRACE_THREADS) + 1UL, sizeof(*chrome->named));
	if (!chrome->depths || !chrome->process_of || !chrome->named || find_pids(chrome) ||
	    order_threads(chrome))
		return -ENOMEM;
	chrome->chain = calloc((size_t)deepest + 1, sizeof(*chrome->chain));
	chrome->open = calloc((size_t)deepest + 1, sizeof(*chrome->open));
	return chrome->chain && chrome->open ? 0 : -ENOMEM;
}

int chrome_write(struct conversion *conversion, FILE *file)
{
	struct chrome chrome = {
		.conversion = conversion,
		.trace = conversion->trace,
		.json = {.to = file, .in_page = true},
		.track = UINT64_MAX,
	};
	int err;

	convert_plan(conversion, SPOOL_WALKS + 1, conversion->event);
	err = prepare(&chrome);
	if (!err)
		err = iteration_index_init(&chrome.iterations, chrome.trace);
	if (!err)
		err = put_all(&chrome);
	iteration_index_fini(&chrome.iterations);
	spool_free(chrome.spool);
	free(chrome.process_of);
	free(chrome.named);
	free(chrome.pids);
	free(chrome.order);
	free(chrome.depths);
	free(chrome.chain);
	free(chrome.open);
	return err;
}
