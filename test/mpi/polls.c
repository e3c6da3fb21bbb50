/* polls: while its recorder, the parent, is stopped, asks more often than a ring holds, in each way
 * that waits for nothing, and then sends itself 100 messages. */
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#define TIMES 300000

int main(int argc, char **argv)
{
	MPI_Request request;
	int flag, x = 0, y;

	MPI_Init(&argc, &argv);
	MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
	kill(getppid(), SIGSTOP);
	for (int i = 0; i < TIMES; i++) {
		MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
		MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
		MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
	}
	for (int i = 0; i < 100; i++)
		MPI_Sendrecv(&x, 1, MPI_INT, 0, 3, &y, 1, MPI_INT, 0, 3, MPI_COMM_SELF,
		             MPI_STATUS_IGNORE);
	kill(getppid(), SIGCONT);
	MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Finalize();
	return 0;
}
