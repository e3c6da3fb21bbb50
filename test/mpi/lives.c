/*
 * lives: initialized by MPI_Init, says the thread level that it got, sends a message to the next
 * rank, and becomes another program, which has a region.
 */
#include <adaptrace.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size, level, x = 0;

	if (argc > 1) {
		ADAPTRACE_MARK("another life");
		return 0;
	}
	MPI_Init(&argc, &argv);
	MPI_Query_thread(&level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 5, (rank + size - 1) % size, 5,
	                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	printf("level %d\n", level);
	fflush(stdout);
	execl(argv[0], argv[0], "again", (char *)NULL);
	return 1;
}
