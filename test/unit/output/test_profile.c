#include "trace_world.h"

#include <math.h>

#include "output/views/subset_rows.h"
#include "output/profile/profile_build.h"

/* --- names for a trace ------------------------------------------------------------------------ */

enum { FUNCTION_SIZE = 20, NR_FUNCTIONS = 25 };

static const char *function_name(uint32_t module, uint32_t number)
{
	static char name[32];

	if (number % 5 == 4)
		return ""; /* bounds alone */
	sprintf(name, "f%u%s", number % 7, module == 2 ? "_app" : "");
	return name;
}

/* Gives the file symbols: two in three functions of every module have one. */
static void add_symbols(const char *path)
{
	struct named_range ranges[3 * NR_FUNCTIONS];
	static char names[3 * NR_FUNCTIONS][32];
	size_t nr = 0;

	for (uint32_t m = 1; m < 4; m++) {
		for (uint32_t f = 0; f < NR_FUNCTIONS; f++) {
			if (f % 3 == 2)
				continue;
			strcpy(names[nr], function_name(m, f));
			ranges[nr] = (struct named_range){m, f * FUNCTION_SIZE,
			                                  (f + 1) * FUNCTION_SIZE, names[nr]};
			nr++;
		}
	}
	assert_true(name_ranges(path, ranges, nr));
}

/* --- the oracle: every row from its definition ------------------------------------------------ */

enum { MAX_ROWS = 4000, MAX_FRAMES = MAX_DEPTH + 2 };

struct seen {
	struct trace_sample sample;
	uint64_t frames[MAX_FRAMES];
	size_t depth;
	char self[128];
};

struct oracle {
	const struct trace *trace;
	unsigned keys;
	struct seen *seen;
	size_t nr;
};

static void frame_text(const struct oracle *o, uint64_t frame, char *text)
{
	const char *path = module_paths[frame >> 32];
	uint32_t number = (uint32_t)frame / FUNCTION_SIZE;
	const char *name = function_name((uint32_t)(frame >> 32), number);
	bool symbol = number % 3 != 2 && number < NR_FUNCTIONS;

	*text = 0;
	if (o->keys & PROFILE_BY_SYMBOL) {
		if (!(frame >> 32))
			text += sprintf(text, "special %u", (unsigned)frame);
		else if (symbol && *name)
			text += sprintf(text, "%s", name);
		else if (symbol) /* nameless ones of two numbers stay apart */
			text += sprintf(text, "%s:%u bounds %x", path, (unsigned)(frame >> 32),
			                number * FUNCTION_SIZE);
		else
			text += sprintf(text, "%s:%u %x", path, (unsigned)(frame >> 32),
			                (uint32_t)frame);
	}
	if (o->keys & PROFILE_BY_MODULE)
		sprintf(text, " in %s", frame >> 32 ? path : frame & 1 ? "[t]" : "[u]");
}

static void subset_text(const struct oracle *o, const struct trace_sample *s, char *text)
{
	*text = 0;
	if (o->keys & PROFILE_BY_THREAD)
		text += sprintf(text, " thread %u", s->thread);
	if (o->keys & PROFILE_BY_PROCESS) /* all threads are of one, and its main one is 0 */
		text += sprintf(text, " process 0");
	if (o->keys & PROFILE_BY_COMM)
		text += sprintf(text, " comm %s", s->thread % 2 ? "app" : "sh");
	if (o->keys & PROFILE_BY_CPU)
		sprintf(text, " cpu %u", s->cpu);
}

static void row_text(const struct oracle *o, const struct trace_sample *s, uint64_t frame,
                     char *text)
{
	frame_text(o, frame, text);
	subset_text(o, s, text + strlen(text));
}

