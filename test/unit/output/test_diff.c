/* What became of functions from one run to another. */
#include "page.h"
#include "trace_world.h"

#include <json-c/json.h>

#include "output/report/report.h"
#include "output/report/dump.h"
#include "output/report/report_diff.h"

#include <math.h>

static const struct report_options by_symbol = {
	.query.event = TRACE_ALL_EVENTS,
	.query.keys = {PROFILE_BY_SYMBOL},
	.query.nr_keys = 1,
	.query.limit = UINT32_MAX,
	.style.quiet = true,
};

/* The functions, 16 bytes each. */
static const struct named_range letters[] = {{2, 0, 16, "a"},    {2, 16, 32, "b"},
                                             {2, 32, 48, "c"},   {2, 48, 64, "d"},
                                             {2, 384, 400, "y"}, {2, 400, 416, "z"}};

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
	world_open(w, 256 << 10);
	events = tables_event(w->tables, 0);
	events[0].name = tables_string(w->tables, event);
	events[1].name = tables_string(w->tables, other);
	events[0].taken = strlen(functions) * nr_of_each;
	for (const char *f = functions; *f; f++) {
		for (unsigned i = 0; i < nr_of_each; i++)
			put_next(w, (struct hmb_sample){
					    .leaf = (uint64_t)2 << 32 | (unsigned)(*f - 'a') * 16,
					    .step = 97081,
				    });
	}
	run->trace = world_named(w, letters, sizeof(letters) / sizeof(*letters));
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

static void keep(void *arg, const struct diff *diff)
{
	struct diff_row **rows = arg;

	if (!*rows)
		*rows = calloc(diff->nr + 1, sizeof(**rows));
	for (size_t i = 0; i < diff->nr; i++) {
		(*rows)[i] = diff->rows[i];
		(*rows)[i].cells = strdup(diff->rows[i].cells);
	}
}

/* Of one run a side. */
static struct diff_report report_of(struct run *before, struct run *after,
                                    const struct report_options *options)
{
	static char *const names[] = {"x", "y"};

	return (struct diff_report){
		.sides = {{&before->trace, &names[0], 1}, {&after->trace, &names[1], 1}},
		.options = options,
	};
}

/* Rows of the first event, up to one without cells. */
static struct diff_row *rows_of(struct diff_report *report)
{
	struct report_options options = by_symbol;
	struct diff_row *rows = NULL;

	options.query.event = 0;
	report->options = &options;
	assert_int_equal(report_diff_walk(report, keep, &rows), 0);
	return rows;
}

static struct diff_row *compare(struct run *before, struct run *after, bool shares)
{
	struct diff_report report = report_of(before, after, NULL);

	report.shares = shares;
	return rows_of(&report);
}

/* Rows of two runs that are recorded for it, the functions as often as said in each. */
static struct diff_row *compare_recorded(const char *before, unsigned nr_before, const char *after,
                                         unsigned nr_after, bool shares)
{
	struct run runs[DIFF_SIDES];
	struct diff_row *rows;

	record(&runs[DIFF_BEFORE], before, nr_before);
	record(&runs[DIFF_AFTER], after, nr_after);
	rows = compare(&runs[DIFF_BEFORE], &runs[DIFF_AFTER], shares);
	end(&runs[DIFF_BEFORE]);
	end(&runs[DIFF_AFTER]);
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
	assert_true(fabs(row->of[DIFF_BEFORE].mean - (before)) < 1e-6);
	assert_true(fabs(row->of[DIFF_AFTER].mean - (after)) < 1e-6);
	assert_true(fabs(row->change - (after - before)) < 1e-6);
}

static double weight(unsigned samples)
{
	return (double)(base_periods[0] * samples);
}

/* Templates have names of any length, which may differ in their last letters alone. */
static void rename_long(struct run *run)
{
	static char names[2][10001];
	const struct named_range ranges[] = {{2, 0, 16, names[0]}, {2, 16, 32, names[1]}};

	for (unsigned i = 0; i < 2; i++) {
		memset(names[i], 'x', sizeof(names[i]) - 1);
		names[i][sizeof(names[i]) - 2] = (char)('a' + i);
	}
	trace_close(run->trace);
	run->trace = world_named(&run->world, ranges, 2);
}

static void expect_names(struct page *page)
{
	char *text = page_close(page);

	assert_non_null(strstr(text, "xxxa"));
	assert_non_null(strstr(text, "xxxb"));
	free(text);
}

