/*
 * iterate KIND STEPS [KIND STEPS ...]: steps of a simulation, as far as their MPI calls go, on two
 * ranks or more. Every rank prints what it did as a line of JSON for each kind: its steps, the time
 * that they took, the calls of an ordinary step (0: steps differ), which steps took long and a
 * moment in each of them, for each MPI function calls, bytes and time, and how many steps of `slow`
 * took more than eight times as long as most.
 *
 *     wavefront  planes of a grid, down and up, from neighbour to neighbour (NPB LU)
 *     cg         a sum over pairs of ranks, 25 times a step, and a reduction (NPB CG)
 *     adi        faces of six neighbours, then sweeps in three directions (NPB BT and SP)
 *     multigrid  exchanges on six levels, down and up (NPB MG)
 *     solver     5 to 24 inner iterations with a reduction each; sizes are never the same, and
 *                every 7th to 13th step begins with 11 other calls (molecular dynamics)
 *     farm       a master gives work in random order: there are no steps
 *     noise      adi with a foreign call in every 20th step, by chance
 *     change     7 calls a step, then 300, then 7 again
 *     slow       adi; one step in 500, by chance, takes ten times as long
 *     polls      messages that are polled for, any number of times
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	PLANES = 16,
	INNER = 25,
	LEVELS = 6,
	MOST_INTS = 4096,
	MOST_SLOW = 1024,
	MOST_REQUESTS = 16
};
#define WORK_NS 300 /* between two calls */

enum function {
	SEND,
	RECV,
	ISEND,
	IRECV,
	WAIT,
	WAITALL,
	TEST,
	ALLREDUCE,
	BCAST,
	BARRIER,
	SENDRECV,
	NR_FUNCTIONS
};
static const char *const names[NR_FUNCTIONS] = {
	"MPI_Send", "MPI_Recv",      "MPI_Isend", "MPI_Irecv",   "MPI_Wait",     "MPI_Waitall",
	"MPI_Test", "MPI_Allreduce", "MPI_Bcast", "MPI_Barrier", "MPI_Sendrecv",
};

struct sum {
	unsigned long calls, bytes, ns;
};

static struct sum sums[NR_FUNCTIONS];
static unsigned long in_step, of_step, slow_steps[MOST_SLOW], slow_times[MOST_SLOW];
static unsigned nr_slow, foreign;
static unsigned long steps;
static bool uneven;
static int rank, size, across,
	down; /* the grid of ranks: across * down, across is the longer side */
static int out[MOST_INTS], in[MOST_INTS];
static MPI_Request requests[MOST_REQUESTS];
static int nr_requests, tag_base;     /* each kind has its own tags */
static unsigned long common = 1, own; /* random numbers: equal on all ranks; of the rank */

static unsigned any(unsigned long *state, unsigned below)
{
	*state = *state * 6364136223846793005UL + 1442695040888963407UL;
	return (unsigned)(*state >> 33) % below;
}

static unsigned long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (unsigned long)ts.tv_sec * 1000000000UL + (unsigned long)ts.tv_nsec;
}

static void work(unsigned long ns)
{
	unsigned long end = now() + ns;

	while (now() < end)
		;
}

/* Makes a call and adds it to the sums. */
#define CALL(function, size_in_bytes, call)                             \
	do {                                                            \
		unsigned long began = now();                            \
		call;                                                   \
		sums[function].ns += now() - began;                     \
		sums[function].bytes += (unsigned long)(size_in_bytes); \
		sums[function].calls++;                                 \
		in_step++;                                              \
	} while (0)

static void post_send(int to, int tag, int nr)
{
	CALL(ISEND, nr * 4,
	     MPI_Isend(out, nr, MPI_INT, to, tag_base + tag, MPI_COMM_WORLD,
	               &requests[nr_requests]));
	nr_requests++;
}

static void post_receive(int from, int tag)
{
	CALL(IRECV, 0,
	     MPI_Irecv(in, MOST_INTS, MPI_INT, from, tag_base + tag, MPI_COMM_WORLD,
	               &requests[nr_requests]));
	nr_requests++;
}

static void wait_one(int index)
{
	CALL(WAIT, 0, MPI_Wait(&requests[index], MPI_STATUS_IGNORE));
}

static void wait_all(void)
{
	CALL(WAITALL, 0, MPI_Waitall(nr_requests, requests, MPI_STATUSES_IGNORE));
	nr_requests = 0;
}

static void send(int to, int tag, int nr)
{
	CALL(SEND, nr * 4, MPI_Send(out, nr, MPI_INT, to, tag_base + tag, MPI_COMM_WORLD));
}

static void receive(int from, int tag)
{
	CALL(RECV, 0,
	     MPI_Recv(in, MOST_INTS, MPI_INT, from, tag_base + tag, MPI_COMM_WORLD,
	              MPI_STATUS_IGNORE));
}

