/* What a reader is told before he believes a report: each warning, its numbers, and when it stays
 * away. */
#include "trace_world.h"

#include "output/profile/warnings.h"
#include "symbolize/modules/module.h"

enum { CPU_CLOCK, PAGE_FAULTS, NR_SAMPLES = 1000, WEIGHT = 97081 };

#define NAMED (2ULL << 32) /* in a program */

struct said {
	char text[4096];
};

static void keep(void *arg, const char *text)
{
	struct said *said = arg;
	size_t size = strlen(said->text);

	snprintf(said->text + size, sizeof(said->text) - size, "%s\n", text);
}

static void put_samples(struct world *w, unsigned nr, struct hmb_sample sample)
{
	sample.step = WEIGHT;
	while (nr--)
		put_next(w, sample);
}

/* There is nothing to warn of in it. */
static struct trace_run *run_open(struct world *w)
{
	world_open(w, 256 << 10);
	put_samples(w, NR_SAMPLES, (struct hmb_sample){.leaf = NAMED});
	put_samples(w, 1, (struct hmb_sample){.kind = PAGE_FAULTS, .leaf = NAMED});
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP;
	return tables_run(w->tables);
}

static struct trace_event *event_of(struct world *w, unsigned event)
{
	return tables_event(w->tables, event);
}

static struct trace_stream *stream_of(struct world *w, unsigned event)
{
	return tables_stream(w->tables, event * NR_CPUS);
}

static void expect_of_run(struct world *w, const char *text)
{
	struct trace *trace = world_written(w);
	struct said said = {""};

	warnings_of_run(trace, NULL, keep, &said);
	assert_string_equal(said.text, text);
	trace_close(trace);
}

static void expect_of_part(struct world *w, const struct profile_config *config, const char *text)
{
	struct trace *trace = world_written(w);
	struct profile *profile = profile_new(trace, config);
	struct said said = {""};

	assert_non_null(profile);
	warnings_of_profile(profile, keep, &said);
	assert_string_equal(said.text, text);
	profile_free(profile);
	trace_close(trace);
}

static void expect_of_clock(struct world *w, const char *text)
{
	const struct profile_config config = {.keys = PROFILE_BY_SYMBOL, .scale = true};

	expect_of_part(w, &config, text);
}

static void a_good_run_needs_no_word(void **state)
{
	struct world w;

	(void)state;
	run_open(&w);
	expect_of_run(&w, "");
	expect_of_clock(&w, "");
	world_close(&w);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void flags_have_a_sentence_each(void **state)
{
	static const struct {
		uint32_t flag;
		const char *text;
	} flags[] = {
		{TRACE_RUN_RECOVERED,
	         "this was recovered: the recorder was killed, or could not write its trace\n"},
		{TRACE_RUN_SNAPSHOT, "this is a snapshot: the recording went on, and what the "
	                             "kernel reports at its end is missing\n"},
		{TRACE_RUN_LEFT_CGROUP,
	         "a process moved itself to another cgroup and was not sampled there; record "
	         "--inherit follows it\n"},
		{TRACE_RUN_MISSED_CPU,
	         "a CPU was switched off or on: what ran on it from then on was not sampled\n"},
		{TRACE_RUN_USER_ONLY, "the kernel was not sampled, for want of permission\n"},
		{TRACE_RUN_ONE_CORE_TYPE,
	         "the machine has several kinds of cores, and hardware events counted on one of "
	         "them alone: what ran on the others has no samples\n"},
		{TRACE_RUN_KERNEL_HIDDEN,
	         "functions of the kernel have no names: its addresses were hidden; adaptrace "
	         "doctor tells what shows them\n"},
		{TRACE_RUN_SPLIT_MISSING,
	         "inlined functions are missing where programs were built with -gsplit-dwarf: "
	         "their .dwo files were not found\n"},
	};
	struct world w;

	(void)state;
	run_open(&w);
	for (unsigned i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		tables_run(w.tables)->flags = TRACE_RUN_CGROUP | flags[i].flag;
		expect_of_run(&w, flags[i].text);
	}
	world_close(&w);
}

/* Whatever selects the part. */
static void a_part_has_no_warnings_of_the_whole(void **state)
{
	const bool threads[] = {true}, cpus[] = {true};
	const struct thread_filter by_thread = {.threads = (bool *)threads, .nr_threads = 1};
	const struct thread_filter by_cpu = {.cpus = (bool *)cpus, .nr_cpus = 1};
	const struct selection parts[] = {
		{0, UINT64_MAX, &by_thread}, {0, UINT64_MAX, &by_cpu}, {1, UINT64_MAX, NULL}};
	struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct trace_run *run;
	struct trace *trace;
	struct world w;

	(void)state;
	run = run_open(&w);
	run->malformed = 7;
	stream_of(&w, 0)->throttled = 2;
	trace = world_written(&w);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct said said = {""};

		warnings_of_run(trace, &parts[i], keep, &said);
		assert_string_equal(said.text,
		                    "in the whole recording: 7 records made no sense and were "
		                    "left out\n");
	}
	trace_close(trace);
	config.selection = &parts[0];
	expect_of_part(&w, &config,
	               "in the whole recording: the kernel throttled cpu-clock 2 times: bursts are "
	               "under-sampled\n");
	world_close(&w);
}

