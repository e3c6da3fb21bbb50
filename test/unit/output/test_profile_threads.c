/* Which entries of the table of threads are one thread, or of one process, in a profile. */
#include "trace_world.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#include "output/convert/convert.h"
#include "output/report/report.h"

#include <errno.h>

static void put_of(struct world *w, uint32_t thread, unsigned nr)
{
	struct hmb_sample sample = {.thread = thread, .leaf = (uint64_t)2 << 32, .step = 97081};

	for (; nr; nr--) {
		sample.time = (uint64_t)(1000 + w->nr++) << TIME_SHIFT;
		hmb_put(w->hmb, &sample);
	}
}

static uint32_t add_thread(struct world *w, int pid, int tid, const char *comm)
{
	return tables_add_thread(w->tables, pid, tid, tables_string(w->tables, comm), 0);
}

static struct trace *written(struct world *w)
{
	tables_run(w->tables)->flags = TRACE_RUN_CGROUP;
	return world_written(w);
}

/* The rows have so many samples each, in any order. */
static void expect_rows(const struct trace *trace, unsigned keys, uint32_t nr,
                        const uint64_t *samples)
{
	struct profile_config config = {.keys = keys};
	struct profile *profile = profile_new(trace, &config);
	uint64_t left = 0;

	assert_non_null(profile);
	assert_int_equal(profile->nr_rows, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t matching = 0;

		for (uint32_t j = 0; j < nr; j++)
			matching += profile->rows[j].samples == samples[i];
		assert_int_equal(matching, 1);
		left += samples[i];
	}
	assert_int_equal(profile->samples, left);
	profile_free(profile);
}

/* The process that has so many samples has this name. */
static void expect_process(const struct trace *trace, uint64_t samples, const char *name)
{
	struct profile_config config = {.keys = PROFILE_BY_PROCESS};
	struct profile *profile = profile_new(trace, &config);
	bool found = false;

	assert_non_null(profile);
	for (uint32_t i = 0; i < profile->nr_rows; i++) {
		uint32_t process = profile->subsets[profile->rows[i].subset].process;

		if (profile->rows[i].samples != samples)
			continue;
		assert_string_equal(trace_string(trace, trace_thread(trace, process)->comm), name);
		found = true;
	}
	assert_true(found);
	profile_free(profile);
}

/*
 * A thread has a new entry when it executes a program, be it one of the same name. A process is
 * what its main thread executed last.
 */
static void one_that_executes_stays_one(void **state)
{
	struct trace *trace;
	struct world w;
	uint32_t shell, again, program, other;

	(void)state;
	world_open(&w, 64 << 10);
	shell = add_thread(&w, 200, 200, "bash");
	again = add_thread(&w, 200, 200, "bash");
	program = add_thread(&w, 200, 200, "python3");
	other = add_thread(&w, 201, 201, "bash");
	put_of(&w, shell, 1);
	put_of(&w, again, 2);
	put_of(&w, program, 4);
	put_of(&w, other, 8);
	trace = written(&w);
	expect_rows(trace, PROFILE_BY_THREAD, 3, (const uint64_t[]){3, 4, 8});
	expect_rows(trace, PROFILE_BY_PROCESS, 2, (const uint64_t[]){7, 8});
	expect_process(trace, 7, "python3");
	expect_process(trace, 8, "bash");
	trace_close(trace);
	world_close(&w);
}

static void convert(const struct trace *trace, int (*write)(struct conversion *, FILE *),
                    char text[1 << 16])
{
	struct conversion conversion = {.trace = trace, .scratch = "/tmp"};
	FILE *file = tmpfile();
	gzFile unpacked;
	int size;

	assert_non_null(file);
	assert_int_equal(write(&conversion, file), 0);
	rewind(file);
	unpacked = gzdopen(dup(fileno(file)), "r"); /* what is not packed is read as it is */
	size = gzread(unpacked, text, (1 << 16) - 1);
	assert_true(size > 0);
	text[size] = '\0';
	gzclose(unpacked);
	fclose(file);
}

/* Places of the table are taken by others when they are free: they are in no order of time. */
static void processes_have_one_name(void **state)
{
	static char text[1 << 16];
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_of(&w, tables_add_thread(w.tables, 400, 400, tables_string(w.tables, "late"), 900), 5);
	put_of(&w, tables_add_thread(w.tables, 400, 400, tables_string(w.tables, "early"), 1), 4);
	trace = written(&w);
	expect_process(trace, 9, "late");
	convert(trace, firefox_write, text);
	assert_non_null(strstr(text, "\"processName\":\"late\""));
	assert_null(strstr(text, "\"processName\":\"early\""));
	convert(trace, chrome_write, text);
	assert_non_null(strstr(text, "\"args\":{\"name\":\"late\"}"));
	assert_non_null(strstr(text, "\"name\":\"process_name\""));
	assert_null(strstr(strstr(text, "process_name") + 1, "process_name"));
	trace_close(trace);
	world_close(&w);
}