static void oracle_open(struct oracle *o, const struct trace *trace,
                        const struct profile_config *config)
{
	struct trace_walk *walk = trace_walk_new(trace, config->event);
	struct trace_sample sample;

	*o = (struct oracle){.trace = trace, .keys = config->keys};
	o->seen = calloc(40000, sizeof(*o->seen));
	while (trace_walk_next(walk, &sample) == 1) {
		struct seen *seen = &o->seen[o->nr];

		if (!selection_has(config->selection, &sample))
			continue;
		seen->sample = sample;
		seen->depth = trace_stack(trace, &sample, seen->frames, MAX_FRAMES);
		row_text(o, &sample, seen->frames[0], seen->self);
		assert_true(++o->nr < 40000);
	}
	trace_walk_free(walk);
}

static uint64_t oracle_total(const struct oracle *o, const char *row)
{
	uint64_t total = 0;
	char text[128];

	for (size_t i = 0; i < o->nr; i++) {
		const struct seen *seen = &o->seen[i];
		size_t f = 0;

		for (; f < seen->depth; f++) {
			row_text(o, &seen->sample, seen->frames[f], text);
			if (!strcmp(text, row))
				break;
		}
		total += f < seen->depth ? seen->sample.weight : 0;
	}
	return total;
}

/* The formula of error_bars.h, word by word, but for its first w². */
static double oracle_steps(const struct oracle *o, const char *row, bool by_cpu)
{
	double variance = 0;

	for (uint32_t stream = 0; stream < 100; stream++) {
		double last = 0;

		for (size_t i = 0; i < o->nr; i++) {
			const struct trace_sample *s = &o->seen[i].sample;
			double now = strcmp(o->seen[i].self, row) ? 0 : (double)s->weight;

			if ((by_cpu ? s->cpu : s->thread) != stream)
				continue;
			variance += (now - last) * (now - last) / 2;
			last = now;
		}
		variance += last * last / 2;
	}
	return variance;
}

static double oracle_variance(const struct oracle *o, const char *row)
{
	double by_cpu = oracle_steps(o, row, true), by_thread = oracle_steps(o, row, false), w = 0;

	for (size_t i = 0; i < o->nr; i++)
		w = fmax(w, (double)o->seen[i].sample.weight);
	if (trace_run(o->trace)->flags & TRACE_RUN_CGROUP)
		return by_cpu + w * w;
	return fmax(by_cpu, by_thread) + w * w;
}

static void profile_row_text(const struct oracle *o, const struct profile *profile,
                             const struct profile_row *row, char *text)
{
	const struct profile_subset *subset = &profile->subsets[row->subset];
	struct trace_sample sample = {.thread = subset->thread, .cpu = subset->cpu};

	assert_int_equal(subset->process, o->keys & PROFILE_BY_PROCESS ? 0 : PROFILE_NONE);
	if (o->keys & PROFILE_BY_COMM && !(o->keys & PROFILE_BY_THREAD))
		sample.thread = !strcmp(trace_string(o->trace, subset->comm), "app");
	row_text(o, &sample, profile->names.names[row->name].frame, text);
}

static void check_row(const struct oracle *o, const struct profile *profile,
                      const struct profile_row *row)
{
	uint64_t self = 0, samples = 0;
	char text[128];

	profile_row_text(o, profile, row, text);
	for (size_t i = 0; i < o->nr; i++) {
		if (strcmp(o->seen[i].self, text) != 0)
			continue;
		self += o->seen[i].sample.weight;
		samples++;
	}
	assert_int_equal(row->self, self);
	assert_int_equal(row->samples, samples);
	if (samples)
		assert_true(fabs(row->variance / oracle_variance(o, text) - 1) < 1e-9);
	else
		assert_true(row->variance == 0);
}

/* What was spent in and below the functions of a subset; rows of their own come into it once. */
static void check_subset(const struct oracle *o, const struct profile *profile,
                         const struct subset_rows *rows, uint32_t subset)
{
	uint32_t own = 0, expected = 0;
	char text[128];

	for (uint32_t i = 0; i < rows->nr; i++) {
		const struct subset_row *row = &rows->rows[i];

		assert_int_equal(row->subset, subset);
		assert_true(!i || rows->rows[i - 1].order < row->order);
		profile_row_text(o, profile, &(struct profile_row){subset, row->name, 0, 0, 0, {0}},
		                 text);
		assert_int_equal(row->total, oracle_total(o, text));
		own += row->row != PROFILE_NONE;
	}
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		expected += profile->rows[i].subset == subset && profile->rows[i].samples;
	assert_int_equal(own, expected);
}