static void what_went_wrong_is_counted(void **state)
{
	struct trace_run *run;
	struct world w;

	(void)state;
	run = run_open(&w);
	run->lost_records = 3;
	run->unobserved = 1;
	run->malformed = 7;
	expect_of_run(&w,
	              "the kernel dropped 3 records of mappings and tasks: some code and threads "
	              "may have wrong names\n"
	              "1 process executed a setuid or unreadable program, which the kernel does "
	              "not let inherited events observe\n"
	              "7 records made no sense and were left out\n");
	run->lost_records = run->malformed = 0;
	run->unobserved = 2;
	expect_of_run(&w, "2 processes executed a setuid or unreadable program, which the kernel "
	                  "does not let inherited events observe\n");
	world_close(&w);
}

/* Of the 1001 samples of both events. */
static void few_bad_stacks_are_not_worth_a_line(void **state)
{
	struct trace_run *run;
	struct world w;

	(void)state;
	run = run_open(&w);
	run->truncated_stacks = run->folded_contexts = 5;
	expect_of_run(&w, "");
	run->truncated_stacks = 6;
	run->folded_contexts = 99;
	expect_of_run(&w, "0.60 % of the stacks do not reach their root\n"
	                  "9.9 % of the call paths found no room and end in [truncated]; a larger "
	                  "budget (-m) keeps them\n");
	world_close(&w);
}

/* Each reason that cut enough stacks has its line, and its way out. */
static void why_stacks_are_cut_is_told(void **state)
{
	static const struct {
		enum stack_cut reason;
		const char *text;
	} reasons[] = {
		{STACK_CUT_COPY, "are deeper than the part of them that was copied; record -g "
	                         "dwarf,65528 copies more"},
		{STACK_CUT_DEEP, "are deeper than 65528 bytes, the most that can be copied; record "
	                         "-g fp goes further, if the program is built with "
	                         "-fno-omit-frame-pointer"},
		{STACK_CUT_FRAME, "have a frame larger than 65528 bytes, the most that can be "
	                          "copied; record -g fp passes it, if the program is built with "
	                          "-fno-omit-frame-pointer"},
		{STACK_CUT_PAGE, "have a page that was not in memory, where the copy ends; record "
	                         "-g fp needs no copy, if the program is built with "
	                         "-fno-omit-frame-pointer"},
		{STACK_CUT_NO_CFI, "end in a file without call frame information; build that with "
	                           "-fasynchronous-unwind-tables"},
		{STACK_CUT_NO_RULE, "end in code that call frame information does not describe, as "
	                            "some assembly; record -g fp passes it where it keeps frame "
	                            "pointers"},
		{STACK_CUT_JIT, "end in code that was made at run time; let it keep frame "
	                        "pointers, as with java -XX:+PreserveFramePointer"},
		{STACK_CUT_GO, "end where Go changes to the stack of the system; record -g fp "
	                       "finds the callers"},
		{STACK_CUT_HASKELL, "are Haskell's, which keeps its stack in the heap; no option "
	                            "finds the callers; GHC's own profiler does"},
		{STACK_CUT_32_BIT, "are of 32-bit programs, whose call frame information is not "
	                           "read; record -g fp finds callers, if the program is built "
	                           "with -fno-omit-frame-pointer"},
		{STACK_CUT_FP, "end in code without frame pointers; record -g dwarf, the default, "
	                       "needs none"},
		{STACK_CUT_MAX, "are deeper than the 50 frames of --max-stack; a larger one keeps "
	                        "more"},
		{STACK_CUT_KERNEL_MAX, "are deeper than the 50 frames of "
	                               "kernel.perf_event_max_stack; as root: sysctl "
	                               "kernel.perf_event_max_stack=1024"},
		{STACK_CUT_BRANCHES, "are deeper than the calls that the processor remembers; "
	                             "record -g dwarf, the default, goes further"},
		{STACK_CUT_UNKNOWN,
	         "end in code whose file is unknown; record -g fp finds callers, "
	         "if the program is built with -fno-omit-frame-pointer"},
		{STACK_CUT_NO_STACK, NULL}, /* no warning: nothing finds those callers */
	};
	struct trace_run *run;
	char text[4096];
	struct world w;

	(void)state;
	run = run_open(&w);
	run->built_stacks = 1000;
	run->max_stack = 50;
	assert_int_equal(sizeof(reasons) / sizeof(*reasons), NR_STACK_CUTS);
	for (unsigned i = 0; i < NR_STACK_CUTS; i++) {
		snprintf(text, sizeof(text),
		         "0.60 %% of the stacks do not reach their root: they %s\n",
		         reasons[i].text);
		run->cut_stacks[reasons[i].reason] = 4;
		expect_of_run(&w, "");
		run->cut_stacks[reasons[i].reason] = 6;
		expect_of_run(&w, reasons[i].text ? text : "");
		run->cut_stacks[reasons[i].reason] = 0;
	}
	run->cut_stacks[STACK_CUT_MAX] = 500;
	run->max_stack = 1024;
	expect_of_run(&w, "50.0 % of the stacks do not reach their root: they are deeper than 1024 "
	                  "frames, the most that is kept of one\n");
	world_close(&w);
}

