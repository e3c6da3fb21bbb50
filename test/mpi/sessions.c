/* sessions: MPI without MPI_Init: a message in a ring, and a sum. */
#include <mpi.h>

int main(void)
{
	int rank, size, x = 1, y;
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Comm_rank(comm, &rank);
	MPI_Comm_size(comm, &size);
	MPI_Sendrecv(&x, 1, MPI_INT, (rank + 1) % size, 3, &y, 1, MPI_INT, (rank + size - 1) % size,
	             3, comm, MPI_STATUS_IGNORE);
	MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm);
	MPI_Group_free(&group);
	MPI_Comm_free(&comm);
	MPI_Session_finalize(&session);
	return 0;
}
