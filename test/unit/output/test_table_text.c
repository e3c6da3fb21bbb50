/* Reports as text, word for word: what stands above tables, in them and below. */
#include "page.h"
#include "trace_world.h"

#include <json-c/json.h>

#include "output/report/dump.h"
#include "output/report/report.h"

enum { WEIGHT = 97081 };

static const struct report_options by_function = {
	.query.event = 0,
	.query.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	.query.nr_keys = 2,
	.query.limit = UINT32_MAX,
	.style.no_header = true,
};

static const struct named_range names[] = {
	{2, 0, 16, "main"}, {2, 16, 32, "work"}, {2, 32, 48, "rest"}};

static void put_samples(struct world *w, unsigned nr, uint32_t thread, uint32_t leaf)
{
	const uint64_t path[] = {2ULL << 32};

	while (nr--)
		put_next(w, (struct hmb_sample){
				    .thread = thread,
				    .leaf = 2ULL << 32 | leaf,
				    .path = path,
				    .path_size = 1,
				    .level = 1,
				    .step = WEIGHT,
			    });
}

static char *text_of(struct world *w, const struct report_options *options)
{
	struct trace *trace = world_named(w, names, sizeof(names) / sizeof(*names));
	struct page page;

	assert_int_equal(report_text(page_open(&page), trace, "x.atr", options), 0);
	trace_close(trace);
	return page_close(&page);
}

static void expect(struct world *w, const struct report_options *options, const char *text)
{
	char *said = text_of(w, options);

	assert_string_equal(said, text);
	free(said);
}

/* "sh" 100/100 and "app" 100/101 have two functions each, and "fork" has no sample at all. */
static void run_open(struct world *w)
{
	world_open(w, 64 << 10);
	tables_event(w->tables, 1)->unit = TRACE_COUNT;
	put_samples(w, 10, 0, 16);
	put_samples(w, 5, 0, 32);
	put_samples(w, 3, 1, 16);
	put_samples(w, 2, 1, 32);
	set_exact(w, "fork", 20 * WEIGHT);
}

static void tables_of_functions(void **state)
{
	struct report_options options = by_function;
	struct world w;

	(void)state;
	run_open(&w);
	expect(&w, &options,
	       "   self  ± error      time    total  samples  symbol       module\n"
	       " 50.00% ±  4.90%  1.942 ms   50.00%        0  [unsampled]  fork\n"
	       " 32.50% ±  8.49%  1.262 ms   32.50%       13  work         app\n"
	       " 17.50% ±  8.49%  679.6 µs   17.50%        7  rest         app\n"
	       "  0.00% ±  4.90%      0 ns   50.00%        0  main         app\n");
	options.query.limit = 2;
	expect(&w, &options,
	       "   self  ± error      time    total  samples  symbol       module\n"
	       " 50.00% ±  4.90%  1.942 ms   50.00%        0  [unsampled]  fork\n"
	       " 32.50% ±  8.49%  1.262 ms   32.50%       13  work         app\n"
	       " 17.50%  in 2 more rows; --all shows them\n");
	options.style.quiet = true;
	expect(&w, &options,
	       " 50.00% ±  4.90%  1.942 ms   50.00%        0  [unsampled]  fork\n"
	       " 32.50% ±  8.49%  1.262 ms   32.50%       13  work         app\n");
	world_close(&w);
}