static void silent_events_are_told(void **state)
{
	struct trace_run *run;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_samples(&w, NR_SAMPLES, (struct hmb_sample){.leaf = NAMED});
	event_of(&w, PAGE_FAULTS)->unit = TRACE_NS;
	run = tables_run(w.tables);
	run->flags = TRACE_RUN_WIDE;
	expect_of_run(&w, "no samples of page-faults: nothing ran where it was sampled\n");
	event_of(&w, PAGE_FAULTS)->unit = TRACE_COUNT;
	run->flags = TRACE_RUN_CGROUP;
	expect_of_run(&w, "page-faults never occurred: the program caused none, or this machine "
	                  "does not count it\n");
	run->flags = 0;
	expect_of_run(&w, "no samples of page-faults: one is taken every 1009 occurrences, and "
	                  "that was reached nowhere, if this machine counts it at all\n");
	event_of(&w, PAGE_FAULTS)->exact = 17;
	event_of(&w, PAGE_FAULTS)->initial_shift = 1;
	expect_of_run(&w, "no samples of page-faults: 17 in all, and one is taken every 2018 "
	                  "occurrences\n");
	world_close(&w);
}

/* A killed recorder had no time to read the totals at the end: that none is known means nothing. */
static void the_totals_of_a_killed_recorder_are_not_known(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_samples(&w, NR_SAMPLES, (struct hmb_sample){.leaf = NAMED});
	event_of(&w, PAGE_FAULTS)->unit = TRACE_COUNT;
	tables_run(w.tables)->flags = TRACE_RUN_CGROUP | TRACE_RUN_RECOVERED;
	expect_of_run(&w, "no samples of page-faults: one is taken every 1009 occurrences, and "
	                  "that was reached nowhere, if this machine counts it at all\n"
	                  "this was recovered: the recorder was killed, or could not write its "
	                  "trace\n");
	world_close(&w);
}

/* --- one event -------------------------------------------------------------------------------- */

static void losses_are_of_their_event(void **state)
{
	struct world w;

	(void)state;
	run_open(&w);
	stream_of(&w, PAGE_FAULTS)->lost = stream_of(&w, PAGE_FAULTS)->throttled = 9;
	expect_of_clock(&w, "");
	stream_of(&w, CPU_CLOCK)[0].lost = 1;
	stream_of(&w, CPU_CLOCK)[1].throttled = 1;
	expect_of_clock(&w,
	                "1 sample of cpu-clock was lost (0.10 %): shares may be wrong by as much "
	                "beyond their errors\n"
	                "the kernel throttled cpu-clock 1 time: bursts are under-sampled\n");
	stream_of(&w, CPU_CLOCK)[1].lost = 999;
	stream_of(&w, CPU_CLOCK)[2].throttled = 3;
	expect_of_clock(
		&w, "1000 samples of cpu-clock were lost (50.0 %): shares may be wrong by as much "
		    "beyond their errors\n"
		    "the kernel throttled cpu-clock 4 times: bursts are under-sampled\n");
	world_close(&w);
}

