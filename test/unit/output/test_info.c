/* All that info says of a run in which everything happened, and of one in which little did. */
#include "page.h"
#include "trace_world.h"

#include <json-c/json.h>

#include "output/report/info.h"
#include "output/views/run_properties.h"

static char *text_of(struct world *w)
{
	struct trace *trace = world_written(w);
	struct page page;

	assert_int_equal(info_text(page_open(&page), trace, "x.atr"), 0);
	trace_close(trace);
	return page_close(&page);
}

static struct json_object *json_of(struct world *w)
{
	struct trace *trace = world_written(w);
	struct json_object *object;
	struct page page;
	char *text;

	assert_int_equal(info_json(page_open(&page), trace), 0);
	trace_close(trace);
	text = page_close(&page);
	object = json_tokener_parse(text);
	assert_non_null(object);
	free(text);
	return object;
}

/* Of "sh" three quarters, of "app" the rest; every fourth sample of the clock is left. */
static void put_samples(struct world *w)
{
	for (unsigned n = 1; n <= 40; n++) {
		struct hmb_sample sample = {
			.kind = n > 32,
			.time = (1000 + n * 300) << TIME_SHIFT,
			.thread = n % 16 == 12,
			.leaf = 2ULL << 32,
			.level = lambda(n),
			.step = base_periods[0],
		};

		hmb_put(w->hmb, &sample);
	}
	hmb_close_lowest(w->hmb, 0, 2001000, HMB_CAUSE_MEMORY);
	hmb_close_lowest(w->hmb, 0, 3001000, HMB_CAUSE_OVERHEAD);
}

static void describe_machine(struct tables *t)
{
	struct trace_run *run = tables_run(t);

	run->flags = TRACE_RUN_ATTACHED | TRACE_RUN_CGROUP | TRACE_RUN_KILLED;
	run->pid = 77;
	run->exit_status = 128 + 9;
	run->directory = tables_string(t, "/here");
	run->host = tables_string(t, "vm");
	run->kernel = tables_string(t, "Linux 6.1");
	run->cpu_model = tables_string(t, "a processor");
	run->version = tables_string(t, "0.1.0");
	run->real_start = 86400ULL * 1000000000;
	run->end = run->start + 4000000;
	run->seed = 42;
	run->delay = 5000000000;
}

static void describe_costs(struct tables *t)
{
	struct trace_run *run = tables_run(t);

	run->used = 3 << 10;
	run->contexts = 1 << 10;
	run->peak_rss = 5 << 20;
	run->sample_price = 2000;
	run->max_overhead = 50;
	run->recorder_cpu = 100000;
	run->drain_latency = 7000;
	run->late = 11;
	run->lost_records = 12;
	run->truncated_stacks = 13;
	run->stitched_stacks = 14;
	run->built_stacks = 40;
	run->cut_stacks[STACK_CUT_COPY] = 12;
	run->cut_stacks[STACK_CUT_GO] = 1;
	run->folded_contexts = 15;
	run->refused_strings = 16;
	run->refused_modules = 17;
	run->refused_mappings = 27;
	run->unanswered_files = 28;
	run->folded_threads = 18;
	run->malformed = 19;
	run->unobserved = 20;
	run->records = 2 << 10;
	run->flags |= TRACE_RUN_IN_STEP;
	run->grid = 97081;
	run->median_off = 1500;
	run->p90_off = 3500;
	run->restarts = 29;
	run->unsteered_cpus = 1;
	run->calls_cost = 30;
	run->one_cpu_cost = 20000;
	run->coupled_cost = 35000;
}

static void describe_loss(struct tables *t)
{
	struct trace_stream *streams = tables_stream(t, 0);

	streams[0].lost = 1;
	streams[NR_CPUS].lost = 2;
	streams[1].throttled = 4;
	streams[NR_CPUS + 1].throttled = 5;
}

static void describe_counters(struct tables *t)
{
	static const struct trace_counter counters[] = {
		{.flags = TRACE_COUNTER_TOTAL, .total = 200000, .enabled = 100, .running = 100},
		{.flags = TRACE_COUNTER_TOTAL, .total = 300, .enabled = 100, .running = 25},
		{.flags = TRACE_COUNTER_TOTAL, .enabled = 100},
		{.flags = 0},
	};
	static const char *const names[] = {"branches", "scaled", "never", "clock"};

	for (unsigned i = 0; i < 4; i++) {
		struct trace_counter *counter = tables_add_counter(t);

		*counter = counters[i];
		counter->unit = i < 3 ? TRACE_COUNT : TRACE_NS;
		counter->name = tables_string(t, names[i]);
	}
}

