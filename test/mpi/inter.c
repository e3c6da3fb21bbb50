/*
 * inter LOG: messages and collectives in communicators whose ranks are not those of the world:
 * between groups, merged ones, and in reverse order. LOG.RANK gets, in ranks of the world:
 *
 *     s TO BYTES        a message that this rank sent
 *     c CALL ROOT       a collective with a root, as far as this rank is told it; -1: it is not
 */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 16 };

static int rank, size, data[MOST], got[MOST][MOST];
static FILE *out;

static int in_world(MPI_Comm comm, int peer)
{
	MPI_Group world, group;
	int inter, found;

	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Comm_test_inter(comm, &inter);
	if (inter)
		MPI_Comm_remote_group(comm, &group);
	else
		MPI_Comm_group(comm, &group);
	MPI_Group_translate_ranks(group, 1, &peer, world, &found);
	MPI_Group_free(&group);
	MPI_Group_free(&world);
	return found;
}

/* Each sends to each one of the other group, or of its own, a number of integers of its own. */
static void exchange(MPI_Comm comm)
{
	MPI_Request requests[2 * MOST];
	int inter, peers, n = 0;

	MPI_Comm_test_inter(comm, &inter);
	if (inter)
		MPI_Comm_remote_size(comm, &peers);
	else
		MPI_Comm_size(comm, &peers);
	for (int i = 0; i < peers; i++) {
		MPI_Irecv(got[i], MOST, MPI_INT, i, 1, comm, &requests[n++]);
		MPI_Isend(data, rank + 1, MPI_INT, i, 1, comm, &requests[n++]);
		fprintf(out, "s %d %d\n", in_world(comm, i), 4 * (rank + 1));
	}
	MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

/* The root is rank 0 of one side. */
static void collectives(MPI_Comm inter, int has_root)
{
	int here, root;

	MPI_Comm_rank(inter, &here);
	root = !has_root ? 0 : here ? MPI_PROC_NULL : MPI_ROOT;
	MPI_Bcast(data, 3, MPI_INT, root, inter);
	fprintf(out, "c MPI_Bcast %d\n", !has_root ? in_world(inter, 0) : here ? -1 : rank);
	MPI_Reduce(data, got, 3, MPI_INT, MPI_SUM, root, inter);
	fprintf(out, "c MPI_Reduce %d\n", !has_root ? in_world(inter, 0) : here ? -1 : rank);
	MPI_Barrier(inter);
}

static void between(MPI_Comm group, int other, int side)
{
	MPI_Comm inter, copy, all;

	MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, other, 5, &inter);
	exchange(inter);
	MPI_Comm_dup(inter, &copy);
	exchange(copy);
	collectives(copy, side);
	collectives(copy, !side);
	MPI_Intercomm_merge(inter, !side, &all);
	exchange(all);
	MPI_Bcast(data, 3, MPI_INT, 0, all);
	fprintf(out, "c MPI_Bcast %d\n", in_world(all, 0));
	MPI_Comm_free(&all);
	MPI_Comm_free(&copy);
	MPI_Comm_free(&inter);
}

int main(int argc, char **argv)
{
	MPI_Comm reverse, group;
	char path[256];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
	out = fopen(path, "w");

	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
	exchange(reverse);
	MPI_Comm_free(&reverse);

	/* Even and odd ranks; then the lower and the upper half of them, backwards. */
	MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &group);
	between(group, 1 - rank % 2, rank % 2);
	MPI_Comm_free(&group);
	MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, -rank, &group);
	between(group, rank < size / 2 ? size - 1 : size / 2 - 1, rank < size / 2);
	MPI_Comm_free(&group);

	fclose(out);
	MPI_Finalize();
	return 0;
}
