/*
 * threads N M: N threads, each of which takes M steps, all at once: a step is a marked region in
 * which it sends messages to itself. Says how many threads MPI permits: without
 * MPI_THREAD_MULTIPLE, regions alone.
 *
 * The steps take turns: a receive waits for the send; a synchronous send waits for the receive, and
 * is not complete before; two sends are under way, which many libraries complete at once.
 */
#include <adaptrace.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, steps, multiple;
static pthread_barrier_t start;

static void receive_first(int *in, const int *out, int tag, MPI_Request *requests)
{
	MPI_Irecv(in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[0]);
	MPI_Issend(out, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[1]);
	MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

static void send_first(int *in, const int *out, int tag, MPI_Request *requests)
{
	MPI_Issend(out, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(in, 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void send_two(int *in, const int *out, int tag, MPI_Request *requests)
{
	for (int i = 0; i < 2; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < 2; i++)
		MPI_Isend(&out[i], 1, MPI_INT, rank, tag, MPI_COMM_WORLD, &requests[2 + i]);
	for (int i = 0; i < 4; i++)
		MPI_Wait(&requests[3 - i], MPI_STATUS_IGNORE);
}

static void *work(void *arg)
{
	static void (*const kinds[])(int *, const int *, int, MPI_Request *) = {
		receive_first,
		send_first,
		send_two,
	};
	int tag = (int)(long)arg;
	MPI_Request requests[4];

	pthread_barrier_wait(&start);
	for (int i = 0; i < steps; i++) {
		int in[2], out[2] = {tag * 10000 + i, ~i};
		ADAPTRACE_SCOPE("step");

		if (!multiple)
			continue;
		kinds[i % 3](in, out, tag, requests);
		if (in[0] != out[0] || (i % 3 == 2 && in[1] != out[1]))
			abort();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = atoi(argv[1]), provided;
	pthread_t *threads = malloc((size_t)nr * sizeof(*threads));

	steps = atoi(argv[2]);
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