static void describe_tasks(struct world *w)
{
	struct tables *t = w->tables;
	struct trace_thread *thread = tables_thread(t, 1);

	set_exact(w, "sh", 50000000)->tasks = 1;
	thread->exact = 3000000;
	thread->flags = TRACE_THREAD_EXACT;
	tables_command(t, tables_string(t, "gone"))->exact = 1;
}

/* More than there are lines for. */
static void describe_many(struct tables *t)
{
	for (unsigned i = 0; i < 9; i++) {
		char comm[] = "cX";

		comm[1] = (char)('0' + i);
		tables_command(t, tables_string(t, comm))->tasks = 2;
	}
	for (int i = 6; i < 11; i++)
		tables_add_thread(t, 100, 100 + i, tables_string(t, "app"), 0);
}

static void describe_all(struct world *w)
{
	world_open(w, 64 << 10);
	tables_event(w->tables, 1)->unit = TRACE_COUNT;
	put_samples(w);
	describe_machine(w->tables);
	describe_costs(w->tables);
	describe_loss(w->tables);
	describe_counters(w->tables);
	describe_tasks(w);
}

static const char all_of_it[] =
	"x.atr\n"
	"\n"
	"what was measured\n"
	"  command        ./app -x '\\x1b[31m'\n"
	"  directory      /here\n"
	"  attached to    process 77, which was running already\n"
	"  exit           killed by signal 9\n"
	"  started        1970-01-02 00:00:00 +0000\n"
	"  delay          5.000 s (--delay): what ran before was not sampled\n"
	"  wall time      4.000 ms\n"
	"  host           vm\n"
	"  kernel         Linux 6.1\n"
	"  processor      a processor\n"
	"  CPUs           3\n"
	"\n"
	"how\n"
	"  event          cpu-clock: one sample every 97.08 µs (10301 Hz) at first, every 388.3 µs "
	"(2575 Hz) in the end\n"
	"                 32 samples taken, 8 of them stored\n"
	"  event          page-faults: one sample every 1009 occurrences\n"
	"                 8 samples taken, 8 of them stored\n"
	"  counting       per CPU, in the program's own cgroup: short tasks count in full\n"
	"  in step        all CPUs at multiples of 97.08 µs, half of the samples within 1.500 µs, "
	"nine tenths within 3.500 µs\n"
	"                 29 restarts of timers; 1 CPU mostly out of step\n"
	"  stacks         by call frame information\n"
	"  adaptrace      0.1.0\n"
	"  seed           42\n"
	"  counters       branches: at least 200.0 thousand in all, "
	"0.0 % of them up to a stored sample\n"
	"                 scaled: about 1200 in all, 0.0 % of them up to a stored sample\n"
	"                 never: not counted\n"
	"                 clock: 0 ns with stored samples\n"
	"  buffer         3.0 KiB of 64.0 KiB, call paths 1.0 KiB of it\n"
	"  recorder       5.0 MiB of memory at most, including the used part of the buffer\n"
	"  reductions      2.000 ms  cpu-clock to every 194.2 µs: the buffer was full\n"
	"                  3.000 ms  cpu-clock to every 388.3 µs: sampling cost too much\n"
	"\n"
	"how well\n"
	"  lost           3 samples, 12 other records; throttled 9 times\n"
	"  stacks         13 without their root\n"
	"                 12 deeper than what was copied of them\n"
	"                 1 where Go changes to another stack\n"
	"                 14 completed from an earlier stack\n"
	"                 15 without room for the whole path\n"
	"  late records   11 out of order\n"
	"  names          16 without room\n"
	"  modules        17 without room\n"
	"  mappings       27 of code missing; it is [unknown]\n"
	"  files          28 without names: their file systems did not answer\n"
	"  threads        18 in a line with others of the same command\n"
	"  samples cost   2.000 µs of the program's time each; at most 5.0 % were allowed\n"
	"  program lost   2.0 % of each CPU's time; 3.5 % if its CPUs wait for each other\n"
	"  recorder used  100.0 µs of CPU time (2.5 % of one CPU)\n"
	"  longest delay  7.000 µs until the recorder read a sample\n"
	"  warning        counters had the hardware for 25.0 % of the time, and samples were taken "
	"only then: sums are scaled up by 4.00 (~), and may be wrong by as much as that adds\n"
	"  warning        counter 'never' was never let on the hardware: not counted\n"
	"  warning        the kernel dropped 12 records of mappings and tasks: some code and "
	"threads may have wrong names\n"
	"  warning        20 processes executed a setuid or unreadable program, which the kernel "
	"does not let inherited events observe\n"
	"  warning        names of 28 files are missing, whose file system did not answer; when it "
	"does: adaptrace report --symbols\n"
	"  warning        19 records made no sense and were left out\n"
	"  warning        30.0 % of the stacks do not reach their root: they are deeper than the "
	"part of them that was copied; record -g dwarf,65528 copies more\n"
	"  warning        37.5 % of the call paths found no room and end in [truncated]; a larger "
	"budget (-m) keeps them\n"
	"\n"
	"who\n"
	"  samples: those of all events; sampled and exact: of the first, cpu-clock\n"
	"\n"
	"     samples     sampled       exact  command\n"
	"          14    2.330 ms    50.00 ms  sh, 1 task\n"
	"           2    776.6 µs           -  app, 6 tasks\n"
	"           0        0 ns           -  gone, went on under another name\n"
	"           0        0 ns           -  c0, 2 tasks\n"
	"           0        0 ns           -  c1, 2 tasks\n"
	"           0        0 ns           -  c2, 2 tasks\n"
	"           0        0 ns           -  c3, 2 tasks\n"
	"           0        0 ns           -  c4, 2 tasks\n"
	"           0        0 ns           -  c5, 2 tasks\n"
	"           0        0 ns           -  c6, 2 tasks\n"
	"  and 2 more; --json has them all\n"
	"\n"
	"     samples     sampled       exact  thread\n"
	"          14    2.330 ms           -  sh 100/100\n"
	"           2    776.6 µs    3.000 ms  app 100/101\n"
	"           0        0 ns           -  sh 100/102\n"
	"           0        0 ns           -  app 100/103\n"
	"           0        0 ns           -  sh 100/104\n"
	"           0        0 ns           -  app 100/105\n"
	"           0        0 ns           -  app 100/106\n"
	"           0        0 ns           -  app 100/107\n"
	"           0        0 ns           -  app 100/108\n"
	"           0        0 ns           -  app 100/109\n"
	"  and 1 more; --json has them all\n";

