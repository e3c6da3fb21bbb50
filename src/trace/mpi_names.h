/* MPI operations, recognized by the names of MPI's functions. */
#ifndef TRACE_MPI_NAMES_H
#define TRACE_MPI_NAMES_H

#include <stdbool.h>

/* The order is that of OTF2's numbers. */
enum mpi_operation {
	MPI_OP_BARRIER,
	MPI_OP_BCAST,
	MPI_OP_GATHER,
	MPI_OP_GATHERV,
	MPI_OP_SCATTER,
	MPI_OP_SCATTERV,
	MPI_OP_ALLGATHER,
	MPI_OP_ALLGATHERV,
	MPI_OP_ALLTOALL,
	MPI_OP_ALLTOALLV,
	MPI_OP_ALLTOALLW,
	MPI_OP_ALLREDUCE,
	MPI_OP_REDUCE,
	MPI_OP_REDUCE_SCATTER,
	MPI_OP_SCAN,
	MPI_OP_EXSCAN,
	MPI_OP_REDUCE_SCATTER_BLOCK,
	MPI_OP_CREATE_HANDLE,
	MPI_OP_DESTROY_HANDLE,
	MPI_OP_ALLOCATE,
	MPI_OP_DEALLOCATE,
	MPI_OP_CREATE_HANDLE_AND_ALLOCATE,
	MPI_OP_DESTROY_HANDLE_AND_DEALLOCATE,
	MPI_OP_OTHER,
};

struct mpi_collective {
	enum mpi_operation operation;
	bool all_wait; /* nobody leaves before everybody entered, if bytes are moved at all */
	bool blocking; /* the call is the whole collective, and does not only begin one */
};

/*
 * Returns the collective of a function such as "MPI_Allreduce", "MPI_Iallreduce" or
 * "MPI_Allreduce_init".
 */
struct mpi_collective mpi_collective(const char *name);

#endif
