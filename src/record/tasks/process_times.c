#include "record/tasks/process_times.h"

#include "record/tasks/process.h"
#include "base/clock.h"
#include "base/text_file.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS      1000000000ULL
#define EXITING 4 /* PF_EXITING of the kernel, in the flags of /proc/PID/stat: it is dying */

/* Reads the CPU time in ns; /proc has it in ticks, and alone has that of children. */
static uint64_t process_ns(pid_t pid, uint64_t otherwise)
{
	clockid_t clock;
	uint64_t time = clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);

	return time ? time : otherwise;
}

/* Converts a time since the start of the machine that includes sleep. */
static uint64_t on_records_clock(uint64_t boot_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), asleep = clock_ns(CLOCK_BOOTTIME) - now;

	return boot_ns > asleep ? boot_ns - asleep : 0;
}

bool process_times_read(pid_t pid, struct process_times *times)
{
	const uint64_t tick_ns = NS / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long user, system, child_user, child_system, started;
	char text[PROCESS_STAT_SIZE];
	const char *stat = process_stat(pid, text);

	if (!stat || sscanf(stat,
	                    " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %llu %llu %*d "
	                    "%*d %*d %*d %llu",
	                    &times->state, &times->flags, &user, &system, &child_user,
	                    &child_system, &started) != 7)
		return false;
	times->own = process_ns(pid, (user + system) * tick_ns);
	times->children = (child_user + child_system) * tick_ns;
	times->started = on_records_clock(started * tick_ns);
	return true;
}

bool process_times_runs(const struct process_times *times)
{
	return !strchr("ZXx", times->state);
}

/* Rejects a task that started after `time`: it is another task that reuses the number. */
static bool read_since(pid_t pid, uint64_t time, struct process_times *times)
{
	return process_times_read(pid, times) && process_times_runs(times) &&
	       times->started <= time;
}

bool process_is_there(pid_t tid, uint64_t time)
{
	struct process_times times;

	return read_since(tid, time, &times);
}

bool process_cpu_time(pid_t pid, uint64_t time, uint64_t *own, uint64_t *children)
{
	struct process_times times;

	if (!read_since(pid, time, &times) || times.flags & EXITING)
		return false;
	*own = times.own;
	*children = times.children;
	return true;
}

uint64_t process_used(pid_t pid)
{
	return process_ns(pid, 0);
}

uint64_t thread_used_by(pid_t tid, uint64_t time)
{
	int64_t used;
	uint64_t since;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)tid, (int)tid);
	if (text_file_number(path, &used) || used < 0)
		return 0;
	since = clock_ns(CLOCK_MONOTONIC) - time;
	return (uint64_t)used > since ? (uint64_t)used - since : 0;
}
