#include "perf/machine/cpu_list.h"

#include "base/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A number at the start of the text; what follows, or NULL. */
static const char *parse_cpu(const char *text, unsigned *cpu)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	number = strtoul(text, &end, 10);
	*cpu = (unsigned)number;
	return number < CPU_LIST_MAX ? end : NULL;
}

int cpu_list_parse(struct cpu_list *list, const char *text)
{
	unsigned first, last;

	memset(list, 0, sizeof(*list));
	for (;; text++) {
		text = parse_cpu(text, &first);
		if (!text)
			return -EINVAL;
		last = first;
		if (*text == '-')
			text = parse_cpu(text + 1, &last);
		if (!text || last < first)
			return -EINVAL;
		for (; first <= last; first++)
			cpu_list_add(list, first);
		if (*text != ',')
			return *text ? -EINVAL : 0;
	}
}

int cpu_list_online(struct cpu_list *list)
{
	char text[4096];
	int err = text_file_read("/sys/devices/system/cpu/online", text, sizeof(text));

	return err ? err : cpu_list_parse(list, text);
}

int cpu_list_allowed(struct cpu_list *list)
{
	size_t size = CPU_ALLOC_SIZE(CPU_LIST_MAX);
	cpu_set_t *set = CPU_ALLOC(CPU_LIST_MAX);
	int err = !set || sched_getaffinity(0, size, set) ? -errno : 0;

	memset(list, 0, sizeof(*list));
	for (unsigned cpu = 0; !err && cpu < CPU_LIST_MAX; cpu++)
		if (CPU_ISSET_S(cpu, size, set))
			cpu_list_add(list, cpu);
	CPU_FREE(set);
	return err;
}

unsigned cpu_list_count(const struct cpu_list *list)
{
	unsigned nr = 0;

	for (size_t i = 0; i < sizeof(list->bits); i++)
		nr += (unsigned)__builtin_popcount(list->bits[i]);
	return nr;
}

int cpu_list_beyond(const struct cpu_list *a, const struct cpu_list *b)
{
	for (unsigned cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		if (cpu_list_has(a, cpu) && !cpu_list_has(b, cpu))
			return (int)cpu;
	return -1;
}
