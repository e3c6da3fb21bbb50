#include "record/idle_time.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT_MOST ((size_t)4 << 20) /* of interrupts that follow, large machines have many */

/* "cpu3 USER NICE SYSTEM IDLE IOWAIT ..." in ticks. Returns 0 for other lines. */
static uint64_t idle_in_line(const char *line, const struct cpu_list *cpus)
{
	unsigned long long idle, iowait;
	unsigned cpu;

	/* The first line, without a number, is the sum. */
	if (!isdigit((unsigned char)line[3]) ||
	    sscanf(line, "cpu%u %*u %*u %*u %llu %llu", &cpu, &idle, &iowait) != 3)
		return 0;
	return cpu < CPU_LIST_MAX && (!cpus || cpu_list_has(cpus, cpu)) ? idle + iowait : 0;
}

uint64_t idle_time_in(const char *text, const struct cpu_list *cpus, unsigned long ticks)
{
	uint64_t sum = 0;

	while (text && !strncmp(text, "cpu", 3)) {
		sum += idle_in_line(text, cpus);
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return ticks ? sum * (1000000000 / ticks) : 0;
}

uint64_t idle_time(const struct cpu_list *cpus)
{
	long ticks = sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	char *text = f ? malloc(TEXT_MOST) : NULL;
	uint64_t sum = 0;

	if (text) {
		text[fread(text, 1, TEXT_MOST - 1, f)] = '\0';
		sum = idle_time_in(text, cpus, ticks > 0 ? (unsigned long)ticks : 0);
	}
	free(text);
	if (f)
		fclose(f);
	return sum;
}
