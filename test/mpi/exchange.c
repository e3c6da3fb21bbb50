/*
 * exchange SEED ROUNDS LOG: every rank sends random messages to random ranks, in all ways that MPI
 * has, and writes what it sent and received into LOG.RANK: as the program knows it from the
 * messages themselves, never from a status.
 *
 *     S PEER TAG BYTES     a message went to this rank of the world
 *     R PEER TAG BYTES     one came
 *     C                    a receive was cancelled
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST     6 /* messages between two ranks in a round */
#define MOST_ALL 256
#define LENGTH   64

struct message {
	int source, tag, nr; /* rank in the world; ints that follow */
	int rest[LENGTH];
};

static int rank, size;
static FILE *out;
static unsigned long state;
static struct message in[MOST_ALL], sent[MOST_ALL];
static MPI_Request requests[2 * MOST_ALL];
static int nr_in, nr_sent;

static unsigned any(unsigned below)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(state >> 33) % below;
}

static void log_received(const struct message *m)
{
	fprintf(out, "R %d %d %d\n", m->source, m->tag, (int)((3 + m->nr) * sizeof(int)));
}

static void done(int index)
{
	if (index < nr_in)
		log_received(&in[index]);
}

static struct message *compose(int tag, int nr)
{
	struct message *m = &sent[nr_sent];

	m->source = rank;
	m->tag = tag;
	m->nr = nr;
	return m;
}

/* World ranks of the members, in their order. */
static void members_of(MPI_Comm comm, int *world)
{
	MPI_Group all, group;
	int n, numbers[64];

	MPI_Comm_size(comm, &n);
	for (int i = 0; i < n; i++)
		numbers[i] = i;
	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Comm_group(comm, &group);
	MPI_Group_translate_ranks(group, n, numbers, all, world);
	MPI_Group_free(&group);
	MPI_Group_free(&all);
}

static void complete(int way, int nr)
{
	int index, flag, some[2 * MOST_ALL], got, left = nr;
	MPI_Status statuses[2 * MOST_ALL];

	switch (way) {
	case 0:
		MPI_Waitall(nr, requests, MPI_STATUSES_IGNORE);
		for (int i = 0; i < nr; i++)
			done(i);
		return;
	case 1:
		for (; left; left--) {
			MPI_Waitany(nr, requests, &index, MPI_STATUS_IGNORE);
			done(index);
		}
		return;
	case 2:
		for (; left; left -= got) {
			MPI_Waitsome(nr, requests, &got, some, MPI_STATUSES_IGNORE);
			for (int i = 0; i < got; i++)
				done(some[i]);
		}
		return;
	case 3:
		while (left) {
			MPI_Testany(nr, requests, &index, &flag, statuses);
			if (flag && index >= 0) {
				done(index);
				left--;
			}
		}
		return;
	case 4:
		for (; left; left -= got) {
			MPI_Testsome(nr, requests, &got, some, statuses);
			for (int i = 0; i < got; i++)
				done(some[i]);
		}
		return;
	case 5:
		do
			MPI_Testall(nr, requests, &flag, MPI_STATUSES_IGNORE);
		while (!flag);
		for (int i = 0; i < nr; i++)
			done(i);
		return;
	case 6:
		for (int i = nr - 1; i >= 0; i--) {
			MPI_Wait(&requests[i], i % 2 ? MPI_STATUS_IGNORE : statuses);
			done(i);
		}
		return;
	default:
		for (int i = 0; i < nr; i++) {
			do
				MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
			while (!flag);
			done(i);
		}
	}
}

/* How many messages go from one rank to another this round: all ranks know. */
static void draw(int n, int matrix[16][16])
{
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			matrix[i][j] = (int)any(MOST);
}

static void send_one(MPI_Comm comm, int to, int world, int tag, MPI_Request *request)
{
	struct message *m = compose(tag, (int)(random() % LENGTH));
	int nr = 3 + m->nr;

	switch (random() % 4) {
	case 0:
		MPI_Issend(m, nr, MPI_INT, to, tag, comm, request);
		break;
	case 1:
		MPI_Send_init(m, nr, MPI_INT, to, tag, comm, request);
		MPI_Start(request);
		break;
	default:
		MPI_Isend(m, nr, MPI_INT, to, tag, comm, request);
	}
	fprintf(out, "S %d %d %d\n", world, tag, (int)(nr * sizeof(int)));
	nr_sent++;
}