static void check_trees(const struct oracle *o, const struct profile *profile)
{
	uint64_t nodes = 0, roots = 0, weight = 0;
	struct profile_trees trees;
	struct subset_rows rows;

	for (size_t i = 0; i < o->nr; i++)
		weight += o->seen[i].sample.weight;
	assert_int_equal(profile_trees_init(&trees, profile), 0);
	assert_int_equal(subset_rows_init(&rows, &trees), 0);
	for (uint32_t c = 0; c < profile->nr_subsets; c++) {
		assert_int_equal(profile_trees_make(&trees, c), 0);
		assert_int_equal(subset_rows_make(&rows, c), 0);
		check_subset(o, profile, &rows, c);
		for (uint32_t i = 0; i < trees.nr; i++)
			nodes += trees.self[i];
		assert_int_equal(trees.nodes[0].total, profile->subsets[c].weight);
		roots += trees.nodes[0].total;
		if (!(o->keys & PROFILE_NAME_KEYS))
			assert_int_equal(trees.nr, 2);
	}
	subset_rows_fini(&rows);
	profile_trees_fini(&trees);
	assert_int_equal(nodes, weight);
	assert_int_equal(roots, weight);
}

static void check_sums(const struct oracle *o, const struct profile *profile)
{
	uint64_t rows = 0, weight = 0;

	for (size_t i = 0; i < o->nr; i++)
		weight += o->seen[i].sample.weight;
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		rows += profile->rows[i].self;
	assert_int_equal(profile->samples, o->nr);
	assert_int_equal(profile->sampled, weight);
	assert_int_equal(profile->total, weight);
	assert_int_equal(rows, weight);
}

static void compare(const struct trace *trace, const struct profile_config *config)
{
	struct profile *profile = profile_new(trace, config);
	struct oracle o;

	assert_non_null(profile);
	oracle_open(&o, trace, config);
	check_sums(&o, profile);
	check_trees(&o, profile);
	for (uint32_t i = 0; i < profile->nr_rows; i++)
		check_row(&o, profile, &profile->rows[i]);
	free(o.seen);
	profile_free(profile);
}

static struct trace *written(struct world *w, size_t nr, uint32_t flags, uint32_t more_symbols)
{
	put_many(w, nr);
	tables_run(w->tables)->flags = flags;
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	if (more_symbols)
		add_symbols(w->path);
	return open_good(w->path);
}

static void rows_are_what_they_mean(void **state)
{
	static const unsigned keys[] = {
		PROFILE_BY_SYMBOL | PROFILE_BY_MODULE,
		PROFILE_BY_SYMBOL,
		PROFILE_BY_MODULE,
		PROFILE_BY_THREAD,
		PROFILE_BY_COMM | PROFILE_BY_SYMBOL,
		PROFILE_BY_PROCESS | PROFILE_BY_SYMBOL,
		PROFILE_BY_PROCESS | PROFILE_BY_COMM | PROFILE_BY_CPU,
		PROFILE_BY_CPU | PROFILE_BY_MODULE | PROFILE_BY_THREAD,
		0,
	};
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	trace = written(&w, 3000, TRACE_RUN_CGROUP, true);
	for (unsigned i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		compare(trace, &(struct profile_config){.keys = keys[i]});
	trace_close(trace);
	world_close(&w);
}

/* With those that only called. */
static uint32_t nr_subset_rows(const struct profile *profile)
{
	struct profile_trees trees;
	struct subset_rows rows;
	uint32_t nr = 0;

	assert_int_equal(profile_trees_init(&trees, profile), 0);
	assert_int_equal(subset_rows_init(&rows, &trees), 0);
	for (uint32_t i = 0; i < profile->nr_subsets; i++) {
		assert_int_equal(profile_trees_make(&trees, i), 0);
		assert_int_equal(subset_rows_make(&rows, i), 0);
		nr += rows.nr;
	}
	subset_rows_fini(&rows);
	profile_trees_fini(&trees);
	return nr;
}

/* The rows of what was sampled itself say the same, and no tree is made for them. */
static void self_needs_no_call_paths(void **state)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL | PROFILE_BY_COMM};
	struct profile *all, *alone;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	trace = written(&w, 3000, TRACE_RUN_CGROUP, true);
	all = profile_new(trace, &config);
	config.self_alone = true;
	alone = profile_new(trace, &config);
	assert_non_null(all);
	assert_non_null(alone);
	assert_int_equal(alone->nr_rows, all->nr_rows);
	assert_int_equal(nr_subset_rows(alone), alone->nr_rows);
	assert_true(nr_subset_rows(all) > all->nr_rows);
	assert_int_equal(alone->nr_nodes, alone->names.nr + 1);
	assert_int_equal(alone->total, all->total);
	profile_free(all);
	profile_free(alone);
	trace_close(trace);
	world_close(&w);
}

