/* spawn: a job of one rank that starts two more processes, which have a world of their own. */
#include <mpi.h>

static void with_children(const char *self)
{
	MPI_Comm children, all;
	int x = 5;

	MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
	               MPI_ERRCODES_IGNORE);
	MPI_Send(&x, 1, MPI_INT, 1, 7, children);
	MPI_Intercomm_merge(children, 0, &all);
	MPI_Barrier(all);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&children);
}

static void with_parent(MPI_Comm parent)
{
	MPI_Comm all;
	int x, rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 1)
		MPI_Recv(&x, 1, MPI_INT, 0, 7, parent, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Intercomm_merge(parent, 1, &all);
	MPI_Barrier(all);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
	MPI_Comm parent;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&parent);
	if (parent == MPI_COMM_NULL)
		with_children(argv[0]);
	else
		with_parent(parent);
	MPI_Finalize();
	return 0;
}
