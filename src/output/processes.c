#include "output/processes.h"
#include "output/map64.h"

#include <stdlib.h>

/* Ranks of different hosts may have one number. */
static uint64_t process_key(const struct trace *trace, uint32_t thread)
{
	return (uint64_t)trace_owner(trace, thread) << 32 |
	       (uint32_t)trace_thread(trace, thread)->pid;
}

/* Whether an entry stands for its process rather than one before it. */
static bool stands_rather(const struct trace_thread *entry, const struct trace_thread *before)
{
	if (!before)
		return true;
	return entry->tid == entry->pid &&
	       (before->tid != before->pid || entry->start >= before->start);
}

uint32_t *processes_find(const struct trace *trace)
{
	uint32_t *found = calloc(trace_nr_threads(trace) + 1UL, sizeof(*found));
	const struct trace_thread *entry;
	struct map64 by_pid = {0};
	int err = 0;

	for (uint32_t i = 0; found && (entry = trace_thread(trace, i)) && !err; i++) {
		uint64_t key = process_key(trace, i);

		if (!entry->pid ||
		    !stands_rather(entry, trace_thread(trace, map64_get(&by_pid, key))))
			continue;
		map64_remove(&by_pid, key);
		err = map64_add(&by_pid, key, i);
	}
	for (uint32_t i = 0; found && (entry = trace_thread(trace, i)) && !err; i++)
		found[i] = entry->pid ? map64_get(&by_pid, process_key(trace, i)) : i;
	map64_fini(&by_pid);
	if (!err)
		return found;
	free(found);
	return NULL;
}