/* Of what comes in bursts there is a way to lose less. */
static void losses_of_counts_name_a_way_out(void **state)
{
	const struct profile_config config = {.event = PAGE_FAULTS, .keys = PROFILE_BY_SYMBOL};
	struct world w;

	(void)state;
	run_open(&w);
	event_of(&w, PAGE_FAULTS)->unit = TRACE_COUNT;
	stream_of(&w, PAGE_FAULTS)->lost = 1;
	tables_run(w.tables)->stacks = TRACE_STACKS_FP;
	expect_of_part(&w, &config,
	               "1 sample of page-faults was lost (50.0 %): shares may be "
	               "wrong by as much beyond their errors; record -c PERIOD takes "
	               "fewer\n");
	tables_run(w.tables)->stacks = TRACE_STACKS_DWARF;
	expect_of_part(&w, &config,
	               "1 sample of page-faults was lost (50.0 %): shares may be "
	               "wrong by as much beyond their errors; record -c PERIOD takes "
	               "fewer, -g fp smaller ones\n");
	world_close(&w);
}

/* One sample on each CPU and one more are what sampling rounds off, and 2 % are not worth a word.
 */
static void different_periods_are_told(void **state)
{
	struct world w;

	(void)state;
	run_open(&w);
	stream_of(&w, 0)->base_period = base_periods[0] * 50 / 51;
	expect_of_clock(&w, "");
	stream_of(&w, 0)->base_period = 1000000;
	expect_of_clock(&w, "cpu-clock was not sampled with one period: one sample every 97.08 µs "
	                    "to 1.000 ms\n");
	world_close(&w);
}

static void ticks_that_the_kernel_skipped_are_told(void **state)
{
	const struct selection most = {.from = 1, .to = UINT64_MAX};
	struct profile_config part = {.keys = PROFILE_BY_SYMBOL, .selection = &most};
	const struct profile_config alone = {.keys = PROFILE_BY_SYMBOL, .sampled_alone = true};
	struct trace_event *clock;
	struct world w;

	(void)state;
	run_open(&w);
	clock = event_of(&w, CPU_CLOCK);
	clock->exact = (NR_SAMPLES + NR_SAMPLES / 50 + 1 + NR_CPUS) * WEIGHT;
	expect_of_clock(&w, "");
	clock->exact += 1;
	expect_of_clock(&w, "samples stand for 97.7 % of the exact 99.41 ms of cpu-clock: the "
	                    "kernel skipped the rest\n");
	expect_of_part(&w, &part, "");
	tables_run(w.tables)->flags = 0;
	expect_of_clock(&w, "samples stand for 97.7 % of the exact 99.41 ms of cpu-clock: the "
	                    "kernel skipped the rest, or tasks were too short\n");
	set_exact(&w, "app", 0);
	expect_of_part(&w, &alone,
	               "samples stand for 97.7 % of the exact 99.41 ms of cpu-clock: the kernel "
	               "skipped the rest, or tasks were too short; rows of [unsampled] "
	               "are left out, because it is not the first event of all runs\n");
	tables_run(w.tables)->flags = TRACE_RUN_CGROUP;
	stream_of(&w, CPU_CLOCK)->lost = 50;
	expect_of_clock(&w,
	                "50 samples of cpu-clock were lost (4.8 %): shares may be wrong by as much "
	                "beyond their errors\n"
	                "samples stand for 97.7 % of the exact 99.41 ms of cpu-clock: the "
	                "kernel skipped the rest, or it was lost\n");
	world_close(&w);
}

static void commands_that_samples_miss_are_told(void **state)
{
	struct world w;

	(void)state;
	run_open(&w);
	set_exact(&w, "sh", 4 * NR_SAMPLES * WEIGHT);
	expect_of_clock(&w, "samples of 'sh' cover 25.0 % of its exact 388.3 ms; the rest is "
	                    "[unsampled]\n");
	set_exact(&w, "app", 0)->unobserved = 2000000;
	expect_of_clock(&w,
	                "samples of 'sh' cover 25.0 % of its exact 388.3 ms; the rest is "
	                "[unsampled]\n"
	                "'app' executed a setuid or unreadable program, which the kernel does not "
	                "let inherited events observe: 2.000 ms are [unobserved]\n");
	world_close(&w);
}

