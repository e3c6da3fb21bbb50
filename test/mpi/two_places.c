/* Calls of one function from two lines of another: 30 and 12 of each rank, to the other of two. */
#include <mpi.h>

static void exchange(int rank, int *x)
{
	for (int i = 0; i < 30; i++)
		MPI_Sendrecv_replace(x, 1, MPI_INT, !rank, 0, !rank, 0, MPI_COMM_WORLD,
		                     MPI_STATUS_IGNORE); /* first */
	for (int i = 0; i < 12; i++)
		MPI_Sendrecv_replace(x, 2, MPI_INT, !rank, 0, !rank, 0, MPI_COMM_WORLD,
		                     MPI_STATUS_IGNORE); /* second */
}

int main(void)
{
	int rank, x[2] = {0};

	MPI_Init(0, 0);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	exchange(rank, x);
	MPI_Finalize();
	return 0;
}
