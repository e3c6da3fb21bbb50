/* The MPI calls that are recorded, numbered. These numbers are the regions of every process. */
#ifndef PRELOAD_MPI_CALLS_H
#define PRELOAD_MPI_CALLS_H

#include <stdbool.h>

/* The policy `class` gives up classes of calls in this order. */
enum call_class {
	CLASS_P2P,
	CLASS_ONE_SIDED,
	CLASS_IO,
	CLASS_COLLECTIVE,
	CLASS_OTHER, /* the world, communicators, groups */
	CLASS_USER,  /* regions, markers and values of adaptrace.h */
	NR_CALL_CLASSES
};

#define CALL(name, nr, class, shape, large) CALL_##name,
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
