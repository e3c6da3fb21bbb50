/*
 * call_loop BURSTS: what a call to a fake MPI library costs, in bursts between which a recorder may
 * catch up; and what a macro of adaptrace.h costs. The least of all bursts, in ns of CPU time.
 */
#include <adaptrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BURST 6000

extern struct object ompi_mpi_comm_world, ompi_mpi_int;
int MPI_Init(void *argc, void *argv);
int MPI_Finalize(void);
int MPI_Send(const void *buffer, int count, void *type, int dest, int tag, void *comm);
int MPI_Irecv(void *buffer, int count, void *type, int source, int tag, void *comm, void **out);
int MPI_Wait(void **in, void *status);
int MPI_Allreduce(const void *in, void *out, int count, void *type, void *op, void *comm);

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void sends(void)
{
	int x = 0;

	for (int i = 0; i < BURST; i++)
		MPI_Send(&x, 1, &ompi_mpi_int, 1, 1, &ompi_mpi_comm_world);
}

static void receives(void)
{
	void *request;
	int x = 0;

	for (int i = 0; i < BURST / 2; i++) {
		MPI_Irecv(&x, 1, &ompi_mpi_int, 1, 1, &ompi_mpi_comm_world, &request);
		MPI_Wait(&request, 0);
	}
}

static void reductions(void)
{
	int x = 0, y;

	for (int i = 0; i < BURST; i++)
		MPI_Allreduce(&x, &y, 1, &ompi_mpi_int, 0, &ompi_mpi_comm_world);
}

#define STEP 12 /* calls */

static void exchange(int tag)
{
	void *request;
	int x = 0;

	MPI_Irecv(&x, 1, &ompi_mpi_int, 1, tag, &ompi_mpi_comm_world, &request);
	MPI_Send(&x, 1, &ompi_mpi_int, 1, tag, &ompi_mpi_comm_world);
	MPI_Wait(&request, 0);
}

/* Steps of a simulation: a loop that --scale-trace finds. */
static void steps(void)
{
	int x = 0, y;

	for (int i = 0; i < BURST / STEP; i++) {
		exchange(1);
		exchange(2);
		exchange(3);
		MPI_Send(&x, 1, &ompi_mpi_int, 1, 4, &ompi_mpi_comm_world);
		MPI_Send(&x, 1, &ompi_mpi_int, 1, 5, &ompi_mpi_comm_world);
		MPI_Allreduce(&x, &y, 1, &ompi_mpi_int, 0, &ompi_mpi_comm_world);
	}
}

/* Calls in which nothing repeats. */
static void random_sends(void)
{
	static unsigned state = 1;
	int x = 0;

	for (int i = 0; i < BURST; i++) {
		state = state * 1664525 + 1013904223;
		MPI_Send(&x, 1, &ompi_mpi_int, 1, 10 + (int)(state >> 28), &ompi_mpi_comm_world);
	}
}

static void macros(void)
{
	for (int i = 0; i < BURST / 2; i++) {
		ADAPTRACE_BEGIN("region");
		ADAPTRACE_END("region");
	}
}

static void time_of(const char *what, void (*burst)(void), int bursts)
{
	const struct timespec rest = {.tv_nsec = 15000000};
	double least = 1e18;

	for (int i = 0; i < bursts; i++) {
		double start = now(), ns;

		burst();
		ns = (now() - start) / BURST;
		least = ns < least ? ns : least;
		nanosleep(&rest, 0);
	}
	printf("%s %.2f\n", what, least);
}

int main(int argc, char **argv)
{
	int bursts = argc > 1 ? atoi(argv[1]) : 20;

	MPI_Init(0, argv);
	time_of("MPI_Send", sends, bursts);
	time_of("MPI_Irecv+Wait", receives, bursts);
	time_of("MPI_Allreduce", reductions, bursts);
	time_of("random", random_sends, bursts);
	time_of("steps", steps, bursts);
	time_of("ADAPTRACE_BEGIN/END", macros, bursts);
	MPI_Finalize();
	return 0;
}
