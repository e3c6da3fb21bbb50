#include "trace/trace_file.h"

#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

const struct trace_region *trace_region(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_REGIONS], index);
}

const struct trace_comm *trace_comm(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_COMMS], index);
}

const struct trace_process *trace_process(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_PROCESSES], index);
}

const struct trace_instrument *trace_instrument(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_INSTRUMENTS], index);
}

const struct trace_iterations *trace_iterations(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_ITERATIONS], index);
}

uint64_t trace_site_frame(const struct trace *trace, uint32_t site)
{
	const struct trace_call_site *entry = NULL;

	if (site)
		entry = section_entry(&trace->sections[TRACE_CALL_SITES], site - 1);
	if (!entry || !entry->module || entry->module >= FRAME_MAX_MODULES)
		return frame_make(0, FRAME_UNKNOWN);
	return frame_make((uint16_t)entry->module, entry->offset);
}

const struct trace_call_sum *trace_call_sum(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_CALL_SUMS], index);
}

const struct trace_openmp *trace_openmp(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_OPENMP], index);
}

int32_t trace_member(const struct trace *trace, uint32_t comm, int32_t rank, bool remote)
{
	const struct trace_comm *entry = trace_comm(trace, comm);
	const uint32_t *member;

	if (!entry || rank < 0 || (uint32_t)rank >= (remote ? entry->nr_remote : entry->nr_members))
		return -1;
	member = section_entry(&trace->sections[TRACE_MEMBERS],
	                       entry->first_member + (remote ? entry->nr_members : 0) +
	                               (uint32_t)rank);
	return *member <= INT32_MAX ? (int32_t)*member : -1;
}

int32_t trace_peer(const struct trace *trace, uint32_t comm, int32_t peer)
{
	const struct trace_comm *entry = trace_comm(trace, comm);

	return trace_member(trace, comm, peer, entry && entry->flags & TRACE_COMM_INTER);
}

uint32_t trace_host(const struct trace *trace, const struct trace_process *process)
{
	return process->host ? process->host : trace_run(trace)->host;
}

static int compare_pids(const void *a, const void *b)
{
	const struct process_pid *x = a, *y = b;

	return ORDER(x->pid, y->pid);
}

static int compare_processes(const void *a, const void *b)
{
	const struct process_pid *x = a, *y = b;

	return compare_pids(x, y) ?: ORDER(x->process, y->process);
}

/* Keeps the first of several processes with the same PID. */
static void drop_repeated(struct trace *trace)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < trace->nr_pids; i++)
		if (!nr || trace->pids[nr - 1].pid != trace->pids[i].pid)
			trace->pids[nr++] = trace->pids[i];
	trace->nr_pids = nr;
}

/* Sorted, so that no file can make it slow: there may be as many threads as processes. */
int trace_index_processes(struct trace *trace)
{
	const struct trace_process *process;

	trace->owner_of_all = UINT32_MAX;
	trace->pids = malloc((trace_nr(trace, TRACE_PROCESSES) + 1UL) * sizeof(*trace->pids));
	if (!trace->pids)
		return -ENOMEM;
	for (uint32_t i = 0; (process = trace_process(trace, i)); i++) {
		if (process->flags & TRACE_PROCESS_ALL)
			trace->owner_of_all = i;
		if (process->pid)
			trace->pids[trace->nr_pids++] = (struct process_pid){process->pid, i};
	}
	ARRAY_SORT(trace->pids, trace->nr_pids, compare_processes);
	drop_repeated(trace);
	return 0;
}

uint32_t trace_owner(const struct trace *trace, uint32_t thread)
{
	const uint32_t *owner = section_entry(&trace->sections[TRACE_OWNERS], thread);
	const struct trace_thread *entry = trace_thread(trace, thread);
	struct process_pid wanted, *found;

	if (owner && *owner)
		return trace_process(trace, *owner - 1) ? *owner - 1 : UINT32_MAX;
	if (!entry)
		return UINT32_MAX;
	wanted.pid = entry->pid;
	found = ARRAY_FIND(trace->pids, trace->nr_pids, &wanted, compare_pids);
	return found ? found->process : trace->owner_of_all;
}

int32_t trace_rank(const struct trace *trace, uint32_t thread)
{
	const struct trace_process *process = trace_process(trace, trace_owner(trace, thread));

	return process ? process->rank : -1;
}