static void text_tells_all(void **state)
{
	struct world w;
	char *text;

	(void)state;
	describe_all(&w);
	describe_many(w.tables);
	text = text_of(&w);
	assert_string_equal(text, all_of_it);
	free(text);
	world_close(&w);
}

static const char all_as_json[] =
	"{"
	"'version': '0.1.0', 'command': ['./app', '-x', '\\u001b[31m'], "
	"'exit_status': 137, 'pid': 77, 'directory': '/here', 'host': 'vm', 'kernel': 'Linux "
	"6.1', 'cpu_model': 'a processor', 'nr_cpus': 3, 'start_time_ns': 86400000000000, "
	"'start_ns': 1000, 'delay_ns': 5000000000, 'wall_ns': 4000000, 'sampled_ns': 4000000, "
	"'stacks': 'dwarf', 'counting': 'cgroup', "
	"'max_overhead': 5.0, 'sample_price_ns': 2000, 'recorder_cpu_ns': 100000, "
	"'drain_latency_ns': 7000, 'seed': 42, 'in_step': {'asked': true, 'grid_ns': 97081, "
	"'median_off_ns': 1500, 'p90_off_ns': 3500, 'restarts': 29, 'unsteered_cpus': 1}, 'cost': "
	"{'sample_ns': 2000, 'calls_ns': 30, 'one_cpu_pct': 2.0, 'coupled_pct': 3.5}, "
	"'attached': true, 'data': false, 'recovered': "
	"false, 'snapshot': false, 'kernel_hidden': false, 'split_missing': false, "
	"'lines_packed': false, 'lines_refused': false, 'user_only': false, 'one_kind': "
	"false, 'left_cgroup': false, 'missed_cpu': false, 'killed': true, 'refused_modules': 17, "
	"'unanswered_files': 28, "
	"'refused_mappings': 27, "
	"'folded_threads': 18, "
	"'refused_strings': 16, 'events': [{'name': 'cpu-clock', 'unit': 'ns', 'base_period': "
	"97081, 'initial_period': 97081, 'final_period': 388324, 'taken': 32, 'exact': null, "
	"'stored': 8, 'sampled_ns': 4000000}, {'name': 'page-faults', 'unit': 'count', "
	"'base_period': 1009, "
	"'initial_period': 1009, 'final_period': 1009, 'taken': 8, 'exact': null, 'stored': "
	"8, 'sampled_ns': 4000000}], 'counters': ["
	"{'name': 'branches', 'event': 'cpu-clock', 'unit': 'count', 'state': 'counted', 'total': "
	"200000, "
	"'with_samples': 0, 'scale': 1.0, 'enabled_ns': 100, 'running_ns': 100}, "
	"{'name': 'scaled', 'event': 'cpu-clock', 'unit': 'count', 'state': 'scaled', 'total': "
	"300, "
	"'with_samples': 0, 'scale': 4.0, 'enabled_ns': 100, 'running_ns': 25}, "
	"{'name': 'never', 'event': 'cpu-clock', 'unit': 'count', 'state': 'never', 'total': null, "
	"'with_samples': null, 'scale': 1.0, 'enabled_ns': 100, 'running_ns': 0}, "
	"{'name': 'clock', 'event': 'cpu-clock', 'unit': 'ns', 'state': 'counted', 'total': null, "
	"'with_samples': 0, 'scale': 1.0, 'enabled_ns': null, 'running_ns': null}], 'memory': "
	"{'budget': 65536, 'used': 3072, 'contexts': 1024, "
	"'records': 2048, 'peak_rss': 5242880}, 'samples': {'taken': 40, 'stored': 16, "
	"'reduced': 24, 'lost': 3, 'throttled': 9, 'truncated_stacks': 13, 'cut_stacks': {'copy': "
	"12, 'deep': 0, 'frame': 0, 'page': 0, 'no_cfi': 0, 'no_rule': 0, 'jit': 0, 'go': 1, "
	"'haskell': 0, '32_bit': 0, 'frame_pointers': 0, 'max_stack': 0, 'kernel_max_stack': 0, "
	"'branches': 0, 'unknown': 0, 'no_stack': 0}, 'stitched_stacks': 14, "
	"'folded_contexts': 15, 'late': 11, 'malformed': 19, 'lost_records': 12, "
	"'unobserved': 20}, 'reductions': [{'time_ns': 2001000, 'event': 'cpu-clock', 'window': 0, "
	"'history': false, "
	"'cause': "
	"'memory', 'floor': 1, 'period': 194162, 'bins': 1}, {'time_ns': 3001000, 'event': "
	"'cpu-clock', 'window': 0, 'history': false, 'cause': 'overhead', 'floor': 2, 'period': "
	"388324, 'bins': 1}], "
	"'threads': [{'pid': 100, 'tid': 100, 'comm': 'sh', 'stored': 14, 'weight': 2329944, "
	"'exact': null, 'start_ns': 0, 'end_ns': null}, {'pid': 100, 'tid': 101, 'comm': 'app', "
	"'stored': 2, 'weight': 776648, 'exact': 3000000, 'start_ns': 0, 'end_ns': null}, "
	"{'pid': 100, 'tid': 102, 'comm': 'sh', 'stored': 0, 'weight': 0, 'exact': null, "
	"'start_ns': 0, 'end_ns': null}, {'pid': 100, 'tid': 103, 'comm': 'app', 'stored': 0, "
	"'weight': 0, 'exact': null, 'start_ns': 0, 'end_ns': null}, {'pid': 100, 'tid': 104, "
	"'comm': 'sh', 'stored': 0, 'weight': 0, 'exact': null, 'start_ns': 0, 'end_ns': null}, "
	"{'pid': 100, 'tid': 105, 'comm': 'app', 'stored': 0, 'weight': 0, 'exact': null, "
	"'start_ns': 0, 'end_ns': null}], 'commands': [{'comm': 'app', 'tasks': 6, 'stored': 2, "
	"'weight': 776648, 'exact': null}, {'comm': 'sh', 'tasks': 1, 'stored': 14, 'weight': "
	"2329944, 'exact': 50000000}, {'comm': 'gone', 'tasks': 0, 'stored': 0, 'weight': 0, "
	"'exact': null}], 'dropped_actions': 0, 'actions': [], 'conditions': [], 'gaps': [], "
	"'windows': [], 'history': null"
	"}";

