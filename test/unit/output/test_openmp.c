/* Sums of parallel regions in a trace, added up over the threads that forked them. */
#include "trace_world.h"

#include "output/views/openmp.h"

#include <errno.h>
#include <math.h>

enum { NS = 1000 };

static void add_region(struct tables *t, const char *name, uint32_t line)
{
	tables_add_region(t, &(struct trace_region){
				     .name = tables_string(t, name),
				     .region_class = TRACE_PARALLEL,
				     .file = line ? tables_string(t, "loop.c") : 0,
				     .line = line,
			     });
}

/* Times are multiples of NS. */
static void add_sum(struct tables *t, uint32_t thread, uint32_t region, uint64_t count,
                    uint64_t longest)
{
	const struct trace_openmp sum = {
		.thread = thread,
		.region = region,
		.count = count,
		.time = 10 * NS * count,
		.covered = 10 * NS * count,
		.from = 1000 + thread * NS,
		.to = 1000 + 500 * NS,
		.threads = 4 * count,
		.most_threads = 4 + thread,
		.idle = 6 * NS * count,
		.barrier_wait = 2 * NS * count,
		.critical_wait = 1 * NS * count,
		.work = 20 * NS * count,
		.longest_work = longest * NS * count,
		.mean_work = 5 * NS * count,
	};

	assert_true(tables_add_openmp(t, &sum) != UINT32_MAX);
}

static struct trace *written(struct world *w, bool regions)
{
	world_make_tables(w, 1 << 20);
	describe(w);
	if (regions) {
		add_region(w->tables, "parallel main loop.c:7", 7);
		add_region(w->tables, "parallel app+0x1", 0);
		add_sum(w->tables, 0, 0, 3, 10);
		add_sum(w->tables, 1, 0, 2, 10);
		add_sum(w->tables, 1, 1, 9, 5);
	}
	world_make_buffer(w, (struct hmb_config){.nr_kinds = NR_EVENTS, .max_path = MAX_DEPTH});
	return world_written(w);
}

static void regions_are_joined(void **state)
{
	struct openmp openmp;
	struct world w;
	struct trace *trace = written(&w, true);
	char text[64];

	(void)state;
	assert_int_equal(openmp_init(&openmp, trace), 0);
	assert_int_equal(openmp.nr, 2);
	assert_int_equal(openmp.rows[0].region, 1); /* the one with the most time is first */
	assert_int_equal(openmp.rows[1].sum.count, 5);
	assert_int_equal(openmp.rows[1].sum.time, 50 * NS);
	assert_int_equal(openmp.rows[1].sum.threads, 20);
	assert_int_equal(openmp.rows[1].sum.most_threads, 5);
	assert_int_equal(openmp.rows[1].sum.idle, 30 * NS);
	assert_int_equal(openmp.rows[1].sum.work, 100 * NS);
	assert_true(fabs(openmp_imbalance(&openmp.rows[1].sum) - 0.5) < 1e-9);
	assert_true(openmp_imbalance(&openmp.rows[0].sum) == 0);
	assert_int_equal(openmp.idle, 14 * 6 * NS);
	assert_int_equal(openmp.barrier, 14 * 2 * NS);
	assert_int_equal(openmp.critical, 14 * NS);
	assert_int_equal(openmp.work, 14 * 20 * NS);
	/* Both threads are of one process, which lived from the first time on. */
	assert_int_equal(openmp.nr_processes, 1);
	assert_int_equal(openmp.life, 500 * NS);
	assert_int_equal(openmp.covered, 140 * NS);
	assert_int_equal(openmp_serial(&openmp), 360 * NS);
	openmp_function(trace, &openmp.rows[1], text, sizeof(text));
	assert_string_equal(text, "main");
	openmp_function(trace, &openmp.rows[0], text, sizeof(text));
	assert_string_equal(text, "app+0x1");
	openmp_fini(&openmp);
	trace_close(trace);
	world_close(&w);
}

static void nothing_is_no_table(void **state)
{
	struct openmp openmp;
	struct world w;
	struct trace *trace = written(&w, false);

	(void)state;
	assert_int_equal(openmp_init(&openmp, trace), -ENODATA);
	openmp_fini(&openmp);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_joined),
		cmocka_unit_test(nothing_is_no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