static void post_one(MPI_Comm comm, int from, int tag, int persistent)
{
	struct message *m = &in[nr_in];

	if (persistent)
		MPI_Recv_init(m, 3 + LENGTH, MPI_INT, from, tag, comm, &requests[nr_in]);
	else
		MPI_Irecv(m, 3 + LENGTH, MPI_INT, from, tag, comm, &requests[nr_in]);
	nr_in++;
}

/* Without blocking: everything is posted, and completed in one of the ways. */
static void round_requests(MPI_Comm comm, int round)
{
	int matrix[16][16], n, me, world[64], wild = (int)any(2), persistent = (int)any(2);
	int nr;

	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &me);
	members_of(comm, world);
	draw(n, matrix);
	nr_in = nr_sent = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < matrix[i][me]; k++)
			post_one(comm, wild ? MPI_ANY_SOURCE : i, wild ? MPI_ANY_TAG : round,
			         persistent);
	if (persistent && nr_in)
		MPI_Startall(nr_in, requests);
	for (int j = 0; j < n; j++)
		for (int k = 0; k < matrix[me][j]; k++)
			send_one(comm, j, world[j], round, &requests[nr_in + nr_sent]);
	nr = nr_in + nr_sent;
	complete((int)(random() % 8), nr);
	for (int i = 0; i < nr; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			MPI_Request_free(&requests[i]);
	MPI_Barrier(comm);
}

/* Blocking, around the ring of ranks. */
static void round_ring(MPI_Comm comm, int round)
{
	int n, me, world[64], way = (int)any(5), left, right, flag = 0;
	MPI_Message message;
	MPI_Status status;
	struct message *m;

	MPI_Comm_size(comm, &n);
	MPI_Comm_rank(comm, &me);
	members_of(comm, world);
	left = (me + n - 1) % n;
	right = (me + 1) % n;
	nr_in = nr_sent = 0;
	m = compose(round, (int)(random() % LENGTH));
	fprintf(out, "S %d %d %d\n", world[right], round, (int)((3 + m->nr) * sizeof(int)));
	if (way == 0) {
		MPI_Sendrecv(m, 3 + m->nr, MPI_INT, right, round, in, 3 + LENGTH, MPI_INT,
		             MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
		log_received(in);
		MPI_Barrier(comm);
		return;
	}
	MPI_Isend(m, 3 + m->nr, MPI_INT, right, round, comm, requests);
	if (way == 1) {
		MPI_Recv(in, 3 + LENGTH, MPI_INT, left, round, comm, MPI_STATUS_IGNORE);
	} else if (way == 2) {
		MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
		MPI_Recv(in, 3 + LENGTH, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
	} else if (way == 3) {
		MPI_Mprobe(MPI_ANY_SOURCE, round, comm, &message, &status);
		MPI_Mrecv(in, 3 + LENGTH, MPI_INT, &message, MPI_STATUS_IGNORE);
	} else {
		while (!flag)
			MPI_Improbe(left, round, comm, &flag, &message, &status);
		MPI_Imrecv(in, 3 + LENGTH, MPI_INT, &message, &requests[1]);
		MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
	}
	log_received(in);
	MPI_Wait(requests, MPI_STATUS_IGNORE);
	MPI_Barrier(comm);
}

static void round_cancel(MPI_Comm comm)
{
	MPI_Status status;
	MPI_Request request;
	int cancelled;

	MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 30000, comm, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &cancelled);
	if (cancelled)
		fprintf(out, "C\n");
	/* Nobody is no message. */
	MPI_Send(in, 1, MPI_INT, MPI_PROC_NULL, 0, comm);
	MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
	MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	char path[256];
	MPI_Comm comms[3];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	state = strtoul(argv[1], NULL, 10);
	srandom((unsigned)state + (unsigned)rank);
	snprintf(path, sizeof(path), "%s.%d", argv[3], rank);
	out = fopen(path, "w");
	comms[0] = MPI_COMM_WORLD;
	MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
	MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &comms[2]);
	for (int round = 0; round < atoi(argv[2]); round++) {
		MPI_Comm comm = comms[any(3)];
		unsigned way = any(10);

		if (way < 6)
			round_requests(comm, round);
		else if (way < 9)
			round_ring(comm, round);
		else
			round_cancel(comm);
	}
	MPI_Comm_free(&comms[1]);
	MPI_Comm_free(&comms[2]);
	fclose(out);
	MPI_Finalize();
	return 0;
}