static void names_are_told_in_full(void **state)
{
	struct run before, after;
	struct diff_row *rows;
	struct page page;

	(void)state;
	record(&before, "aab", 100);
	record(&after, "ab", 100);
	rename_long(&before);
	rename_long(&after);
	rows = compare(&before, &after, false);
	assert_int_equal(strlen(rows[0].cells), 10000);
	assert_int_equal(rows[0].cells[9999], 'a');
	assert_true(fabs(rows[0].change + weight(100)) < 1e-6);
	assert_int_equal(rows[1].cells[9999], 'b');
	free_rows(rows);
	assert_int_equal(report_text(page_open(&page), before.trace, "x", &by_symbol), 0);
	expect_names(&page);
	assert_int_equal(report_json(page_open(&page), before.trace, &by_symbol.query), 0);
	expect_names(&page);
	assert_int_equal(dump_text(page_open(&page), before.trace), 0);
	expect_names(&page);
	assert_int_equal(dump_json(page_open(&page), before.trace), 0);
	expect_names(&page);
	end(&before);
	end(&after);
}

/* A run with 100 samples in each of functions with these names, up to NULL. */
static void record_named(struct run *run, const char *const *names)
{
	struct named_range ranges[8];
	char functions[9] = "";
	uint32_t nr = 0;

	for (; names[nr]; nr++) {
		ranges[nr] = (struct named_range){2, 16 * nr, 16 * nr + 16, names[nr]};
		functions[nr] = (char)('a' + nr);
	}
	record(run, functions, 100);
	trace_close(run->trace);
	run->trace = world_named(&run->world, ranges, nr);
}

