/*
 * kinds LOG: every kind of call once or twice, by 3 ranks; LOG.RANK gets what must be told of each:
 *
 *     CALL KIND PEER BYTES BYTES_IN        peer -1: none, 0 where the kind has none; of files the
 *                                          last is what was asked for, or the mode
 */
#include <mpi.h>
#include <stdio.h>

static int rank, size;
static FILE *out;
static int a[64], b[64], counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};

static void told(const char *call, const char *kind, int peer, int bytes, int bytes_in)
{
	fprintf(out, "MPI_%s %s %d %d %d\n", call, kind, peer, bytes, bytes_in);
}

static void collective(const char *call, int root, int ints, int ints_in)
{
	told(call, "collective", root, 4 * ints, 4 * ints_in);
}

static void rooted(MPI_Comm comm)
{
	int root = rank == 1;

	MPI_Bcast(a, 5, MPI_INT, 1, comm);
	collective("Bcast", 1, root ? 5 : 0, root ? 0 : 5);
	MPI_Reduce(a, b, 5, MPI_INT, MPI_SUM, 1, comm);
	collective("Reduce", 1, 5, root ? 5 : 0);
	MPI_Gather(a, 2, MPI_INT, b, 2, MPI_INT, 1, comm);
	collective("Gather", 1, 2, root ? 6 : 0);
	MPI_Gather(root ? MPI_IN_PLACE : (void *)a, 2, MPI_INT, b, 2, MPI_INT, 1, comm);
	collective("Gather", 1, 2, root ? 6 : 0);
	MPI_Gatherv(a, counts[rank], MPI_INT, b, counts, places, MPI_INT, 1, comm);
	collective("Gatherv", 1, counts[rank], root ? 6 : 0);
	MPI_Scatter(a, 2, MPI_INT, b, 2, MPI_INT, 1, comm);
	collective("Scatter", 1, root ? 6 : 0, 2);
	MPI_Scatterv(a, counts, places, MPI_INT, b, counts[rank], MPI_INT, 1, comm);
	collective("Scatterv", 1, root ? 6 : 0, counts[rank]);
}

static void together(MPI_Comm comm)
{
	MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
	int bytes[3] = {0, 8, 16};

	MPI_Barrier(comm);
	collective("Barrier", -1, 0, 0);
	MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, comm);
	collective("Allreduce", -1, 3, 3);
	MPI_Allgather(a, 2, MPI_INT, b, 2, MPI_INT, comm);
	collective("Allgather", -1, 2, 6);
	MPI_Allgatherv(a, counts[rank], MPI_INT, b, counts, places, MPI_INT, comm);
	collective("Allgatherv", -1, counts[rank], 6);
	MPI_Alltoall(a, 2, MPI_INT, b, 2, MPI_INT, comm);
	collective("Alltoall", -1, 6, 6);
	MPI_Alltoallv(a, (int[3]){2, 2, 2}, (int[3]){0, 2, 4}, MPI_INT, b, (int[3]){2, 2, 2},
	              (int[3]){0, 2, 4}, MPI_INT, comm);
	collective("Alltoallv", -1, 6, 6);
	MPI_Alltoallw(a, (int[3]){2, 2, 2}, bytes, types, b, (int[3]){2, 2, 2}, bytes, types, comm);
	collective("Alltoallw", -1, 6, 6);
	MPI_Scan(a, b, 2, MPI_INT, MPI_SUM, comm);
	collective("Scan", -1, 2, 2);
	MPI_Exscan(a, b, 2, MPI_INT, MPI_SUM, comm);
	collective("Exscan", -1, 2, rank ? 2 : 0);
	MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, comm);
	collective("Reduce_scatter", -1, 6, counts[rank]);
	MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, comm);
	collective("Reduce_scatter_block", -1, 6, 2);
}

