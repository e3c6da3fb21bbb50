/*
 * failures: of four receives that are completed together, in each of the ways that MPI has, the
 * second fails because its message is too long. The others do not, nor do those that come later and
 * may get the same handles. All errors are returned.
 */
#include <mpi.h>

enum { N = 4, WAYS = 8, LATER = 20 };

static int buffer[8 * N];
static MPI_Request requests[N];

static void complete(int way)
{
	MPI_Status statuses[N];
	int nr, flag, indices[N], left;

	if (way == 0)
		MPI_Waitall(N, requests, statuses);
	else if (way == 1)
		MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
	else if (way == 2)
		while (!MPI_Testall(N, requests, &flag, statuses) && !flag)
			;
	for (left = N; way == 3 && left > 0; left -= nr)
		MPI_Waitsome(N, requests, &nr, indices, statuses);
	for (left = N; way == 4 && left > 0; left -= nr)
		MPI_Testsome(N, requests, &nr, indices, MPI_STATUSES_IGNORE);
	for (left = N; way == 5 && left > 0; left--)
		MPI_Waitany(N, requests, indices, statuses);
	for (left = N; way == 6 && left > 0; left -= flag)
		MPI_Testany(N, requests, indices, &flag, MPI_STATUS_IGNORE);
	/* MPICH ends none behind one that failed. */
	for (int i = 0; i < N; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
}

static void send(void)
{
	for (int i = 0; i < N; i++)
		MPI_Send(buffer, i == 1 ? 8 : 1, MPI_INT, 1, i, MPI_COMM_WORLD);
	for (int i = 0; i < LATER; i++)
		MPI_Send(buffer, 2, MPI_INT, 1, N, MPI_COMM_WORLD);
}

static void receive(int way)
{
	for (int i = 0; i < N; i++)
		MPI_Irecv(&buffer[8 * i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
	complete(way);
	for (int i = 0; i < LATER; i++) {
		MPI_Irecv(buffer, 8, MPI_INT, 0, N, MPI_COMM_WORLD, &requests[0]);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int way = 0; way < WAYS; way++) {
		if (rank == 0)
			send();
		else
			receive(way);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
