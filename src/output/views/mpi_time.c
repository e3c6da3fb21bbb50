#include "output/views/mpi_time.h"

#include "trace/trace_calls.h"

bool region_is_mpi(const struct trace *trace, uint32_t region)
{
	return trace_region_traits(trace, region)->source == CALLS_MPI;
}

uint64_t mpi_time(const struct trace *trace)
{
	const struct trace_call_sum *sum;
	uint64_t time = 0;

	for (uint32_t i = 0; (sum = trace_call_sum(trace, i)); i++)
		time += region_is_mpi(trace, sum->region) ? sum->time : 0;
	return time;
}

unsigned mpi_ranks_at_work(const struct trace *trace)
{
	const struct trace_process *process;
	unsigned nr = 0;

	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		nr += process->flags & TRACE_PROCESS_MPI &&
		      !(process->flags & TRACE_PROCESS_FINALIZED);
	return nr;
}