static void not_blocking(MPI_Comm comm)
{
	MPI_Request requests[3];

	MPI_Ibarrier(comm, &requests[0]);
	told("Ibarrier", "collective-posted", 0, 0, 0);
	MPI_Ibcast(a, 4, MPI_INT, 0, comm, &requests[1]);
	told("Ibcast", "collective-posted", 0, 0, 0);
	MPI_Iallreduce(a, b, 4, MPI_INT, MPI_SUM, comm, &requests[2]);
	told("Iallreduce", "collective-posted", 0, 0, 0);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	told("Waitall", "collective-done", -1, 0, 0);
	told("Waitall", "collective-done", 0, rank ? 0 : 16, rank ? 16 : 0);
	told("Waitall", "collective-done", -1, 16, 16);
	MPI_Igatherv(a, counts[rank], MPI_INT, b, counts, places, MPI_INT, 1, comm, &requests[0]);
	told("Igatherv", "collective-posted", 0, 0, 0);
	MPI_Iscatter(a, 2, MPI_INT, b, 2, MPI_INT, 1, comm, &requests[1]);
	told("Iscatter", "collective-posted", 0, 0, 0);
	MPI_Ireduce_scatter(a, b + 8, counts, MPI_INT, MPI_SUM, comm, &requests[2]);
	told("Ireduce_scatter", "collective-posted", 0, 0, 0);
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	told("Waitall", "collective-done", 1, 4 * counts[rank], rank == 1 ? 24 : 0);
	told("Waitall", "collective-done", 1, rank == 1 ? 24 : 0, 8);
	told("Waitall", "collective-done", -1, 24, 4 * counts[rank]);
}

/* A ring of all ranks: two neighbours each. */
static void neighbours(void)
{
	MPI_Datatype types[2] = {MPI_INT, MPI_INT};
	MPI_Aint bytes[2] = {0, 8};
	int twos[2] = {2, 2}, at[2] = {0, 2};
	MPI_Request request;
	MPI_Comm ring;

	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring);
	told("Cart_create", "communicator-created", 0, 0, 0);
	MPI_Neighbor_allgather(a, 2, MPI_INT, b, 2, MPI_INT, ring);
	collective("Neighbor_allgather", -1, 2, 4);
	MPI_Neighbor_alltoall(a, 2, MPI_INT, b, 2, MPI_INT, ring);
	collective("Neighbor_alltoall", -1, 4, 4);
	MPI_Neighbor_allgatherv(a, 2, MPI_INT, b, twos, at, MPI_INT, ring);
	collective("Neighbor_allgatherv", -1, 2, 4);
	MPI_Neighbor_alltoallv(a, twos, at, MPI_INT, b, twos, at, MPI_INT, ring);
	collective("Neighbor_alltoallv", -1, 4, 4);
	MPI_Neighbor_alltoallw(a, twos, bytes, types, b, twos, bytes, types, ring);
	collective("Neighbor_alltoallw", -1, 4, 4);
	MPI_Ineighbor_alltoallv(a, twos, at, MPI_INT, b, twos, at, MPI_INT, ring, &request);
	told("Ineighbor_alltoallv", "collective-posted", 0, 0, 0);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	told("Wait", "collective-done", -1, 16, 16);
	MPI_Comm_free(&ring);
	told("Comm_free", "communicator-freed", 0, 0, 0);
}

/* Ranks 0 and 1 on one side, 2 on the other. */
static void two_groups(void)
{
	MPI_Comm side, between, all;
	int other = rank < 2;

	MPI_Comm_split(MPI_COMM_WORLD, rank < 2, 0, &side);
	told("Comm_split", "communicator-created", 0, 0, 0);
	MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, other ? 2 : 0, 9, &between);
	told("Intercomm_create", "communicator-created", 0, 0, 0);
	if (rank == 0) {
		MPI_Send(a, 1, MPI_INT, 0, 1, between);
		told("Send", "send", 2, 4, 0);
	} else if (rank == 2) {
		MPI_Recv(a, 1, MPI_INT, 0, 1, between, MPI_STATUS_IGNORE);
		told("Recv", "receive", 0, 4, 0);
	}
	MPI_Intercomm_merge(between, rank < 2, &all);
	told("Intercomm_merge", "communicator-created", 0, 0, 0);
	MPI_Comm_free(&all);
	told("Comm_free", "communicator-freed", 0, 0, 0);
	MPI_Comm_free(&between);
	told("Comm_free", "communicator-freed", 0, 0, 0);
	MPI_Comm_free(&side);
	told("Comm_free", "communicator-freed", 0, 0, 0);
}

