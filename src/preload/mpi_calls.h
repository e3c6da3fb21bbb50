/* The MPI calls that are recorded, numbered. These numbers are the regions of every process. */
#ifndef PRELOAD_MPI_CALLS_H
#define PRELOAD_MPI_CALLS_H

#include <stdbool.h>

#define CALL(name, nr, class, signature, large) CALL_##name,
enum mpi_call {
#include "preload/mpi_calls.def"
	NR_MPI_CALLS
};
#undef CALL

/*
 * Whether a call begins or ends the time in which the process has a rank. Such calls are always
 * recorded.
 */
static inline bool mpi_call_bounds_world(enum mpi_call call)
{
	return call == CALL_Init || call == CALL_Init_thread || call == CALL_Finalize ||
	       call == CALL_Session_init || call == CALL_Session_finalize;
}

#endif
