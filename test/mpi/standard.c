/*
 * standard: a message to itself and a reduction, with the numbers that MPI 5 gives for all
 * libraries; and with -DLIBRARY such a library, for one process, which ends it where it is asked in
 * any other way, and with UNKNOWN in the environment is another one.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct handle *handle; /* all of MPI's */
struct status {
	int source, tag, error, hidden[5];
};

#define WORLD        ((handle)0x101)
#define COMM_NULL    ((handle)0x100)
#define REQUEST_NULL ((handle)0x180)
#define INT32        ((handle)0x250)
#define BYTE         ((handle)0x247)
#define SUM          ((handle)0x21)
#define PROC_NULL    (-3)
#define MULTIPLE     4096

#ifdef LIBRARY
/* clang-format off */
#define MPI(name, ...)                                                     \
	int MPI_##name(__VA_ARGS__) __attribute__((alias("PMPI_" #name))); \
	int PMPI_##name(__VA_ARGS__)
#define ASK(right) if (!(right)) exit(99)

static struct handle { int value; } group, message;
static int sent;

MPI(Abi_get_version, int *major, int *minor) { *major = getenv("UNKNOWN") ? -1 : 1; return *minor = 0; }
MPI(Get_library_version, char *version, int *length) { *length = sprintf(version, getenv("UNKNOWN") ? "Some MPI" : "MPICH 6.0"); return 0; }
MPI(Init_thread, int *argc, char ***argv, int wanted, int *level) { *level = wanted; return 0; }
MPI(Query_thread, int *level) { *level = MULTIPLE; return 0; }
MPI(Comm_get_parent, handle *comm) { *comm = COMM_NULL; return 0; }
MPI(Comm_rank, handle comm, int *rank) { ASK(comm == WORLD); return *rank = 0; }
MPI(Comm_size, handle comm, int *size) { ASK(comm == WORLD); *size = 1; return 0; }
MPI(Comm_group, handle comm, handle *of) { ASK(comm == WORLD); *of = &group; return 0; }
MPI(Group_size, handle of, int *size) { ASK(of == &group); *size = 1; return 0; }
MPI(Group_free, handle *of) { ASK(*of == &group); return 0; }
MPI(Group_translate_ranks, handle from, int nr, const int *ranks, handle to, int *found)
{
	ASK(from == &group && to == &group);
	memcpy(found, ranks, nr * sizeof(*found));
	return 0;
}
MPI(Type_size, handle type, int *size) { ASK(type == INT32); *size = 4; return 0; }
MPI(Isend, const void *from, int nr, handle type, int to, int tag, handle comm, handle *request)
{
	sent = nr;
	*request = &message;
	return 0;
}
MPI(Recv, void *to, int nr, handle type, int from, int tag, handle comm, struct status *status)
{
	if (status)
		*status = (struct status){from, tag, 0, {0, 0, 0, 4 * sent}};
	return 0;
}
MPI(Wait, handle *request, struct status *status) { *request = REQUEST_NULL; return 0; }
MPI(Get_count_c, const struct status *status, handle type, int64_t *count)
{
	ASK(type == BYTE);
	*count = status->hidden[3];
	return 0;
}
MPI(Test_cancelled, const struct status *status, int *cancelled) { return *cancelled = 0; }
MPI(Allreduce, const void *from, void *to, int nr, handle type, handle op, handle comm) { return 0; }
MPI(Finalize, void) { return 0; }
/* clang-format on */
#else
int MPI_Init_thread(int *argc, char ***argv, int wanted, int *level);
int MPI_Isend(const void *, int, handle, int, int, handle, handle *);
int MPI_Recv(void *, int, handle, int, int, handle, struct status *);
int MPI_Wait(handle *, struct status *);
int MPI_Allreduce(const void *, void *, int, handle, handle, handle);
int MPI_Finalize(void);

int main(int argc, char **argv)
{
	int32_t x[3] = {0};
	handle request;
	int level;

	MPI_Init_thread(&argc, &argv, MULTIPLE, &level);
	MPI_Isend(x, 3, INT32, 0, 7, WORLD, &request);
	MPI_Isend(x, 3, INT32, PROC_NULL, 7, WORLD, &request);
	MPI_Recv(x, 3, INT32, 0, 7, WORLD, NULL);
	MPI_Wait(&request, NULL);
	MPI_Allreduce(x, x, 2, INT32, SUM, WORLD);
	return MPI_Finalize();
}
#endif
