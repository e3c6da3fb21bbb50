/*
 * threads N M: N threads, each of which sends M messages to itself and marks a region around each,
 * all at once. Says how many threads MPI permits: without MPI_THREAD_MULTIPLE, regions alone.
 */
#include <adaptrace.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, messages, multiple;
static pthread_barrier_t start;

static void *work(void *arg)
{
	int tag = (int)(long)arg, in, out;
	MPI_Request requests[2];

	pthread_barrier_wait(&start);
	for (int i = 0; i < messages; i++) {
		ADAPTRACE_SCOPE("step");

		if (!multiple)
			continue;
		out = tag * 10000 + i;
		MPI_Irecv(&in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[0]);
		MPI_Issend(&out, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[1]);
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
		MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
		if (in != out)
			abort();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = atoi(argv[1]), provided;
	pthread_t *threads = malloc((size_t)nr * sizeof(*threads));

	messages = atoi(argv[2]);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	multiple = provided == MPI_THREAD_MULTIPLE;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	pthread_barrier_init(&start, NULL, (unsigned)nr);
	for (int i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, (void *)(long)(i + 1));
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	printf("multiple %d\n", multiple);
	MPI_Finalize();
	return 0;
}
