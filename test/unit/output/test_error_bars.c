/*
 * Stated 95 % intervals against the truth, through the real buffer and the real report: 200 seeded
 * runs of programs of every temper, sampled from a random moment on, with reductions.
 */
#include "trace_world.h"

#include <math.h>

#include "output/profile/error_bars.h"
#include "output/profile/profile.h"
#include "output/views/rank_sums.h"

enum { NR_RUNS = 200, NR_FUNCTIONS = 3, LENGTH = 25000 /* periods */ };

/* How a program spends its time; lengths in periods of sampling. */
enum temper { PHASES, LOOP, ONE_CHANGE, SAMPLES_BY_CHANCE, NR_TEMPERS };

struct simulated {
	enum temper temper;
	double mean;   /* length of a phase, or of a turn of the loop */
	double length; /* of the run */
	double start, end;
	unsigned function; /* in [start, end) */
	double truth[NR_FUNCTIONS];
};

/* What is stated, and how far off it is, of all functions of all runs. */
struct intervals {
	unsigned nr, hold;  /* hold: the truth */
	double stated, off; /* squares, in base periods */
};

static double unit(struct world *w)
{
	return ((double)rnd(w, 1 << 30) + 0.5) / (1 << 30);
}

/* Shares of 60, 30 and 10 %. */
static unsigned function_at(double share)
{
	return share < 0.6 ? 0 : share < 0.9 ? 1 : 2;
}

static void next_phase(struct simulated *s, struct world *w)
{
	static const double shares[NR_FUNCTIONS] = {0.6, 0.3, 0.1};
	double length = 0;

	s->start = s->end;
	switch (s->temper) {
	case PHASES:
		s->function = function_at(unit(w));
		length = -s->mean * log(unit(w));
		break;
	case LOOP:
		s->function = s->start > 0 ? (s->function + 1) % NR_FUNCTIONS : 0;
		length = s->mean * shares[s->function];
		break;
	case ONE_CHANGE:
		s->function = s->start > 0;
		length = s->function ? s->length : s->length * (0.1 + 0.8 * unit(w));
		break;
	default:
		s->function = function_at(unit(w));
		length = 0.01;
		break;
	}
	s->end = s->start + length < s->length ? s->start + length : s->length;
	s->truth[s->function] += s->end - s->start;
}

static void program_reach(struct simulated *s, struct world *w, double time)
{
	while (s->end <= time && s->end < s->length)
		next_phase(s, w);
}

static void sample_at(struct simulated *s, struct world *w, double time, unsigned level)
{
	struct hmb_sample sample = {
		.time = (uint64_t)(time * 97081),
		.step = (uint64_t)97081 << (level + 1),
		.level = level,
	};

	program_reach(s, w, time);
	sample.thread = s->function; /* so that its row is known */
	sample.leaf = (uint64_t)2 << 32 | s->function;
	hmb_put(w->hmb, &sample);
}

static void simulate(struct simulated *s, struct world *w)
{
	struct stream stream = stream_start(w->seed, 0, 0);
	double time = unit(w);

	while (time < LENGTH) {
		sample_at(s, w, time, stream_next(&stream));
		stream_slow(&stream, hmb_floor(w->hmb, 0));
		time += (double)(1 << stream.shift);
	}
	program_reach(s, w, LENGTH);
}

static struct trace *finished(struct world *w)
{
	tables_event(w->tables, 0)->floor = hmb_floor(w->hmb, 0);
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP;
	return world_written(w);
}

static void compare(const struct simulated *s, const struct profile *profile,
                    struct intervals *intervals)
{
	double self[NR_FUNCTIONS] = {0}, error[NR_FUNCTIONS] = {0};

	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		uint32_t function = profile->subsets[profile->rows[i].subset].thread;

		assert_true(function < NR_FUNCTIONS);
		self[function] = (double)profile->rows[i].self / (double)base_periods[0];
		error[function] = profile_error(&profile->rows[i]) / (double)base_periods[0];
	}
	for (unsigned f = 0; f < NR_FUNCTIONS; f++) {
		double off = self[f] - s->truth[f];

		intervals->nr++;
		intervals->hold += fabs(off) <= error[f];
		intervals->stated += error[f] * error[f];
		intervals->off += off * off;
	}
}

