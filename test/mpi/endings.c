/* endings WAY: 100 messages, and then rank 1 ends badly while rank 0 waits for it. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, number = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 100; i++) {
		if (rank)
			MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		else
			MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	/* Rank 1 ends when rank 0 has everything. */
	if (rank)
		MPI_Recv(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
	if (!strcmp(argv[1], "exit"))
		_exit(0);
	if (rank && !strcmp(argv[1], "abort"))
		MPI_Abort(MPI_COMM_WORLD, 7);
	usleep(rank ? 1000000 : 0); /* until rank 0 waits for us */
	if (rank && !strcmp(argv[1], "kill"))
		kill(getpid(), SIGKILL);
	MPI_Recv(&number, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
