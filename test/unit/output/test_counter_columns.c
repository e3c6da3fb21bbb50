#include "trace_world.h"

#include "output/profile/counter_columns.h"
#include "output/profile/profile.h"
#include "output/report/report.h"
#include "output/views/report_rows.h"
#include "output/profile/thread_shares.h"
#include "output/profile/warnings.h"

/*
 * Traces with counters: what is told of functions, trees and callers is compared with sums over
 * everything that was put. All totals are those of CPUs.
 */

struct run {
	struct world w;
	const char *leader;
	enum trace_unit unit;
	const struct trace_counter *counters;
	const char *const *names;
	unsigned nr;
	enum stream_owner owner;
};

enum { NR_THREADS = 6 };

static void describe_run(struct run *r)
{
	struct tables *t = r->w.tables;
	struct trace_event *event = tables_add_event(t);

	tables_run(t)->flags = TRACE_RUN_CGROUP;
	tables_run(t)->stacks = TRACE_STACKS_DWARF;
	event->name = tables_string(t, r->leader);
	event->unit = r->unit;
	event->base_period = 1000;
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		*tables_add_stream(t) = (struct trace_stream){.cpu = cpu, .base_period = 1000};
	for (uint16_t i = 0; i < 4; i++)
		tables_module(t, i)->path = tables_string(t, module_paths[i]);
	for (int i = 0; i < NR_THREADS; i++)
		tables_add_thread(t, 100, 100 + i, tables_string(t, "app"), 0);
	for (unsigned i = 0; i < r->nr; i++) {
		struct trace_counter *counter = tables_add_counter(t);

		*counter = r->counters ? r->counters[i] : (struct trace_counter){.total = 1};
		counter->name = tables_string(t, r->names[i]);
		counter->unit = TRACE_COUNT;
	}
}

static void run_open(struct run *r, size_t budget)
{
	world_make_tables(&r->w, budget);
	describe_run(r);
	world_make_buffer(&r->w, (struct hmb_config){.nr_kinds = 1,
	                                             .max_path = MAX_DEPTH,
	                                             .kinds = {{.nr_counters = 1 + r->nr,
	                                                        .stream_owner = r->owner}}});
}

/* --- columns ---------------------------------------------------------------------------------- */

static void check_columns(const char *leader, enum trace_unit unit, const char *const *names,
                          unsigned nr, const char *const *titles)
{
	struct run r = {.leader = leader, .unit = unit, .names = names, .nr = nr};
	struct counter_columns columns;
	struct trace *trace;

	run_open(&r, 64 << 10);
	trace = world_written(&r.w);
	counter_columns_init(&columns, trace, 0);
	assert_int_equal(columns.nr_sums, nr);
	for (unsigned i = 0; i < nr; i++)
		assert_string_equal(columns.columns[i].title, names[i]);
	for (unsigned i = nr; i < columns.nr; i++)
		assert_string_equal(columns.columns[i].title, titles[i - nr]);
	assert_null(titles[columns.nr - nr]);
	counter_columns_init(&columns, trace, 1);
	assert_int_equal(columns.nr, 0);
	trace_close(trace);
	world_close(&r.w);
}

static void names_tell_what_pairs_make(void **state)
{
	static const char *const usual[] = {"instructions", "cache-misses", "cache-references",
	                                    "branch-misses", "branches"};
	static const char *const of_cycles[] = {"IPC", "cache-misses %", "branch-misses %", NULL};
	static const char *const clocked[] = {"cycles:u", "instructions:u", "LLC-load-misses:u",
	                                      "LLC-loads:u", "dTLB-load-misses:u"};
	static const char *const of_clock[] = {"IPC", "llc-load-misses %", "dtlb-load-misses/ki",
	                                       "GHz", NULL};
	static const char *const raw[] = {"skx::INST_RETIRED:ANY_P", "dp-flops", "mem-bytes"};
	static const char *const of_raw[] = {"IPC", "flops/byte", "GFLOP/s", "GB/s", NULL};
	static const char *const of_raw_cycles[] = {"IPC", "flops/byte", NULL};
	static const char *const parts[] = {"flops.scalar:u",      "flops.x4:u",
	                                    "mem-bytes:u",         "tlb-misses.loads:u",
	                                    "tlb-misses.stores:u", "instructions:u"};
	static const char *const of_parts[] = {"IPC", "tlb-misses/ki", "flops/byte", NULL};
	static const char *const other[] = {"page-faults", "context-switches"};
	static const char *const nothing[] = {NULL};

	(void)state;
	check_columns("cycles", TRACE_COUNT, usual, 5, of_cycles);
	check_columns("cpu-clock", TRACE_NS, clocked, 5, of_clock);
	check_columns("skx::CPU_CLK_UNHALTED:THREAD", TRACE_COUNT, raw, 3, of_raw_cycles);
	check_columns("cpu-clock", TRACE_NS, raw, 3, of_raw + 1);
	check_columns("cpu-clock", TRACE_NS, other, 2, nothing);
	check_columns("cycles:u", TRACE_COUNT, parts, 6, of_parts);
}