static void at_most_three_commands_are_named(void **state)
{
	static const char *const comms[] = {"a", "b", "c", "d", "e"};
	struct world w;

	(void)state;
	run_open(&w);
	for (unsigned i = 0; i < 4; i++)
		set_exact(&w, comms[i], 10 * WEIGHT);
	expect_of_clock(
		&w, "samples of 'a' cover 0.0 % of its exact 970.8 µs; the rest is [unsampled]\n"
		    "samples of 'b' cover 0.0 % of its exact 970.8 µs; the rest is [unsampled]\n"
		    "samples of 'c' cover 0.0 % of its exact 970.8 µs; the rest is [unsampled]\n"
		    "parts of 1 more command are not sampled\n");
	world_close(&w);
}

static void add_sampled(struct world *w, const char *name, unsigned samples, uint64_t exact)
{
	uint32_t comm = tables_string(w->tables, name);
	uint32_t thread = tables_add_thread(w->tables, 200, 200 + *name, comm, 0);

	put_samples(w, samples, (struct hmb_sample){.thread = thread, .leaf = NAMED});
	set_exact(w, name, exact);
}

static void scaled_commands_are_told(void **state)
{
	static const char *const comms[] = {"a", "b", "c", "d"};
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	for (unsigned i = 0; i < 4; i++)
		add_sampled(&w, comms[i], 80, 100 * WEIGHT);
	add_sampled(&w, "e", 80, 80 * WEIGHT + WEIGHT / 100); /* not scaled */
	add_sampled(&w, "f", 200, 201 * WEIGHT + WEIGHT / 2); /* by less than is told */
	expect_of_clock(&w, "samples of 'a' cover 80.0 % of its exact 9.708 ms; its functions are "
	                    "scaled by 1.250\n"
	                    "samples of 'b' cover 80.0 % of its exact 9.708 ms; its functions are "
	                    "scaled by 1.250\n"
	                    "samples of 'c' cover 80.0 % of its exact 9.708 ms; its functions are "
	                    "scaled by 1.250\n"
	                    "functions of 1 more command are scaled, too\n");
	world_close(&w);
}