static void streams_are_threads_without_a_cgroup(void **state)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	trace = written(&w, 2000, 0, true);
	compare(trace, &config);
	config.event = 1;
	compare(trace, &config);
	config.event = 7;
	compare(trace, &config);
	trace_close(trace);
	world_close(&w);
}

static void parts_of_the_run(void **state)
{
	struct selection selection = {0};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL | PROFILE_BY_MODULE,
	                                .selection = &selection};
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	trace = written(&w, 1500, TRACE_RUN_CGROUP, true);
	selection.from = w.all[400].sample.time;
	selection.to = w.all[900].sample.time;
	compare(trace, &config);
	selection.to = selection.from;
	compare(trace, &config);
	trace_close(trace);
	world_close(&w);
}

/* --- error bars ------------------------------------------------------------------------------- */

static void put_one(struct world *w, uint32_t leaf, unsigned level, uint32_t cpu)
{
	struct hmb_sample sample = {
		.time = (uint64_t)(1000 + w->nr++) << TIME_SHIFT,
		.step = 97081,
		.cpu = cpu,
		.leaf = frame_make(2, leaf),
		.level = level,
	};

	hmb_put(w->hmb, &sample);
}

/* The proof's example: with one weight the variance counts runs. */
static void uniform_weights_count_runs(void **state)
{
	static const char *const order = "aabbbaba"; /* a: 3 runs, b: 2 */
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct profile *profile;
	struct trace *trace;
	struct world w;
	double square = (double)base_periods[0] * (double)base_periods[0];

	(void)state;
	world_open(&w, 64 << 10);
	for (const char *c = order; *c; c++)
		put_one(&w, (uint32_t)*c, 0, 0);
	w.nr = 0;
	trace = written(&w, 0, TRACE_RUN_CGROUP, false);
	profile = profile_new(trace, &config);
	assert_int_equal(profile->nr_rows, 2);
	assert_true(fabs(profile->rows[0].variance / square - 4) < 1e-9);
	assert_true(fabs(profile->rows[1].variance / square - 3) < 1e-9);
	assert_true(fabs(profile_error(&profile->rows[1]) / (double)base_periods[0] -
	                 1.96 * sqrt(3)) < 1e-6);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/*
 * Two threads that take turns on a CPU may pass on what is left of a period where their events are
 * inherited, so that each turn is a run; two of one function do not make it uncertain.
 */
static void turns_of_threads_are_runs(void **state)
{
	static const struct {
		unsigned keys;
		double runs;
	} cases[] = {{PROFILE_BY_THREAD, 4}, {PROFILE_BY_SYMBOL, 2}};
	const double square = (double)base_periods[0] * (double)base_periods[0];
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	for (unsigned n = 0; n < 16; n++)
		put_next(&w, (struct hmb_sample){.thread = n / 2 % 2, .leaf = frame_make(2, 5)});
	w.nr = 0;
	trace = written(&w, 0, 0, false);
	for (unsigned i = 0; i < 2; i++) {
		struct profile_config config = {.keys = cases[i].keys};
		struct profile *profile = profile_new(trace, &config);

		assert_true(fabs(profile->rows[0].variance / square - 1 - cases[i].runs) < 1e-9);
		profile_free(profile);
	}
	trace_close(trace);
	world_close(&w);
}

/* Four samples in a row, so many periods apart: in a run of threads' own streams. */
static struct trace *one_function(struct world *w, const char *event, unsigned apart,
                                  uint64_t exact)
{
	world_open(w, 64 << 10);
	for (unsigned n = 0; n < 4; n++)
		hmb_put(w->hmb, &(struct hmb_sample){.time = (1 + n * apart) * base_periods[0],
		                                     .step = base_periods[0],
		                                     .leaf = frame_make(2, 5)});
	tables_event(w->tables, 0)->name = tables_string(w->tables, event);
	tables_event(w->tables, 0)->exact = exact * base_periods[0];
	if (exact)
		set_exact(w, "sh", exact * base_periods[0]);
	return written(w, 0, 0, false);
}

/*
 * A tick in the kernel leaves nothing behind but a gap, where the kernel was not sampled: it ends a
 * run as a sample of another function would. There are no more such ticks than are missing in all.
 */
static void gaps_of_one_side_end_runs(void **state)
{
	static const struct {
		const char *event;
		unsigned apart, exact;
		double runs, of_rest;
	} cases[] = {
		{"cpu-clock:u", 1, 0, 1, 0}, {"cpu-clock:u", 2, 0, 4, 0},
		{"cpu-clock:u", 2, 8, 4, 4}, {"cpu-clock:k", 2, 8, 4, 0},
		{"cpu-clock:u", 9, 6, 3, 3}, {"cpu-clock:u", 9, 4, 1, 0},
		{"cpu-clock", 2, 0, 1, 0},
	};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	const double square = (double)base_periods[0] * (double)base_periods[0];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct world w;
		struct trace *trace =
			one_function(&w, cases[i].event, cases[i].apart, cases[i].exact);
		struct profile *profile = profile_new(trace, &config);
		double variance = 0;

		for (uint32_t u = 0; u < profile->nr_unsampled; u++)
			variance = profile->rows[profile->unsampled[u].row].variance;
		assert_true(fabs(profile->rows[0].variance / square - 1 - cases[i].runs) < 1e-9);
		assert_true(cases[i].of_rest == 0 ||
		            fabs(variance / square - 1 - cases[i].of_rest) < 1e-9);
		profile_free(profile);
		trace_close(trace);
		world_close(&w);
	}
}

