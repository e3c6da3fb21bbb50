/* One rank waits for the other, long enough to be sampled there. */
#include <mpi.h>
#include <time.h>

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

__attribute__((noinline)) static int wait_late(void)
{
	int value = 0;

	MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return value;
}

int main(int argc, char **argv)
{
	int rank, value = 1;
	double start;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	start = cpu_seconds();
	if (rank == 0) {
		while (cpu_seconds() - start < 0.4)
			;
		MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
	} else {
		value = wait_late();
	}
	MPI_Finalize();
	return value - 1;
}
