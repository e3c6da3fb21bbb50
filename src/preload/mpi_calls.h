/* The MPI calls that are recorded, numbered. These numbers are the regions of every process. */
#ifndef PRELOAD_MPI_CALLS_H
#define PRELOAD_MPI_CALLS_H

/* In this order the policy `class` gives calls up, the first first. */
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

#endif
