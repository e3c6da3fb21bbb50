/* What has a count of 0 needs no datatype: MPICH takes MPI_DATATYPE_NULL. Two ranks. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv)
{
	int ones[2] = {1, 1}, got[2], sends[2] = {0}, receives[2] = {0}, starts[2] = {0}, rank,
	    size = 2, round = 0;
	MPI_Aint far_starts[2] = {0};
	MPI_Datatype send_types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
	MPI_Datatype receive_types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
	MPI_Request request;
	MPI_Comm line;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Send(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
	MPI_Sendrecv(NULL, 0, MPI_DATATYPE_NULL, MPI_PROC_NULL, 0, got, 1, MPI_INT, MPI_PROC_NULL,
	             0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &round, 0, &line);
	sends[!rank] = receives[!rank] = 1;
	send_types[!rank] = receive_types[!rank] = MPI_INT;
	MPI_Alltoallw(ones, sends, starts, send_types, got, receives, starts, receive_types,
	              MPI_COMM_WORLD);
	MPI_Ialltoallw(ones, sends, starts, send_types, got, receives, starts, receive_types,
	               MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Neighbor_alltoallw(ones, sends, far_starts, send_types, got, receives, far_starts,
	                       receive_types, line);
	return MPI_Finalize();
}