static void tables_of_threads(void **state)
{
	struct report_options options = by_function;
	struct world w;
	char *said;

	(void)state;
	run_open(&w);
	options.query.per_thread = true;
	expect(&w, &options,
	       "sh 100: 37.50%, 1.456 ms\n"
	       "   self  ± error      time    total  samples  symbol  module\n"
	       " 66.67% ± 18.48%  970.8 µs   66.67%       10  work    app\n"
	       " 33.33% ± 18.48%  485.4 µs   33.33%        5  rest    app\n"
	       "  0.00% ± 13.07%      0 ns  100.00%        0  main    app\n"
	       "\n"
	       "app 100/101: 12.50%, 485.4 µs\n"
	       "   self  ± error      time    total  samples  symbol  module\n"
	       " 60.00% ± 55.44%  291.2 µs   60.00%        3  work    app\n"
	       " 40.00% ± 55.44%  194.2 µs   40.00%        2  rest    app\n"
	       "  0.00% ± 39.20%      0 ns  100.00%        0  main    app\n"
	       "\n"
	       "fork: 50.00%, 1.942 ms [unsampled]\n");
	options.query.limit = 1;
	expect(&w, &options,
	       "sh 100: 37.50%, 1.456 ms\n"
	       "   self  ± error      time    total  samples  symbol  module\n"
	       " 66.67% ± 18.48%  970.8 µs   66.67%       10  work    app\n"
	       " 33.33%  in 2 more rows; --all shows them\n"
	       "\n"
	       "1 more thread, 1 more command; --all shows them\n");
	options.query.limit = 2;
	said = text_of(&w, &options);
	assert_non_null(
		strstr(said, "row; --all shows them\n\n1 more command; --all shows them\n"));
	free(said);
	options.query.limit = 1;
	set_exact(&w, "fork", 0)->flags = 0;
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "\n\n1 more thread; --all shows them\n"));
	free(said);
	set_exact(&w, "fork", 20 * WEIGHT);
	/* One that stands for all others of its command. */
	tables_thread(w.tables, 0)->flags = TRACE_THREAD_FOLDED;
	options.style.quiet = true;
	expect(&w, &options,
	       "sh (many): 37.50%, 1.456 ms\n"
	       " 66.67% ± 18.48%  970.8 µs   66.67%       10  work    app\n");
	world_close(&w);
}

/* One cell for all that is not sampled, of whatever the table is. */
static void cells_of_what_was_not_sampled(void **state)
{
	static const struct {
		enum profile_keys keys[2];
		const char *rows;
	} tables[] = {
		{{PROFILE_BY_COMM, PROFILE_BY_SYMBOL},
	         " 50.00% ±  4.90%  1.942 ms   50.00%        0  fork  [unsampled]\n"
	         " 25.00% ±  6.93%  970.8 µs   25.00%       10  sh    work\n"},
		{{PROFILE_BY_PROCESS, PROFILE_BY_LINE},
	         " 50.00% ±  8.49%  1.942 ms   50.00%       20  sh 100            [unknown]\n"
	         " 50.00% ±  4.90%  1.942 ms   50.00%        0  fork [unsampled]  -\n"},
		{{PROFILE_BY_MODULE, PROFILE_BY_FILE},
	         " 50.00% ±  8.49%  1.942 ms   50.00%       20  app               [unknown]\n"
	         " 50.00% ±  4.90%  1.942 ms   50.00%        0  fork [unsampled]  -\n"},
		{{PROFILE_BY_CPU, PROFILE_BY_PROCESS},
	         " 50.00% ±  8.49%  1.942 ms   50.00%       20  0    sh 100\n"
	         " 50.00% ±  4.90%  1.942 ms   50.00%        0  -    fork [unsampled]\n"},
	};
	struct report_options options = by_function;
	struct world w;

	(void)state;
	run_open(&w);
	for (unsigned i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		memcpy(options.query.keys, tables[i].keys, sizeof(tables[i].keys));
		options.query.limit = 2;
		options.style.quiet = true;
		expect(&w, &options, tables[i].rows);
	}
	world_close(&w);
}