/* Each level has a function of its own. */
static void at_most_three_functions_are_blamed_for_lockstep(void **state)
{
	static const struct named_range levels[] = {
		{2, 0, 1, "l0"}, {2, 1, 2, "l1"}, {2, 2, 3, "l2"}, {2, 3, 4, "l3"}};
	struct world w;
	char text[1024] = "";
	struct trace *trace;
	struct profile *profile;
	struct said said = {""};
	const struct profile_config config = {.keys = PROFILE_BY_SYMBOL};

	(void)state;
	world_open(&w, 1 << 20);
	for (unsigned n = 1; n <= 4000; n++) {
		unsigned level = lambda(n) < 3 ? lambda(n) : 3;

		put_samples(&w, 1, (struct hmb_sample){.level = level, .leaf = NAMED | level});
	}
	trace_close(world_written(&w));
	assert_true(name_ranges(w.path, levels, 4));
	trace = open_good(w.path);
	profile = profile_new(trace, &config);
	for (unsigned i = 0; i < 3; i++)
		sprintf(text + strlen(text),
		        "sampling ran in step with '%s': its share is less certain than its error "
		        "says; record again with another period (-c)\n",
		        levels[i].name);
	warnings_of_profile(profile, keep, &said);
	assert_string_equal(said.text, text);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/* From 5 % on, and where rows are of functions. */
static void much_code_without_names_is_told(void **state)
{
	const struct profile_config by_comm = {.keys = PROFILE_BY_COMM};
	struct world w;

	(void)state;
	run_open(&w);
	tables_module(w.tables, 3)->type = MODULE_ANON;
	put_samples(&w, 52, (struct hmb_sample){.leaf = 3ULL << 32});
	expect_of_clock(&w, "");
	put_samples(&w, 1, (struct hmb_sample){.leaf = 3ULL << 32 | 1});
	expect_of_clock(&w, "5.0 % are in code without names that was generated at run time; "
	                    "adaptrace-report(1) tells how java, node, python3 and others write "
	                    "them\n");
	expect_of_part(&w, &by_comm, "");
	world_close(&w);
}

/* Of files that were stripped: the one that matters most, and whether it is the only one. */
static void files_without_names_are_told(void **state)
{
	const struct profile_config by_comm = {.keys = PROFILE_BY_COMM};
	struct world w;

	(void)state;
	run_open(&w);
	tables_module(w.tables, 1)->type = tables_module(w.tables, 3)->type = MODULE_FILE;
	tables_module(w.tables, 1)->path = tables_string(w.tables, "/opt/liby.so");
	tables_module(w.tables, 1)->build_id_size = 20;
	put_samples(&w, 53, (struct hmb_sample){.leaf = 3ULL << 32});
	expect_of_clock(&w, "5.0 % are in functions of libx.so without names; it was stripped and "
	                    "has no build-id to find its symbols by: build it without strip, -s\n");
	tables_module(w.tables, 3)->build_id_size = 20;
	expect_of_clock(&w,
	                "5.0 % are in functions of libx.so without names; report "
	                "--debuginfod asks a server for the names, --symbols takes them from an "
	                "installed debug package\n");
	put_samples(&w, 52, (struct hmb_sample){.leaf = 1ULL << 32});
	put_samples(&w, 2, (struct hmb_sample){.leaf = 1ULL << 32 | 1});
	expect_of_clock(&w,
	                "9.7 % are in functions of liby.so and others without names; report "
	                "--debuginfod asks a server for the names, --symbols takes them from an "
	                "installed debug package\n");
	expect_of_part(&w, &by_comm, "");
	tables_module(w.tables, 1)->build_id_size = 0;
	tables_module(w.tables, 3)->build_id_size = 0;
	tables_module(w.tables, 1)->flags = TRACE_MODULE_UNSEEN;
	tables_module(w.tables, 3)->flags = TRACE_MODULE_UNSEEN;
	expect_of_clock(&w, "9.7 % are in code of liby.so and others that has no names, as the "
	                    "file could not be read when it was mapped; a recorder of root reads "
	                    "deleted ones, too, and one of the same user what is mounted for that "
	                    "user alone (FUSE)\n");
	tables_module(w.tables, 1)->flags |= TRACE_MODULE_NO_ELF;
	tables_module(w.tables, 3)->flags |= TRACE_MODULE_NO_ELF;
	expect_of_clock(&w, "9.7 % are in code of liby.so and others that has no names, as what is "
	                    "mapped there is no ELF file\n");
	world_close(&w);
}

/* Until its own functions have names, too. */
static void python_without_its_functions_is_told(void **state)
{
	const struct named_range interpreter = {3, 0, 16, "_PyEval_EvalFrameDefault"};
	const struct named_range names[] = {interpreter, {3, 16, 32, "py::main:main.py"}};
	const struct profile_config config = {.keys = PROFILE_BY_SYMBOL};
	struct world w;

	(void)state;
	run_open(&w);
	put_samples(&w, 53, (struct hmb_sample){.leaf = 3ULL << 32});
	put_samples(&w, 1, (struct hmb_sample){.leaf = 3ULL << 32 | 16});
	for (unsigned nr = 1; nr <= 2; nr++) {
		struct trace *trace = world_named(&w, names, nr);
		struct profile *profile = profile_new(trace, &config);
		struct said said = {""};

		warnings_of_profile(profile, keep, &said);
		assert_string_equal(said.text,
		                    nr == 2 ? ""
		                            : "5.0 % are in Python's interpreter itself; "
		                              "python3 -X perf, from 3.12 on, tells "
		                              "which functions it runs\n");
		profile_free(profile);
		trace_close(trace);
	}
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_good_run_needs_no_word),
		cmocka_unit_test(flags_have_a_sentence_each),
		cmocka_unit_test(a_part_has_no_warnings_of_the_whole),
		cmocka_unit_test(what_went_wrong_is_counted),
		cmocka_unit_test(few_bad_stacks_are_not_worth_a_line),
		cmocka_unit_test(why_stacks_are_cut_is_told),
		cmocka_unit_test(silent_events_are_told),
		cmocka_unit_test(the_totals_of_a_killed_recorder_are_not_known),
		cmocka_unit_test(losses_are_of_their_event),
		cmocka_unit_test(losses_of_counts_name_a_way_out),
		cmocka_unit_test(different_periods_are_told),
		cmocka_unit_test(ticks_that_the_kernel_skipped_are_told),
		cmocka_unit_test(commands_that_samples_miss_are_told),
		cmocka_unit_test(at_most_three_commands_are_named),
		cmocka_unit_test(scaled_commands_are_told),
		cmocka_unit_test(at_most_three_functions_are_blamed_for_lockstep),
		cmocka_unit_test(much_code_without_names_is_told),
		cmocka_unit_test(files_without_names_are_told),
		cmocka_unit_test(python_without_its_functions_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
