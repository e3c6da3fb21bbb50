/*
 * Reports of full traces of 100 MiB: of a program with few call paths, of which 40 million samples
 * find room, of a compiler, whose call paths take most of the room, and of a deep recursion; of
 * each thread of a compiler that has 64, and of a program that has 1000; and what converters take
 * that hold all call paths.
 */

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace_symbols.h"
#include "bench.h"
#include "trace/live/tables.h"
#include "trace/write/trace_write.h"
#include "program.h"
#include "symbolize/modules/module.h"

enum { BUDGET = 100 << 20, PERIOD = 97081, MODULES = 4, FUNCTION = 0x400, FUNCTIONS = 0x1000 };

static void describe(struct tables *tables, unsigned nr_threads)
{
	struct trace_event *event = tables_add_event(tables);
	struct trace_run *run = tables_run(tables);

	run->flags = TRACE_RUN_CGROUP;
	run->start = 1;
	run->nr_cpus = 1;
	run->budget = BUDGET;
	event->name = tables_string(tables, "cpu-clock");
	event->base_period = PERIOD;
	*tables_add_stream(tables) = (struct trace_stream){.base_period = PERIOD};
	for (uint16_t i = 0; i < MODULES; i++)
		*tables_module(tables, i) = (struct trace_module){
			.path = tables_string(tables, i ? "/usr/lib/libx.so" : "[unknown]"),
			.type = i ? MODULE_FILE : MODULE_SPECIAL,
		};
	for (unsigned i = 0; i <= nr_threads; i++)
		tables_add_thread(tables, 100, 100 + (int)i, tables_string(tables, "app"), 1);
}

/* Samples until the buffer had to make room once. */
static void fill(struct tables *tables, const struct program_config *config, unsigned nr_threads)
{
	struct hmb_config buffer = {
		.memory = tables_arena(tables),
		.size = BUDGET,
		.ledger = tables_ledger(tables),
		.nr_kinds = 1,
		.max_path = 128,
		.truncated_frame = 1,
		.kinds = {{.time_shift = 8}},
	};
	struct program *program = program_new(config);
	struct stream stream = stream_start(1, 1, 0);
	struct hmb *hmb = hmb_new(&buffer);
	struct hmb_sample sample;

	while (hmb_used(hmb) < BUDGET - (1 << 20)) {
		program_sample(program, &stream, &sample);
		if (nr_threads > 1)
			sample.thread = 1 + (uint32_t)(program_random(program) >> 32) % nr_threads;
		hmb_put(hmb, &sample);
	}
	tables_run(tables)->end = program->time;
	hmb_free(hmb);
	free(program);
}

static void name_all(const char *path)
{
	static char names[FUNCTIONS][16];
	struct named_range *ranges = calloc((size_t)MODULES * FUNCTIONS, sizeof(*ranges));
	size_t nr = 0;

	for (uint32_t i = 0; i < FUNCTIONS; i++)
		snprintf(names[i], sizeof(names[i]), "function_%u", i);
	for (uint32_t module = 1; module < MODULES; module++)
		for (uint32_t i = 0; i < FUNCTIONS; i++)
			ranges[nr++] = (struct named_range){module, i * FUNCTION,
			                                    (i + 1) * FUNCTION, names[i]};
	if (!name_ranges(path, ranges, nr))
		exit(1);
	free(ranges);
}

static uint64_t write_trace(const char *path, const struct program_config *config,
                            unsigned nr_threads)
{
	struct tables *tables = tables_new(BUDGET, path);
	uint64_t stored;

	if (!tables)
		exit(1);
	describe(tables, nr_threads);
	fill(tables, config, nr_threads);
	stored = tables_ledger(tables)->taken[0];
	if (trace_write(path, tables, NULL, NULL, NULL))
		exit(1);
	tables_free(tables);
	name_all(path);
	return stored;
}

struct cost {
	double seconds, cpu_seconds, mib; /* mib: the most memory that it had */
};

/* What a command takes that reads a trace, and has an option or NULL. */
static struct cost run_view(const char *adaptrace, const char *path, const char *command,
                            const char *option)
{
	bool is_report = !strcmp(command, "report");
	uint64_t start = bench_now();
	struct rusage usage;
	pid_t pid = (fflush(stdout), fork());
	int status;

	if (!pid) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(127);
		execl(adaptrace, "adaptrace", command, path, option, is_report ? NULL : "-o", "-",
		      (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status)
		exit(1);
	return (struct cost){
		.seconds = (double)(bench_now() - start) / 1e9,
		.cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	                       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		.mib = (double)usage.ru_maxrss / 1024,
	};
}

static void measure(const char *name, const struct program_config *config, unsigned nr_threads,
                    const char *command, const char *option, const char *folder)
{
	char path[64], adaptrace[4096], what[80];
	struct cost best = {.seconds = 1e9}, cost;
	ssize_t size = readlink("/proc/self/exe", adaptrace, sizeof(adaptrace) - 32);
	uint64_t samples;

	if (size < 0)
		exit(1);
	adaptrace[size] = '\0';
	strcpy(strrchr(adaptrace, '/'), "/../adaptrace");
	snprintf(path, sizeof(path), "%s/x.atr", folder);
	samples = write_trace(path, config, nr_threads);
	for (unsigned i = 0; i < 5; i++) {
		cost = run_view(adaptrace, path, command, option);
		if (cost.seconds < best.seconds)
			best = cost;
	}
	snprintf(what, sizeof(what), "%s: %.1f million samples", name, (double)samples / 1e6);
	bench_figure(what, best.seconds, "1 s for 10 million samples", (double)samples / 1e7,
	             "ratio <= 1");
	printf("  %-46s %10.2f   s of CPU time\n", "", best.cpu_seconds);
	printf("  %-46s %10.0f   MiB of memory %60s\n", "", best.mib, "<= 300");
	unlink(path);
}

int main(void)
{
	char folder[] = "/tmp/adaptrace-bench-XXXXXX";

	if (!mkdtemp(folder))
		return 1;
	bench_head("report", "s");
	measure("few call paths", &program_skewed, 1, "report", NULL, folder);
	measure("a compiler", &program_compiler, 1, "report", NULL, folder);
	measure("a deep recursion", &program_recursion, 1, "report", NULL, folder);
	measure("64 threads, --per-thread", &program_compiler, 64, "report", "--per-thread",
	        folder);
	measure("1000 threads, --per-thread", &program_skewed, 1000, "report", "--per-thread",
	        folder);
	measure("a compiler, --callgrind", &program_compiler, 1, "convert", "--callgrind", folder);
	measure("a compiler, --pprof", &program_compiler, 1, "convert", "--pprof", folder);
	rmdir(folder);
	return 0;
}
