/* many_comms ALIVE PASSING: messages to itself in so many communicators, of which so many are alive
 * at once, as far as the library has them, and others one after the other. Says how many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int talk(MPI_Comm comm)
{
	int x = 0, y;

	return MPI_Sendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int alive = atoi(argv[1]), passing = atoi(argv[2]), sent = 0;
	MPI_Comm *comms = calloc(alive, sizeof(*comms)), one;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < passing && !MPI_Comm_dup(MPI_COMM_SELF, &one); i++) {
		sent += !talk(one);
		MPI_Comm_free(&one);
	}
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < alive && !MPI_Comm_dup(MPI_COMM_SELF, &comms[i]); i++)
		sent += !talk(comms[i]);
	for (int i = 0; i < alive && comms[i] && comms[i] != MPI_COMM_NULL; i++)
		sent += !talk(comms[i]);
	printf("%d\n", sent);
	MPI_Finalize();
	return 0;
}
