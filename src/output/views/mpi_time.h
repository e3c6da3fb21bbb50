/* Time in MPI as the exact sums of calls have it, of a recording that goes on. */
#ifndef OUTPUT_VIEWS_MPI_TIME_H
#define OUTPUT_VIEWS_MPI_TIME_H

#include "trace/trace.h"

/* Whether it is a function of MPI. */
bool region_is_mpi(const struct trace *trace, uint32_t region);
/* ns that all ranks together have spent in calls that ended. */
uint64_t mpi_time(const struct trace *trace);
/* The ranks between MPI_Init and MPI_Finalize. */
unsigned mpi_ranks_at_work(const struct trace *trace);

#endif
