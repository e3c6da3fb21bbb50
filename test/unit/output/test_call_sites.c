/* Calls by the place that made them: rows, times that are estimates, and what found no room. */
#include "page.h"
#include "trace_world.h"

#include <math.h>

#include "output/report/report.h"
#include "output/views/call_sites.h"
#include "output/views/call_times.h"

enum { SEND, STEP, RESIDUAL, NR_REGIONS };

static const struct named_range names[] = {{2, 0, 32, "main"}, {2, 32, 64, "work"}};

static void places_open(struct world *w)
{
	world_make_tables(w, 1 << 20);
	describe(w);
	tables_add_region(w->tables, &(struct trace_region){tables_string(w->tables, "MPI_Send"),
	                                                    TRACE_MPI_POINT_TO_POINT, 0, 0});
	tables_add_region(w->tables, &(struct trace_region){tables_string(w->tables, "step"),
	                                                    TRACE_USER_REGION, 0, 0});
	tables_add_region(w->tables, &(struct trace_region){tables_string(w->tables, "residual"),
	                                                    TRACE_VALUE, 0, 0});
	world_make_buffer(w, (struct hmb_config){.nr_kinds = NR_EVENTS, .max_path = MAX_DEPTH});
	for (uint32_t offset = 8; offset < 64; offset += 24) /* main+8, work+0, work+24 */
		tables_add_site(w->tables, &(struct trace_call_site){2, offset});
}

static void add(struct world *w, const struct trace_call_sum *sum)
{
	assert_int_not_equal(tables_add_call_sum(w->tables, sum), UINT32_MAX);
}

static const struct report_options as_asked = {
	.query.event = TRACE_ALL_EVENTS, .query.limit = UINT32_MAX, .style.no_header = true};

static void expect_json(const struct trace *trace, const char *part)
{
	struct page page;
	char *text;

	assert_int_equal(report_sites_json(page_open(&page), trace, &as_asked.query), 0);
	text = page_close(&page);
	if (!strstr(text, part))
		fail_msg("no '%s' in '%s'", part, text);
	free(text);
}

static void places_have_rows(void **state)
{
	const struct trace_call_sum sums[] = {
		{.region = SEND,
	         .site = 1,
	         .calls = 3,
	         .time = 300,
	         .longest = 200,
	         .sent = 3,
	         .bytes = 30},
		{.region = SEND,
	         .site = 1,
	         .calls = 1,
	         .time = 50,
	         .longest = 50,
	         .peer = 2,
	         .sent = 2},
		{.region = SEND, .site = 2, .thread = 1, .calls = 7, .time = 70, .longest = 10},
		{.region = SEND, .site = 3, .calls = 5, .time = 500, .longest = 100},
		{.region = STEP,
	         .site = 3,
	         .calls = 1,
	         .time = 9000,
	         .longest = 9000,
	         .unfinished = 1},
		{.region = SEND,
	         .calls = 2,
	         .time = 20,
	         .longest = 11,
	         .received = 1,
	         .bytes_in = 4},
		{.region = SEND, .thread = 2, .calls = 1, .time = 5, .longest = 5},
		{.region = SEND, .site = 1, .thread = 2},
		{.region = RESIDUAL, .site = 1, .calls = 4, .values = {.nr = 4, .sum = 9}},
	};
	struct report_options options = as_asked;
	struct trace *trace;
	struct page page;
	struct world w;
	char *text;

	(void)state;
	places_open(&w);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		add(&w, &sums[i]);
	trace = world_named(&w, names, sizeof(names) / sizeof(*names));
	assert_int_equal(report_sites_text(page_open(&page), trace, "x.atr", &as_asked), 0);
	page_expect(&page, "     calls        time     longest   bytes sent     received  call     "
	                   "     called from\n"
	                   "         1    9.000 µs    9.000 µs            -            -  step     "
	                   "     work  app+0x38 (1 unfinished)\n"
	                   "         5      500 ns      100 ns            -            -  MPI_Send "
	                   "     work  app+0x38\n"
	                   "         4      350 ns      200 ns     30 bytes            -  MPI_Send "
	                   "     main  app+0x8\n"
	                   "         7       70 ns       10 ns            -            -  MPI_Send "
	                   "     work  app+0x20\n"
	                   "         3       25 ns       11 ns            -      4 bytes  MPI_Send "
	                   "     [other places]\n"
	                   "         4           -           -            -            -  residual "
	                   "     main  app+0x8\n");
	expect_json(trace, "{\"call\":\"MPI_Send\",\"class\":\"point-to-point\",\"calls\":4,"
	                   "\"unfinished\":0,\"time_ns\":350,\"longest_ns\":200,\"sent\":5,"
	                   "\"bytes\":30,\"received\":0,\"bytes_in\":0,\"symbol\":\"main\","
	                   "\"module\":\"app\",\"offset\":8,\"file\":null,\"line\":null}");
	expect_json(trace, "{\"call\":\"MPI_Send\",\"class\":\"point-to-point\",\"calls\":3,"
	                   "\"unfinished\":0,\"time_ns\":25,\"longest_ns\":11,\"sent\":0,"
	                   "\"bytes\":0,\"received\":1,\"bytes_in\":4,"
	                   "\"symbol\":\"[other places]\",\"module\":null,\"offset\":null,"
	                   "\"file\":null,\"line\":null}");
	options.query.limit = 5;
	assert_int_equal(report_sites_text(page_open(&page), trace, "x.atr", &options), 0);
	text = page_close(&page);
	assert_non_null(strstr(text, "[other places]\n1 more place; --all shows them\n"));
	free(text);
	trace_close(trace);
	world_close(&w);
}