static void heads_tell_of_the_run(void **state)
{
	struct report_options options = by_function;
	struct trace_run *run;
	struct world w;

	(void)state;
	run_open(&w);
	run = tables_run(w.tables);
	run->host = tables_string(w.tables, "vm");
	run->real_start = 86400ULL * 1000000000;
	run->end = run->start + 20 * WEIGHT;
	run->exit_status = 3;
	options.style.no_header = false;
	expect(&w, &options,
	       "x.atr: ./app -x '\\x1b[31m' (exit status 3)\n"
	       "1.942 ms on vm, 3 CPUs, 1970-01-02 00:00:00\n"
	       "warning: no samples of page-faults: one is taken every 1009 occurrences, and that "
	       "was reached nowhere, if this machine counts it at all\n"
	       "cpu-clock: 20 samples and 1.942 ms not sampled = 3.883 ms of CPU time (2.00 of 3 "
	       "CPUs; waiting is not sampled)\n"
	       "one every 97.08 µs (10301 Hz)\n"
	       "warning: samples of 'fork' cover 0.0 % of its exact 1.942 ms; the rest is "
	       "[unsampled]\n"
	       "\n"
	       "   self  ± error      time    total  samples  symbol       module\n"
	       " 50.00% ±  4.90%  1.942 ms   50.00%        0  [unsampled]  fork\n"
	       " 32.50% ±  8.49%  1.262 ms   32.50%       13  work         app\n"
	       " 17.50% ±  8.49%  679.6 µs   17.50%        7  rest         app\n"
	       "  0.00% ±  4.90%      0 ns   50.00%        0  main         app\n");
	run->exit_status = 128 + 15;
	run->flags |= TRACE_RUN_KILLED;
	run->nr_cpus = 1;
	hmb_close_lowest(w.hmb, 0, 2001000, HMB_CAUSE_MEMORY);
	options.query.selection =
		&(struct selection){.from = run->start + WEIGHT, .to = run->start + 10 * WEIGHT};
	expect(&w, &options,
	       "x.atr: ./app -x '\\x1b[31m' (killed by signal 15)\n"
	       "1.942 ms on vm, 1 CPU, 1970-01-02 00:00:00\n"
	       "warning: in the whole recording: no samples of page-faults: one is taken every "
	       "1009 occurrences, and that was reached nowhere, if this machine counts it at all\n"
	       "cpu-clock: 18 samples = 3.495 ms of CPU time (400 % of one CPU; waiting is not "
	       "sampled)\n"
	       "one every 194.2 µs (5150 Hz), at first every 97.08 µs\n"
	       "shown: from 97.08 µs to 970.8 µs of the run, 18 of 20 samples\n"
	       "\n"
	       "   self  ± error      time    total  samples  symbol  module\n"
	       " 61.11% ± 18.86%  2.136 ms   61.11%       11  work    app\n"
	       " 38.89% ± 18.86%  1.359 ms   38.89%        7  rest    app\n"
	       "  0.00% ± 10.89%      0 ns  100.00%        0  main    app\n");
	run->exit_status = 0;
	run->flags = TRACE_RUN_ATTACHED;
	run->pid = 77;
	options.query.event = 1;
	expect(&w, &options,
	       "x.atr: ./app -x '\\x1b[31m' (attached to process 77)\n"
	       "1.942 ms on vm, 1 CPU, 1970-01-02 00:00:00\n"
	       "warning: in the whole recording: no samples of page-faults: one is taken every "
	       "1009 occurrences, and that was reached nowhere, if this machine counts it at all\n"
	       "page-faults: 0 samples\n"
	       "one every 1009 occurrences\n"
	       "shown: from 97.08 µs to 970.8 µs of the run, 0 of 0 samples\n"
	       "\n"
	       "   self  ± error     count    total  samples  symbol  module\n");
	world_close(&w);
}

/* Where nothing runs whole CPUs are sampled, too: that is no CPU time. */
static void idle_cpus_are_not_at_work(void **state)
{
	struct report_options options = by_function;
	struct trace_run *run;
	struct world w;
	char *said;

	(void)state;
	run_open(&w);
	set_exact(&w, "fork", 0)->flags = 0;
	run = tables_run(w.tables);
	run->flags = TRACE_RUN_WIDE | TRACE_RUN_CGROUP;
	run->end = run->start + 50 * WEIGHT;
	tables_thread(w.tables, 0)->flags = TRACE_THREAD_FOLDED;
	options.style.no_header = false;
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "= 1.942 ms of CPU time (40 % of one CPU; waiting is not "
	                             "sampled)\n"));
	free(said);
	tables_thread(w.tables, 0)->comm = tables_string(w.tables, "swapper");
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "cpu-clock: 20 samples = 485.4 µs of CPU time (10 % of one "
	                             "CPU), and 1.456 ms idle\n"));
	free(said);
	tables_thread(w.tables, 0)->comm = tables_string(w.tables, "[outside or idle]");
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "(10 % of one CPU), and 1.456 ms outside or idle\n"));
	free(said);
	/* Without samples of idle CPUs the kernel says how long they were. */
	set_exact(&w, "swapper", 3000000);
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "= 1.942 ms of CPU time (40 % of one CPU), and 3.000 ms "
	                             "idle\n"));
	free(said);
	tables_thread(w.tables, 0)->comm = tables_string(w.tables, "fork");
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "cpu-clock: 20 samples = 1.942 ms of CPU time (40 % of one "
	                             "CPU), and 3.000 ms idle\n"));
	assert_non_null(strstr(said, "60.71% ±  0.00%  3.000 ms   60.71%        0  [idle]"));
	assert_non_null(strstr(said, "[idle]"));
	assert_null(strstr(said, "the rest is"));
	free(said);
	set_exact(&w, "swapper", 0);
	run->command = tables_string(w.tables, "[all CPUs]");
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "(40 % of one CPU; waiting is not sampled)\n"));
	free(said);
	set_exact(&w, "swapper", 0)->flags = 0;
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "(40 % of one CPU; how long CPUs were idle is not known)\n"));
	free(said);
	run->command = 0;
	/* A command of that name is a program elsewhere. */
	run->flags = TRACE_RUN_CGROUP;
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "= 1.942 ms of CPU time (40 % of one CPU; waiting"));
	free(said);
	world_close(&w);
}

