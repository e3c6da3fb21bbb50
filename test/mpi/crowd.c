/* crowd N: N receives of a process at once, of what it then sends to itself. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int nr = atoi(argv[1]), x = 0, y;
	MPI_Request *requests = malloc((size_t)nr * sizeof(*requests));

	MPI_Init(&argc, &argv);
	for (int i = 0; i < nr; i++)
		MPI_Irecv(&y, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[i]);
	for (int i = 0; i < nr; i++)
		MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
	for (int i = 0; i < nr; i++)
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
