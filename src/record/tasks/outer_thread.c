#include "record/tasks/outer_thread.h"

#include "record/tasks/process.h"
#include "base/proc_status.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>

/* 0: it has ended. */
static pid_t inner_number(pid_t pid, pid_t tid)
{
	char path[64], line[256];
	pid_t inner = 0;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	status = fopen(path, "re");
	while (status && !inner && fgets(line, sizeof(line), status))
		inner = proc_status_inner_number(line);
	if (status)
		fclose(status);
	return inner;
}

static pid_t find(pid_t pid, pid_t inner)
{
	DIR *threads = process_threads(pid);
	pid_t tid = 0;

	while (threads && (tid = process_next(threads)) && inner_number(pid, tid) != inner)
		continue;
	if (threads)
		closedir(threads);
	return tid;
}

static_assert(OUTER_THREADS == 1 << 9, "a place has 9 bits");

pid_t outer_thread(struct outer_threads *threads, pid_t pid, pid_t inner)
{
	uint32_t place = ((uint32_t)pid * 0x9e3779b1U ^ (uint32_t)inner * 0x85ebca6bU) >> 23;
	struct outer_thread *known = &threads->found[place];
	pid_t outer;

	if (known->pid == pid && known->inner == inner)
		return known->outer;
	outer = find(pid, inner);
	if (outer)
		*known = (struct outer_thread){pid, inner, outer};
	return outer;
}
