/* Lines and inlined functions in traces: written, read, reported, and lied about. */
#include "trace_world.h"

#include <json-c/json.h>

#include "output/report/dump.h"
#include "output/views/subset_rows.h"
#include "output/views/rank_sums.h"
#include "output/report/report.h"
#include "trace/write/source_table.h"

/* --- the table -------------------------------------------------------------------------------- */

static void equal_sources_are_one(void **state)
{
	struct source_table table = {0};
	struct trace_source source = {.file = 3};
	uint32_t number, i;

	(void)state;
	for (i = 0; i < 3000; i++) {
		source.line = i;
		assert_int_equal(source_table_put(&table, &source, &number), 0);
		assert_int_equal(number, i + 1);
	}
	for (i = 0; i < 3000; i++) {
		source.line = i;
		assert_int_equal(source_table_put(&table, &source, &number), 0);
		assert_int_equal(number, i + 1);
	}
	source.caller = 1;
	assert_int_equal(source_table_put(&table, &source, &number), 0);
	assert_int_equal(number, 3001);
	source_table_fini(&table);
}

static void line_put(struct source_table *table, uint32_t module, uint32_t offset, uint32_t source,
                     uint32_t lo)
{
	const struct trace_line line = {module, offset, source};

	assert_int_equal(source_table_line(table, &line, lo), 0);
}

static void lines_hold_up_to_the_next(void **state)
{
	struct source_table table = {0};
	uint32_t i;

	(void)state;
	line_put(&table, 1, 10, 5, 8);
	line_put(&table, 1, 12, 5, 8);
	line_put(&table, 1, 14, 0, 8);
	line_put(&table, 1, 16, 0, 8);
	line_put(&table, 1, 20, 5, 8);
	line_put(&table, 1, 30, 5, 30); /* another function */
	line_put(&table, 1, 40, 0, 40);
	line_put(&table, 2, 41, 5, 30);
	assert_int_equal(table.nr_lines, 5);
	assert_int_equal(table.lines[1].offset, 14);
	assert_int_equal(table.lines[3].offset, 30);
	assert_int_equal(table.lines[4].module, 2);
	for (i = 0; i < 5000; i++)
		line_put(&table, 3, i, i % 2, 0);
	assert_int_equal(table.nr_lines, 5 + 4999);
	source_table_fini(&table);
}

/* --- a trace ---------------------------------------------------------------------------------- */

/*
 * Module 1: "outer" [0, 25), where from 10 to 19 "inner" and in it "innermost" were inlined, and
 * "plain" without lines. What module 3 has are the strings that the sources use.
 */
static const struct named_range ranges[] = {
	{1, 0, 25, "outer"},       {1, 25, 50, "plain"},       {2, 0, 1000, "main"},
	{3, 100, 101, "inner"},    {3, 101, 102, "innermost"}, {3, 102, 103, "/src/a.c"},
	{3, 103, 104, "/src/b.h"},
};

static void add_lines(const char *path)
{
	struct trace *trace = open_good(path);
	uint32_t inner = trace_symbol(trace, 3)->name, innermost = trace_symbol(trace, 4)->name;
	uint32_t a_c = trace_symbol(trace, 5)->name, b_h = trace_symbol(trace, 6)->name;
	const struct trace_source sources[] = {
		{.file = a_c, .line = 10},
		{.function = inner, .file = a_c, .line = 5, .caller = 1},
		{.function = innermost, .file = b_h, .line = 7, .caller = 2},
	};
	static const struct trace_line lines[] = {{1, 0, 1}, {1, 10, 3}, {1, 20, 0}};

	trace_close(trace);
	assert_true(add_sections(path, sources, 3, lines, 3));
}

static struct trace *record(struct world *w, size_t nr)
{
	world_open(w, 256 << 10);
	put_many(w, nr);
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP;
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	assert_true(name_ranges(w->path, ranges, sizeof(ranges) / sizeof(*ranges)));
	add_lines(w->path);
	return open_good(w->path);
}

