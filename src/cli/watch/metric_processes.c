/* Metrics of the program's processes, which the kernel knows: memory and CPU time. */
#include "cli/watch/metric_state.h"

#include "base/proc_memory.h"
#include "base/text_file.h"
#include "perf/machine/cgroup.h"
#include "record/tasks/process.h"

#include <ctype.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PROCESSES 1024
#define PATH_SIZE     4096
#define CGROUPS       "/sys/fs/cgroup"

struct usage {
	double rss, ticks;
};

/* The time of children that were waited for is part of their parent's. */
static void add_ticks(pid_t pid, struct usage *usage)
{
	char text[PROCESS_STAT_SIZE];
	const char *stat = process_stat(pid, text);
	uint64_t user, system;
	int64_t children[2];

	if (stat && sscanf(stat,
	                   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
	                   " %" SCNd64 " %" SCNd64,
	                   &user, &system, &children[0], &children[1]) == 4)
		usage->ticks +=
			(double)user + (double)system + (double)children[0] + (double)children[1];
}

static void add_process(struct map64 *seen, pid_t pid, struct usage *usage)
{
	const uint32_t nr = seen->nr;

	if (pid <= 0 || nr >= MAX_PROCESSES || map64_number(seen, (uint32_t)pid) != nr)
		return;
	usage->rss += (double)proc_memory_resident(pid);
	add_ticks(pid, usage);
}

static struct usage read_usage(const struct trace *trace)
{
	const struct trace_thread *thread;
	struct map64 seen = {0};
	struct usage usage = {0};

	add_process(&seen, trace_run(trace)->pid, &usage);
	for (uint32_t i = 0; (thread = trace_thread(trace, i)); i++)
		if (!(thread->flags & TRACE_THREAD_ENDED))
			add_process(&seen, thread->pid, &usage);
	map64_fini(&seen);
	return usage;
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Returns the lower one of a limit and that of a cgroup, which is the first number of the file. */
static double lower(double limit, const char *folder, const char *file, bool is_cpu)
{
	char path[PATH_SIZE + 64], line[128], *end;
	double number, period = 1;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	if (text_file_read(path, line, sizeof(line)) || !isdigit((unsigned char)*line))
		return limit;
	number = strtod(line, &end);
	if (is_cpu)
		period = strtod(end, NULL);
	number = period > 0 ? number / period : 0;
	return number > 0 && number < limit ? number : limit;
}

/* Finds the folder of a process's cgroup of version 2. */
static bool find_cgroup(pid_t pid, char folder[PATH_SIZE])
{
	char path[PATH_MAX];

	return !cgroup_path_of(pid, path) &&
	       snprintf(folder, PATH_SIZE, CGROUPS "%s", path) < PATH_SIZE;
}

static double lower_of_cgroups(pid_t pid, double limit, const char *file, bool is_cpu)
{
	char folder[PATH_SIZE];

	if (pid <= 0 || !find_cgroup(pid, folder))
		return limit;
	while (strlen(folder) >= strlen(CGROUPS)) {
		limit = lower(limit, folder, file, is_cpu);
		*strrchr(folder, '/') = '\0';
	}
	return limit;
}

static double memory_limit(pid_t pid)
{
	const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

	return lower_of_cgroups(pid, machine, "memory.max", false);
}

static double cpu_limit(pid_t pid)
{
	cpu_set_t set;
	double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (pid > 0 && !sched_getaffinity(pid, sizeof(set), &set))
		cpus = CPU_COUNT(&set);
	return lower_of_cgroups(pid, cpus, "cpu.max", true);
}

/* --- both ------------------------------------------------------------------------------------- */

void metric_find_limit(struct metric_term *term, pid_t pid)
{
	if (term->term->bound_type == BOUND_LIMIT)
		term->reading->limit =
			term->term->metric == METRIC_RSS ? memory_limit(pid) : cpu_limit(pid);
}

static void set(struct metric_term *term, pid_t pid, double value)
{
	metric_find_limit(term, pid);
	metric_set(term, value);
}

/* A process that is seen late brings all of its time with it. */
static double cut_cpus(double cpus)
{
	const double most = (double)sysconf(_SC_NPROCESSORS_ONLN);

	return cpus < 0 ? 0 : cpus < most ? cpus : most;
}

int metric_processes_read(struct metrics *metrics)
{
	const struct trace_run *run = trace_run(metrics->trace);
	const struct usage usage = read_usage(metrics->trace);
	double cpus = 0;
	bool known = !metric_clock(metrics->trace) &&
	             metric_history_rate(&metrics->cpu, run->end,
	                                 usage.ticks / (double)sysconf(_SC_CLK_TCK), &cpus);

	for (unsigned i = 0; i < metrics->nr_terms; i++) {
		struct metric_term *term = &metrics->terms[i];

		if (term->term->metric == METRIC_RSS && usage.rss > 0)
			set(term, run->pid, usage.rss);
		else if (term->term->metric == METRIC_CPU && known)
			set(term, run->pid, cut_cpus(cpus));
	}
	return 0;
}