static void json_tells_all(void **state)
{
	struct json_object *object, *version, *expected;
	struct world w;

	(void)state;
	describe_all(&w);
	object = json_of(&w);
	assert_true(json_object_object_get_ex(object, "format_version", &version));
	assert_int_equal(json_object_get_int(version), TRACE_VERSION);
	json_object_object_del(object, "format_version");
	expected = json_tokener_parse(all_as_json);
	if (!json_object_equal(object, expected))
		fail_msg("%s", json_object_to_json_string(object));
	json_object_put(object);
	json_object_put(expected);
	world_close(&w);
}

/* --- what converters put into the properties of a file ---------------------------------------- */

static const char all_properties[] =
	"COMMAND=./app -x \x1b"
	"[31m\n"
	"DIRECTORY=/here\n"
	"HOST=vm\n"
	"KERNEL=Linux 6.1\n"
	"CPU_MODEL=a processor\n"
	"RECORDED_BY=0.1.0\n"
	"PID=77\n"
	"EXIT_STATUS=137\n"
	"FLAGS=49155\n"
	"STACKS=2\n"
	"CPUS=3\n"
	"MAX_OVERHEAD_PERMILLE=50\n"
	"START=1000\n"
	"END=4001000\n"
	"MEMORY::BUDGET=65536\n"
	"MEMORY::USED=3072\n"
	"MEMORY::CONTEXTS=1024\n"
	"MEMORY::RECORDS=2048\n"
	"MEMORY::PEAK_RSS=5242880\n"
	"RECORDER_CPU_NS=100000\n"
	"SAMPLE_PRICE_NS=2000\n"
	"LATE=11\n"
	"MALFORMED=19\n"
	"LOST_RECORDS=12\n"
	"TRUNCATED_STACKS=13\n"
	"STITCHED_STACKS=14\n"
	"FOLDED_CONTEXTS=15\n"
	"FOLDED_THREADS=18\n"
	"REFUSED_MODULES=17\n"
	"REFUSED_STRINGS=16\n"
	"DRAIN_LATENCY_NS=7000\n"
	"SEED=42\n"
	"UNOBSERVED=20\n"
	"DELAY_NS=5000000000\n"
	"REFUSED_MAPPINGS=27\n"
	"UNANSWERED_FILES=28\n"
	"GRID_NS=97081\n"
	"MEDIAN_OFF_NS=1500\n"
	"P90_OFF_NS=3500\n"
	"RESTARTS=29\n"
	"UNSTEERED_CPUS=1\n"
	"CALLS_COST_NS=30\n"
	"ONE_CPU_COST_PPM=20000\n"
	"COUPLED_COST_PPM=35000\n"
	"EVENT_0::NAME=cpu-clock\n"
	"EVENT_0::UNIT=ns\n"
	"EVENT_0::BASE_PERIOD=97081\n"
	"EVENT_0::INITIAL_PERIOD=97081\n"
	"EVENT_0::FINAL_PERIOD=388324\n"
	"EVENT_0::TAKEN=32\n"
	"EVENT_0::STORED=8\n"
	"EVENT_0::REDUCED=24\n"
	"EVENT_0::LOST=1\n"
	"EVENT_0::THROTTLED=4\n"
	"EVENT_1::NAME=page-faults\n"
	"EVENT_1::UNIT=count\n"
	"EVENT_1::BASE_PERIOD=1009\n"
	"EVENT_1::INITIAL_PERIOD=1009\n"
	"EVENT_1::FINAL_PERIOD=1009\n"
	"EVENT_1::TAKEN=8\n"
	"EVENT_1::STORED=8\n"
	"EVENT_1::REDUCED=0\n"
	"EVENT_1::LOST=2\n"
	"EVENT_1::THROTTLED=5\n"
	"STREAM_0=event 0 cpu 0 base_period 97081 lost 1 throttled 0\n"
	"STREAM_1=event 0 cpu 1 base_period 97082 lost 0 throttled 4\n"
	"STREAM_2=event 0 cpu 2 base_period 97083 lost 0 throttled 0\n"
	"STREAM_3=event 1 cpu 0 base_period 1009 lost 2 throttled 0\n"
	"STREAM_4=event 1 cpu 1 base_period 1010 lost 0 throttled 5\n"
	"STREAM_5=event 1 cpu 2 base_period 1011 lost 0 throttled 0\n"
	"REDUCTION_0=time 2001000 event 0 floor 1 bins 1 cause memory\n"
	"REDUCTION_1=time 3001000 event 0 floor 2 bins 1 cause overhead\n"
	"COMMAND_0::NAME=app\n"
	"COMMAND_0::TASKS=6\n"
	"COMMAND_0::UNOBSERVED_NS=0\n"
	"COMMAND_1::NAME=sh\n"
	"COMMAND_1::TASKS=1\n"
	"COMMAND_1::UNOBSERVED_NS=0\n"
	"COMMAND_1::EXACT=50000000\n"
	"COMMAND_2::NAME=gone\n"
	"COMMAND_2::TASKS=0\n"
	"COMMAND_2::UNOBSERVED_NS=0\n";