static size_t chain_of(const struct trace *trace, uint32_t module, uint32_t offset,
                       struct trace_source *chain)
{
	return trace_inline_chain(trace, (uint64_t)module << 32 | offset, chain);
}

static void chains_are_found(void **state)
{
	struct trace_source chain[TRACE_MAX_CHAIN];
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 100);
	assert_int_equal(chain_of(trace, 1, 9, chain), 1);
	assert_int_equal(chain[0].line, 10);
	assert_string_equal(trace_string(trace, chain[0].function), "outer");
	assert_int_equal(chain_of(trace, 1, 19, chain), 3);
	assert_string_equal(trace_string(trace, chain[0].function), "innermost");
	assert_string_equal(trace_string(trace, chain[0].file), "/src/b.h");
	assert_string_equal(trace_string(trace, chain[1].function), "inner");
	assert_int_equal(chain[1].line, 5);
	assert_string_equal(trace_string(trace, chain[2].function), "outer");
	assert_int_equal(chain_of(trace, 1, 20, chain), 0);
	assert_int_equal(chain_of(trace, 1, 25, chain), 0);
	assert_int_equal(chain_of(trace, 1, 60, chain), 0);
	assert_int_equal(chain_of(trace, 2, 10, chain), 0);
	assert_int_equal(chain_of(trace, 0, 1, chain), 0);
	trace_close(trace);
	world_close(&w);
}

/* --- profiles --------------------------------------------------------------------------------- */

static const struct profile_row *row_named(const struct profile *profile, const char *symbol,
                                           uint32_t line)
{
	char text[FRAME_TEXT_SIZE];

	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		uint32_t name = profile->rows[i].name;

		if (name != PROFILE_NONE && profile->names.names[name].line == line &&
		    !strcmp(frame_name_symbol(&profile->names, name, text), symbol))
			return &profile->rows[i];
	}
	return NULL;
}

/* With all that it called. */
static uint64_t total_of(const struct profile *profile, const struct profile_row *row)
{
	struct profile_trees trees;
	struct subset_rows rows;
	uint64_t total = 0;

	assert_int_equal(profile_trees_init(&trees, profile), 0);
	assert_int_equal(subset_rows_init(&rows, &trees), 0);
	assert_int_equal(subset_rows_make(&rows, 0), 0);
	for (uint32_t i = 0; i < rows.nr; i++)
		total += rows.rows[i].name == row->name ? rows.rows[i].total : 0;
	subset_rows_fini(&rows);
	profile_trees_fini(&trees);
	return total;
}

/* The weight of samples whose leaf is in module 1, at offsets [lo, hi). */
static uint64_t weight_in(const struct trace *trace, uint32_t lo, uint32_t hi)
{
	struct trace_walk *walk = trace_walk_new(trace, 0);
	struct trace_sample sample;
	uint64_t sum = 0;

	while (trace_walk_next(walk, &sample) == 1)
		if (sample.leaf >> 32 == 1 && (uint32_t)sample.leaf >= lo &&
		    (uint32_t)sample.leaf < hi)
			sum += sample.weight;
	trace_walk_free(walk);
	return sum;
}

static struct profile *profile_of(const struct trace *trace, unsigned keys)
{
	const struct profile_config config = {.keys = keys};
	struct profile *profile = profile_new(trace, &config);

	assert_non_null(profile);
	return profile;
}

static void inlined_functions_have_rows(void **state)
{
	const unsigned keys = PROFILE_BY_SYMBOL | PROFILE_BY_MODULE;
	struct profile *profile;
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 3000);
	assert_true(weight_in(trace, 10, 20) > 0);
	profile = profile_of(trace, keys | PROFILE_INLINED);
	assert_int_equal(row_named(profile, "innermost", 0)->self, weight_in(trace, 10, 20));
	assert_int_equal(row_named(profile, "inner", 0)->self, 0);
	assert_int_equal(total_of(profile, row_named(profile, "inner", 0)),
	                 weight_in(trace, 10, 20));
	assert_int_equal(total_of(profile, row_named(profile, "outer", 0)),
	                 weight_in(trace, 0, 25));
	assert_int_equal(row_named(profile, "outer", 0)->self,
	                 weight_in(trace, 0, 10) + weight_in(trace, 20, 25));
	assert_int_equal(row_named(profile, "plain", 0)->self, weight_in(trace, 25, 50));
	profile_free(profile);
	profile = profile_of(trace, keys);
	assert_null(row_named(profile, "inner", 0));
	assert_int_equal(row_named(profile, "outer", 0)->self, weight_in(trace, 0, 25));
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