/* Modules 1 and 3 have the same path, as on two hosts, or after an update. */
static void modules_of_one_file_are_one(void **state)
{
	const struct named_range ranges[] = {{1, 0, 32, "put"}, {3, 0, 32, "put"}};
	struct call_sites sites;
	struct trace *trace;
	struct world w;

	(void)state;
	places_open(&w);
	for (uint32_t i = 0; i < 4; i++) {
		tables_add_site(w.tables, &(struct trace_call_site){1 + i / 2 * 2, 8 + i % 2});
		add(&w, &(struct trace_call_sum){.region = SEND, .site = 4 + i, .calls = 1U << i});
	}
	trace = world_named(&w, ranges, 2);
	assert_int_equal(call_sites_init(&sites, trace, &as_asked.query), 0);
	assert_int_equal(sites.nr, 2);
	assert_int_equal(sites.rows[0].sum.calls, 2 + 8);
	assert_int_equal(sites.rows[1].sum.calls, 1 + 4);
	call_sites_fini(&sites);
	trace_close(trace);
	world_close(&w);
}

/* A thread made 1000 calls at two places, some timed at 8 each, and untimed ones at a third. */
static void parts_add_up_to_the_whole(void **state)
{
	const struct trace_call_sum sums[] = {
		{.region = SEND,
	         .site = 1,
	         .calls = 600,
	         .time = 88 * 70,
	         .longest = 90,
	         .untimed = 600 - 88,
	         .extra = 11 * 56,
	         .extra_time = 11 * 56 * 70.0,
	         .extra_squares = 11 * 56 * 4950.0},
		{.region = SEND,
	         .site = 2,
	         .calls = 392,
	         .time = 24 * 500,
	         .longest = 500,
	         .untimed = 392 - 24,
	         .extra = 3 * 56,
	         .extra_time = 3 * 56 * 500.0,
	         .extra_squares = 3 * 56 * 250000.0},
		{.region = SEND, .site = 3, .calls = 8, .untimed = 8},
	};
	struct call_sites sites;
	struct rank_rows ranks;
	struct call_sums all;
	struct trace *trace;
	struct world w;

	(void)state;
	places_open(&w);
	for (size_t i = 0; i < 3; i++)
		add(&w, &sums[i]);
	trace = world_named(&w, names, sizeof(names) / sizeof(*names));
	assert_int_equal(call_sites_init(&sites, trace, &as_asked.query), 0);
	assert_int_equal(rank_rows_init(&ranks, trace), 0);
	assert_int_equal(call_sums_init(&all, trace, &ranks, NULL), 0);
	assert_int_equal(sites.nr, 3);
	assert_true(sites.thinned && sites.rows[0].sum.thinned);
	assert_int_equal(sites.rows[0].sum.calls, 392);
	assert_int_equal(sites.rows[0].sum.time, llround(24 * 500 * 1000 / 112.0));
	assert_int_equal(sites.rows[1].sum.time, 88 * 70 * 1000 / 112);
	assert_true(sites.rows[0].sum.time + sites.rows[1].sum.time + 1 >= all.regions[SEND].time);
	assert_true(sites.rows[0].sum.time + sites.rows[1].sum.time <= all.regions[SEND].time + 1);
	assert_true(sites.rows[2].sum.untimed && !sites.rows[1].sum.untimed);
	/* A place with few timed calls of many is known badly, though all of them took 500 ns. */
	assert_true(call_sum_error(&sites.rows[0].sum) > 0.5 * (double)sites.rows[0].sum.time);
	call_sites_fini(&sites);
	call_sums_fini(&all);
	rank_rows_fini(&ranks);
	trace_close(trace);
	world_close(&w);
}

