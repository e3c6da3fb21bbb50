/*
 * hybrid STEPS [multiple]: ranks with two threads each. A step is a parallel region with a message
 * to the other rank, a sum over the ranks, and a second region. The first thread of a team calls
 * MPI (MPI_THREAD_FUNNELED), or every one does (MPI_THREAD_MULTIPLE). Two ranks.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void exchange(int rank, int tag)
{
	int mine = rank, other = -1;

	MPI_Sendrecv(&mine, 1, MPI_INT, 1 - rank, tag, &other, 1, MPI_INT, 1 - rank, tag,
	             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (other != 1 - rank)
		abort();
}

static double work(int n)
{
	volatile double sum = 0;

	for (int i = 0; i < n; i++)
		sum = sum + 1e-9 * i;
	return sum;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 10, multiple = argc > 2, level, rank;

	MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int step = 0; step < steps; step++) {
		double sum = 0, all;

#pragma omp parallel for num_threads(2) schedule(static, 1) reduction(+ : sum)
		for (int thread = 0; thread < 2; thread++) {
			sum += work(2000);
			if (!thread || (multiple && level == MPI_THREAD_MULTIPLE))
				exchange(rank, thread);
		}
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
#pragma omp parallel num_threads(2)
		work(1000);
	}
	MPI_Finalize();
	printf("%d\n", level == MPI_THREAD_MULTIPLE);
	return 0;
}