static void check_text(const struct counter_column *column, const uint64_t *counters,
                       const char *expected)
{
	char text[TEXT_SIZE];

	counter_column_text(column, counters, text);
	assert_string_equal(text, expected);
}

static void what_is_not_known_is_never_zero(void **state)
{
	static const char *const names[] = {"instructions", "cycles", "flops", "page-faults"};
	/* Shared hardware; never counted; never scheduled; truly none. */
	static const struct trace_counter entries[] = {
		{.flags = TRACE_COUNTER_TOTAL, .total = 1000, .enabled = 400, .running = 100},
		{.flags = TRACE_COUNTER_TOTAL, .total = 0, .enabled = 400, .running = 400},
		{.flags = TRACE_COUNTER_TOTAL, .total = 0, .enabled = 400, .running = 0},
		{.flags = TRACE_COUNTER_TOTAL | TRACE_COUNTER_KERNEL,
	         .total = 0,
	         .enabled = 400,
	         .running = 400},
	};
	struct run r = {.leader = "cpu-clock",
	                .unit = TRACE_NS,
	                .counters = entries,
	                .names = names,
	                .nr = 4};
	uint64_t counters[COUNTER_MAX] = {2000, 3000, 0, 0, 0};
	struct counter_columns columns;
	struct trace *trace;
	char text[512];

	(void)state;
	run_open(&r, 64 << 10);
	trace = world_written(&r.w);
	counter_columns_init(&columns, trace, 0);
	check_text(&columns.columns[0], counters, "~12000");
	check_text(&columns.columns[1], counters, "-");
	check_text(&columns.columns[2], counters, "-");
	check_text(&columns.columns[3], counters, "0");
	for (unsigned i = 4; i < columns.nr; i++) /* IPC, GFLOP/s, GHz */
		check_text(&columns.columns[i], counters, "-");
	assert_int_equal(columns.nr, 7);
	assert_true(trace_counter_trouble(trace_counter(trace, 0), "x", text, sizeof(text)));
	assert_non_null(strstr(text, "25.0 %"));
	assert_true(trace_counter_trouble(trace_counter(trace, 1), "x", text, sizeof(text)));
	assert_non_null(strstr(text, "'x' counted nothing"));
	assert_true(trace_counter_trouble(trace_counter(trace, 2), "x", text, sizeof(text)));
	assert_non_null(strstr(text, "never let"));
	assert_false(trace_counter_trouble(trace_counter(trace, 3), "x", text, sizeof(text)));
	trace_close(trace);
	world_close(&r.w);
}

/* From 2 % on without the hardware. */
static void shared_hardware_is_noticed(void **state)
{
	struct trace_counter counter = {
		.flags = TRACE_COUNTER_TOTAL, .total = 1, .enabled = 100, .running = 98};

	(void)state;
	assert_int_equal(trace_counter_state(&counter), COUNTER_COUNTED);
	counter.running = 97;
	assert_int_equal(trace_counter_state(&counter), COUNTER_SCALED);
}

struct ratio {
	const char *title, *value;
};

/* Behind the counters themselves stand these, and no others. */
static void check_ratios(const char *const *names, unsigned nr, const uint64_t *counters,
                         const struct ratio *ratios, unsigned nr_ratios)
{
	struct run r = {.leader = "cpu-clock", .unit = TRACE_NS, .names = names, .nr = nr};
	struct counter_columns columns;
	struct trace *trace;

	run_open(&r, 64 << 10);
	trace = world_written(&r.w);
	counter_columns_init(&columns, trace, 0);
	assert_int_equal(columns.nr, nr + nr_ratios);
	for (unsigned i = 0; i < nr_ratios; i++) {
		assert_string_equal(columns.columns[nr + i].title, ratios[i].title);
		check_text(&columns.columns[nr + i], counters, ratios[i].value);
	}
	trace_close(trace);
	world_close(&r.w);
}

