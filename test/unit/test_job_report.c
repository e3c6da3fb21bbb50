/* What report --mpi says of samples alone. */
#include "trace_symbols.h"
#include "trace_world.h"

#include "output/report_job.h"

#include <errno.h>

static const struct named_range ranges[] = {
	{2, 0, 16, "main"},       {2, 16, 32, "solve"},      {2, 32, 48, "MPI_Wait"},
	{2, 48, 64, "PMPI_Wait"}, {2, 64, 80, "PMPI_Wtime"}, {2, 80, 96, "opal_progress"},
};

enum { MAIN, SOLVE, WAIT, BEHIND_WAIT, WTIME, PROGRESS };

static uint64_t frame_of(unsigned function)
{
	return (uint64_t)2 << 32 | function * 16;
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
	for (; nr; nr--) {
		sample.time = (1000 + w->nr++ * 300) << TIME_SHIFT;
		hmb_put(w->hmb, &sample);
	}
}

#define PUT(w, nr, ...)                                   \
	put_stack(w, nr, (const unsigned[]){__VA_ARGS__}, \
	          sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static struct trace *write_named(struct world *w)
{
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP | TRACE_RUN_USER_ONLY;
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
	assert_true(name_ranges(w->path, ranges, sizeof(ranges) / sizeof(*ranges)));
	return open_good(w->path);
}

static char *told(const struct trace *trace, const struct report_options *options, int expected)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	assert_int_equal(report_mpi_text(file, trace, "x.atr", options), expected);
	fclose(file);
	return text;
}

/* Where calls are not recorded any more, they go past the library that did. */
static void both_names_of_a_call_are_one(void **state)
{
	struct report_options options = {.to = UINT64_MAX, .limit = 40, .quiet = true};
	struct trace *trace;
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 256 << 10);
	PUT(&w, 30, PROGRESS, WAIT, SOLVE, MAIN);
	PUT(&w, 20, WAIT, MAIN);
	PUT(&w, 25, PROGRESS, BEHIND_WAIT, SOLVE, MAIN);
	PUT(&w, 15, BEHIND_WAIT, WAIT, SOLVE, MAIN);
	PUT(&w, 5, WTIME, MAIN);
	PUT(&w, 5, MAIN);
	trace = write_named(&w);
	text = told(trace, &options, 0);
	assert_string_equal(text, "  70.00%    6.796 ms         70  MPI_Wait < solve < main\n"
	                          "  20.00%    1.942 ms         20  MPI_Wait < main\n"
	                          "   5.00%    485.4 µs          5  MPI_Wtime < main\n");
	free(text);
	trace_close(trace);
	world_close(&w);
}

/* Whoever asks for MPI must know the rest before believing it, too. */
static void warnings_are_told(void **state)
{
	struct report_options options = {.to = UINT64_MAX, .limit = 40};
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
	struct report_options options = {.to = UINT64_MAX, .limit = 40};
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
	assert_int_equal(report_mpi_json(stdout, trace, &options), -ENODATA);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_names_of_a_call_are_one),
		cmocka_unit_test(warnings_are_told),
		cmocka_unit_test(nothing_of_mpi_is_told_as_such),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
