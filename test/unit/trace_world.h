/* A synthetic run: random samples put into a real buffer with real tables, for tests of traces. */
#ifndef TEST_TRACE_WORLD_H
#define TEST_TRACE_WORLD_H

#include <unistd.h>

#include "trace/trace_file.h"
#include "trace/write/trace_write.h"
#include "random.h"
#include "tables_folder.h"
#include "trace_symbols.h"

enum { MAX_DEPTH = 30, NR_EVENTS = 2, NR_CPUS = 3, TIME_SHIFT = 6 };

static const uint64_t base_periods[NR_EVENTS] = {97081, 1009};

/* A file that was mapped again under another number, as after an update. */
static const char *const module_paths[] = {"[unknown]", "/usr/lib/libx.so", "/opt/app",
                                           "/usr/lib/libx.so"};

struct kept {
	struct hmb_sample sample;
	uint64_t path[MAX_DEPTH];
};

/* A run that is recorded, and everything that was put into it. */
struct world {
	char folder[64], path[96];
	struct tables *tables;
	struct hmb *hmb;
	struct kept *all;
	size_t nr, room;
	uint64_t seed;
};

static inline uint64_t rnd(struct world *w, uint64_t below)
{
	return random_below(&w->seed, below);
}

static inline void describe(struct world *w)
{
	struct tables *t = w->tables;
	struct trace_run *run = tables_run(t);

	run->command = tables_string(t, "./app\x1f-x\x1f\x1b[31m");
	run->start = 1000;
	run->nr_cpus = NR_CPUS;
	run->stacks = TRACE_STACKS_DWARF;
	for (uint32_t k = 0; k < NR_EVENTS; k++) {
		struct trace_event *event = tables_add_event(t);

		event->name = tables_string(t, k ? "page-faults" : "cpu-clock");
		event->base_period = base_periods[k];
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
			*tables_add_stream(t) = (struct trace_stream){
				.event = k, .cpu = cpu, .base_period = base_periods[k] + cpu};
	}
	for (uint16_t i = 0; i < 4; i++)
		tables_module(t, i)->path = tables_string(t, module_paths[i]);
	for (int i = 0; i < 6; i++)
		tables_add_thread(t, 100, 100 + i, tables_string(t, i % 2 ? "app" : "sh"), 0);
	tables_command(t, tables_string(t, "app"))->tasks = 6;
}

static inline void world_make_tables(struct world *w, size_t budget)
{
	*w = (struct world){.seed = 7};
	w->tables = tables_in_folder(w->folder, budget);
	snprintf(w->path, sizeof(w->path), "%s/x.atr", w->folder);
}

/* Of the tables' budget. */
static inline void world_make_buffer(struct world *w, struct hmb_config config)
{
	config.size = tables_budget(w->tables);
	config.memory = tables_arena(w->tables);
	config.ledger = tables_ledger(w->tables);
	config.truncated_frame = 1;
	w->hmb = hmb_new(&config);
	assert_non_null(w->hmb);
}

static inline void world_open_deep(struct world *w, size_t budget, unsigned max_path)
{
	world_make_tables(w, budget);
	describe(w);
	world_make_buffer(w, (struct hmb_config){.nr_kinds = NR_EVENTS,
	                                         .max_path = max_path,
	                                         .kinds = {{.time_shift = TIME_SHIFT},
	                                                   {.time_shift = TIME_SHIFT}}});
}

static inline void world_open(struct world *w, size_t budget)
{
	world_open_deep(w, budget, MAX_DEPTH);
}

static inline void world_close(struct world *w)
{
	char old[128];

	snprintf(old, sizeof(old), "%s.old", w->path);
	unlink(old);
	unlink(w->path);
	assert_int_equal(rmdir(w->folder), 0); /* nothing else is left in it */
	hmb_free(w->hmb);
	tables_free(w->tables);
	free(w->all);
}

/* One behind all others in time; nothing of it is kept. */
static inline void put_next(struct world *w, struct hmb_sample sample)
{
	sample.time = (1000 + w->nr++ * 300) << TIME_SHIFT;
	hmb_put(w->hmb, &sample);
}

static inline void put(struct world *w)
{
	struct kept *k;

	if (w->nr == w->room) {
		w->room = w->room ? 2 * w->room : 256;
		w->all = realloc(w->all, w->room * sizeof(*w->all));
	}
	k = &w->all[w->nr];
	k->sample = (struct hmb_sample){
		.kind = rnd(w, 4) == 0,
		.time = (1000 + w->nr * 300) << TIME_SHIFT,
		.thread = (uint32_t)rnd(w, 6),
		.cpu = (uint32_t)rnd(w, NR_CPUS),
		.leaf = (1 + rnd(w, 3)) << 32 | rnd(w, 50),
		.path_size = (unsigned)rnd(w, MAX_DEPTH),
		.level = lambda(rnd(w, 1 << 20)),
		.step = 97081,
	};
	for (unsigned i = 0; i < k->sample.path_size; i++)
		k->path[i] = (uint64_t)2 << 32 | (rnd(w, 3) + i * 16);
	k->sample.path = k->path;
	hmb_put(w->hmb, &k->sample);
	w->nr++;
}

static inline void put_many(struct world *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put(w);
	/* Paths were pointed to before the array moved. */
	for (size_t i = 0; i < w->nr; i++)
		w->all[i].sample.path = w->all[i].path;
}

static inline bool survived(const struct world *w, const struct kept *k)
{
	return k->sample.level >= hmb_floor(w->hmb, k->sample.kind);
}

static inline struct trace *open_good(const char *path)
{
	char why[TRACE_WHY_SIZE];
	struct trace *trace = trace_open(path, why);

	if (!trace)
		fail_msg("%s", why);
	assert_string_equal(why, "");
	return trace;
}

/* All so far, as a trace. */
static inline struct trace *world_written(const struct world *w)
{
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	return open_good(w->path);
}

static inline struct trace *world_named(const struct world *w, const struct named_range *ranges,
                                        size_t nr)
{
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	assert_true(name_ranges(w->path, ranges, nr));
	return open_good(w->path);
}

/* Every bin of a trace says that it has a record more than there is. */
static inline void announce_more(const char *path)
{
	struct changed_trace changed;
	struct trace *trace = open_good(path);
	const struct section *bins = &trace->sections[TRACE_BINS];
	size_t size = (size_t)bins->nr * bins->entry_size;
	unsigned char *copy = malloc(size);

	memcpy(copy, bins->at, size);
	trace_close(trace);
	for (size_t at = 0; at < size; at += bin_size((void *)(copy + at)))
		((struct bin *)(void *)(copy + at))->nr_records++;
	assert_true(change_begin(&changed, path));
	change_section(&changed, TRACE_BINS, copy, size);
	assert_true(change_end(&changed));
	free(copy);
}

/* What the kernel counted of a command. */
static inline struct trace_command *set_exact(const struct world *w, const char *comm,
                                              uint64_t exact)
{
	struct trace_command *command = tables_command(w->tables, tables_string(w->tables, comm));

	command->exact = exact;
	command->flags = TRACE_THREAD_EXACT;
	return command;
}

#endif
