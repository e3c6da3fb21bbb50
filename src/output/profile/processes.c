#include "output/profile/processes.h"
#include "base/map64.h"
#include "base/hash_slots.h"

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
	uint32_t *found = calloc(trace_nr(trace, TRACE_THREADS) + 1UL, sizeof(*found));
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

static bool read_alike(const struct trace *trace, uint32_t a, uint32_t b)
{
	const struct trace_thread *x = trace_thread(trace, a), *y = trace_thread(trace, b);

	return x->tid == y->tid && x->comm == y->comm &&
	       process_key(trace, a) == process_key(trace, b);
}

/* Entries without a TID are not merged: each stands for itself. */
uint32_t *threads_find(const struct trace *trace)
{
	uint32_t *found = calloc(trace_nr(trace, TRACE_THREADS) + 1UL, sizeof(*found));
	const struct trace_thread *entry;
	struct hash_slots first = {0};
	int err = 0;

	for (uint32_t i = 0; found && (entry = trace_thread(trace, i)) && !err; i++) {
		uint32_t hash = node_hash(node_hash((uint32_t)entry->pid, entry->comm),
		                          (uint32_t)entry->tid);
		const struct hash_slot *slot = entry->tid ? hash_slots_first(&first, hash) : NULL;

		while (slot && !read_alike(trace, slot->node - 1, i))
			slot = hash_slots_next(&first, slot);
		found[i] = slot ? slot->node - 1 : i;
		if (!slot && entry->tid)
			err = hash_slots_put(&first, i, hash);
	}
	hash_slots_fini(&first);
	if (!err)
		return found;
	free(found);
	return NULL;
}
