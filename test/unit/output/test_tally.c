/* Paths and the weights added up by them, against stacks that are followed one by one. */
#include "trace_world.h"

#include "output/convert/tally.h"
#include "trace_symbols.h"

#define NR_SAMPLES 5000

/* Names that several modules have, functions with holes between them, and strings for sources. */
static const struct named_range ranges[] = {
	{1, 0, 10, "one"},   {1, 10, 30, "two"}, {1, 35, 40, "one"},   {2, 0, 2, "low"},
	{2, 2, 100, "main"}, {3, 5, 60, "two"},  {3, 200, 201, "a.c"}, {3, 201, 202, "inner"},
};

static struct trace *record(struct world *w)
{
	struct trace *trace;

	world_open(w, 256 << 10);
	put_many(w, NR_SAMPLES);
	trace = world_named(w, ranges, sizeof(ranges) / sizeof(*ranges));
	{
		uint32_t a_c = trace_symbol(trace, 6)->name, inner = trace_symbol(trace, 7)->name;
		const struct trace_source sources[] = {
			{.file = a_c, .line = 10},
			{.file = a_c, .line = 11},
			{.function = inner, .file = a_c, .line = 5, .caller = 1},
		};
		static const struct trace_line lines[] = {{1, 0, 1},  {1, 4, 2}, {1, 12, 3},
		                                          {1, 20, 1}, {2, 2, 2}, {2, 50, 3}};

		trace_close(trace);
		assert_true(add_sections(w->path, sources, 3, lines, 6));
	}
	return open_good(w->path);
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Takes the places of one frame off a path; returns its caller's. names: of the functions alone. */
static uint32_t take_frame(struct paths *paths, struct frame_names *names, uint32_t path,
                           uint64_t frame)
{
	struct trace_source sources[TRACE_MAX_CHAIN];
	size_t nr_sources = trace_inline_chain(paths->trace, frame, sources);
	const uint32_t *functions;
	uint32_t nr = frame_names_chain(names, frame, &functions);
	bool lines = paths->names.keys == PATHS_BY_LINE && nr_sources == nr;
	bool address = paths->names.keys == PATHS_BY_ADDRESS;

	for (uint32_t i = 0; i < (address ? 1 : nr); i++) {
		const struct frame_name *name = &paths->names.names[paths_leaf_name(paths, path)];

		path = paths_caller(paths, path);
		if (address) {
			assert_int_equal(name->frame, frame);
			continue;
		}
		assert_int_equal(paths_name(paths, name->function)->symbol,
		                 names->names[functions[nr - 1 - i]].symbol);
		assert_int_equal(name->file, lines ? sources[i].file : 0);
		assert_int_equal(name->line, lines ? sources[i].line : 0);
	}
	return path;
}

static void check_paths(const struct trace *trace, enum path_detail detail)
{
	struct trace_walk *walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	struct trace_sample samples[PATH_BATCH];
	uint32_t found[PATH_BATCH];
	uint64_t frames[MAX_DEPTH + 2];
	struct frame_names names;
	struct paths paths;
	unsigned nr;
	int got = 1;

	assert_int_equal(paths_init(&paths, trace, detail), 0);
	frame_names_init(&names, trace, PATHS_BY_FUNCTION);
	while (got == 1) {
		got = trace_walk_some(walk, samples, NULL, PATH_BATCH, &nr);
		assert_int_equal(paths_find_some(&paths, samples, nr, found), 0);
		for (unsigned i = 0; i < nr; i++) {
			uint32_t path = paths_find(&paths, &samples[i]);
			size_t depth = trace_stack(trace, &samples[i], frames, MAX_DEPTH + 2);

			assert_int_equal(path, found[i]);
			for (size_t f = 0; f < depth; f++)
				path = take_frame(&paths, &names, path, frames[f]);
			assert_int_equal(path, PATH_NONE);
		}
	}
	assert_int_equal(got, 0);
	trace_walk_free(walk);
	frame_names_fini(&names);
	paths_fini(&paths);
}

static void paths_are_those_of_the_stacks(void **state)
{
	struct world w;
	struct trace *trace = record(&w);

	(void)state;
	check_paths(trace, PATHS_BY_FUNCTION);
	check_paths(trace, PATHS_BY_LINE);
	check_paths(trace, PATHS_BY_ADDRESS);
	trace_close(trace);
	world_close(&w);
}

/* --- batches of a walk ------------------------------------------------------------------------ */

static void some_at_a_time_are_all(void **state)
{
	struct world w;
	struct trace *trace = record(&w);
	struct trace_walk *one = trace_walk_new(trace, TRACE_ALL_EVENTS);
	struct trace_walk *some = trace_walk_new(trace, TRACE_ALL_EVENTS);
	struct trace_sample samples[7], sample;
	int got = 1;

	(void)state;
	while (got == 1) {
		unsigned nr;

		got = trace_walk_some(some, samples, NULL, 7, &nr);
		assert_true(got == 0 || nr == 7);
		for (unsigned i = 0; i < nr; i++) {
			assert_int_equal(trace_walk_next(one, &sample), 1);
			assert_int_equal(sample.time, samples[i].time);
			assert_int_equal(sample.leaf, samples[i].leaf);
			assert_int_equal(sample.context, samples[i].context);
		}
	}
	assert_int_equal(got, 0);
	assert_int_equal(trace_walk_next(one, &sample), 0);
	trace_walk_free(one);
	trace_walk_free(some);
	trace_close(trace);
	world_close(&w);
}

/* --- sums ------------------------------------------------------------------------------------- */

struct sums {
	struct map64 by_key;
	uint64_t keys[NR_SAMPLES];
	uint64_t weights[NR_SAMPLES][NR_EVENTS];
	uint32_t most;
};

static uint64_t *sum_of(struct sums *sums, uint32_t path, uint32_t thread)
{
	uint64_t key = (uint64_t)path << 32 | thread;
	uint32_t number = map64_get(&sums->by_key, key);

	if (number == UINT32_MAX) {
		number = sums->by_key.nr;
		assert_true(number < NR_SAMPLES);
		sums->keys[number] = key;
		assert_int_equal(map64_add(&sums->by_key, key, number), 0);
	}
	return sums->weights[number];
}

static int add_part(void *arg, const struct tally *tally)
{
	struct sums *sums = arg;

	for (uint32_t i = 0; i < tally->nr; i++)
		for (unsigned e = 0; e < NR_EVENTS; e++)
			sum_of(sums, tally->entries[i].path, tally->entries[i].thread)[e] +=
				tally_weights(tally, i)[e];
	if (tally->nr > sums->most)
		sums->most = tally->nr;
	return 0;
}

/* Adds every sample by itself. */
static void add_singly(struct sums *sums, const struct trace *trace, bool by_thread)
{
	struct trace_walk *walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	struct trace_sample sample;
	struct paths paths;

	assert_int_equal(paths_init(&paths, trace, PATHS_BY_FUNCTION), 0);
	while (trace_walk_next(walk, &sample) == 1)
		sum_of(sums, paths_find(&paths, &sample),
		       by_thread ? sample.thread : 0)[sample.event] += sample.weight;
	trace_walk_free(walk);
	paths_fini(&paths);
}

/* many: 0: in one piece. */
static void check_sums(const struct trace *trace, bool by_thread, uint32_t many)
{
	struct sums *wanted = calloc(1, sizeof(*wanted)), *got = calloc(1, sizeof(*got));
	const struct tally_config config = {
		.by_thread = by_thread, .many = many, .full = many ? add_part : NULL, .arg = got};
	struct conversion conversion = {.trace = trace};
	struct paths paths;
	struct tally tally;

	assert_int_equal(paths_init(&paths, trace, PATHS_BY_FUNCTION), 0);
	assert_int_equal(tally_init(&tally, &conversion, &paths, &config), 0);
	if (!many)
		add_part(got, &tally);
	add_singly(wanted, trace, by_thread);
	assert_int_equal(got->by_key.nr, wanted->by_key.nr);
	assert_int_equal(got->most, many && many < wanted->by_key.nr ? many : wanted->by_key.nr);
	for (uint32_t i = 0; i < wanted->by_key.nr; i++)
		assert_memory_equal(
			sum_of(got, (uint32_t)(wanted->keys[i] >> 32), (uint32_t)wanted->keys[i]),
			wanted->weights[i], sizeof(*wanted->weights));
	tally_fini(&tally);
	paths_fini(&paths);
	map64_fini(&wanted->by_key);
	map64_fini(&got->by_key);
	free(wanted);
	free(got);
}

static void sums_are_those_of_the_samples(void **state)
{
	struct world w;
	struct trace *trace = record(&w);

	(void)state;
	check_sums(trace, false, 0);
	check_sums(trace, true, 0);
	for (uint32_t many = 1; many < 200; many += 33)
		check_sums(trace, true, many);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_those_of_the_stacks),
		cmocka_unit_test(some_at_a_time_are_all),
		cmocka_unit_test(sums_are_those_of_the_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
