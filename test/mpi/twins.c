/*
 * twins [PORT]: two communicators of the same processes, made with the same tag, and then two
 * between the processes, and two more where a library makes them of groups. It says how many pairs
 * these are. On both of a pair there is a message with the same tag, and they are
 * received the other way round. Then a type of 4 GiB, and with PORT two that connect.
 */
#include <mpi.h>
#include <stdio.h>

static int rank, buffer[64];

static void cross(MPI_Comm a, MPI_Comm b, int to)
{
	MPI_Request requests[2];

	if (rank == 0) {
		MPI_Isend(buffer, 1, MPI_INT, to, 5, a, &requests[0]);
		MPI_Isend(buffer, 2, MPI_INT, to, 5, b, &requests[1]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	} else {
		MPI_Recv(buffer, 64, MPI_INT, 0, 5, b, MPI_STATUS_IGNORE);
		MPI_Recv(buffer, 64, MPI_INT, 0, 5, a, MPI_STATUS_IGNORE);
	}
	MPI_Comm_free(&a);
	MPI_Comm_free(&b);
}

static void connect(void)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm other;

	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 9, MPI_COMM_WORLD);
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
		MPI_Send(buffer, 3, MPI_INT, 0, 5, other);
	} else {
		MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 9, MPI_COMM_WORLD,
		         MPI_STATUS_IGNORE);
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
		MPI_Recv(buffer, 3, MPI_INT, 0, 5, other, MPI_STATUS_IGNORE);
	}
	MPI_Comm_disconnect(&other);
}

static int cross_groups(MPI_Group group)
{
#if MPI_VERSION >= 4
	MPI_Group own, others;
	MPI_Comm made[2];
	int other = 1 - rank;

	MPI_Group_incl(group, 1, &rank, &own);
	MPI_Group_incl(group, 1, &other, &others);
	for (int i = 0; i < 2; i++)
		MPI_Intercomm_create_from_groups(own, 0, others, 0, "twins", MPI_INFO_NULL,
		                                 MPI_ERRORS_ARE_FATAL, &made[i]);
	cross(made[0], made[1], 0);
	return 1;
#else
	return 0;
#endif
}

int main(int argc, char **argv)
{
	int pairs = 2;
	MPI_Comm a, b;
	MPI_Group group;
	MPI_Datatype large;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &a);
	MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &b);
	cross(a, b, 1);
	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 3, &a);
	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 3, &b);
	cross(a, b, 0);
	pairs += cross_groups(group);
	if (!rank)
		printf("%d\n", pairs);
	MPI_Type_contiguous(1 << 30, MPI_INT, &large);
	MPI_Type_commit(&large);
	MPI_Bcast(buffer, 1, large, 0, MPI_COMM_SELF);
	if (argc > 1)
		connect();
	MPI_Finalize();
	return 0;
}