/* --- lockstep --------------------------------------------------------------------------------- */

static unsigned rows_in_lockstep(struct world *w)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct trace *trace = (w->nr = 0, written(w, 0, TRACE_RUN_CGROUP, false));
	struct profile *profile = profile_new(trace, &config);
	unsigned nr = 0;

	for (uint32_t i = 0; i < profile->nr_rows; i++)
		nr += profile_in_lockstep(profile, &profile->rows[i]);
	profile_free(profile);
	trace_close(trace);
	return nr;
}

static void lockstep_is_noticed(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 1 << 20);
	/* Every second sample, and so all of level 0, meets the same function. */
	for (unsigned n = 1; n <= 4000; n++)
		put_one(&w, n % 2 ? 1 : 2, lambda(n), 0);
	assert_int_equal(rows_in_lockstep(&w), 2);
	world_close(&w);
	/* It meets it twice as often as the others. */
	world_open(&w, 1 << 20);
	for (unsigned n = 1; n <= 4000; n++)
		put_one(&w, rnd(&w, 100) < (n % 2 ? 30 : 15), lambda(n), 0);
	assert_int_equal(rows_in_lockstep(&w), 2);
	world_close(&w);
}

static void chance_and_phases_are_no_lockstep(void **state)
{
	struct world w;

	(void)state;
	for (unsigned run = 0; run < 60; run++) {
		world_open(&w, 1 << 20);
		w.seed = run;
		for (unsigned n = 1; n <= 4000; n++) {
			uint32_t chance = rnd(&w, 10) < 3, phase = n / 37 % 5 == 0;

			put_one(&w, run % 2 ? chance : phase, lambda(n), 0);
		}
		assert_int_equal(rows_in_lockstep(&w), 0);
		world_close(&w);
	}
}

