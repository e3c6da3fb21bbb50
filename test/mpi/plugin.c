/* Loaded by loader.c: uses MPI as the library that it is linked with. */
#include <mpi.h>

int plugin_main(void)
{
	int rank, sum = 1;

	MPI_Init(0, 0);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Sendrecv_replace(&sum, 1, MPI_INT, rank, 3, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return sum != 1;
}