static void lines_have_rows(void **state)
{
	const unsigned keys = PROFILE_BY_SYMBOL | PROFILE_BY_LINE;
	struct profile *profile;
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 3000);
	profile = profile_of(trace, keys | PROFILE_INLINED);
	assert_int_equal(row_named(profile, "innermost", 7)->self, weight_in(trace, 10, 20));
	assert_int_equal(row_named(profile, "outer", 10)->self, weight_in(trace, 0, 10));
	assert_int_equal(total_of(profile, row_named(profile, "outer", 10)),
	                 weight_in(trace, 0, 20));
	assert_int_equal(row_named(profile, "outer", 0)->self, weight_in(trace, 20, 25));
	profile_free(profile);
	profile = profile_of(trace, keys);
	/* Whatever function it belongs to, the line is where the program was. */
	assert_int_equal(row_named(profile, "outer", 7)->self, weight_in(trace, 10, 20));
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

static bool ranks_know(const struct trace *trace, bool no_inline, const char *function)
{
	const struct report_options options = {.query.event = 0, .query.no_inline = no_inline};
	struct rank_rows rows;
	struct rank_sums sums;
	char text[FRAME_TEXT_SIZE];
	bool found = false;

	assert_int_equal(rank_rows_init(&rows, trace), 0);
	assert_int_equal(rank_sums_init(&sums, trace, &rows, &options.query), 0);
	for (uint32_t i = 0; i < sums.nr_functions; i++)
		found |= !strcmp(paths_function(&sums.paths, sums.functions[i].name, text),
		                 function);
	rank_sums_fini(&sums);
	rank_rows_fini(&rows);
	return found;
}

static void ranks_have_them_unless_told_not_to(void **state)
{
	struct trace *trace;
	struct world w;

	(void)state;
	trace = record(&w, 3000);
	assert_true(ranks_know(trace, false, "inner"));
	assert_true(ranks_know(trace, false, "outer"));
	assert_false(ranks_know(trace, true, "inner"));
	assert_true(ranks_know(trace, true, "outer"));
	trace_close(trace);
	world_close(&w);
}

/* --- texts ------------------------------------------------------------------------------------ */

static char *report_of(const struct trace *trace, bool json)
{
	const struct report_options options = {
		.query.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_LINE},
		.query.nr_keys = 2,
		.query.limit = UINT32_MAX,
		.style.quiet = true,
	};
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);
	int err = json ? report_json(file, trace, &options.query)
	               : report_text(file, trace, "x", &options);

	assert_int_equal(err, 0);
	fclose(file);
	return text;
}

static void reports_show_lines(void **state)
{
	struct trace *trace;
	struct world w;
	char *text;

	(void)state;
	trace = record(&w, 3000);
	text = report_of(trace, false);
	assert_non_null(strstr(text, "b.h:7\n"));
	assert_non_null(strstr(text, "a.c:10\n"));
	assert_non_null(strstr(text, "[unknown]\n"));
	free(text);
	text = report_of(trace, true);
	assert_non_null(
		strstr(text, "{\"symbol\":\"innermost\",\"file\":\"/src/b.h\",\"line\":7,"));
	assert_non_null(strstr(text, "{\"symbol\":\"plain\",\"file\":null,\"line\":null,"));
	free(text);
	trace_close(trace);
	world_close(&w);
}

