#include "trace/mpi_names.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *name;
	struct mpi_collective collective;
} collectives[] = {
	{"Barrier", {MPI_OP_BARRIER, true}},
	{"Bcast", {MPI_OP_BCAST, false}},
	{"Gather", {MPI_OP_GATHER, false}},
	{"Gatherv", {MPI_OP_GATHERV, false}},
	{"Scatter", {MPI_OP_SCATTER, false}},
	{"Scatterv", {MPI_OP_SCATTERV, false}},
	{"Allgather", {MPI_OP_ALLGATHER, true}},
	{"Allgatherv", {MPI_OP_ALLGATHERV, false}}, /* some send nothing */
	{"Alltoall", {MPI_OP_ALLTOALL, true}},
	{"Alltoallv", {MPI_OP_ALLTOALLV, false}},
	{"Alltoallw", {MPI_OP_ALLTOALLW, false}},
	{"Allreduce", {MPI_OP_ALLREDUCE, true}},
	{"Reduce", {MPI_OP_REDUCE, false}},
	{"Reduce_scatter", {MPI_OP_REDUCE_SCATTER, false}},
	{"Reduce_scatter_block", {MPI_OP_REDUCE_SCATTER_BLOCK, true}},
	{"Scan", {MPI_OP_SCAN, false}},
	{"Exscan", {MPI_OP_EXSCAN, false}},
	{"Neighbor_allgather", {MPI_OP_ALLGATHER, false}},
	{"Neighbor_allgatherv", {MPI_OP_ALLGATHERV, false}},
	{"Neighbor_alltoall", {MPI_OP_ALLTOALL, false}},
	{"Neighbor_alltoallv", {MPI_OP_ALLTOALLV, false}},
	{"Neighbor_alltoallw", {MPI_OP_ALLTOALLW, false}},
	{"Win_create", {MPI_OP_CREATE_HANDLE, false}},
	{"Win_allocate", {MPI_OP_CREATE_HANDLE_AND_ALLOCATE, false}},
	{"Win_allocate_shared", {MPI_OP_CREATE_HANDLE_AND_ALLOCATE, false}},
	{"Win_free", {MPI_OP_DESTROY_HANDLE, false}},
	{"Comm_free", {MPI_OP_DESTROY_HANDLE, false}},
	{"Comm_disconnect", {MPI_OP_DESTROY_HANDLE, false}},
	{"Win_fence", {MPI_OP_BARRIER, false}},
};

static const struct mpi_collective *lookup(const char *name, size_t size)
{
	for (size_t i = 0; i < sizeof(collectives) / sizeof(*collectives); i++)
		if (strlen(collectives[i].name) == size &&
		    !strncasecmp(collectives[i].name, name, size))
			return &collectives[i].collective;
	return NULL;
}

/* A blocking collective has a known name. Others add "I" in front or "_init" at the end. */
struct mpi_collective mpi_collective(const char *name)
{
	struct mpi_collective found = {MPI_OP_OTHER, false, false};
	const struct mpi_collective *whole, *other = NULL;
	size_t size;

	if (!strncasecmp(name, "MPI_", 4))
		name += 4;
	size = strlen(name);
	if (size > 2 && !strcasecmp(name + size - 2, "_c")) /* with large counts */
		size -= 2;
	whole = lookup(name, size);
	if (size > 5 && !strncasecmp(name + size - 5, "_init", 5))
		other = lookup(name, size - 5);
	else if (!whole && (*name == 'I' || *name == 'i') && size > 1)
		other = lookup(name + 1, size - 1);
	if (whole || other)
		found = whole ? *whole : *other;
	else if (!strncasecmp(name, "Comm_", 5))
		found.operation = MPI_OP_CREATE_HANDLE;
	found.blocking = whole != NULL;
	return found;
}