static void windows(void)
{
	int next = (rank + 1) % size, one = 1, result;
	MPI_Request request;
	MPI_Win window;

	MPI_Win_create(b, sizeof(b), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_fence(0, window);
	MPI_Put(a, 3, MPI_INT, next, 0, 3, MPI_INT, window);
	told("Put", "put", next, 12, 0);
	MPI_Win_fence(0, window);
	MPI_Get(a, 2, MPI_INT, next, 0, 2, MPI_INT, window);
	told("Get", "get", next, 8, 0);
	MPI_Get_accumulate(&one, 1, MPI_INT, &result, 1, MPI_INT, next, 20, 1, MPI_INT, MPI_SUM,
	                   window);
	told("Get_accumulate", "atomic", next, 4, 0);
	MPI_Accumulate(&one, 1, MPI_INT, next, 20, 1, MPI_INT, MPI_SUM, window);
	told("Accumulate", "atomic", next, 4, 0);
	MPI_Win_fence(0, window);
	MPI_Win_lock_all(0, window);
	MPI_Fetch_and_op(&one, &result, MPI_INT, next, 21, MPI_SUM, window);
	told("Fetch_and_op", "atomic", next, 4, 0);
	MPI_Win_flush(next, window);
	MPI_Compare_and_swap(&one, &result, &one, MPI_INT, next, 22, window);
	told("Compare_and_swap", "atomic", next, 4, 0);
	MPI_Rput(a, 3, MPI_INT, next, 0, 3, MPI_INT, window, &request);
	told("Rput", "put", next, 12, 0);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Rget(a, 2, MPI_INT, next, 0, 2, MPI_INT, window, &request);
	told("Rget", "get", next, 8, 0);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Win_unlock_all(window);
	MPI_Win_free(&window);
}

/* Of 10 ints from the end of the file; Open MPI waits for ever for those that are not there. */
#ifdef OPEN_MPI
enum { THERE = 10 };
#else
enum { THERE = 2 };
#endif

/* Transfers that go on behind the call. */
static void later(MPI_File file)
{
	MPI_Request requests[4];

	MPI_File_iwrite_at(file, 40 * rank, a, 10, MPI_INT, &requests[0]);
	told("File_iwrite_at", "write-posted", 0, 0, 40);
	MPI_File_iread_at(file, 40 * size - 4 * THERE, b, 10, MPI_INT, &requests[1]);
	told("File_iread_at", "read-posted", 0, 0, 40);
	MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
	told("Ibarrier", "collective-posted", 0, 0, 0);
	MPI_File_iread_at(file, 40 * rank, b, 2, MPI_INT, &requests[3]);
	told("File_iread_at", "read-posted", 0, 0, 8);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
	told("Waitall", "write-done", 0, 40, 40);
	told("Waitall", "read-done", 0, 4 * THERE, 40);
	told("Waitall", "collective-done", -1, 0, 0);
	told("Waitall", "read-done", 0, 8, 8);
	MPI_File_seek(file, 40 * rank, MPI_SEEK_SET);
	MPI_File_iwrite(file, a, 3, MPI_INT, &requests[0]);
	told("File_iwrite", "write-posted", 0, 0, 12);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	told("Wait", "write-done", 0, 12, 12);
	MPI_File_iread(file, b, 3, MPI_INT, &requests[0]);
	told("File_iread", "read-posted", 0, 0, 12);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	told("Wait", "read-done", 0, 12, 12);
	MPI_File_iwrite_at_all(file, 40 * rank, a, 5, MPI_INT, &requests[0]);
	told("File_iwrite_at_all", "write-posted", 0, 0, 20);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	told("Wait", "write-done", 0, 20, 20);
	MPI_File_iread_all(file, b, 1, MPI_INT, &requests[0]);
	told("File_iread_all", "read-posted", 0, 0, 4);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	told("Wait", "read-done", 0, 4, 4);
	MPI_File_iwrite_shared(file, a, 1, MPI_INT, &requests[0]);
	told("File_iwrite_shared", "write-posted", 0, 0, 4);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	told("Wait", "write-done", 0, 4, 4);
	MPI_File_iread_shared(file, b, 1, MPI_INT, &requests[0]);
	told("File_iread_shared", "read-posted", 0, 0, 4);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	told("Wait", "read-done", 0, 4, 4);
}

/* In two calls that all ranks make together. */
static void split(MPI_File file)
{
	MPI_Status status;

	MPI_File_write_at_all_begin(file, 40 * rank, a, 10, MPI_INT);
	told("File_write_at_all_begin", "write-posted", 0, 0, 40);
	MPI_File_write_at_all_end(file, a, MPI_STATUS_IGNORE);
	told("File_write_at_all_end", "write-done", 0, 40, 40);
	MPI_File_read_at_all_begin(file, 40 * rank, b, 10, MPI_INT);
	told("File_read_at_all_begin", "read-posted", 0, 0, 40);
	MPI_File_read_at_all_end(file, b, &status);
	told("File_read_at_all_end", "read-done", 0, 40, 40);
	MPI_File_seek(file, 40 * rank, MPI_SEEK_SET);
	MPI_File_read_all_begin(file, b, 2, MPI_INT);
	told("File_read_all_begin", "read-posted", 0, 0, 8);
	MPI_File_read_all_end(file, b, MPI_STATUS_IGNORE);
	told("File_read_all_end", "read-done", 0, 8, 8);
}

static void files(void)
{
	MPI_Request request;
	MPI_Status status;
	MPI_File file;

	MPI_File_open(MPI_COMM_WORLD, "data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
	              &file);
	told("File_open", "file-opened", 0, 0,
	     1 | 8); /* in the standard for all libraries not so */
	MPI_File_write_at(file, 40 * rank, a, 10, MPI_INT, MPI_STATUS_IGNORE);
	told("File_write_at", "write", 0, 40, 40);
	MPI_File_sync(file);
	MPI_Barrier(MPI_COMM_WORLD);
	collective("Barrier", -1, 0, 0);
	/* Less than asked for. */
	MPI_File_read_at(file, 40 * size - 8, b, 10, MPI_INT, &status);
	told("File_read_at", "read", 0, 8, 40);
	MPI_File_iread_at(file, 0, b, 5, MPI_INT, &request);
	told("File_iread_at", "read-posted", 0, 0, 20);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	told("Wait", "read-done", 0, 20, 20);
	later(file);
	split(file);
	MPI_File_close(&file);
	told("File_close", "file-closed", 0, 0, 0);
}

static void to_itself(int count, MPI_Datatype type, int bytes)
{
	MPI_Sendrecv(a, count, type, rank, 1, b, count, type, rank, 1, MPI_COMM_WORLD,
	             MPI_STATUS_IGNORE);
	told("Sendrecv", "send", rank, bytes, 0);
	told("Sendrecv", "receive", rank, bytes, 0);
}

/* One that is new may have the handle of one that was freed. */
static void types(void)
{
	MPI_Datatype type;

	for (int n = 1; n < 6; n++) {
		to_itself(n, MPI_DOUBLE, 8 * n);
		to_itself(n, MPI_CHAR, n);
		MPI_Type_contiguous(n, MPI_INT, &type);
		MPI_Type_commit(&type);
		to_itself(2, type, 8 * n);
		MPI_Type_free(&type);
	}
}

/* More parts than one record holds. */
static void many(void)
{
	enum { MANY = 500 };
	static MPI_Request requests[2 * MANY];
	static int in[MANY], peer;

	peer = (rank + 1) % size;
	for (int i = 0; i < MANY; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
		          &requests[i]);
	for (int i = 0; i < MANY; i++)
		MPI_Send(&rank, 1, MPI_INT, peer, i, MPI_COMM_WORLD);
	MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < MANY; i++)
		told("Irecv", "receive-posted", 0, 0, 0);
	for (int i = 0; i < MANY; i++)
		told("Send", "send", peer, 4, 0);
	for (int i = 0; i < MANY; i++)
		told("Waitall", "receive-done", (rank + size - 1) % size, 4, 0);
}