static void run(unsigned number, struct intervals *intervals)
{
	static const double means[] = {0.3, 2.71, 33.3, 410};
	struct profile_config config = {.keys = PROFILE_BY_THREAD};
	struct simulated s = {.temper = number % NR_TEMPERS,
	                      .mean = means[number / NR_TEMPERS % 4],
	                      .length = LENGTH};
	struct profile *profile;
	struct trace *trace;
	struct world w;

	world_open(&w, 64 << 10);
	w.seed = number * 7919 + 1;
	/* In step with the sampling by no more than chance: no interval can see that. */
	s.mean *= 1 + 0.2 * unit(&w);
	simulate(&s, &w);
	trace = finished(&w);
	profile = profile_new(trace, &config);
	assert_non_null(profile);
	compare(&s, profile, intervals);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/*
 * Where samples are drawn by chance nothing in their order helps, and intervals that held the truth
 * by being wide would be wider than they must.
 */
static void intervals_hold_the_truth_and_are_no_wider(void **state)
{
	struct intervals of[NR_TEMPERS] = {0};
	unsigned hold = 0;
	double width;

	(void)state;
	for (unsigned i = 0; i < NR_RUNS; i++)
		run(i, &of[i % NR_TEMPERS]);
	for (unsigned t = 0; t < NR_TEMPERS; t++) {
		hold += of[t].hold;
		width = sqrt(of[t].stated / of[t].off) / 1.96;
		print_message("temper %u: %.1f %%, %.2f of the width needed\n", t,
		              100.0 * of[t].hold / of[t].nr, width);
	}
	assert_true(hold * 100 >= 93 * NR_RUNS * NR_FUNCTIONS);
	assert_true(width > 0.8 && width < 1.25); /* of the last, SAMPLES_BY_CHANCE */
}

/* --- in step ---------------------------------------------------------------------------------- */

enum { NR_STEPPED = 16, NR_STEPPED_RUNS = 30, STEPPED_LENGTH = 2000, JITTER_NS = 8000 };

/* All CPUs are sampled at the instants of the grid, and follow the floor of the buffer. */
static void simulate_in_step(struct simulated *of[NR_STEPPED], struct world *w)
{
	struct grid grid = {(uint64_t)base_periods[0], 0};
	uint64_t start = 100200000000, time = start, epoch = grid_epoch(&grid, start);
	struct stream streams[NR_STEPPED];

	for (uint32_t cpu = 0; cpu < NR_STEPPED; cpu++)
		streams[cpu] = stream_start(w->seed, cpu, 0);
	while ((time = grid_next(&grid, epoch, time + 1)) - start <
	       STEPPED_LENGTH * base_periods[0]) {
		for (uint32_t cpu = 0; cpu < NR_STEPPED; cpu++) {
			struct hmb_sample sample = {.cpu = cpu, .time = time + rnd(w, JITTER_NS)};

			program_reach(of[cpu], w, (double)(time - start) / (double)base_periods[0]);
			sample.thread = of[cpu]->function;
			sample.leaf = (uint64_t)2 << 32 | sample.thread;
			sample.level = stream_next(&streams[cpu]);
			sample.step = base_periods[0] << (sample.level + 1);
			hmb_put(w->hmb, &sample);
			stream_slow(&streams[cpu], hmb_floor(w->hmb, 0));
		}
		grid.shift = hmb_floor(w->hmb, 0);
	}
}

static void add_cpus(struct world *w)
{
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		tables_stream(w->tables, cpu)->base_period = base_periods[0];
	for (uint32_t cpu = NR_CPUS; cpu < NR_STEPPED; cpu++)
		*tables_add_stream(w->tables) = (struct trace_stream){
			.event = 0, .cpu = cpu, .base_period = base_periods[0]};
}

/* Compares what is stated of a trace that says that it was in step, or that it was not. */
static void compare_as(struct world *w, const struct simulated *whole, bool in_step,
                       struct intervals *intervals)
{
	struct profile_config config = {.keys = PROFILE_BY_THREAD};
	struct profile *profile;
	struct trace *trace;

	tables_run(w->tables)->grid = in_step ? base_periods[0] : 0;
	trace = finished(w);
	profile = profile_new(trace, &config);
	assert_non_null(profile);
	compare(whole, profile, intervals);
	profile_free(profile);
	trace_close(trace);
}

/* coupled: all CPUs run one program together; else each runs one of its own. */
static void run_in_step(unsigned number, bool coupled, struct intervals intervals[2])
{
	static const double means[] = {0.3, 1, 2.71};
	struct simulated programs[NR_STEPPED] = {0}, *of[NR_STEPPED], whole = {0};
	struct world w;

	world_open(&w, 64 << 10);
	w.seed = number * 7919 + 1;
	add_cpus(&w);
	for (unsigned cpu = 0; cpu < NR_STEPPED; cpu++) {
		of[cpu] = &programs[coupled ? 0 : cpu];
		of[cpu]->temper = PHASES;
		of[cpu]->mean = means[number % 3] * (1 + 0.2 * unit(&w));
		of[cpu]->length = STEPPED_LENGTH;
	}
	simulate_in_step(of, &w);
	assert_true(hmb_floor(w.hmb, 0) > 0);
	for (unsigned cpu = 0; cpu < NR_STEPPED; cpu++) {
		program_reach(of[cpu], &w, STEPPED_LENGTH);
		for (unsigned f = 0; f < NR_FUNCTIONS; f++)
			whole.truth[f] += of[cpu]->truth[f];
	}
	for (unsigned in_step = 0; in_step < 2; in_step++)
		compare_as(&w, &whole, in_step, &intervals[in_step]);
	world_close(&w);
}

static double share_held(const struct intervals *intervals)
{
	return (double)intervals->hold / intervals->nr;
}

/*
 * Where all CPUs do the same at the same time, samples of one tick tell one thing, however many
 * they are. Bars that take them as independent are too narrow.
 */
static void samples_of_one_tick_may_depend_on_each_other(void **state)
{
	(void)state;
	for (unsigned coupled = 0; coupled < 2; coupled++) {
		struct intervals intervals[2] = {0};

		for (unsigned i = 0; i < NR_STEPPED_RUNS; i++)
			run_in_step(i, coupled, intervals);
		for (unsigned in_step = 0; in_step < 2; in_step++)
			print_message(
				"coupled %u, by ticks %u: %.1f %%, %.2f of the width needed\n",
				coupled, in_step, 100 * share_held(&intervals[in_step]),
				sqrt(intervals[in_step].stated / intervals[in_step].off) / 1.96);
		assert_true(share_held(&intervals[1]) >= 0.93);
		assert_true(share_held(&intervals[0]) >= 0.93 || coupled);
		assert_true(share_held(&intervals[0]) < 0.7 || !coupled);
	}
}

/*
 * Two ranks that are in a function by turns, two ticks each. Alike: both at once. Returns what is
 * stated of how much more the first one is in it than the mean, in periods.
 */
static double error_of_excess(bool alike)
{
	struct rank_rows rows;
	struct rank_sums sums;
	struct trace *trace;
	struct world w;
	double error;

	world_open(&w, 64 << 10);
	add_cpus(&w);
	tables_run(w.tables)->grid = base_periods[0];
	for (int rank = 0; rank < 2; rank++) {
		tables_add_thread(w.tables, 200 + rank, 200 + rank, 0, 0);
		tables_add_process(w.tables,
		                   &(struct trace_process){.pid = 200 + rank, .rank = rank});
	}
	for (unsigned tick = 0; tick < 40; tick++) {
		for (unsigned rank = 0; rank < 2; rank++) {
			struct hmb_sample sample = {.cpu = rank, .thread = 6 + rank};
			bool first = (tick / 2 + (alike ? 0 : rank)) % 2 == 0;

			sample.time = 1000000000 + tick * base_periods[0];
			sample.leaf = (uint64_t)2 << 32 | first;
			hmb_put(w.hmb, &sample);
		}
	}
	trace = finished(&w);
	assert_int_equal(rank_rows_init(&rows, trace), 0);
	assert_int_equal(rank_sums_init(&sums, trace, &rows, &(struct view_query){0}), 0);
	assert_int_equal(sums.nr_functions, 2);
	assert_int_equal(sums.functions[0].self.sum, 40 * base_periods[0]);
	error = sums.functions[0].self.error / (double)base_periods[0];
	rank_sums_fini(&sums);
	rank_rows_fini(&rows);
	trace_close(trace);
	world_close(&w);
	return error;
}

/* No rank is ahead of others that do the same at once, whatever each has by chance. */
static void ranks_may_depend_on_each_other(void **state)
{
	double width = sqrt(1.96 * 1.96 + 2 * log(2)) / 2;

	(void)state;
	assert_true(fabs(error_of_excess(true) / width - 1) < 1e-9);
	/* 19 times the one leaves it as the other begins, which is two differences at once. */
	assert_true(fabs(error_of_excess(false) / width - sqrt(1 + (19 * 4 + 2) / 2)) < 1e-9);
}

/* --- details ---------------------------------------------------------------------------------- */

/*
 * A clock of one side of the system skips ticks where it meets the other one: so many as are
 * missing of the exact time may lie in gaps before a sample, and each is of the row on both its
 * sides.
 */
static void gaps_are_where_ticks_may_be_missing(void **state)
{
	enum { PERIOD = 97081, NONE = -1, NR = 6, NR_GAPS = 4 };
	static const struct {
		int time, row;
	} samples[NR] = {{1, 0}, {2, 0}, {5, 0}, {9, 1}, {13, NONE}, {17, NONE}};
	const double squared = (double)PERIOD * PERIOD;

	(void)state;
	for (unsigned missing = 0; missing <= NR_GAPS + 1; missing++) {
		double share = missing > NR_GAPS ? 1 : (double)missing / NR_GAPS;
		struct error_bars bars;
		struct trace *trace;
		struct world w;

		world_open(&w, 64 << 10);
		tables_event(w.tables, 0)->name = tables_string(w.tables, "cpu-clock:u");
		tables_event(w.tables, 0)->exact = PERIOD * (NR + missing);
		trace = world_written(&w);
		assert_int_equal(error_bars_init(&bars, trace, 0), 0);
		for (unsigned i = 0; i < NR; i++) {
			int row = samples[i].row;
			const struct trace_sample sample = {
				.time = (uint64_t)samples[i].time * PERIOD, .weight = PERIOD};

			assert_int_equal(error_bars_step(&bars, &sample, (uint32_t)row,
			                                 row == NONE ? 0 : PERIOD),
			                 0);
		}
		error_bars_end(&bars);
		/* A sample's weight, a beginning and an end, and the gap. */
		assert_true(fabs(error_bars_variance(&bars, 0) / squared - 2 - share) < 1e-9);
		assert_true(fabs(error_bars_variance(&bars, 1) / squared - 2) < 1e-9);
		assert_true(fabs(error_bars_runs(&bars, 0) - 1 - share * NR_GAPS) < 1e-9);
		error_bars_fini(&bars);
		trace_close(trace);
		world_close(&w);
	}
}

/* Of samples of one row that follow each other there is but the difference between them. */
static void weights_may_differ(void **state)
{
	static const uint64_t weights[] = {30, 10, 10};
	struct error_bars bars;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	trace = world_written(&w);
	assert_int_equal(error_bars_init(&bars, trace, 0), 0);
	for (unsigned i = 0; i < 3; i++) {
		const struct trace_sample sample = {.time = i, .weight = weights[i]};

		assert_int_equal(error_bars_step(&bars, &sample, 0, weights[i]), 0);
	}
	error_bars_end(&bars);
	assert_true(error_bars_variance(&bars, 0) == 900 + (900 + 400 + 0 + 100) / 2);
	error_bars_fini(&bars);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_the_truth_and_are_no_wider),
		cmocka_unit_test(samples_of_one_tick_may_depend_on_each_other),
		cmocka_unit_test(ranks_may_depend_on_each_other),
		cmocka_unit_test(gaps_are_where_ticks_may_be_missing),
		cmocka_unit_test(weights_may_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
