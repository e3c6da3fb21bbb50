#include "record/own_processes.h"

#include <string.h>

void own_processes_begin(struct own_processes *own, pid_t recorder)
{
	own->pids[0] = recorder;
	own->nr = 1;
}

static unsigned find(const struct own_processes *own, uint32_t pid)
{
	unsigned i = 0;

	while (i < own->nr && own->pids[i] != (pid_t)pid)
		i++;
	return i;
}

/* The recorder itself stays. */
static void remove_at(struct own_processes *own, unsigned i)
{
	if (!i)
		return;
	memmove(&own->pids[i], &own->pids[i + 1], (own->nr - i - 1) * sizeof(own->pids[0]));
	own->nr--;
}

static void add(struct own_processes *own, uint32_t pid)
{
	if (find(own, pid) < own->nr)
		return;
	if (own->nr == OWN_PROCESSES_MAX)
		remove_at(own, 1);
	own->pids[own->nr++] = (pid_t)pid;
}

bool own_processes_has(struct own_processes *own, const struct record *record)
{
	unsigned i;

	if (!own->nr)
		return false;
	if (record->type == RECORD_FORK && find(own, record->fork.parent_pid) < own->nr)
		add(own, record->pid);
	i = find(own, record->pid);
	if (i == own->nr)
		return false;
	if (record->type == RECORD_EXIT && record->pid == record->tid)
		remove_at(own, i);
	return true;
}