static char *dump_of(const struct trace *trace, int (*dump)(FILE *to, const struct trace *trace))
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_int_equal(dump(file, trace), 0);
	fclose(file);
	return text;
}

static void dumps_show_inlined_frames(void **state)
{
	struct trace *trace;
	struct world w;
	char *text;

	(void)state;
	trace = record(&w, 3000);
	text = dump_of(trace, dump_text);
	assert_non_null(strstr(text, "innermost (inlined) < inner (inlined) < outer < main"));
	free(text);
	text = dump_of(trace, dump_json);
	assert_non_null(strstr(text, "{\"symbol\":\"inner\",\"module\":\"libx.so\",\"offset\":1"));
	assert_non_null(strstr(text, "\"file\":\"/src/a.c\",\"line\":5,\"inlined\":true},"
	                             "{\"symbol\":\"outer\""));
	assert_non_null(strstr(text, "\"file\":\"/src/a.c\",\"line\":10,\"inlined\":false}"));
	free(text);
	trace_close(trace);
	world_close(&w);
}

/* --- lies ------------------------------------------------------------------------------------- */

static void refuse(const char *path, const struct trace_source *sources, size_t nr_sources,
                   const struct trace_line *lines, size_t nr_lines, const char *wanted)
{
	char why[TRACE_WHY_SIZE];
	struct trace *trace;

	assert_true(add_sections(path, sources, nr_sources, lines, nr_lines));
	trace = trace_open(path, why);
	assert_int_equal(trace != NULL, !wanted);
	if (wanted)
		assert_non_null(strstr(why, wanted));
	trace_close(trace);
}

static void lies_are_refused(void **state)
{
	static const struct trace_source good[] = {{1, 1, 1, 0}, {1, 1, 1, 1}};
	static const struct trace_source circle[] = {{1, 1, 1, 2}, {1, 1, 1, 1}};
	static const struct trace_source self[] = {{1, 1, 1, 1}};
	static const struct trace_source wild[] = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, 0}};
	static const struct trace_line missing[] = {{1, 0, 3}};
	static const struct trace_line order[] = {{1, 5, 1}, {1, 5, 2}};
	static const struct trace_line one[] = {{1, 0, 1}}, last[] = {{1, 0, TRACE_MAX_CHAIN + 2}};
	struct trace_source deep[TRACE_MAX_CHAIN + 2];
	struct trace_source chain[TRACE_MAX_CHAIN];
	struct trace *trace;
	struct world w;

	(void)state;
	trace_close(record(&w, 10));
	refuse(w.path, circle, 2, one, 1, "sources are out of order");
	refuse(w.path, self, 1, one, 1, "sources are out of order");
	refuse(w.path, good, 2, missing, 1, "sources that are missing");
	refuse(w.path, good, 2, order, 2, "lines are out of order");
	refuse(w.path, good, 0, one, 1, "sources that are missing");
	refuse(w.path, good, 2, one, 0, NULL);
	for (uint32_t i = 0; i < TRACE_MAX_CHAIN + 2; i++)
		deep[i] = (struct trace_source){1, 1, 1, i};
	refuse(w.path, deep, TRACE_MAX_CHAIN + 2, last, 1, NULL);
	trace = open_good(w.path);
	assert_int_equal(chain_of(trace, 1, 0, chain), TRACE_MAX_CHAIN);
	trace_close(trace);
	refuse(w.path, wild, 1, one, 1, NULL);
	trace = open_good(w.path);
	assert_int_equal(chain_of(trace, 1, 0, chain), 1);
	assert_string_equal(trace_string(trace, chain[0].file), "");
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_sources_are_one),
		cmocka_unit_test(lines_hold_up_to_the_next),
		cmocka_unit_test(chains_are_found),
		cmocka_unit_test(inlined_functions_have_rows),
		cmocka_unit_test(lines_have_rows),
		cmocka_unit_test(ranks_have_them_unless_told_not_to),
		cmocka_unit_test(reports_show_lines),
		cmocka_unit_test(dumps_show_inlined_frames),
		cmocka_unit_test(lies_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