/* How many functions of two runs match. */
static unsigned nr_matched(const char *const *before, const char *const *after)
{
	struct run runs[DIFF_SIDES];
	struct diff_row *rows;
	unsigned nr = 0;

	record_named(&runs[DIFF_BEFORE], before);
	record_named(&runs[DIFF_AFTER], after);
	rows = compare(&runs[DIFF_BEFORE], &runs[DIFF_AFTER], false);
	for (size_t i = 0; rows[i].cells; i++)
		nr += rows[i].of[DIFF_BEFORE].mean > 0 && rows[i].of[DIFF_AFTER].mean > 0;
	free_rows(rows);
	end(&runs[DIFF_BEFORE]);
	end(&runs[DIFF_AFTER]);
	return nr;
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* By what their names have in common, where that is one function's on each side. */
static void compilers_name_functions_differently(void **state)
{
	(void)state;
	assert_int_equal(nr_matched(NAMES("force(std::vector<double, std::allocator<double> >&)"),
	                            NAMES("force")),
	                 1);
	assert_int_equal(nr_matched(NAMES("double ns::sum<double>(double)", "ns::g(int)"),
	                            NAMES("ns::sum<double>", "ns::g")),
	                 2);
	assert_int_equal(nr_matched(NAMES("f (omp region 0)", "f"), NAMES("f (omp region)", "f")),
	                 2);
	assert_int_equal(nr_matched(NAMES("main::{lambda(int)#1}::operator()(int) const",
	                                  "main::{lambda(char)#2}::operator()(char) const"),
	                            NAMES("main::$_0::operator()(int) const",
	                                  "main::$_1::operator()(char) const")),
	                 2);
	assert_int_equal(
		nr_matched(NAMES("main::{lambda(int)#1}::operator()(int) const",
	                         "main::{lambda(int)#2}::operator()(int) const"),
	                   NAMES("main::{lambda#1}::operator()", "main::{lambda#2}::operator()")),
		2);
	assert_int_equal(nr_matched(NAMES("name[abi:cxx11](int)"), NAMES("name")), 1);
	assert_int_equal(nr_matched(NAMES("f(int) [clone .avx2]"), NAMES("f(int)")), 1);
}

static void doubtful_names_do_not_match(void **state)
{
	(void)state;
	assert_int_equal(nr_matched(NAMES("f(int)", "f(long)"), NAMES("f")), 0);
	assert_int_equal(nr_matched(NAMES("f(int)", "f(long)"), NAMES("f(int)", "f")), 1);
	assert_int_equal(nr_matched(NAMES("f(int)", "f(long)"), NAMES("f(int)", "f(long)")), 2);
	assert_int_equal(nr_matched(NAMES("f<int>(int)"), NAMES("f<long>(long)")), 0);
	assert_int_equal(nr_matched(NAMES("f (omp region 0)", "f (omp region 1)"),
	                            NAMES("f (omp region)", "f (omp region 2)")),
	                 0);
	assert_int_equal(nr_matched(NAMES("f (omp region 0)"), NAMES("g (omp region 0)")), 0);
	assert_int_equal(nr_matched(NAMES("f (omp region 0)"), NAMES("(omp region)")), 0);
	assert_int_equal(nr_matched(NAMES("f (omp region 0)"), NAMES("f")), 0);
	assert_int_equal(nr_matched(NAMES("f@plt"), NAMES("f")), 0);
	assert_int_equal(nr_matched(NAMES("a::f(int)"), NAMES("b::f(int)")), 0);
	assert_int_equal(
		nr_matched(NAMES("main::{lambda#1}::operator()", "main::{lambda#2}::operator()"),
	                   NAMES("main::$_0::operator()(int) const",
	                         "main::$_1::operator()(int) const")),
		0);
}

static void the_largest_change_comes_first(void **state)
{
	struct diff_row *rows = compare_recorded("abbc", 100, "aaaabc", 100, false);

	(void)state;
	expect(&rows[0], "a", weight(100), weight(400));
	expect(&rows[1], "b", weight(200), weight(100));
	expect(&rows[2], "c", weight(100), weight(100));
	assert_null(rows[3].cells);
	assert_true(diff_is_clear(&rows[0]) && diff_is_clear(&rows[1]));
	assert_false(diff_is_clear(&rows[2]));
	free_rows(rows);
}

/* In one piece each: a run begins and ends, and the weight of a sample is added to both sides. */
static void errors_of_both_runs_add_up(void **state)
{
	struct diff_row *rows = compare_recorded("ab", 100, "aab", 100, false);

	(void)state;
	expect(&rows[0], "a", weight(100), weight(200));
	assert_true(fabs(rows[0].error - (1.96 * sqrt(2 + 2) * weight(1))) < 1);
	free_rows(rows);
}

static void one_sample_more_or_less_means_nothing(void **state)
{
	struct diff_row *rows = compare_recorded("a", 1, "b", 1, false);

	(void)state;
	expect(&rows[0], "a", weight(1), 0);
	expect(&rows[1], "b", 0, weight(1));
	assert_false(diff_is_clear(&rows[0]) || diff_is_clear(&rows[1]));
	free_rows(rows);
}

static void shares_are_of_their_own_run(void **state)
{
	struct diff_row *rows = compare_recorded("ab", 100, "aaab", 200, true);

	(void)state;
	expect(&rows[0], "a", 50, 75);
	expect(&rows[1], "b", 50, 25);
	/* Each error in its own run's percent. */
	assert_true(fabs(rows[0].error - (1.96 * sqrt(2 / 4.0 + 2 / 64.0))) < 1e-3);
	free_rows(rows);
}

enum { MANY = 3 };

/* Several runs of a side; as often as said, each of these functions was met in each. */
struct runs {
	struct run runs[MANY];
	struct trace *traces[MANY];
	char *names[MANY];
	unsigned nr;
};

static struct diff_traces record_runs(struct runs *runs, const char *functions,
                                      const unsigned *nr_of_each, unsigned nr)
{
	runs->nr = nr;
	for (unsigned i = 0; i < nr; i++) {
		record(&runs->runs[i], functions, nr_of_each[i]);
		runs->traces[i] = runs->runs[i].trace;
		runs->names[i] = (char *[]){"r1", "r2", "r3"}[i];
	}
	return (struct diff_traces){runs->traces, runs->names, nr};
}

static void end_all(struct runs *runs)
{
	for (unsigned i = 0; i < runs->nr; i++)
		end(&runs->runs[i]);
}

static bool is_near(double value, double expected)
{
	return fabs(value - expected) < expected * 1e-3;
}

/* Of a function that has so many samples in each run; how far they scatter gives the error. */
static void expect_error(const unsigned *nr_before, unsigned nr, double error)
{
	struct runs before, after;
	struct diff_report report = {0};
	struct diff_row *rows;

	report.sides[DIFF_BEFORE] = record_runs(&before, "a", nr_before, nr);
	report.sides[DIFF_AFTER] = record_runs(&after, "a", (unsigned[]){220, 180, 200}, 3);
	rows = rows_of(&report);
	expect(&rows[0], "a", weight(100), weight(200));
	assert_int_equal(rows[0].of[DIFF_BEFORE].samples, 100 * nr);
	assert_true(is_near(rows[0].error, error * weight(1)));
	assert_int_equal(diff_is_clear(&rows[0]), error < 100);
	free_rows(rows);
	end_all(&before);
	end_all(&after);
}

/* Variances of 100 and 400: by Welch 2.94 degrees of freedom, of which the 2 are taken. */
static void runs_differ_by_how_they_lie_apart(void **state)
{
	(void)state;
	expect_error((unsigned[]){90, 110, 100}, 3, 4.303 * sqrt(100 / 3.0 + 400 / 3.0));
}

static void one_run_scatters_as_those_of_the_other_side(void **state)
{
	(void)state;
	expect_error((unsigned[]){100}, 1, 4.303 * sqrt(400 + 400 / 3.0));
}

/* With so many runs a side, of which every second one has 90 samples and the others 110. */
static void expect_student(unsigned nr, double student)
{
	enum { MOST = 34 };
	struct runs two;
	struct trace *traces[MOST];
	char *names[MOST];
	struct diff_report report = {0};
	struct diff_row *rows;

	record_runs(&two, "a", (unsigned[]){90, 110}, 2);
	for (unsigned i = 0; i < nr; i++) {
		traces[i] = two.traces[i % 2];
		names[i] = two.names[i % 2];
	}
	for (unsigned side = 0; side < DIFF_SIDES; side++)
		report.sides[side] = (struct diff_traces){traces, names, nr};
	rows = rows_of(&report);
	assert_true(is_near(rows[0].error, student * sqrt(2 * 100.0 / (nr - 1)) * weight(1)));
	free_rows(rows);
	end_all(&two);
}

static void many_runs_are_as_sure_as_a_normal_distribution(void **state)
{
	(void)state;
	expect_student(2, 4.303);  /* 2 degrees of freedom */
	expect_student(16, 2.042); /* 30: the last one of the table */
	expect_student(34, 1.96 + 2.5 / 66);
}

/* Runs that agree to the sample are as uncertain as their samples. */
static void runs_are_no_surer_than_their_samples(void **state)
{
	struct runs before, after;
	struct diff_report report = {0};
	struct diff_row *rows;

	(void)state;
	report.sides[DIFF_BEFORE] = record_runs(&before, "a", (unsigned[]){1, 1}, 2);
	report.sides[DIFF_AFTER] = record_runs(&after, "b", (unsigned[]){1, 1}, 2);
	rows = rows_of(&report);
	expect(&rows[0], "a", weight(1), 0);
	assert_true(rows[0].of[DIFF_BEFORE].scatter == 0);
	assert_true(rows[0].error > weight(1) && !diff_is_clear(&rows[0]));
	expect(&rows[1], "b", 0, weight(1));
	free_rows(rows);
	end_all(&before);
	end_all(&after);
}

/* Each by what its own run spent, and a run without the function says 0. */
static void shares_of_several_runs(void **state)
{
	struct diff_report report = {.shares = true};
	struct run runs[4];
	struct trace *traces[4];
	char *names[] = {"r1", "r2", "r3", "r4"};
	struct diff_row *rows;

	(void)state;
	record(&runs[0], "ab", 100);
	record(&runs[1], "aaab", 200);
	record(&runs[2], "a", 100);
	record(&runs[3], "b", 300);
	for (unsigned i = 0; i < 4; i++)
		traces[i] = runs[i].trace;
	report.sides[DIFF_BEFORE] = (struct diff_traces){traces, names, 2};
	report.sides[DIFF_AFTER] = (struct diff_traces){traces + 2, names + 2, 2};
	rows = rows_of(&report);
	expect(&rows[0], "a", 62.5, 50);
	expect(&rows[1], "b", 37.5, 50);
	assert_true(is_near(rows[0].of[DIFF_AFTER].scatter, 5000));
	assert_true(is_near(rows[0].error, 12.706 * sqrt(312.5 / 2 + 5000 / 2.0)));
	free_rows(rows);
	for (unsigned i = 0; i < 4; i++)
		end(&runs[i]);
}

/* What is said of two runs before and one after; second: what the second one is called. */
static char *text_of_runs(char *second)
{
	struct report_options options = by_symbol;
	struct diff_report report = {.options = &options};
	struct runs before, after;
	struct page page;

	report.sides[DIFF_BEFORE] = record_runs(&before, "a", (unsigned[]){90, 110}, 2);
	report.sides[DIFF_AFTER] = record_runs(&after, "a", (unsigned[]){100}, 1);
	before.names[1] = second;
	options.query.event = 0;
	options.style.quiet = false;
	assert_int_equal(report_diff_text(page_open(&page), &report), 0);
	end_all(&before);
	end_all(&after);
	return page_close(&page);
}

static void several_runs_are_counted_above(void **state)
{
	char *text = text_of_runs((char[]){"r2"});

	(void)state;
	assert_non_null(strstr(text, "before: 2 runs, the first r1: ./app"));
	assert_non_null(strstr(text, "\nwarning: r2: no samples of page-faults"));
	assert_non_null(strstr(text, "\nafter: r1: ./app"));
	assert_non_null(strstr(text, "\ncpu-clock: 9.708 ms before, 9.708 ms after: +0.0 % ± "
	                             "220.1 %, on average\n"));
	assert_null(strstr(text, "one run each"));
	free(text);
}

/* Files may have any names. */
static void names_of_runs_are_harmless(void **state)
{
	char *text = text_of_runs((char[]){"\033[2Jr2"});

	(void)state;
	assert_non_null(strstr(text, "\nwarning: \\x1b[2Jr2: no samples of page-faults"));
	assert_null(strchr(text, '\033'));
	free(text);
}

/* To be freed. */
static char *text_of(struct run *before, struct run *after, const struct report_options *options)
{
	struct diff_report report = report_of(before, after, options);
	struct page page;

	assert_int_equal(report_diff_text(page_open(&page), &report), 0);
	return page_close(&page);
}

static void expect_text(const char *before, const char *after, const struct report_options *options,
                        const char *expected)
{
	struct run runs[DIFF_SIDES];
	char *text;

	record(&runs[DIFF_BEFORE], before, 100);
	record(&runs[DIFF_AFTER], after, 100);
	text = text_of(&runs[DIFF_BEFORE], &runs[DIFF_AFTER], options);
	assert_string_equal(text, expected);
	free(text);
	end(&runs[DIFF_BEFORE]);
	end(&runs[DIFF_AFTER]);
}

/* Lines 7 and 8 of two files that are called alike, in functions a and b. */
static void with_lines(struct run *run, const char *folder)
{
	struct world *w = &run->world;
	struct trace_source sources[2] = {{.line = 7}, {.line = 8}};
	const struct trace_line lines[2] = {{2, 0, 1}, {2, 16, 2}};
	char path[64];

	snprintf(path, sizeof(path), "/%s/x.c", folder);
	sources[0].file = sources[1].file = tables_string(w->tables, path);
	set_exact(w, "fork", 50 * base_periods[0]);
	set_exact(w, "sh", 400 * base_periods[0]);
	trace_close(run->trace);
	run->trace = NULL;
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	assert_true(name_ranges(w->path, letters, sizeof(letters) / sizeof(*letters)));
	assert_true(add_sections(w->path, sources, 2, lines, 2));
	run->trace = open_good(w->path);
}

static struct json_object *functions_of(const struct diff_report *report)
{
	struct json_object *whole, *events, *functions;
	struct page page;
	char *text;

	assert_int_equal(report_diff_json(page_open(&page), report), 0);
	text = page_close(&page);
	assert_string_equal(strchr(text, '\n'), "\n"); /* one line */
	whole = json_tokener_parse(text);
	free(text);
	assert_true(json_object_object_get_ex(whole, "events", &events));
	functions = json_object_array_get_idx(events, 0);
	assert_true(json_object_object_get_ex(functions, "functions", &functions));
	functions = json_object_get(functions);
	json_object_put(whole);
	return functions;
}

/* What tells rows apart, up to the numbers. */
static void expect_keys(const struct diff_report *report, const char *expected)
{
	struct json_object *functions = functions_of(report),
			   *wanted = json_tokener_parse(expected);

	for (size_t i = 0; i < json_object_array_length(functions); i++) {
		struct json_object *row = json_object_array_get_idx(functions, i);

		assert_true(json_object_object_get_ex(row, "before", NULL));
		json_object_object_del(row, "before");
		json_object_object_del(row, "after");
		json_object_object_del(row, "change");
		json_object_object_del(row, "error");
	}
	if (!json_object_equal(functions, wanted))
		fail_msg("%s", json_object_to_json_string(functions));
	json_object_put(functions);
	json_object_put(wanted);
}

static void programs_get_fields(void **state)
{
	struct report_options options = by_symbol;
	struct run before, after;
	struct diff_report report = report_of(&before, &after, &options);

	(void)state;
	record(&before, "abc", 100);
	record(&after, "aab", 100);
	with_lines(&before, "one");
	with_lines(&after, "two");
	options.query.event = 0;
	options.query.keys[0] = PROFILE_BY_LINE;
	expect_keys(&report, "[{'file': null, 'line': null}, {'file': 'x.c', 'line': 7}, "
	                     "{'file': null, 'line': null, 'comm': 'fork', 'unsampled': true}, "
	                     "{'file': null, 'line': null, 'comm': 'sh', 'unsampled': true}, "
	                     "{'file': 'x.c', 'line': 8}]");
	options.query.keys[0] = PROFILE_BY_FILE;
	expect_keys(&report, "[{'file': '/two/x.c'}, {'file': '/one/x.c'}, {'file': null}, "
	                     "{'file': null, 'comm': 'fork', 'unsampled': true}, "
	                     "{'file': null, 'comm': 'sh', 'unsampled': true}]");
	options.query.keys[0] = PROFILE_BY_COMM;
	options.query.keys[1] = PROFILE_BY_CPU;
	options.query.nr_keys = 2;
	expect_keys(&report, "[{'comm': 'fork', 'unsampled': true}, {'comm': 'sh', 'cpu': 0}, "
	                     "{'comm': 'sh', 'unsampled': true}]");
	end(&before);
	end(&after);
}

static void expect_json(const struct diff_report *report, const char *expected)
{
	struct page page;

	assert_int_equal(report_diff_json(page_open(&page), report), 0);
	page_expect(&page, expected);
}

#define WARNED                                                                      \
	"\"warnings\":[\"no samples of page-faults: one is taken every 1.009 µs, " \
	"and no thread ran that long\"]"
#define RUN_X "{\"file\":\"x\",\"wall_ns\":5000000," WARNED "}"
#define RUN_Y "{\"file\":\"y\",\"wall_ns\":5803800," WARNED "}"

static void json_tells_all(void **state)
{
	struct report_options options = by_symbol;
	struct run before, after;
	struct diff_report report = report_of(&before, &after, &options);
	char *names[] = {"x", "x", "y", "y"};

	(void)state;
	record(&before, "ab", 100);
	record(&after, "aab", 100);
	tables_run(before.world.tables)->end = 5001000;
	trace_close(before.trace);
	before.trace = world_named(&before.world, letters, sizeof(letters) / sizeof(*letters));
	options.query.event = 0;
	expect_json(&report,
	            "{\"before\":[" RUN_X "],\"after\":[" RUN_Y "],"
	            "\"events\":[{\"event\":\"cpu-clock\",\"unit\":\"ns\","
	            "\"before\":{\"total_weight\":19416200,\"samples\":200,\"warnings\":[]},"
	            "\"after\":{\"total_weight\":29124300,\"samples\":300,\"warnings\":[]},"
	            "\"warnings\":[],\"functions\":[{\"symbol\":\"a\",\"change\":9708100,\"error\":"
	            "380558,"
	            "\"before\":{\"self\":9708100,\"samples\":100},"
	            "\"after\":{\"self\":19416200,\"samples\":200}},"
	            "{\"symbol\":\"b\",\"change\":0,\"error\":380558,"
	            "\"before\":{\"self\":9708100,\"samples\":100},"
	            "\"after\":{\"self\":9708100,\"samples\":100}}]}]}\n");
	/* The same again and again. */
	options.query.limit = 1;
	report.sides[DIFF_BEFORE] =
		(struct diff_traces){(struct trace *[]){before.trace, before.trace}, names, 2};
	report.sides[DIFF_AFTER] =
		(struct diff_traces){(struct trace *[]){after.trace, after.trace}, names + 2, 2};
	expect_json(&report,
	            "{\"before\":[" RUN_X "," RUN_X "],\"after\":[" RUN_Y "," RUN_Y "],"
	            "\"events\":[{\"event\":\"cpu-clock\",\"unit\":\"ns\","
	            "\"before\":{\"total_weight\":19416200,\"samples\":400,\"warnings\":[]},"
	            "\"after\":{\"total_weight\":29124300,\"samples\":600,\"warnings\":[]},"
	            "\"change\":9708100,\"error\":0,"
	            "\"warnings\":[],\"functions\":[{\"symbol\":\"a\",\"change\":9708100,\"error\":"
	            "590773,"
	            "\"before\":{\"self\":9708100,\"samples\":200},"
	            "\"after\":{\"self\":19416200,\"samples\":400}}]}]}\n");
	end(&before);
	end(&after);
}

static void changes_within_their_errors_are_summed_up(void **state)
{
	struct report_options options = by_symbol;

	(void)state;
	options.query.event = 0;
	options.style.quiet = false;
	options.style.no_header = true;
	options.query.limit = 2;
	expect_text("abcz", "aabcy", &options,
	            "      change       ± error        before         after  symbol\n"
	            "   +9.708 ms ±    0.381 ms      9.708 ms     19.416 ms  a\n"
	            "   +9.708 ms ±    0.330 ms      0.000 ms      9.708 ms  y\n"
	            "   -9.708 ms  in 3 more rows, 1 beyond its error; --all shows them\n");
}

static void with_exact(struct run *run, uint64_t exact)
{
	struct world *w = &run->world;

	tables_event(w->tables, 0)->exact = exact;
	trace_close(run->trace);
	run->trace = world_named(w, letters, sizeof(letters) / sizeof(*letters));
}

/* A busy machine, or a full ring, takes samples away; what the kernel counted it does not. */
static void what_was_not_sampled_is_no_change(void **state)
{
	struct run before, after;
	struct report_options options = by_symbol;
	struct diff_row *rows;
	char *text;

	(void)state;
	record(&before, "ab", 100);
	record(&after, "ab", 90);
	with_exact(&before, 200 * base_periods[0]);
	with_exact(&after, 200 * base_periods[0]);
	rows = compare(&before, &after, false);
	expect(&rows[0], "a", weight(100), weight(100));
	expect(&rows[1], "b", weight(100), weight(100));
	free_rows(rows);
	/* Where too little was sampled the whole is known all the same. */
	with_exact(&after, 400 * base_periods[0]);
	rows = compare(&before, &after, false);
	expect(&rows[0], "a", weight(100), weight(90));
	free_rows(rows);
	options.style.quiet = false;
	text = text_of(&before, &after, &options);
	assert_non_null(strstr(text, "19.42 ms before, 38.83 ms after: +100.0 %\n"));
	free(text);
	end(&before);
	end(&after);
}

static void runs_too_short_for_a_sample_have_their_totals(void **state)
{
	struct report_options options = by_symbol;
	struct run before, after;
	char *text;

	(void)state;
	options.query.event = 0;
	options.style.quiet = false;
	record(&before, "", 0);
	record(&after, "a", 1);
	with_exact(&before, base_periods[0]);
	with_exact(&after, base_periods[0]);
	text = text_of(&before, &after, &options);
	assert_non_null(strstr(text, "97.08 µs before, 97.08 µs after: +0.0 %\n"));
	assert_null(strstr(text, "stand for"));
	free(text);
	end(&before);
	end(&after);
}

/* Runs of a and b, 100 samples of so much each, by their exact totals. */
static char *text_of_totals(uint64_t period, uint64_t of_before, uint64_t of_after)
{
	struct report_options options = by_symbol;
	struct run runs[DIFF_SIDES];
	char *text;

	options.query.event = 0;
	options.style.quiet = false;
	options.query.all = true;
	for (unsigned side = 0; side < DIFF_SIDES; side++) {
		record(&runs[side], "ab", 100);
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
			tables_stream(runs[side].world.tables, cpu)->base_period = period;
		with_exact(&runs[side], side == DIFF_BEFORE ? of_before : of_after);
	}
	text = text_of(&runs[DIFF_BEFORE], &runs[DIFF_AFTER], &options);
	end(&runs[DIFF_BEFORE]);
	end(&runs[DIFF_AFTER]);
	return text;
}

static void no_change_has_no_sign_of_less(void **state)
{
	char *text = text_of_totals(97081, 200 * 97081, 200 * 97081 - 100);

	(void)state;
	assert_non_null(strstr(text, "after: +0.0 %\n"));
	assert_non_null(strstr(text, "\n   +0.000 ms ±"));
	assert_null(strstr(text, "-0.0"));
	free(text);
}

/* As of a job that runs for days. */
static void columns_have_room_for_large_values(void **state)
{
	const uint64_t period = 40000000000000;
	char *text = text_of_totals(period, 200 * period, 100 * period);

	(void)state;
	assert_non_null(strstr(text, "2222 h 13 min 20 s before, 1111 h 6 min 40 s after"));
	assert_non_null(strstr(
		text, "        change         ± error          before           after  symbol\n"
		      "      +0.000 s ±  156800.000 s   4000000.000 s   4000000.000 s  a\n"));
	free(text);
}

static void both_runs_stand_above(void **state)
{
	struct report_options options = by_symbol;

	(void)state;
	options.query.event = 0;
	options.style.quiet = false;
	expect_text(
		"abcd", "abc", &options,
		"before: x: ./app -x '\\x1b[31m'\n"
		"7.724 ms on , 3 CPUs\n"
		"warning: before: no samples of page-faults: one is taken every 1.009 µs, and no "
		"thread ran that long\n"
		"after: y: ./app -x '\\x1b[31m'\n"
		"5.804 ms on , 3 CPUs\n"
		"warning: after: no samples of page-faults: one is taken every 1.009 µs, and no "
		"thread ran that long\n"
		"one run each: errors are of sampling alone; folders with traces of more runs tell "
		"how runs differ\n"
		"cpu-clock: 38.83 ms before, 29.12 ms after: -25.0 %\n"
		"\n"
		"      change       ± error        before         after  symbol\n"
		"   -9.708 ms ±    0.330 ms      9.708 ms      0.000 ms  d\n"
		"   +0.000 ms  in 3 more rows, within their errors; --all shows them\n");
}

static void only_events_of_both_runs_compare(void **state)
{
	struct report_options options = by_symbol;
	struct run before, after;
	struct diff_report report = report_of(&before, &after, &options);

	(void)state;
	record(&before, "a", 1);
	record(&after, "a", 1);
	assert_true(report_diff_any(&report));
	options.query.event = 1;
	assert_true(report_diff_any(&report));
	options.query.event = NR_EVENTS;
	assert_false(report_diff_any(&report));
	end(&before);
	end(&after);
}

/* The other run may have sampled more, and its events in another order. */
static void events_compare_by_name(void **state)
{
	struct report_options options = by_symbol;
	struct diff_row *rows = NULL;
	struct run before, after;
	struct diff_report report = report_of(&before, &after, &options);

	(void)state;
	record(&before, "a", 1);
	record_as(&after, "aa", 1, "page-faults", "cpu-clock");
	options.query.event = 0;
	assert_int_equal(report_diff_walk(&report, keep, &rows), 0);
	expect(&rows[0], "a", weight(1), 0);
	assert_null(rows[1].cells);
	free_rows(rows);
	end(&before);
	end(&after);
}

static void with_command_total(struct run *run, unsigned samples)
{
	set_exact(&run->world, "sh", samples * base_periods[0]);
	trace_close(run->trace);
	run->trace = world_named(&run->world, letters, sizeof(letters) / sizeof(*letters));
}

static const struct diff_row *row_named(const struct diff_row *rows, const char *cells)
{
	while (rows->cells && strcmp(rows->cells, cells) != 0)
		rows++;
	return rows;
}

/* Which are of a run's first event; of the other run's second one there are none. */
static void totals_of_commands_count_if_all_runs_have_them(void **state)
{
	static const struct {
		const char *event, *other; /* of the other run */
		unsigned exact, function;  /* samples, of 100 that were taken */
		bool unsampled;
	} cases[] = {
		{"cpu-clock", "page-faults", 400, 100, true},
		{"cpu-clock", "page-faults", 110, 110, false},
		{"page-faults", "cpu-clock", 400, 100, false},
		{"page-faults", "cpu-clock", 110, 100, false},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct run before, after;
		struct diff_row *rows;

		record(&before, "a", 100);
		record_as(&after, "a", 100, cases[i].event, cases[i].other);
		with_command_total(&before, cases[i].exact);
		with_command_total(&after, cases[i].exact);
		rows = compare(&before, &after, false);
		assert_true(is_near(row_named(rows, "a")->of[DIFF_BEFORE].mean,
		                    weight(cases[i].function)));
		assert_int_equal(row_named(rows, "[unsampled] sh")->cells != NULL,
		                 cases[i].unsampled);
		free_rows(rows);
		end(&before);
		end(&after);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_largest_change_comes_first),
		cmocka_unit_test(names_are_told_in_full),
		cmocka_unit_test(compilers_name_functions_differently),
		cmocka_unit_test(doubtful_names_do_not_match),
		cmocka_unit_test(errors_of_both_runs_add_up),
		cmocka_unit_test(one_sample_more_or_less_means_nothing),
		cmocka_unit_test(what_was_not_sampled_is_no_change),
		cmocka_unit_test(runs_too_short_for_a_sample_have_their_totals),
		cmocka_unit_test(shares_are_of_their_own_run),
		cmocka_unit_test(programs_get_fields),
		cmocka_unit_test(json_tells_all),
		cmocka_unit_test(changes_within_their_errors_are_summed_up),
		cmocka_unit_test(no_change_has_no_sign_of_less),
		cmocka_unit_test(columns_have_room_for_large_values),
		cmocka_unit_test(both_runs_stand_above),
		cmocka_unit_test(only_events_of_both_runs_compare),
		cmocka_unit_test(events_compare_by_name),
		cmocka_unit_test(totals_of_commands_count_if_all_runs_have_them),
		cmocka_unit_test(runs_differ_by_how_they_lie_apart),
		cmocka_unit_test(one_run_scatters_as_those_of_the_other_side),
		cmocka_unit_test(many_runs_are_as_sure_as_a_normal_distribution),
		cmocka_unit_test(runs_are_no_surer_than_their_samples),
		cmocka_unit_test(shares_of_several_runs),
		cmocka_unit_test(several_runs_are_counted_above),
		cmocka_unit_test(names_of_runs_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