static void ratios_are_of_what_they_are_called(void **state)
{
	static const char *const names[] = {"cycles:u", "instructions:u", "flops:u", "mem-bytes:u",
	                                    "tlb-misses:u"};
	static const struct ratio ratios[] = {
		{"IPC", "2.000"},     {"tlb-misses/ki", "5.000"}, {"flops/byte", "0.500"},
		{"GFLOP/s", "0.300"}, {"GB/s", "0.600"},          {"GHz", "0.500"},
	};
	static const uint64_t counters[COUNTER_MAX] = {1000, 500, 1000, 300, 600, 5};

	(void)state;
	check_ratios(names, 5, counters, ratios, 6);
}

/* Of what all were the misses are a share. */
static void misses_are_a_share(void **state)
{
	static const char *const names[] = {"cache-misses", "cache-references"};
	static const struct ratio share = {"cache-misses %", "12.50%"};
	static const uint64_t counters[COUNTER_MAX] = {1000, 30, 240};

	(void)state;
	check_ratios(names, 2, counters, &share, 1);
}

static void values_are_short(void **state)
{
	struct counter_column sum = {.above = 2, .factor = 1, .unit = TRACE_COUNT};
	struct counter_column ratio = {.above = 2, .below = 4, .factor = 1, .ratio = true};
	uint64_t counters[COUNTER_MAX] = {0};

	(void)state;
	check_text(&sum, counters, "0");
	check_text(&ratio, counters, "-");
	counters[1] = 99999;
	check_text(&sum, counters, "99999");
	counters[1] = 100000;
	check_text(&sum, counters, "100.0k");
	counters[1] = 999949;
	check_text(&sum, counters, "999.9k");
	counters[1] = 999951;
	check_text(&sum, counters, "1.000M");
	counters[1] = UINT64_MAX;
	check_text(&sum, counters, "18.45E");
	counters[1] = 3;
	counters[2] = 4;
	check_text(&ratio, counters, "0.750");
	ratio.percent = true;
	check_text(&ratio, counters, "75.00%");
}

/* --- profiles --------------------------------------------------------------------------------- */

enum { NR_COUNTERS = 3, NR_LEAVES = 6 };

/* What every leaf and every function anywhere on a stack should have. */
struct sums {
	uint64_t self[NR_LEAVES][1 + NR_COUNTERS], all[1 + NR_COUNTERS];
	uint64_t below[MAX_DEPTH][1 + NR_COUNTERS]; /* by the number of the caller's frame */
};

static void put_counted(struct run *r, struct sums *sums, unsigned nr)
{
	uint64_t totals[NR_THREADS][COUNTER_MAX] = {{0}};

	for (unsigned n = 0; n < nr; n++) {
		uint64_t path[2] = {2ULL << 32 | rnd(&r->w, 4), 2ULL << 32 | 100};
		unsigned cpu = (unsigned)rnd(&r->w, NR_CPUS),
			 leaf = (unsigned)rnd(&r->w, NR_LEAVES),
			 thread = (unsigned)rnd(&r->w, NR_THREADS),
			 stream = r->owner == STREAM_OF_THREAD ? thread : cpu;
		struct hmb_sample sample = {
			.time = 1000 + n * 400,
			.cpu = cpu,
			.thread = thread,
			.leaf = 1ULL << 32 | leaf,
			.path = path,
			.path_size = 2,
			.counters = totals[stream],
		};

		for (unsigned i = 0; i <= NR_COUNTERS; i++) {
			uint64_t more = rnd(&r->w, 400); /* so little that units are 1 */

			totals[stream][i] += more;
			sums->self[leaf][i] += more;
			sums->below[path[0] & 3][i] += more;
			sums->all[i] += more;
		}
		assert_true(hmb_put(r->w.hmb, &sample));
	}
}

static void check_counts(const uint64_t *counts, const uint64_t *expected)
{
	assert_memory_equal(counts, expected, (1 + NR_COUNTERS) * sizeof(*counts));
}

static void check_rows(const struct profile *profile, const struct sums *sums)
{
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		const struct profile_row *row = &profile->rows[i];
		uint64_t frame = profile->names.names[row->name].frame;
		const struct profile_counts *counts = profile_counts_of(&profile->row_counts, i);

		if (frame >> 32 == 1)
			check_counts(counts->self, sums->self[frame & 0xff]);
		else
			check_counts(counts->self, (uint64_t[1 + NR_COUNTERS]){0});
	}
	for (uint32_t i = 1; i < profile->nr_nodes; i++) {
		uint64_t frame = profile->names.names[profile->nodes[i].name].frame;
		const struct profile_counts *counts = profile_counts_of(&profile->counts, i);

		if (frame >> 32 != 1)
			check_counts(counts->total,
			             (frame & 0xff) == 100 ? sums->all : sums->below[frame & 0xff]);
	}
	check_counts(profile->counted, sums->all);
	check_counts(profile_counts_of(&profile->counts, 0)->total, sums->all);
}