/* CPUs are sampled at the same instants, and number their samples from different starts. */
static void put_tick(struct world *w, unsigned tick, uint32_t leaf)
{
	for (uint32_t cpu = 0; cpu < 16; cpu++) {
		struct hmb_sample sample = {
			.time = tick * base_periods[0],
			.step = 97081,
			.cpu = cpu,
			.leaf = frame_make(2, leaf),
			.level = lambda(tick + cpu),
		};

		hmb_put(w->hmb, &sample);
	}
}

/* Every second instant meets the same function, at which half of the CPUs are on a high level. */
static void lockstep_of_all_cpus_is_noticed(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 1 << 20);
	for (unsigned tick = 1; tick <= 1000; tick++)
		put_tick(&w, tick, tick % 2 ? 1 : 2);
	assert_int_equal(rows_in_lockstep(&w), 0);
	tables_run(w.tables)->grid = base_periods[0];
	assert_int_equal(rows_in_lockstep(&w), 2);
	world_close(&w);
}

/* Where all CPUs do the same at a time, chance has as many turns as there are instants. */
static void cpus_that_work_together_are_no_lockstep(void **state)
{
	struct world w;

	(void)state;
	for (unsigned run = 0; run < 20; run++) {
		world_open(&w, 1 << 20);
		w.seed = run;
		for (unsigned tick = 1; tick <= 1000; tick++)
			put_tick(&w, tick, rnd(&w, 10) < 3);
		tables_run(w.tables)->grid = base_periods[0];
		assert_int_equal(rows_in_lockstep(&w), 0);
		world_close(&w);
	}
}

/* Each threshold, from both sides: of chance, of distance, of shares and of what is expected. */
static void evidence_is_weighed(void **state)
{
	static const struct {
		uint32_t all[3], in_row[3];
		bool lockstep;
	} rows[] = {
		{{1000, 1000}, {371, 229}, true},
		{{1000, 1000}, {370, 230}, false},
		{{1000, 1000}, {340, 260}, false},
		{{1000, 1000, 1000}, {372, 300, 228}, true},
		{{1000, 1000, 1000}, {371, 300, 229}, false},
		{{100000, 100000}, {33100, 26900}, true},
		{{100000, 100000}, {32900, 27100}, false},
		{{1000000, 10000}, {10000, 1000}, true},
		{{1000000, 10000}, {5000, 1000}, false},
		{{1000, 34}, {300, 34}, true},
		{{1000, 30}, {300, 30}, false},
		{{1000, 50}, {800, 0}, true},
		{{1000, 40}, {800, 0}, false},
		{{1000}, {1000}, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct profile_row row = {0};
		struct profile profile = {.rows = &row};

		for (unsigned b = 0; b < 3; b++) {
			profile.buckets[b] = rows[i].all[b];
			profile.samples += rows[i].all[b];
			for (uint32_t n = 0; n < rows[i].in_row[b]; n++)
				if (!++row.buckets[b])
					assert_int_equal(profile_carry(&profile, 0, b), 0);
			row.samples += rows[i].in_row[b];
		}
		if (profile_in_lockstep(&profile, &row) != rows[i].lockstep)
			fail_msg("row %u", i);
		row.name = PROFILE_NONE;
		assert_false(profile_in_lockstep(&profile, &row));
		row.name = 0;
		profile.has_all = true;
		assert_false(profile_in_lockstep(&profile, &row));
		map64_fini(&profile.carried);
	}
}

/* Every second occurrence is of the same function, as switches to a thread and back are. */
static void what_was_counted_in_full_is_certain(void **state)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};

	(void)state;
	for (unsigned missed = 0; missed < 2; missed++) {
		struct trace_event *event;
		struct profile *profile;
		struct trace *trace;
		struct world w;

		world_open(&w, 1 << 20);
		for (unsigned n = 1; n <= 4000; n++)
			put_one(&w, n % 2 ? 1 : 2, lambda(n), 0);
		w.nr = 0;
		event = tables_event(w.tables, 0);
		event->base_period = 1;
		event->unit = TRACE_COUNT;
		event->exact = 4000 + missed;
		for (uint32_t i = 0; i < NR_CPUS; i++)
			tables_stream(w.tables, i)->base_period = 1;
		trace = written(&w, 0, TRACE_RUN_CGROUP, false);
		profile = profile_new(trace, &config);
		assert_int_equal(profile->nr_rows, 2);
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(profile->rows[i].self, 2000);
			assert_true(missed == (profile_error(&profile->rows[i]) > 0));
			assert_true(missed == profile_in_lockstep(profile, &profile->rows[i]));
		}
		profile_free(profile);
		trace_close(trace);
		world_close(&w);
	}
}

