/* What report --mpi says of samples alone. */
#include "page.h"
#include "trace_world.h"

#include "output/report/report.h"
#include "output/views/job.h"

#include <errno.h>

static const struct named_range ranges[] = {
	{2, 0, 16, "main"},       {2, 16, 32, "solve"},       {2, 32, 48, "MPI_Wait"},
	{2, 48, 64, "PMPI_Wait"}, {2, 64, 80, "PMPI_Wtime"},  {2, 80, 96, "opal_progress"},
	{2, 96, 112, "mpi_wait"}, {3, 112, 128, "mpi_wait_"},
};

enum { CALLS = NR_EVENTS };
enum { MAIN, SOLVE, WAIT, BEHIND_WAIT, WTIME, PROGRESS, OWN_WAIT, FORTRAN_WAIT };

static uint64_t frame_of(unsigned function)
{
	return (uint64_t)(function == FORTRAN_WAIT ? 3 : 2) << 32 | function * 16;
}

/* From the leaf to the root. */
static void put_stack(struct world *w, unsigned nr, const unsigned *functions, unsigned depth)
{
	uint64_t path[MAX_DEPTH];
	struct hmb_sample sample = {.leaf = frame_of(functions[0]),
	                            .path = path,
	                            .path_size = depth - 1,
	                            .step = 97081};

	for (unsigned i = 1; i < depth; i++)
		path[i - 1] = frame_of(functions[i]);
	while (nr--)
		put_next(w, sample);
}

#define PUT(w, nr, ...)                                   \
	put_stack(w, nr, (const unsigned[]){__VA_ARGS__}, \
	          sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static struct trace *write_named(struct world *w)
{
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP | TRACE_RUN_USER_ONLY;
	return world_named(w, ranges, sizeof(ranges) / sizeof(*ranges));
}

static char *told(const struct trace *trace, const struct report_options *options, int expected)
{
	struct page page;

	assert_int_equal(report_mpi_text(page_open(&page), trace, "x.atr", options), expected);
	return page_close(&page);
}

/* Ends the run, of which no more than rows is told. */
static void expect_rows(struct world *w, const char *rows)
{
	const struct report_options options = {.query.limit = 40, .style.quiet = true};
	struct trace *trace = write_named(w);
	char *text = told(trace, &options, 0);

	assert_string_equal(text, rows);
	free(text);
	trace_close(trace);
	world_close(w);
}

/* Where calls are not recorded any more, they go past the library that did. */
static void both_names_of_a_call_are_one(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 256 << 10);
	PUT(&w, 30, PROGRESS, WAIT, SOLVE, MAIN);
	PUT(&w, 20, WAIT, MAIN);
	PUT(&w, 25, PROGRESS, BEHIND_WAIT, SOLVE, MAIN);
	PUT(&w, 15, BEHIND_WAIT, WAIT, SOLVE, MAIN);
	PUT(&w, 5, WTIME, MAIN);
	PUT(&w, 5, MAIN);
	expect_rows(&w, "  70.00%    6.796 ms         70  MPI_Wait < solve < main\n"
	                "  20.00%    1.942 ms         20  MPI_Wait < main\n"
	                "   5.00%    485.4 µs          5  MPI_Wtime < main\n");
}

/* Whoever asks for MPI must know the rest before believing it, too. */
static void warnings_are_told(void **state)
{
	struct report_options options = {.query.limit = 40};
	struct trace *trace;
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 256 << 10);
	PUT(&w, 10, WAIT, MAIN);
	trace = write_named(&w);
	text = told(trace, &options, 0);
	assert_non_null(strstr(text, "warning: the kernel was not sampled"));
	assert_null(strstr(text, "belong to no rank"));
	assert_null(strstr(text, "shown: "));
	free(text);
	trace_close(trace);
	world_close(&w);
}

static void nothing_of_mpi_is_told_as_such(void **state)
{
	struct report_options options = {.query.limit = 40};
	struct trace *trace;
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 256 << 10);
	PUT(&w, 10, SOLVE, MAIN);
	trace = write_named(&w);
	text = told(trace, &options, -ENODATA);
	assert_string_equal(text, "");
	free(text);
	assert_int_equal(report_mpi_json(stdout, trace, &options.query), -ENODATA);
	trace_close(trace);
	world_close(&w);
}

/* A world with calls beside its samples. */
static void open_with_calls(struct world *w)
{
	struct hmb_config config = {
		.nr_kinds = CALLS + 1,
		.max_path = MAX_DEPTH,
		.kinds = {{.time_shift = TIME_SHIFT},
	                  {.time_shift = TIME_SHIFT},
	                  [CALLS] = {.content = HMB_CALLS}},
	};

	world_make_tables(w, 256 << 10);
	describe(w);
	*tables_add_event(w->tables) = (struct trace_event){
		.name = tables_string(w->tables, "calls"), .unit = TRACE_CALLS};
	tables_add_region(w->tables,
	                  &(struct trace_region){.name = tables_string(w->tables, "MPI_Wait"),
	                                         .region_class = TRACE_MPI_POINT_TO_POINT});
	assert_int_equal(
		tables_add_instrument(w->tables, &(struct trace_instrument){.event = CALLS}), 0);
	world_make_buffer(w, config);
}

/* Of a part of the run: functions that are met behind its end are none of its. */
static void samples_behind_the_end_are_not_asked(void **state)
{
	struct report_options options = {.query.limit = 40, .style.no_header = true};
	struct call call = {.depth = 0};
	struct trace *trace;
	struct world w;
	char *text;

	(void)state;
	open_with_calls(&w);
	PUT(&w, 1, PROGRESS, WAIT, MAIN);
	call.enter = (1000 + w.nr * 300 - 100) << TIME_SHIFT;
	options.query.selection = &(struct selection){.to = call.enter + 1};
	PUT(&w, 1, PROGRESS, WAIT, MAIN);
	for (unsigned function = SOLVE; function <= PROGRESS; function++)
		PUT(&w, 1, function, WAIT, SOLVE, MAIN);
	call.leave = (1000 + w.nr * 300) << TIME_SHIFT;
	assert_true(hmb_put_call(w.hmb, CALLS, 0, &call));
	trace = write_named(&w);
	text = told(trace, &options, 0);
	assert_non_null(strstr(text, "(a sample was taken in 0 of 1 calls, with 0.00% of"));
	free(text);
	options.query.selection = NULL;
	text = told(trace, &options, 0);
	assert_non_null(strstr(text, "(a sample was taken in 1 of 1 calls, with 100.00% of"));
	free(text);
	trace_close(trace);
	world_close(&w);
}

/* A program's own mpi_wait() is none of MPI's, Fortran's in a library of MPI is one. */
static void names_of_fortran_are_of_libraries(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 256 << 10);
	tables_module(w.tables, 3)->path = tables_string(w.tables, "/lib/libmpi_mpifh.so.40");
	PUT(&w, 30, PROGRESS, OWN_WAIT, SOLVE, MAIN);
	PUT(&w, 20, PROGRESS, WAIT, OWN_WAIT, MAIN);
	PUT(&w, 50, PROGRESS, WAIT, FORTRAN_WAIT, MAIN);
	expect_rows(&w, "  50.00%    4.854 ms         50  mpi_wait_ < main\n"
	                "  20.00%    1.942 ms         20  MPI_Wait < mpi_wait < main\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_names_of_a_call_are_one),
		cmocka_unit_test(names_of_fortran_are_of_libraries),
		cmocka_unit_test(warnings_are_told),
		cmocka_unit_test(nothing_of_mpi_is_told_as_such),
		cmocka_unit_test(samples_behind_the_end_are_not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
