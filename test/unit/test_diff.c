/* What became of functions from one run to another. */
#include "trace_world.h"

#include "output/report_diff.h"

#include <math.h>

static const struct report_options by_symbol = {
	.event = TRACE_ALL_EVENTS,
	.keys = {PROFILE_BY_SYMBOL},
	.nr_keys = 1,
	.to = UINT64_MAX,
	.limit = UINT32_MAX,
	.quiet = true,
};

/* A run: so many samples of each function, which are letters, in the order of their first ones. */
struct run {
	struct world world;
	struct trace *trace;
};

static void record_as(struct run *run, const char *functions, unsigned nr_of_each,
                      const char *event, const char *other)
{
	struct world *w = &run->world;
	struct trace_event *events;
	struct named_range ranges[26];
	char names[26][2];

	world_open(w, 256 << 10);
	events = tables_event(w->tables, 0);
	events[0].name = tables_string(w->tables, event);
	events[1].name = tables_string(w->tables, other);
	for (const char *f = functions; *f; f++) {
		for (unsigned i = 0; i < nr_of_each; i++)
			put_next(w, (struct hmb_sample){
					    .leaf = (uint64_t)2 << 32 | (unsigned)(*f - 'a') * 16,
					    .step = 97081,
				    });
	}
	for (unsigned i = 0; i < 26; i++) {
		names[i][0] = (char)('a' + i);
		names[i][1] = 0;
		ranges[i] = (struct named_range){2, 16 * i, 16 * i + 16, names[i]};
	}
	run->trace = world_named(w, ranges, 26);
}

static void record(struct run *run, const char *functions, unsigned nr_of_each)
{
	record_as(run, functions, nr_of_each, "cpu-clock", "page-faults");
}

static void end(struct run *run)
{
	trace_close(run->trace);
	world_close(&run->world);
}

static int keep(void *arg, const struct diff *diff)
{
	struct diff_row **rows = arg;

	if (!*rows)
		*rows = calloc(diff->nr + 1, sizeof(**rows));
	for (size_t i = 0; i < diff->nr; i++) {
		(*rows)[i] = diff->rows[i];
		(*rows)[i].cells = strdup(diff->rows[i].cells);
	}
	return 0;
}

/* Rows of the first event, up to one without cells. */
static struct diff_row *compare(struct run *before, struct run *after, bool shares)
{
	struct report_options options = by_symbol;
	struct diff_report report = {{before->trace, after->trace}, {"x", "y"}, &options, shares};
	struct diff_row *rows = NULL;

	options.event = 0;
	assert_int_equal(report_diff_walk(&report, keep, &rows), 0);
	return rows;
}

static void free_rows(struct diff_row *rows)
{
	for (size_t i = 0; rows[i].cells; i++)
		free(rows[i].cells);
	free(rows);
}

static void expect(const struct diff_row *row, const char *function, double before, double after)
{
	assert_string_equal(row->cells, function);
	assert_true(fabs(row->value[DIFF_BEFORE] - (before)) < 1e-6);
	assert_true(fabs(row->value[DIFF_AFTER] - (after)) < 1e-6);
	assert_true(fabs(row->change - (after - before)) < 1e-6);
}

static double weight(unsigned samples)
{
	return (double)(base_periods[0] * samples);
}

static void the_largest_change_comes_first(void **state)
{
	struct run before, after;
	struct diff_row *rows;

	(void)state;
	record(&before, "abbc", 100);
	record(&after, "aaaabc", 100);
	rows = compare(&before, &after, false);
	expect(&rows[0], "a", weight(100), weight(400));
	expect(&rows[1], "b", weight(200), weight(100));
	expect(&rows[2], "c", weight(100), weight(100));
	assert_null(rows[3].cells);
	assert_true(diff_is_clear(&rows[0]) && diff_is_clear(&rows[1]));
	assert_false(diff_is_clear(&rows[2]));
	free_rows(rows);
	end(&before);
	end(&after);
}

/* In one piece each: a run begins and ends, and the weight of a sample is added to both sides. */
static void errors_of_both_runs_add_up(void **state)
{
	struct run before, after;
	struct diff_row *rows;

	(void)state;
	record(&before, "ab", 100);
	record(&after, "aab", 100);
	rows = compare(&before, &after, false);
	expect(&rows[0], "a", weight(100), weight(200));
	assert_true(fabs(rows[0].error - (1.96 * sqrt(2 + 2) * weight(1))) < 1);
	free_rows(rows);
	end(&before);
	end(&after);
}

static void one_sample_more_or_less_means_nothing(void **state)
{
	struct run before, after;
	struct diff_row *rows;

	(void)state;
	record(&before, "a", 1);
	record(&after, "b", 1);
	rows = compare(&before, &after, false);
	expect(&rows[0], "a", weight(1), 0);
	expect(&rows[1], "b", 0, weight(1));
	assert_false(diff_is_clear(&rows[0]) || diff_is_clear(&rows[1]));
	free_rows(rows);
	end(&before);
	end(&after);
}

