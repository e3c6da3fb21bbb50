/* A fixed number of calls of each kind, the same in C and in the three ways that Fortran has. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int rank, size, left, right, got, sum;
	MPI_Request requests[2];
	MPI_Comm half;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	left = (rank + size - 1) % size;
	right = (rank + 1) % size;
	for (int i = 0; i < 10; i++) {
		MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&rank, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		if (got != left)
			abort();
		MPI_Sendrecv(&rank, 1, MPI_INT, right, 6, &got, 1, MPI_INT, left, 6, MPI_COMM_WORLD,
		             MPI_STATUS_IGNORE);
		sum = 1;
		MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		if (sum != size)
			abort();
	}
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
	MPI_Bcast(&sum, 1, MPI_INT, 0, half);
	MPI_Comm_free(&half);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
