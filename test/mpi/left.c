/*
 * left: an error handler that leaves calls by a jump, or an exception where this is C++; then
 * others by who called the one that was left, by who called that one, by functions below, and in
 * regions. Before them, a signal that has a stack of its own.
 */
#include <adaptrace.h>
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#ifdef __cplusplus
#define LEAVE() throw 1
#define TRY(x)          \
	try {           \
		x;      \
	} catch (int) { \
	}
#else
static jmp_buf back;
#define LEAVE() longjmp(back, 1)
#define TRY(x)                       \
	do {                         \
		if (!setjmp(back)) { \
			x;           \
		}                    \
	} while (0)
#endif

static void handle(MPI_Comm *comm, int *error, ...)
{
	LEAVE();
}

static int size, x, y;

__attribute__((noinline)) static void fail(void)
{
	MPI_Send(&x, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
	__asm__ volatile("");
}

__attribute__((noinline)) static void fail_below(int depth)
{
	if (depth)
		fail_below(depth - 1);
	else
		fail();
	__asm__ volatile("");
}

__attribute__((noinline)) static void talk(int depth)
{
	volatile char room[64] = {0};

	if (depth)
		talk(depth - 1);
	else
		MPI_Sendrecv(&x, 1, MPI_INT, 0, 1, &y, 1, MPI_INT, 0, 1, MPI_COMM_SELF,
		             MPI_STATUS_IGNORE);
	room[1] = room[0];
}

static void mark(int signal)
{
	ADAPTRACE_MARK("signal");
}

static void interrupted(void *in, void *out, int *nr, MPI_Datatype *type)
{
	raise(SIGUSR1);
}

/* A signal comes on a stack above that of a call which is still open. */
__attribute__((noinline)) static void reduce(void)
{
	char room[1 << 16];
	stack_t stack = {};
	struct sigaction action = {};
	MPI_Op op;

	stack.ss_sp = room;
	stack.ss_size = sizeof(room);
	action.sa_handler = mark;
	action.sa_flags = SA_ONSTACK;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	MPI_Op_create(interrupted, 1, &op);
	MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

int main(int argc, char **argv)
{
	MPI_Errhandler handler;

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_create_errhandler(handle, &handler);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
	reduce();
	/* Again and again at the same place. */
	for (int i = 0; i < 10; i++)
		TRY(fail());
	MPI_Barrier(MPI_COMM_WORLD);
	TRY(fail_below(10));
	MPI_Barrier(MPI_COMM_WORLD);
	/* Left by main itself; what follows is all below. */
	TRY(MPI_Send(&x, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD));
	for (int i = 0; i < 20; i++)
		talk(i);
	/* In a region, whose end comes first. */
	ADAPTRACE_BEGIN("step");
	TRY(fail_below(3));
	ADAPTRACE_END("step");
	ADAPTRACE_BEGIN("after");
	talk(0);
	ADAPTRACE_END("after");
	TRY(fail());
	MPI_Finalize();
	return 0;
}