static void shares_are_of_their_own_run(void **state)
{
	struct run before, after;
	struct diff_row *rows;

	(void)state;
	record(&before, "ab", 100);
	record(&after, "aaab", 200);
	rows = compare(&before, &after, true);
	expect(&rows[0], "a", 50, 75);
	expect(&rows[1], "b", 50, 25);
	/* Each error in its own run's percent. */
	assert_true(fabs(rows[0].error - (1.96 * sqrt(2 / 4.0 + 2 / 64.0))) < 1e-3);
	free_rows(rows);
	end(&before);
	end(&after);
}

static char *text_of(struct run *before, struct run *after, const struct report_options *options)
{
	struct diff_report report = {{before->trace, after->trace}, {"x", "y"}, options, false};
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_int_equal(report_diff_text(file, &report), 0);
	fclose(file);
	return text;
}

static void changes_within_their_errors_are_summed_up(void **state)
{
	struct report_options options = by_symbol;
	struct run before, after;
	char *text;

	(void)state;
	record(&before, "abcz", 100);
	record(&after, "aabcy", 100);
	options.event = 0;
	options.quiet = false;
	options.no_header = true;
	options.limit = 2;
	text = text_of(&before, &after, &options);
	assert_string_equal(text,
	                    "      change       ± error        before         after  symbol\n"
	                    "   +9.708 ms ±    0.381 ms      9.708 ms     19.416 ms  a\n"
	                    "   +9.708 ms ±    0.330 ms      0.000 ms      9.708 ms  y\n"
	                    "   -9.708 ms  in 3 more rows, 1 beyond its error; --all shows them\n");
	free(text);
	end(&before);
	end(&after);
}

static void both_runs_stand_above(void **state)
{
	struct report_options options = by_symbol;
	struct run before, after;
	char *text;

	(void)state;
	record(&before, "abcd", 100);
	record(&after, "abc", 100);
	options.event = 0;
	options.quiet = false;
	text = text_of(&before, &after, &options);
	assert_string_equal(
		text,
		"before: x: ./app -x '\\x1b[31m'\n"
		"7.724 ms on , 3 CPUs\n"
		"warning: before: no samples of page-faults: one is taken every 1.009 µs, and no "
		"thread ran as long\n"
		"after: y: ./app -x '\\x1b[31m'\n"
		"5.804 ms on , 3 CPUs\n"
		"warning: after: no samples of page-faults: one is taken every 1.009 µs, and no "
		"thread ran as long\n"
		"cpu-clock: 38.83 ms before, 29.12 ms after: -25.0 %\n"
		"\n"
		"      change       ± error        before         after  symbol\n"
		"   -9.708 ms ±    0.330 ms      9.708 ms      0.000 ms  d\n"
		"   +0.000 ms  in 3 more rows, within their errors; --all shows them\n");
	free(text);
	end(&before);
	end(&after);
}

static void only_events_of_both_runs_compare(void **state)
{
	struct report_options options = by_symbol;
	struct diff_report report = {.names = {"x", "y"}, .options = &options};
	struct run before, after;

	(void)state;
	record(&before, "a", 1);
	record(&after, "a", 1);
	report.traces[DIFF_BEFORE] = before.trace;
	report.traces[DIFF_AFTER] = after.trace;
	assert_true(report_diff_any(&report));
	options.event = 1;
	assert_true(report_diff_any(&report));
	options.event = NR_EVENTS;
	assert_false(report_diff_any(&report));
	end(&before);
	end(&after);
}

/* The other run may have sampled more, and its events in another order. */
static void events_compare_by_name(void **state)
{
	struct report_options options = by_symbol;
	struct diff_report report = {.names = {"x", "y"}, .options = &options};
	struct diff_row *rows = NULL;
	struct run before, after;

	(void)state;
	record(&before, "a", 1);
	record_as(&after, "aa", 1, "page-faults", "cpu-clock");
	report.traces[DIFF_BEFORE] = before.trace;
	report.traces[DIFF_AFTER] = after.trace;
	options.event = 0;
	assert_int_equal(report_diff_walk(&report, keep, &rows), 0);
	expect(&rows[0], "a", weight(1), 0);
	assert_null(rows[1].cells);
	free_rows(rows);
	end(&before);
	end(&after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_change_comes_first),
		cmocka_unit_test(errors_of_both_runs_add_up),
		cmocka_unit_test(one_sample_more_or_less_means_nothing),
		cmocka_unit_test(shares_are_of_their_own_run),
		cmocka_unit_test(changes_within_their_errors_are_summed_up),
		cmocka_unit_test(both_runs_stand_above),
		cmocka_unit_test(only_events_of_both_runs_compare),
		cmocka_unit_test(events_compare_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
