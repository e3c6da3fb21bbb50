/*
 * fake_mpi.so: as much of an "MPI library" as it takes to see what standing before one costs. Its
 * functions do nothing, and look like Open MPI's.
 */
#include <stddef.h>
#include <string.h>

struct object {
	char content[64];
} ompi_mpi_comm_world, ompi_mpi_comm_self, ompi_mpi_comm_null, ompi_request_null,
	ompi_request_empty, ompi_mpi_int, request;

struct status {
	int source, tag, error, cancelled;
	size_t bytes;
};

/* MPI_X is PMPI_X, as everywhere. */
#define MPI(name, ...)                                                     \
	int PMPI_##name(__VA_ARGS__);                                      \
	int MPI_##name(__VA_ARGS__) __attribute__((alias("PMPI_" #name))); \
	int PMPI_##name(__VA_ARGS__)

MPI(Init, void *argc, void *argv)
{
	return argc == argv;
}
MPI(Finalize, void)
{
	return 0;
}
MPI(Get_library_version, char *version, int *length)
{
	strcpy(version, "Open MPI, a fake");
	*length = (int)strlen(version);
	return 0;
}
MPI(Comm_rank, void *comm, int *rank)
{
	*rank = !comm;
	return 0;
}
MPI(Comm_size, void *comm, int *size)
{
	*size = comm ? 2 : 0;
	return 0;
}
MPI(Comm_group, void *comm, void **group)
{
	*group = comm;
	return 0;
}
MPI(Group_size, void *group, int *size)
{
	*size = group ? 2 : 0;
	return 0;
}
MPI(Group_free, void **group)
{
	*group = NULL;
	return 0;
}
MPI(Group_translate_ranks, void *from, int nr, const int *ranks, void *to, int *translated)
{
	memcpy(translated, ranks, (size_t)nr * sizeof(*ranks));
	return from != to;
}
MPI(Type_size, void *type, int *size)
{
	*size = type ? 4 : 0;
	return 0;
}
MPI(Send, const void *buffer, int count, void *type, int dest, int tag, void *comm)
{
	return !(buffer && count && type && dest && tag && comm);
}
MPI(Irecv, void *buffer, int count, void *type, int source, int tag, void *comm, void **out)
{
	*out = &request;
	return !(buffer && count && type && source && tag && comm);
}
MPI(Wait, void **in, struct status *status)
{
	*in = &ompi_request_null;
	if (status)
		*status = (struct status){.source = 1, .tag = 1, .bytes = 4};
	return 0;
}
MPI(Allreduce, const void *in, void *out, int count, void *type, void *op, void *comm)
{
	return !(in && out && count && type && !op && comm);
}
