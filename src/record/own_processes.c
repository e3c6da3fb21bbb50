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

static void remove_at(struct own_processes *own, unsigned i)
{
	const unsigned behind = own->nr - i - 1;

	memmove(&own->pids[i], &own->pids[i + 1], behind * sizeof(own->pids[0]));
	memmove(&own->ended[i], &own->ended[i + 1], behind * sizeof(own->ended[0]));
	own->nr--;
}

/* The recorder itself stays. */
static void make_room(struct own_processes *own)
{
	unsigned i = 1;

	while (i < own->nr && !own->ended[i])
		i++;
	remove_at(own, i < own->nr ? i : 1);
}

static void add(struct own_processes *own, uint32_t pid)
{
	unsigned i = find(own, pid);

	if (i == OWN_PROCESSES_MAX) {
		make_room(own);
		i = own->nr;
	}
	own->nr += i == own->nr;
	own->pids[i] = (pid_t)pid;
	own->ended[i] = false;
}

void own_processes_add(struct own_processes *own, pid_t pid)
{
	if (own->nr)
		add(own, (uint32_t)pid);
}

/* A forked process may have the PID of one that has ended. */
static void follow_fork(struct own_processes *own, const struct record *record)
{
	const unsigned i = find(own, record->pid);

	if (find(own, record->fork.parent_pid) < own->nr)
		add(own, record->pid);
	else if (i && i < own->nr && own->ended[i])
		remove_at(own, i);
}

bool own_processes_has(struct own_processes *own, const struct record *record)
{
	unsigned i;

	if (!own->nr)
		return false;
	if (record->type == RECORD_FORK)
		follow_fork(own, record);
	i = find(own, record->pid);
	if (i == own->nr)
		return false;
	if (i && record->type == RECORD_EXIT && record->pid == record->tid)
		own->ended[i] = true;
	return true;
}