static void check_view(const struct trace *trace, enum profile_direction direction,
                       const uint64_t *expected)
{
	struct report_options options = {
		.query.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
		.query.nr_keys = 2,
		.query.direction = direction,
		.query.function = "app+0x2",
	};
	struct profile_view view;
	struct profile *profile = report_profile(trace, 0, &options.query, &view);

	assert_non_null(profile);
	assert_true(view.total > 0);
	check_counts(profile_counts_of(&profile->counts, 1)->total, expected);
	profile_free(profile);
}

static void check_counted(enum stream_owner owner)
{
	static const char *const names[] = {"instructions", "cache-misses", "branches"};
	struct run r = {
		.leader = "cycles", .unit = TRACE_COUNT, .names = names, .nr = 3, .owner = owner};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL | PROFILE_BY_MODULE};
	struct sums sums = {{{0}}};
	struct profile *profile;
	struct trace *trace;

	run_open(&r, 1 << 20);
	put_counted(&r, &sums, 20000);
	trace = world_written(&r.w);
	profile = profile_new(trace, &config);
	assert_non_null(profile);
	check_rows(profile, &sums);
	profile_free(profile);
	check_view(trace, PROFILE_CALLEES, sums.below[2]);
	check_view(trace, PROFILE_CALLERS, sums.below[2]);
	trace_close(trace);
	world_close(&r.w);
}

static void functions_have_what_was_counted_in_them(void **state)
{
	(void)state;
	check_counted(STREAM_OF_CPU);
	check_counted(STREAM_OF_THREAD);
}

/* --- what is told ----------------------------------------------------------------------------- */

/* Two functions on one CPU, 1:3 in time, with 2000 instructions of 2000 cycles together. */
static struct trace *two_functions(struct run *r)
{
	static const uint64_t totals[][COUNTER_MAX] = {{500, 600, 0}, {2000, 2000, 4}};

	run_open(r, 64 << 10);
	for (unsigned n = 0; n < 2; n++) {
		struct hmb_sample sample = {
			.time = 1000 + n * 400, .leaf = 2ULL << 32 | n, .counters = totals[n]};

		assert_true(hmb_put(r->w.hmb, &sample));
	}
	return world_written(&r->w);
}

static const char *const told_names[] = {"instructions", "branch-misses"};

static void tables_show_counters(void **state)
{
	struct run r = {.leader = "cycles", .unit = TRACE_COUNT, .names = told_names, .nr = 2};
	const struct report_options options = {
		.query.event = TRACE_ALL_EVENTS,
		.query.keys = {PROFILE_BY_SYMBOL},
		.query.nr_keys = 1,
		.query.limit = UINT32_MAX,
		.style.no_header = true,
	};
	struct trace *trace;
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	(void)state;
	trace = two_functions(&r);
	assert_int_equal(report_text(file, trace, "x.atr", &options), 0);
	fclose(file);
	assert_string_equal(text, "   self  ± error     count    total  samples  instructions  "
	                          "branch-misses       IPC  "
	                          "branch-misses/ki  symbol\n"
	                          " 50.00% ±100.00%      1000   50.00%        1           600      "
	                          "        0     1.200"
	                          "             0.000  app+0x0\n"
	                          " 50.00% ±100.00%      1000   50.00%        1          1400      "
	                          "        4     0.933"
	                          "             2.857  app+0x1\n");
	free(text);
	trace_close(trace);
	world_close(&r.w);
}