/* Clocks of one side tell what they are of; counts are no time. */
static void amounts_have_units(void **state)
{
	struct report_options options = by_function;
	struct world w;
	char *said;

	(void)state;
	run_open(&w);
	set_exact(&w, "fork", 0)->flags = 0;
	tables_event(w.tables, 0)->name = tables_string(w.tables, "cpu-clock:u");
	options.style.no_header = false;
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "= 1.942 ms of CPU time, in user mode alone"));
	free(said);
	tables_event(w.tables, 0)->name = tables_string(w.tables, "cpu-clock:k");
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "= 1.942 ms of CPU time, in the kernel alone"));
	free(said);
	tables_event(w.tables, 0)->name = tables_string(w.tables, "faults");
	tables_event(w.tables, 0)->unit = TRACE_COUNT;
	said = text_of(&w, &options);
	assert_non_null(strstr(said, "faults: 20 samples = 1.942 million occurrences\n"
	                             "one every 97081 occurrences\n"));
	assert_non_null(strstr(said, "   self  ± error     count    total  samples  symbol"));
	assert_non_null(strstr(said, " 65.00% ± 16.97%    1.262M   65.00%       13  work"));
	assert_null(strstr(said, "CPU time"));
	free(said);
	world_close(&w);
}

/* Rows within their errors become one row, unless no other row is left. */
static void noise_is_one_row(void **state)
{
	struct report_options options = by_function;
	struct world w;

	(void)state;
	run_open(&w);
	set_exact(&w, "fork", 0)->flags = 0;
	options.query.fold = true;
	options.query.per_thread = true;
	options.style.quiet = true;
	/* In the second thread main alone, which called all of it, is beyond its error. */
	expect(&w, &options,
	       "sh 100: 75.00%, 1.456 ms\n"
	       " 66.67% ± 18.48%  970.8 µs   66.67%       10  work    app\n"
	       " 33.33% ± 18.48%  485.4 µs   33.33%        5  rest    app\n"
	       "  0.00% ± 13.07%      0 ns  100.00%        0  main    app\n"
	       "\n"
	       "app 100/101: 25.00%, 485.4 µs\n"
	       " 60.00% ± 55.44%  291.2 µs   60.00%        3  work    app\n"
	       "  0.00% ± 39.20%      0 ns  100.00%        0  main    app\n");
	options.style.quiet = false;
	options.query.limit = 1;
	expect(&w, &options,
	       "sh 100: 75.00%, 1.456 ms\n"
	       "   self  ± error      time    total  samples  symbol  module\n"
	       " 66.67% ± 18.48%  970.8 µs   66.67%       10  work    app\n"
	       " 33.33%  in 2 more rows; --all shows them\n"
	       "\n"
	       "1 more thread; --all shows them\n");
	world_close(&w);

	/* One sample in each function, and no function that called them. */
	world_open(&w, 64 << 10);
	put_samples(&w, 1, 0, 16);
	options.query.per_thread = false;
	options.query.limit = 40;
	expect(&w, &options,
	       "   self  ± error      time    total  samples  symbol  module\n"
	       "100.00% ±100.00%  97.08 µs  100.00%        1  work    app\n"
	       "  0.00% ±100.00%      0 ns  100.00%        0  main    app\n");
	put_samples(&w, 60, 0, 16);
	put_samples(&w, 1, 0, 32);
	put_samples(&w, 60, 0, 16);
	expect(&w, &options,
	       "   self  ± error      time    total  samples  symbol  module\n"
	       " 99.18% ±  2.78%  11.75 ms   99.18%      121  work    app\n"
	       "  0.00% ±  1.61%      0 ns  100.00%        0  main    app\n"
	       "  0.82%  in 1 more row within its error; --all shows them\n");
	options.query.limit = 1;
	expect(&w, &options,
	       "   self  ± error      time    total  samples  symbol  module\n"
	       " 99.18% ±  2.78%  11.75 ms   99.18%      121  work    app\n"
	       "  0.82%  in 2 more rows, 1 of them within its error; --all shows them\n");
	world_close(&w);
}

