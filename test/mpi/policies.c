/* policies N: N messages to itself, a collective for each tenth, a region around each hundred. */
#include <adaptrace.h>
#include <mpi.h>
#include <stdlib.h>

static void message(void)
{
	int in, out = 1;
	MPI_Request requests[2];

	MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Issend(&out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int n = atoi(argv[1]), one = 1, sum;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < n / 100; i++) {
		ADAPTRACE_SCOPE("hundred");

		for (int j = 0; j < 10; j++) {
			ADAPTRACE_SCOPE("ten");

			for (int k = 0; k < 10; k++)
				message();
			if (j % 2) {
				MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
			} else {
				MPI_Ibarrier(MPI_COMM_WORLD, &request);
				MPI_Wait(&request, MPI_STATUS_IGNORE);
			}
		}
	}
	MPI_Finalize();
	return 0;
}
