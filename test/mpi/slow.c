/*
 * Steps of messages, one of them slow, behind many short calls. slow SECONDS: writes when each step
 * had ended into truth.RANK.
 */
#include <mpi.h>
#include <adaptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void spin(double seconds)
{
	for (double end = now() + seconds; now() < end;)
		continue;
}

static FILE *open_truth(int rank)
{
	char name[64];

	snprintf(name, sizeof(name), "truth.%d", rank);
	return fopen(name, "w");
}

int main(int argc, char **argv)
{
	double seconds = atof(argv[argc - 1]), begun;
	int rank, size, got, on = 1, late = 0;
	FILE *truth;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	truth = open_truth(rank);
	for (int i = 0; i < 100000; i++) {
		ADAPTRACE_BEGIN("short");
		ADAPTRACE_END("short");
	}
	begun = now();
	for (int i = 0; on; i++) {
		int slow = !late && now() > begun + seconds / 2;

		late |= slow;
		ADAPTRACE_BEGIN("step");
		MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT,
		             (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		spin(slow ? 0.6 : 0.001);
		on = now() < begun + seconds;
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
		ADAPTRACE_END("step");
		fprintf(truth, "%.9f\n", now());
	}
	fclose(truth);
	MPI_Finalize();
	return 0;
}