/* --- exact totals ----------------------------------------------------------------------------- */

static void what_was_not_sampled_is_a_row(void **state)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL | PROFILE_BY_MODULE};
	struct profile *profile;
	struct trace *trace;
	struct world w;
	const double square = (double)base_periods[0] * (double)base_periods[0];

	(void)state;
	world_open(&w, 64 << 10);
	for (unsigned n = 0; n < 10; n++)
		put_one(&w, 5, 0, 0); /* thread 0 is "sh" */
	w.nr = 0;
	set_exact(&w, "sh", 13 * base_periods[0]);
	set_exact(&w, "fork", 7 * base_periods[0]);
	set_exact(&w, "app", base_periods[0]);
	trace = written(&w, 0, 0, false);
	profile = profile_new(trace, &config);
	assert_int_equal(profile->sampled, 10 * base_periods[0]);
	assert_int_equal(profile->total, 20 * base_periods[0]);
	assert_int_equal(profile->nr_unsampled, 2);
	assert_int_equal(profile->nr_rows, 3);
	/* What is missing most comes first. */
	assert_string_equal(trace_string(trace, profile->unsampled[0].comm), "fork");
	assert_int_equal(profile->rows[profile->unsampled[0].row].name, PROFILE_NONE);
	assert_int_equal(profile->rows[profile->unsampled[1].row].self, 3 * base_periods[0]);
	/* As uncertain as what was sampled, be it nothing. */
	assert_true(profile->rows[profile->unsampled[0].row].variance == square);
	assert_true(profile->rows[profile->unsampled[1].row].variance == 2 * square);
	profile_free(profile);
	/* Not known for a part of the run. */
	config.selection = &(struct selection){.from = 1, .to = UINT64_MAX};
	profile = profile_new(trace, &config);
	assert_int_equal(profile->nr_unsampled, 0);
	assert_int_equal(profile->total, profile->sampled);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

static struct profile *profile_of_coverage(struct world *w, struct trace **trace, unsigned nr,
                                           unsigned exact, bool scale)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL, .scale = scale};
	struct profile *profile;

	world_open(w, 64 << 10);
	for (unsigned n = 0; n < nr; n++)
		put_one(w, 5, 0, 0);
	w->nr = 0;
	set_exact(w, "sh", exact * base_periods[0]);
	*trace = written(w, 0, 0, false);
	profile = profile_new(*trace, &config);
	assert_int_equal(profile->sampled, nr * base_periods[0]);
	assert_in_range(profile->total + nr, exact * base_periods[0],
	                exact * base_periods[0] + 2UL * nr); /* each sample is rounded */
	return profile;
}

static void what_is_mostly_covered_or_exceeded_is_scaled(void **state)
{
	static const struct {
		unsigned nr, exact;
		bool scale, scaled;
	} cases[] = {
		{40, 50, true, true},  {40, 50, false, false}, {39, 50, true, false},
		{29, 36, true, false}, {30, 36, true, true},   {79, 100, true, false},
		{50, 40, true, true},  {3, 1, true, true},
	};
	struct profile *profile;
	struct trace *trace;
	struct world w;

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		profile = profile_of_coverage(&w, &trace, cases[i].nr, cases[i].exact,
		                              cases[i].scale);
		assert_int_equal(profile->nr_scaled, cases[i].scaled);
		assert_int_equal(profile->nr_unsampled, !cases[i].scaled);
		if (cases[i].scaled)
			assert_int_equal(profile->rows[0].self, profile->total);
		profile_free(profile);
		trace_close(trace);
		world_close(&w);
	}
}