/* The module gives way first, so that functions are told apart as long as they can be. */
static void narrow_tables_cut_modules(void **state)
{
	struct report_options options = by_function;
	struct trace_module *module;
	struct world w;

	(void)state;
	run_open(&w);
	set_exact(&w, "fork", 0)->flags = 0;
	module = tables_module(w.tables, 2);
	module->path = tables_string(w.tables, "/lib/liblammps.so.0");
	options.style.quiet = true;
	options.query.limit = 1;
	options.style.width = 60;
	expect(&w, &options, " 65.00% ± 16.97%  1.262 ms   65.00%       13  work    liblamm…\n");
	world_close(&w);
}

static void dump_tells_of_every_sample(void **state)
{
	struct trace *trace;
	struct world w;
	struct page page;

	(void)state;
	world_open(&w, 64 << 10);
	w.nr = 52083333; /* 1000 s after the machine's start */
	put_samples(&w, 2, 0, 16);
	put_samples(&w, 1, 1, 32);
	trace = world_named(&w, names, sizeof(names) / sizeof(*names));
	assert_int_equal(dump_text(page_open(&page), trace), 0);
	page_expect(&page, "1000.000057600  sh 100/100  [0]  cpu-clock 97081  work < main\n"
	                   "1000.000076800  sh 100/100  [0]  cpu-clock 97081  work < main\n"
	                   "1000.000096000  app 100/101  [0]  cpu-clock 97081  rest < main\n");
	trace_close(trace);
	world_close(&w);
}

static void json_tells_who(void **state)
{
	struct report_options options = by_function;
	struct json_object *object, *functions, *expected;
	struct trace *trace;
	struct world w;
	struct page page;
	char *text;

	(void)state;
	run_open(&w);
	memcpy(options.query.keys,
	       (enum profile_keys[]){PROFILE_BY_THREAD, PROFILE_BY_PROCESS, PROFILE_BY_COMM,
	                             PROFILE_BY_CPU},
	       4 * sizeof(*options.query.keys));
	options.query.nr_keys = 4;
	trace = world_written(&w);
	assert_int_equal(report_json(page_open(&page), trace, &options.query), 0);
	text = page_close(&page);
	object = json_tokener_parse(text);
	assert_true(json_object_object_get_ex(object, "functions", &functions));
	expected = json_tokener_parse(
		"[{'pid': 0, 'tid': 0, 'comm': 'fork', 'process': 'fork', 'self': 1941620, "
		"'total': 1941620, 'samples': 0, 'error': 190279, 'unsampled': true, 'sampled': 0, "
		"'exact': 1941620}, "
		"{'pid': 100, 'tid': 100, 'comm': 'sh', 'process': 'sh', 'cpu': 0, "
		"'self': 1456215, 'total': 1456215, 'samples': 15, 'error': 269095}, "
		"{'pid': 100, 'tid': 101, 'comm': 'app', 'process': 'sh', 'cpu': 0, "
		"'self': 485405, 'total': 485405, 'samples': 5, 'error': 269095}]");
	if (!json_object_equal(functions, expected))
		fail_msg("%s", json_object_to_json_string(functions));
	json_object_put(expected);
	json_object_put(object);
	free(text);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_functions),
		cmocka_unit_test(tables_of_threads),
		cmocka_unit_test(cells_of_what_was_not_sampled),
		cmocka_unit_test(heads_tell_of_the_run),
		cmocka_unit_test(idle_cpus_are_not_at_work),
		cmocka_unit_test(amounts_have_units),
		cmocka_unit_test(noise_is_one_row),
		cmocka_unit_test(narrow_tables_cut_modules),
		cmocka_unit_test(dump_tells_of_every_sample),
		cmocka_unit_test(json_tells_who),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