static int keep(void *arg, const char *name, const char *value)
{
	fprintf(arg, "%s=%s\n", name, value);
	return 0;
}

static void properties_tell_all(void **state)
{
	struct trace *trace;
	struct world w;
	struct page page;

	(void)state;
	describe_all(&w);
	trace = world_written(&w);
	assert_int_equal(run_properties(trace, keep, page_open(&page)), 0);
	page_expect(&page, all_properties);
	trace_close(trace);
	world_close(&w);
}

static void expect_words(struct world *w, const char *words)
{
	char *text = text_of(w);

	assert_non_null(strstr(text, words));
	free(text);
}

static void ends_and_ways_have_words(void **state)
{
	struct json_object *object, *status;
	struct trace_run *run;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	run = tables_run(w.tables);
	run->exit_status = -1;
	run->stacks = TRACE_STACKS_LBR;
	expect_words(&w, "\n  exit           unknown\n");
	expect_words(&w, "\n  counting       per thread, inherited: ");
	expect_words(&w, "\n  stacks         by the processor's branch records\n");
	run->exit_status = 0;
	expect_words(&w, "\n  exit           status 0\n");
	object = json_of(&w);
	assert_true(json_object_object_get_ex(object, "exit_status", &status) && status);
	json_object_put(object);
	run->exit_status = 200;
	run->flags = TRACE_RUN_CGROUP | TRACE_RUN_WIDE;
	run->stacks = TRACE_STACKS_NONE;
	expect_words(&w, "\n  exit           status 200\n");
	expect_words(&w, "\n  counting       per CPU, whoever runs there: ");
	expect_words(&w, "\n  stacks         none\n");
	run->stacks = TRACE_STACKS_FP;
	expect_words(&w, "\n  stacks         by frame pointers\n");
	tables_command(w.tables, 0)->tasks = 1; /* that began unseen */
	expect_words(&w, "  [unknown], 1 task\n");
	world_close(&w);
}

