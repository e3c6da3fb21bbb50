/*
 * kicker COMMAND...: runs a command while a timer interrupts every CPU each 100 µs.
 *
 * QEMU looks for overflows of all counters but the first of a CPU one event too early, and then not
 * again before the machine next enters its kernel. So it is made to.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 100000,
	};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < cpus; cpu++)
		if (syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0) < 0)
			perror("kicker");
	if (argc > 1)
		execvp(argv[1], argv + 1);
	perror("kicker");
	return 127;
}
