/*
 * anew BEFORE AFTER: rank 0 sends BEFORE messages to rank 1, tells of it with the file "one", waits
 * for the file "go" inside a region, sends AFTER messages, and waits for "end" after telling "two".
 */
#include <adaptrace.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void phase(int rank, int nr, double value)
{
	char bytes[100] = "";

	for (int i = 0; i < nr; i++) {
		ADAPTRACE_BEGIN("step");
		ADAPTRACE_VALUE("value", value + i);
		if (rank == 0)
			MPI_Send(bytes, 100, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
		else if (rank == 1)
			MPI_Recv(bytes, 100, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		ADAPTRACE_END("step");
	}
	ADAPTRACE_MARK("done");
	MPI_Barrier(MPI_COMM_WORLD);
}

static void await(int rank, const char *told, const char *file)
{
	if (rank == 0) {
		fclose(fopen(told, "w"));
		while (access(file, F_OK))
			usleep(10000);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int rank, before = atoi(argv[1]), after = atoi(argv[2]);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	phase(rank, before, 1000);
	ADAPTRACE_BEGIN("around");
	await(rank, "one", "go");
	ADAPTRACE_END("around");
	phase(rank, after, 5);
	await(rank, "two", "end");
	MPI_Finalize();
	return 0;
}
