#include "cli/unobserved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool unobserved_cpu_time(pid_t pid, uint64_t *own, uint64_t *children)
{
	const uint64_t tick_ns = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long user, system, child_user, child_system;
	char path[32], line[1024], state, *behind = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f))
		behind = strrchr(line, ')');
	fclose(f);
	if (!behind ||
	    sscanf(behind, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
	           &state, &user, &system, &child_user, &child_system) != 5)
		return false;
	*own = (user + system) * tick_ns;
	*children = (child_user + child_system) * tick_ns;
	return !strchr("ZXx", state);
}

void unobserved_add(struct unobserved **list, pid_t pid, uint32_t comm, uint64_t before)
{
	struct unobserved *u = calloc(1, sizeof(*u));

	if (!u)
		return;
	*u = (struct unobserved){.pid = pid, .comm = comm, .before = before, .next = *list};
	*list = u;
}

void unobserved_count(struct unobserved **list, struct tables *tables)
{
	for (struct unobserved **at = list, *u; (u = *at);) {
		uint64_t own, children, new;

		if (!unobserved_cpu_time(u->pid, &own, &children)) {
			*at = u->next;
			free(u);
			continue;
		}
		if (own + children > u->before + u->counted) {
			new = own + children - u->before - u->counted;
			tables_command(tables, u->comm)->unobserved += new;
			u->counted += new;
		}
		at = &u->next;
	}
}

void unobserved_free(struct unobserved *list)
{
	while (list) {
		struct unobserved *next = list->next;

		free(list);
		list = next;
	}
}