/* Adds a call of t ns, which was timed for w others or not at all. */
static void count(struct call_time *time, double t, double w)
{
	time->calls++;
	time->untimed += 1 - (int64_t)w;
	time->time += (uint64_t)(w * t);
	time->extra += w * (w - 1);
	time->extra_time += w * (w - 1) * t;
	time->extra_squares += w * (w - 1) * t * t;
}

/*
 * One call of each block of 16 is timed. Every fifth is made at a place where calls last longer.
 * Returns whether the error has the place's true time.
 */
static bool error_covers(uint64_t *seed)
{
	struct call_time whole = {0}, part = {0};
	double truth = 0;

	for (unsigned block = 0; block < 400; block++) {
		uint64_t timed = random_below(seed, 16);

		for (unsigned i = 0; i < 16; i++) {
			bool here = random_below(seed, 5) == 0;
			double t = (double)((here ? 300 : 40) + random_below(seed, 100));
			double w = i == timed ? 16 : 0;

			truth += here ? t : 0;
			count(&whole, t, w);
			if (here)
				count(&part, t, w);
		}
	}
	return fabs((double)call_part_time(&whole, &part) - truth) <=
	       CALL_ERROR_DEVIATIONS * sqrt(call_part_variance(&whole, &part));
}

static void errors_of_places_cover_the_truth(void **state)
{
	uint64_t seed = 3;
	unsigned nr = 0;

	(void)state;
	for (unsigned i = 0; i < 400; i++)
		nr += error_covers(&seed);
	print_message("%u of 400\n", nr);
	assert_in_range(nr, 370, 400);
}

static void without_places_there_is_no_data(void **state)
{
	struct trace *trace;
	struct page page;
	struct world w;

	(void)state;
	world_open(&w, 1 << 20);
	trace = world_written(&w);
	assert_int_equal(report_sites_text(page_open(&page), trace, "x.atr", &as_asked), -ENODATA);
	page_expect(&page, "");
	assert_int_equal(report_sites_json(page_open(&page), trace, &as_asked.query), -ENODATA);
	page_expect(&page, "");
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_have_rows),
		cmocka_unit_test(modules_of_one_file_are_one),
		cmocka_unit_test(parts_add_up_to_the_whole),
		cmocka_unit_test(errors_of_places_cover_the_truth),
		cmocka_unit_test(without_places_there_is_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
