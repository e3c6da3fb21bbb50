#include "record/spare_cpus.h"

#include "base/text_file.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static void add_all(struct cpu_list *to, const struct cpu_list *list)
{
	for (size_t i = 0; i < sizeof(to->bits); i++)
		to->bits[i] |= list->bits[i];
}

/* Reads lists, one a line. Lines that are none are skipped. */
static struct cpu_list parse_lines(const char *text)
{
	struct cpu_list all = {0}, list;
	char line[4096];

	while (*text) {
		size_t length = strcspn(text, "\n");

		if (length < sizeof(line)) {
			snprintf(line, sizeof(line), "%.*s", (int)length, text);
			if (!cpu_list_parse(&list, line))
				add_all(&all, &list);
		}
		text += length + (text[length] == '\n');
	}
	return all;
}

void spare_cpus_add(struct cpu_list *own, const struct cpu_list *online, const char *reserved)
{
	const struct cpu_list others = parse_lines(reserved);

	for (unsigned cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		if (cpu_list_has(online, cpu) && !cpu_list_has(&others, cpu))
			cpu_list_add(own, cpu);
}

/* Their users want no other task there. */
static void read_reserved(char *text, size_t size)
{
	static const char *const paths[] = {"/sys/devices/system/cpu/isolated",
	                                    "/sys/devices/system/cpu/nohz_full"};
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (used + 2 < size && !text_file_read(paths[i], text + used, size - used - 1)) {
			used += strlen(text + used);
			text[used++] = '\n';
		}
		text[used] = '\0';
	}
}

static int run_on(const struct cpu_list *list)
{
	size_t size = CPU_ALLOC_SIZE(CPU_LIST_MAX);
	cpu_set_t *set = CPU_ALLOC(CPU_LIST_MAX);
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	for (unsigned cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		if (cpu_list_has(list, cpu))
			CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

int spare_cpus_use(void)
{
	struct cpu_list own, online;
	char reserved[8192];
	int err = cpu_list_allowed(&own);

	if (!err)
		err = cpu_list_online(&online);
	if (err)
		return err;
	read_reserved(reserved, sizeof(reserved));
	spare_cpus_add(&own, &online, reserved);
	return run_on(&own);
}