/* Of an event that is counted one by one, such as page-faults, there may be less than a hundred. */
static void small_numbers_are_covered_alike(void **state)
{
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL, .scale = true};
	struct profile *profile;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	for (unsigned i = 0; i < NR_EVENTS; i++)
		tables_event(w.tables, i)->base_period = 1;
	for (unsigned i = 0; i < NR_EVENTS * NR_CPUS; i++)
		tables_stream(w.tables, i)->base_period = 1;
	for (unsigned n = 0; n < 60; n++)
		put_next(&w, (struct hmb_sample){.thread = n % 2, .leaf = frame_make(2, 5)});
	w.nr = 0;
	set_exact(&w, "sh", 99);
	set_exact(&w, "app", 37);
	trace = written(&w, 0, 0, false);
	profile = profile_new(trace, &config);
	assert_int_equal(profile->nr_scaled, 1);
	assert_string_equal(trace_string(trace, profile->scaled[0].comm), "app");
	assert_int_equal(profile->nr_unsampled, 1);
	assert_int_equal(profile->rows[profile->unsampled[0].row].self, 69);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/* Each by what it lacks, most first; one that still runs, and so has no total, not at all. */
static void commands_are_scaled_apart(void **state)
{
	struct profile_config config = {.keys = PROFILE_BY_COMM, .scale = true};
	static const struct {
		const char *comm;
		uint64_t weight;
	} rows[] = {{"sh", 48}, {"app", 50}, {"cc", 40}};
	struct profile *profile;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	tables_add_thread(w.tables, 200, 200, tables_string(w.tables, "cc"), 0);
	for (unsigned n = 0; n < 120; n++)
		put_next(&w, (struct hmb_sample){.thread = n % 3 == 2 ? 6 : n % 3,
		                                 .leaf = frame_make(2, 5)});
	w.nr = 0;
	for (unsigned i = 0; i < 2; i++)
		set_exact(&w, rows[i].comm, rows[i].weight * base_periods[0]);
	set_exact(&w, "cc", 45 * base_periods[0])->flags = 0;
	trace = written(&w, 0, 0, false);
	profile = profile_new(trace, &config);
	assert_int_equal(profile->nr_scaled, 2);
	assert_int_equal(profile->nr_rows, 3);
	for (unsigned i = 0; i < 2; i++)
		assert_string_equal(trace_string(trace, profile->scaled[i].comm), rows[1 - i].comm);
	for (unsigned i = 0; i < 3; i++) {
		const struct profile_subset *subset = &profile->subsets[profile->rows[i].subset];

		assert_string_equal(trace_string(trace, subset->comm), rows[i].comm);
		assert_in_range(profile->rows[i].self + 40, rows[i].weight * base_periods[0],
		                rows[i].weight * base_periods[0] + 80);
	}
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_what_they_mean),
		cmocka_unit_test(self_needs_no_call_paths),
		cmocka_unit_test(streams_are_threads_without_a_cgroup),
		cmocka_unit_test(parts_of_the_run),
		cmocka_unit_test(uniform_weights_count_runs),
		cmocka_unit_test(gaps_of_one_side_end_runs),
		cmocka_unit_test(turns_of_threads_are_runs),
		cmocka_unit_test(lockstep_is_noticed),
		cmocka_unit_test(chance_and_phases_are_no_lockstep),
		cmocka_unit_test(lockstep_of_all_cpus_is_noticed),
		cmocka_unit_test(cpus_that_work_together_are_no_lockstep),
		cmocka_unit_test(evidence_is_weighed),
		cmocka_unit_test(what_was_counted_in_full_is_certain),
		cmocka_unit_test(what_was_not_sampled_is_a_row),
		cmocka_unit_test(what_is_mostly_covered_or_exceeded_is_scaled),
		cmocka_unit_test(small_numbers_are_covered_alike),
		cmocka_unit_test(commands_are_scaled_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
