/* Under another tool, and with calls inside calls: a reduction whose operation calls MPI. */
#include <mpi.h>

static void add(void *in, void *inout, int *nr, MPI_Datatype *type)
{
	int size;

	MPI_Type_size(*type, &size);
	MPI_Send(in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	for (int i = 0; i < *nr; i++)
		((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
	int rank, one = 1, sum = 0;
	MPI_Op op;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!rank)
		MPI_Send(&one, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
	else if (rank == 1)
		MPI_Recv(&one, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Op_create(add, 1, &op);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	MPI_Finalize();
	return sum != 2;
}
