/* sessions [world]: MPI without MPI_Init: a message in a ring, and a sum. Before them the world may
 * come, with a message of its own, and go. */
#include <mpi.h>

static void pass(MPI_Comm comm)
{
	int rank, size, x = 1, y;

	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 3, &y, 1, MPI_INT, (rank + size - 1) % size,
	             3, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int x = 1, y;
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	if (argc > 1) {
		MPI_Init(&argc, &argv);
		pass(MPI_COMM_WORLD);
		MPI_Finalize();
	}
	pass(comm);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm);
	MPI_Group_free(&group);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
	return 0;
}