/* What had the hardware for a quarter of the time counted a quarter of what there was. */
static void what_a_counter_counted_may_be_the_weight(void **state)
{
	const struct trace_counter counters[] = {
		{.flags = TRACE_COUNTER_TOTAL, .total = 2000, .enabled = 4, .running = 1},
		{.flags = TRACE_COUNTER_TOTAL, .total = 4, .enabled = 1, .running = 1}};
	struct run r = {.leader = "cycles",
	                .unit = TRACE_COUNT,
	                .counters = counters,
	                .names = told_names,
	                .nr = 2};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct trace *trace = two_functions(&r);
	struct profile *profile;
	struct shares shares;

	(void)state;
	trace_close(trace);
	set_exact(&r.w, "app", 1000000000);
	trace = world_written(&r.w);
	assert_int_equal(shares_init(&shares, trace), 0);
	assert_int_equal(shares.counted[1], 2000);
	assert_int_equal(shares.counted[2], 4);
	shares_fini(&shares);
	profile = profile_new(trace, &config);
	assert_int_equal(profile->total, 1000000000);
	assert_int_equal(profile->nr_rows, 3);
	profile_weigh_by(profile, 0);
	assert_int_equal(profile->total, 4 * 2000);
	/* Nothing of that is known of what was not sampled, nor estimated from samples. */
	assert_int_equal(profile->nr_unsampled, 0);
	assert_int_equal(profile->rows[2].self, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_true(profile_error(&profile->rows[i]) == 0);
	assert_int_equal(profile->rows[0].self, 4 * 600);
	assert_int_equal(profile->rows[1].self, 4 * 1400);
	assert_int_equal(profile->nodes[0].total, 4 * 2000);
	profile_weigh_by(profile, 1);
	assert_int_equal(profile->total, 4);
	assert_int_equal(profile->rows[1].self, 4);
	profile_free(profile);
	trace_close(trace);
	world_close(&r.w);
}

static void keep(void *arg, const char *text)
{
	strcat(arg, text);
}

static void expect_warning(struct run *r, uint64_t from, const char *text)
{
	const struct selection selection = {.from = from, .to = UINT64_MAX};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL, .selection = &selection};
	struct trace *trace = two_functions(r);
	struct profile *profile = profile_new(trace, &config);
	char said[WARNING_SIZE] = "";

	warnings_of_profile(profile, keep, said);
	assert_string_equal(said, text);
	profile_free(profile);
	trace_close(trace);
	world_close(&r->w);
}

/* 20 faults in the one of two functions that is never met first, in so many turns. */
static void check_mixing(unsigned nr_turns, const char *text)
{
	static const char *const names[] = {"page-faults"};
	struct run r = {.leader = "cycles", .unit = TRACE_COUNT, .names = names, .nr = 1};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct trace *trace;
	struct profile *profile;
	char said[WARNING_SIZE] = "";

	run_open(&r, 64 << 10);
	for (unsigned n = 0; n < 40; n++) {
		const uint64_t totals[COUNTER_MAX] = {1000 * n, (n + 1) / 2};
		struct hmb_sample sample = {.time = 1000 * (n + 1),
		                            .leaf = 2ULL << 32 | n * nr_turns / 40 % 2,
		                            .counters = totals};

		assert_true(hmb_put(r.w.hmb, &sample));
	}
	trace = world_written(&r.w);
	profile = profile_new(trace, &config);
	assert_int_equal(profile->counted[1], 20);
	warnings_of_profile(profile, keep, said);
	assert_string_equal(said, text);
	profile_free(profile);
	trace_close(trace);
	world_close(&r.w);
}

/* It stands with the function that was met behind it. */
static void what_functions_mix_is_told(void **state)
{
	(void)state;
	check_mixing(40, "100.0 % of 'page-faults' was counted between samples of two functions "
	                 "and is attributed to the second, whichever caused it; record -e "
	                 "page-faults tells which");
	check_mixing(2, "");
}

#define REST                                                                                 \
	": the rest was counted after the last sample of a thread, or in threads without a " \
	"sample; ratios are of what is shown"

/* Of the whole run, and where it is not for want of counts. */
static void what_functions_lack_is_told(void **state)
{
	struct trace_counter counters[] = {{.flags = TRACE_COUNTER_TOTAL, .total = 2220},
	                                   {.flags = TRACE_COUNTER_TOTAL, .total = 999}};
	struct run r = {.leader = "cycles",
	                .unit = TRACE_COUNT,
	                .counters = counters,
	                .names = told_names,
	                .nr = 2};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		counters[i].enabled = counters[i].running = 1;
	expect_warning(&r, 0, "");
	counters[0].total = 2230;
	expect_warning(&r, 0, "functions show 89.7 % of all instructions" REST);
	expect_warning(&r, 1, "");
	counters[1].total = 1000;
	expect_warning(&r, 0, "functions show 0.4 % of all branch-misses" REST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_what_pairs_make),
		cmocka_unit_test(what_is_not_known_is_never_zero),
		cmocka_unit_test(shared_hardware_is_noticed),
		cmocka_unit_test(ratios_are_of_what_they_are_called),
		cmocka_unit_test(misses_are_a_share),
		cmocka_unit_test(values_are_short),
		cmocka_unit_test(functions_have_what_was_counted_in_them),
		cmocka_unit_test(tables_show_counters),
		cmocka_unit_test(what_a_counter_counted_may_be_the_weight),
		cmocka_unit_test(what_functions_lack_is_told),
		cmocka_unit_test(what_functions_mix_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