/* Per CPU the kernel counts the whole, and nobody's part of it. */
static void exact_is_told_where_it_is_known(void **state)
{
	struct world w;
	char *text;

	(void)state;
	world_open(&w, 64 << 10);
	tables_run(w.tables)->flags = TRACE_RUN_CGROUP;
	put_samples(&w);
	tables_event(w.tables, 0)->exact = 3210000;
	text = text_of(&w);
	assert_non_null(strstr(text, " stored; the kernel counted 3.210 ms\n"));
	assert_non_null(strstr(text, " stored\n"));
	assert_non_null(
		strstr(text, "  samples: those of all events; sampled: of the first, cpu-clock\n"));
	assert_non_null(strstr(text, "     samples     sampled  command\n"));
	assert_non_null(strstr(text, "     samples     sampled  thread\n"));
	assert_non_null(strstr(text, "          14    2.330 ms  sh 100/100\n"));
	free(text);
	tables_thread(w.tables, 1)->flags = TRACE_THREAD_EXACT;
	expect_words(&w, "     samples     sampled       exact  thread\n");
	world_close(&w);
}

/* Names alone, such as those of commands whose tasks took another, are no rows and not counted. */
static void names_alone_are_no_commands(void **state)
{
	struct trace_command *command;
	char comm[] = "cXX", *text;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	for (unsigned i = 0; i < 18; i++) {
		snprintf(comm, sizeof(comm), "c%u", i);
		command = tables_command(w.tables, tables_string(w.tables, comm));
		command->tasks = i % 2;
	}
	text = text_of(&w);
	assert_non_null(strstr(text, "  c1, 1 task\n"));
	assert_non_null(strstr(text, "  c17, 1 task\n"));
	assert_null(strstr(text, "  c2, "));
	assert_null(strstr(text, "more; --json"));
	free(text);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_tells_all),
		cmocka_unit_test(json_tells_all),
		cmocka_unit_test(properties_tell_all),
		cmocka_unit_test(ends_and_ways_have_words),
		cmocka_unit_test(exact_is_told_where_it_is_known),
		cmocka_unit_test(names_alone_are_no_commands),
	};

	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
