/* Another tool that stands before MPI, linked with a program: it counts, and doubles each barrier.
 */
#include <mpi.h>
#include <stdio.h>

static int sends, barriers;

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
	barriers++;
	PMPI_Barrier(comm);
	return PMPI_Barrier(comm);
}

int MPI_Finalize(void)
{
	int rank;

	PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	fprintf(stderr, "tool: rank %d: %d sends, %d barriers\n", rank, sends, barriers);
	return PMPI_Finalize();
}
