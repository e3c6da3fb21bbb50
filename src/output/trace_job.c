#include "output/trace_file.h"

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

uint32_t trace_host(const struct trace *trace, const struct trace_process *process)
{
	return process->host ? process->host : trace_run(trace)->host;
}

uint32_t trace_owner(const struct trace *trace, uint32_t thread)
{
	const uint32_t *owner = section_entry(&trace->sections[TRACE_OWNERS], thread);
	const struct trace_thread *entry = trace_thread(trace, thread);
	const struct trace_process *process;
	uint32_t of_all = UINT32_MAX;

	if (owner && *owner)
		return trace_process(trace, *owner - 1) ? *owner - 1 : UINT32_MAX;
	for (uint32_t i = 0; entry && (process = trace_process(trace, i)); i++) {
		if (process->pid == entry->pid && entry->pid)
			return i;
		if (process->flags & TRACE_PROCESS_ALL)
			of_all = i;
	}
	return of_all;
}

int32_t trace_rank(const struct trace *trace, uint32_t thread)
{
	const struct trace_process *process = trace_process(trace, trace_owner(trace, thread));

	return process ? process->rank : -1;
}