static void reduce(void)
{
	CALL(ALLREDUCE, 4, MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
}

/* Irecv, Send, Wait with one partner, who does the same. */
static void exchange(int partner, int tag, int nr)
{
	post_receive(partner, tag);
	send(partner, tag, nr);
	wait_one(0);
	nr_requests = 0;
	work(WORK_NS);
}

static void exchange_bits(int tag, int nr)
{
	for (int bit = 1; bit < size; bit *= 2)
		if ((rank ^ bit) < size)
			exchange(rank ^ bit, tag, nr);
}

static void wavefront(unsigned long step)
{
	int x = rank % across, y = rank / across;
	bool west = x > 0, east = x<across - 1, north = y> 0, south = y < down - 1;

	for (int turn = 0; turn < 2; turn++) {
		for (int plane = 0; plane < PLANES; plane++) {
			if (turn ? east : west)
				receive(turn ? rank + 1 : rank - 1, 1 + turn);
			if (turn ? south : north)
				receive(turn ? rank + across : rank - across, 1 + turn);
			work(WORK_NS);
			if (turn ? west : east)
				send(turn ? rank - 1 : rank + 1, 1 + turn, 20);
			if (turn ? north : south)
				send(turn ? rank - across : rank + across, 1 + turn, 20);
		}
	}
	if (east)
		exchange(rank + 1, 3, 500);
	if (west)
		exchange(rank - 1, 3, 500);
	if (step % 50 == 49)
		reduce();
}

/* Sizes tell in which inner iteration a message was sent. */
static void cg(unsigned long step)
{
	for (int i = 0; i < INNER; i++)
		exchange_bits(1, 1 + ((int)step * INNER + i) % 900);
	reduce();
}

static void shift(int by, int tag, int nr)
{
	post_send((rank + by) % size, tag, nr);
	post_receive((rank - by + size) % size, tag);
	wait_one(0);
	wait_one(1);
	nr_requests = 0;
	work(WORK_NS);
}

static void adi(unsigned long step)
{
	const int by[3] = {1, across, across + 1};

	(void)step;
	for (int i = 0; i < 3; i++) {
		post_receive((rank + by[i]) % size, 10 + i);
		post_receive((rank + size * 2 - by[i]) % size, 20 + i);
	}
	for (int i = 0; i < 3; i++) {
		post_send((rank + size * 2 - by[i]) % size, 10 + i, 200);
		post_send((rank + by[i]) % size, 20 + i, 200);
	}
	wait_all();
	for (int i = 0; i < 3; i++)
		for (int stage = 0; stage < 2 * (across - 1); stage++)
			shift(stage < across - 1 ? by[i] % size : (size * 2 - by[i]) % size, 30 + i,
			      50);
}

static void multigrid(unsigned long step)
{
	(void)step;
	for (int level = 0; level < 2 * LEVELS; level++)
		for (int i = 0; i < 3; i++)
			exchange_bits(i, 8 << (level < LEVELS ? LEVELS - level : level - LEVELS));
	reduce();
}

static void rebuild(void)
{
	for (int i = 0; i < 3; i++)
		exchange_bits(40 + i, 1 + (int)any(&common, 2000));
	CALL(BCAST, 8, MPI_Bcast(out, 2, MPI_INT, 0, MPI_COMM_WORLD));
	CALL(BARRIER, 0, MPI_Barrier(MPI_COMM_WORLD));
}

static void solver(unsigned long step)
{
	static unsigned long next = 7;

	uneven = true;
	if (step == next) {
		rebuild();
		next += 7 + any(&common, 7);
	}
	exchange_bits(1, 1 + (int)any(&common, 2000));
	for (unsigned i = 5 + any(&common, 20); i; i--) {
		exchange_bits(2, 1 + (int)any(&common, 2000));
		reduce();
	}
	exchange_bits(3, 1 + (int)any(&common, 2000));
}

/* Workers ask in the order in which they happen to be done. Some answers are in two parts. */
static void farm(unsigned long step)
{
	int two = (int)any(&own, 2), other = (int)any(&own, 3), worker;
	MPI_Status status;

	(void)step;
	uneven = true;
	if (rank) {
		work(any(&own, 20000));
		send(0, 1 + other, 1 + (int)any(&own, 100));
		CALL(RECV, 0,
		     MPI_Recv(in, MOST_INTS, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
		if (status.MPI_TAG == tag_base + 2)
			receive(0, 3);
		return;
	}
	for (worker = 1; worker < size; worker++) {
		CALL(RECV, 0,
		     MPI_Recv(in, MOST_INTS, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
		              &status));
		send(status.MPI_SOURCE, 1 + two, 10);
		if (two)
			send(status.MPI_SOURCE, 3, 10);
		two = (int)any(&own, 2);
	}
}

/* The foreign call is a message of a rank to itself. */
static void noise(unsigned long step)
{
	adi(step);
	if (any(&common, 20))
		return;
	CALL(SENDRECV, 4,
	     MPI_Sendrecv(out, 1, MPI_INT, rank, 99, in, 1, MPI_INT, rank, 99, MPI_COMM_WORLD,
	                  MPI_STATUS_IGNORE));
	foreign++;
	in_step--;
}

static void change(unsigned long step)
{
	bool middle = step >= steps / 3 && step < steps / 3 * 2;

	for (int i = 0; i < (middle ? 299 : 6); i++) {
		CALL(SENDRECV, 4,
		     MPI_Sendrecv(out, 1, MPI_INT, (rank + 1) % size, tag_base + i, in, 1, MPI_INT,
		                  (rank + size - 1) % size, tag_base + i, MPI_COMM_WORLD,
		                  MPI_STATUS_IGNORE));
	}
	reduce();
	uneven = true;
}

static unsigned long *durations; /* of the steps of slow() */

static int compare(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return (x > y) - (x < y);
}

/* Returns how many steps took more than eight times as long as every other one. */
static unsigned long count_outliers(void)
{
	unsigned long nr = 0;

	if (!durations)
		return 0;
	qsort(durations, steps, sizeof(*durations), compare);
	while (nr < steps && durations[steps - 1 - nr] > 8 * durations[steps / 2])
		nr++;
	free(durations);
	durations = NULL;
	return nr;
}

static void slow(unsigned long step)
{
	static unsigned long usual;
	unsigned long began = now(), start = began;

	if (!durations)
		durations = calloc(steps, sizeof(*durations));
	adi(step);
	if (step && !any(&common, 500)) {
		work(9 * (usual / step));
		if (nr_slow < MOST_SLOW) {
			slow_times[nr_slow] = now() - 1;
			slow_steps[nr_slow++] = step;
		}
		began = now() - usual / step;
	}
	usual += now() - began;
	durations[step] = now() - start;
}

static void polls(unsigned long step)
{
	int is_done = 0;

	(void)step;
	uneven = true;
	post_receive((rank + size - 1) % size, 1);
	work(any(&own, 10000));
	send((rank + 1) % size, 1, 10);
	while (!is_done)
		CALL(TEST, 0, MPI_Test(&requests[0], &is_done, MPI_STATUS_IGNORE));
	nr_requests = 0;
	reduce();
}

static const struct kind {
	const char *name;
	void (*step)(unsigned long step);
} kinds[] = {
	{"wavefront", wavefront}, {"cg", cg},       {"adi", adi},     {"multigrid", multigrid},
	{"solver", solver},       {"farm", farm},   {"noise", noise}, {"change", change},
	{"slow", slow},           {"polls", polls},
};

static const struct kind *find_kind(const char *name)
{
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* One line, written at once: ranks share their output. */
static void put_truth(const char *kind, unsigned long took)
{
	static char text[65536];
	int used = sprintf(text,
	                   "{\"kind\":\"%s\",\"rank\":%d,\"ranks\":%d,\"steps\":%lu,"
	                   "\"ns\":%lu,\"calls_per_step\":%lu,\"foreign\":%u,\"slow\":[",
	                   kind, rank, size, steps, took, uneven ? 0 : of_step, foreign);

	for (unsigned i = 0; i < nr_slow; i++)
		used += sprintf(text + used, "%s%lu", i ? "," : "", slow_steps[i]);
	used += sprintf(text + used, "],\"calls\":{");
	for (unsigned i = 0, any_before = 0; i < NR_FUNCTIONS; i++) {
		if (!sums[i].calls)
			continue;
		used += sprintf(text + used, "%s\"%s\":{\"calls\":%lu,\"bytes\":%lu,\"ns\":%lu}",
		                any_before ? "," : "", names[i], sums[i].calls, sums[i].bytes,
		                sums[i].ns);
		any_before = 1;
	}
	used += sprintf(text + used, "},\"slow_ns\":[");
	for (unsigned i = 0; i < nr_slow; i++)
		used += sprintf(text + used, "%s%lu", i ? "," : "", slow_times[i]);
	printf("%s],\"outliers\":%lu}\n", text, count_outliers());
	fflush(stdout);
}

/* The two sides whose product is the number of ranks and which differ least. */
static void make_grid(void)
{
	for (down = 1, across = size; (down + 1) * (down + 1) <= size; down++)
		;
	while (size % down)
		down--;
	across = size / down;
}

static void run(const struct kind *kind)
{
	unsigned long took;

	tag_base = 1000 * (int)(kind - kinds);
	memset(sums, 0, sizeof(sums));
	uneven = false;
	foreign = nr_slow = 0;
	CALL(BARRIER, 0, MPI_Barrier(MPI_COMM_WORLD));
	took = now();
	for (unsigned long step = 0; step < steps; step++) {
		in_step = 0;
		kind->step(step);
		if (!step)
			of_step = in_step;
	}
	CALL(BARRIER, 0, MPI_Barrier(MPI_COMM_WORLD));
	put_truth(kind->name, now() - took);
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc % 2 == 0) {
		fprintf(stderr, "usage: iterate KIND STEPS [KIND STEPS ...]\n");
		return 2;
	}
	for (int i = 1; i < argc; i += 2) {
		if (!find_kind(argv[i])) {
			fprintf(stderr, "iterate: no kind '%s'\n", argv[i]);
			return 2;
		}
	}
	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	own = (unsigned long)rank + 7;
	make_grid();
	for (int i = 1; i < argc; i += 2) {
		steps = strtoul(argv[i + 1], NULL, 10);
		run(find_kind(argv[i]));
	}
	MPI_Finalize();
	return 0;
}
