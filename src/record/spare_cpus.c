#include "record/spare_cpus.h"

#include "base/text_file.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

static bool is_reserved(const char *reserved, unsigned cpu)
{
	char line[4096];
	struct cpu_list list;

	while (*reserved) {
		size_t length = strcspn(reserved, "\n");

		if (length < sizeof(line)) {
			snprintf(line, sizeof(line), "%.*s", (int)length, reserved);
			if (!cpu_list_parse(&list, line) && cpu_list_has(&list, cpu))
				return true;
		}
		reserved += length + (reserved[length] == '\n');
	}
	return false;
}

void spare_cpus_add(struct cpu_list *own, const struct cpu_list *online, const char *reserved)
{
	for (unsigned cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		if (cpu_list_has(online, cpu) && !cpu_list_has(own, cpu) &&
		    !is_reserved(reserved, cpu))
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