#if MPI_VERSION >= 4
static void partitioned(void)
{
	int peer = (rank + 1) % size, from = (rank + size - 1) % size;
	MPI_Request send, receive;

	MPI_Psend_init(a, 2, 3, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
	MPI_Precv_init(b, 2, 3, MPI_INT, from, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&receive);
		told("Start", "receive-posted", 0, 0, 0);
		MPI_Start(&send);
		told("Start", "send-posted", peer, 24, 0);
		MPI_Pready(0, send);
		MPI_Pready(1, send);
		MPI_Wait(&send, MPI_STATUS_IGNORE);
		told("Wait", "send-done", 0, 0, 0);
		MPI_Wait(&receive, MPI_STATUS_IGNORE);
		told("Wait", "receive-done", from, 24, 0);
	}
	MPI_Request_free(&send);
	MPI_Request_free(&receive);
}

/* Counts of 64 bits, and collectives that are begun again and again. */
static void of_version_4(void)
{
	int peer = (rank + 1) % size, from = (rank + size - 1) % size;
	MPI_Count many_counts[3] = {1, 2, 3};
	MPI_Aint at[3] = {0, 1, 3};
	MPI_Request request;

	MPI_Sendrecv_c(a, 7, MPI_INT, peer, 8, b, 7, MPI_INT, from, 8, MPI_COMM_WORLD,
	               MPI_STATUS_IGNORE);
	told("Sendrecv_c", "send", peer, 28, 0);
	told("Sendrecv_c", "receive", from, 28, 0);
	MPI_Isendrecv_c(a, 5, MPI_INT, peer, 9, b, 5, MPI_INT, from, 9, MPI_COMM_WORLD, &request);
	told("Isendrecv_c", "send", peer, 20, 0);
	told("Isendrecv_c", "receive-posted", 0, 0, 0);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	told("Wait", "receive-done", from, 20, 0);
	MPI_Allgatherv_c(a, many_counts[rank], MPI_INT, b, many_counts, at, MPI_INT,
	                 MPI_COMM_WORLD);
	collective("Allgatherv_c", -1, counts[rank], 6);
	MPI_Bcast_init(a, 5, MPI_INT, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
	for (int i = 0; i < 2; i++) {
		MPI_Start(&request);
		told("Start", "collective-posted", 0, 0, 0);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		told("Wait", "collective-done", 1, rank == 1 ? 20 : 0, rank == 1 ? 0 : 20);
	}
	MPI_Request_free(&request);
}
#else
static void partitioned(void)
{
}

static void of_version_4(void)
{
}
#endif

int main(int argc, char **argv)
{
	char path[256];
	MPI_Comm comm;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(path, sizeof(path), "%s.%d", argv[1], rank);
	out = fopen(path, "w");
	rooted(MPI_COMM_WORLD);
	together(MPI_COMM_WORLD);
	not_blocking(MPI_COMM_WORLD);
	MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	together(comm);
	MPI_Comm_free(&comm);
	told("Comm_free", "communicator-freed", 0, 0, 0);
	MPI_Barrier(MPI_COMM_SELF);
	collective("Barrier", -1, 0, 0);
	neighbours();
	two_groups();
	windows();
	types();
	files();
	many();
	partitioned();
	of_version_4();
	fclose(out);
	MPI_Finalize();
	return 0;
}
