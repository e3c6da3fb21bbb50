/* Sets of CPUs, as users and the kernel write them: "0-3,8". */
#ifndef PERF_MACHINE_CPU_LIST_H
#define PERF_MACHINE_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_LIST_MAX 8192 /* as many as the kernel can have */

struct cpu_list {
	uint8_t bits[CPU_LIST_MAX / 8];
};

/* 0, or -EINVAL: not such a list, or a number that no CPU can have. */
int cpu_list_parse(struct cpu_list *list, const char *text);

/* Lists the CPUs that are online. Returns 0 or -errno. */
int cpu_list_online(struct cpu_list *list);
/* Lists the CPUs that this thread may run on. Returns 0 or -errno. */
int cpu_list_allowed(struct cpu_list *list);

static inline bool cpu_list_has(const struct cpu_list *list, unsigned cpu)
{
	return cpu < CPU_LIST_MAX && list->bits[cpu / 8] >> cpu % 8 & 1;
}

static inline void cpu_list_add(struct cpu_list *list, unsigned cpu)
{
	if (cpu < CPU_LIST_MAX)
		list->bits[cpu / 8] |= (uint8_t)(1U << cpu % 8);
}

unsigned cpu_list_count(const struct cpu_list *list);
/* The first CPU of a that is not in b; -1: none. */
int cpu_list_beyond(const struct cpu_list *a, const struct cpu_list *b);

#endif