/* Containers on two hosts: all begin to count at 1. */
static void ranks_of_two_hosts_stay_two(void **state)
{
	struct trace_process process = {.pid = 17};
	struct trace *trace;
	struct world w;
	uint32_t threads[2];

	(void)state;
	world_open(&w, 64 << 10);
	for (int32_t i = 0; i < 2; i++) {
		threads[i] = add_thread(&w, 17, 17, "app");
		process.rank = i;
		assert_true(tables_set_owner(w.tables, threads[i],
		                             tables_add_process(w.tables, &process)));
		put_of(&w, threads[i], 3U + (unsigned)i);
	}
	trace = written(&w);
	expect_rows(trace, PROFILE_BY_THREAD, 2, (const uint64_t[]){3, 4});
	expect_rows(trace, PROFILE_BY_PROCESS, 2, (const uint64_t[]){3, 4});
	trace_close(trace);
	world_close(&w);
}

/*
 * Places of the table whose tasks are gone without a sample, and those of many, have no number;
 * what began unseen has the name that reports show.
 */
static void nobody_has_no_number(void **state)
{
	static const char *const words[] = {"process=0",   "thread=0",      "pid=0",
	                                    "tid=0",       "pid=101",       "tid=101",
	                                    "process=101", "comm=[unknown]"};
	const char *wrong = NULL;
	struct trace *trace;
	struct world w;
	struct thread_filter filter;

	(void)state;
	world_open(&w, 64 << 10);
	put_of(&w, add_thread(&w, 101, 101, "app"), 1);
	add_thread(&w, 103, 103, "");
	add_thread(&w, 0, 0, "swapper");
	tables_thread_ended(w.tables, add_thread(&w, 102, 102, "gone"), 1);
	trace = written(&w);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(thread_filter_init(&filter, trace, &words[i], 1, &wrong),
		                 i < 4 ? -ENOENT : 0);
		assert_ptr_equal(wrong, words[i]);
		thread_filter_fini(&filter);
	}
	trace_close(trace);
	world_close(&w);
}

/* --- memory ----------------------------------------------------------------------------------- */

enum { MANY_THREADS = 500, PATHS = 30, DEPTH = 100, ROOM = 64 << 20 };

/* Every thread is met on the same deep paths, of which each has functions of its own. */
static struct trace *of_many_threads(struct world *w)
{
	struct hmb_sample sample = {.path_size = DEPTH, .step = 97081};
	uint64_t path[DEPTH];
	char comm[24];

	world_open_deep(w, 1 << 20, DEPTH + 1);
	for (int i = 0; i < MANY_THREADS; i++) {
		snprintf(comm, sizeof(comm), "worker-%d", i);
		sample.thread = add_thread(w, 300, 300 + i, comm);
		for (uint32_t p = 0; p < PATHS; p++) {
			for (uint32_t f = 0; f < DEPTH; f++)
				path[f] = (uint64_t)2 << 32 | (p * DEPTH + f);
			sample.path = path;
			sample.leaf = (uint64_t)2 << 32 | (p + 0x10000);
			put_next(w, sample);
		}
	}
	return written(w);
}

static bool allow_more_memory(size_t more)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");
	struct rlimit limit;

	if (!file || fscanf(file, "%lu", &pages) != 1)
		return false;
	fclose(file);
	limit.rlim_cur = limit.rlim_max = pages * (size_t)sysconf(_SC_PAGESIZE) + more;
	return !setrlimit(RLIMIT_AS, &limit);
}

static int report_flamegraph(FILE *to, const struct trace *trace)
{
	struct conversion conversion = {.trace = trace};

	return flamegraph_write(&conversion, to);
}

/* In a process with little room; options NULL: a flame graph, of commands. */
static void expect_little_memory(const struct trace *trace, const struct report_options *options,
                                 bool json)
{
	FILE *nowhere = fopen("/dev/null", "w");
	pid_t pid = fork();
	int status;

	assert_non_null(nowhere);
	if (!pid) {
		if (!allow_more_memory(ROOM))
			_exit(2);
		if (!options)
			_exit(report_flamegraph(nowhere, trace) != 0);
		_exit((json ? report_json(nowhere, trace, &options->query)
		            : report_text(nowhere, trace, "x", options)) != 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fclose(nowhere);
}

/* What only called is there once, however many threads do so: 1.5 million nodes would find no room.
 */
static void threads_share_call_paths(void **state)
{
	static const struct report_options ways[] = {
		{.query.per_thread = true, .query.limit = 40},
		{.query.per_thread = true, .query.tree = true},
		{.query.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_THREAD},
	         .query.nr_keys = 2,
	         .query.limit = 40},
		{.query.keys = {PROFILE_BY_COMM, PROFILE_BY_SYMBOL},
	         .query.nr_keys = 2,
	         .query.limit = 40},
		{.query.keys = {PROFILE_BY_THREAD, PROFILE_BY_SYMBOL},
	         .query.nr_keys = 2,
	         .query.function = "app+0x10",
	         .query.direction = PROFILE_CALLEES},
	};
	struct trace *trace;
	struct world w;

	(void)state;
	trace = of_many_threads(&w);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		struct report_options options = ways[i];

		if (!options.query.nr_keys)
			options.query.keys[options.query.nr_keys++] = PROFILE_BY_SYMBOL;
		expect_little_memory(trace, &options, false);
		expect_little_memory(trace, &options, true);
	}
	expect_little_memory(trace, NULL, false);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_executes_stays_one),
		cmocka_unit_test(processes_have_one_name),
		cmocka_unit_test(ranks_of_two_hosts_stay_two),
		cmocka_unit_test(nobody_has_no_number),
		cmocka_unit_test(threads_share_call_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
