/*
 * Makes the traces of a parallel job that never ran, one of each rank, for the tests of what reads
 * them:
 *
 *     make_job FOLDER RANKS STEPS           writes FOLDER/job.RANK.atr
 *     make_job FOLDER RANKS STEPS nompi       samples alone, as without MPI, and all hosts give the
 *                                           same PIDs
 *     make_job FOLDER RANKS STEPS threads     two threads of each rank take turns, step by step,
 * and calls are stored as a recorder finds them: of some steps those of one thread, then those of
 * the other
 *
 * In every step a rank computes, exchanges messages with both neighbours in a ring, and takes part
 * in a sum. Two ranks share a host; every host's clock has an offset and a drift of its own, and
 * its real-time clock is wrong by milliseconds. As JSON on standard output: what was done.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hmb/call_code.h"
#include "trace/write/trace_write.h"
#include "symbolize/modules/module.h"
#include "random.h"
#include "trace_symbols.h"

enum { MAX_RANKS = 64, TIME_SHIFT = 4, SIZE = 0x100, NR_SAMPLED = 1, CALLS = 1, MAX_PARTS = 4 };
enum { HELD_STEPS = 8, MAX_HELD = 16 * HELD_STEPS };

#define MS         1000000ULL
#define PERIOD     (MS / 4)
#define LATENCY    3000ULL
#define TRUE_START (1000 * MS)

enum function { F_MAIN, F_STEP, F_COMPUTE, F_EXCHANGE, NR_FUNCTIONS };
enum mpi { M_INIT, M_IRECV, M_ISEND, M_WAITALL, M_ALLREDUCE, M_FINALIZE, NR_MPI };
enum region { R_STEP = NR_MPI, R_MARK, R_VALUE, NR_REGIONS };

static const char *const functions[] = {"main", "step", "compute", "exchange"};
static const char *const mpi[] = {"MPI_Init",    "MPI_Irecv",     "MPI_Isend",
                                  "MPI_Waitall", "MPI_Allreduce", "MPI_Finalize"};

/* A call of the thread that the recorder comes to last. */
struct held_call {
	struct call call;
	struct call_part parts[MAX_PARTS];
};

struct rank {
	char path[512];
	int number;
	struct tables *tables;
	struct hmb *hmb;
	uint64_t time;   /* true */
	uint64_t sample; /* true time of the next one */
	uint64_t n, request, step_start;
	int64_t offset;
	double drift;
	/* Indices are not the same in all traces. */
	uint32_t threads[2], thread, comm, first_region;
	uint16_t program; /* module; the next one is the library */
	struct held_call held[MAX_HELD];
	unsigned nr_held;
};

struct fake_job {
	struct rank ranks[MAX_RANKS];
	int nr;
	bool no_mpi, by_turns;
	uint64_t seed, posted[MAX_RANKS], sends;
};

static uint64_t rnd(struct fake_job *job, uint64_t below)
{
	return random_below(&job->seed, below);
}

static void die(const char *what)
{
	fprintf(stderr, "make_job: %s\n", what);
	exit(1);
}

/* What the rank's own clock shows at a true time. */
static uint64_t local(const struct rank *rank, uint64_t time)
{
	return time +
	       (uint64_t)(rank->offset + (int64_t)((double)(time - TRUE_START) * rank->drift));
}

/* --- describing ------------------------------------------------------------------------------- */

static void describe_regions(struct rank *rank)
{
	static const uint32_t classes[] = {TRACE_MPI_OTHER,          TRACE_MPI_POINT_TO_POINT,
	                                   TRACE_MPI_POINT_TO_POINT, TRACE_MPI_POINT_TO_POINT,
	                                   TRACE_MPI_COLLECTIVE,     TRACE_MPI_OTHER};
	static const char *const own[] = {"time step", "half way", "energy"};
	struct tables *t = rank->tables;

	rank->first_region = (uint32_t)rank->number % 2;
	if (rank->first_region)
		tables_add_region(t, &(struct trace_region){.name = tables_string(t, "unused"),
		                                            .region_class = TRACE_USER_REGION});
	for (unsigned i = 0; i < NR_MPI; i++)
		tables_add_region(t, &(struct trace_region){.name = tables_string(t, mpi[i]),
		                                            .region_class = classes[i]});
	for (unsigned i = 0; i < 3; i++)
		tables_add_region(t, &(struct trace_region){.name = tables_string(t, own[i]),
		                                            .region_class = TRACE_USER_REGION + i,
		                                            .file = tables_string(t, "job.c"),
		                                            .line = 10 + i});
}

static void describe_job(struct fake_job *job, struct rank *rank, const char *host)
{
	struct tables *t = rank->tables;
	uint32_t members[MAX_RANKS];

	for (int i = 0; i < job->nr; i++)
		members[i] = (uint32_t)i;
	describe_regions(rank);
	/* Each function of MPI is called at one place; that of the program's regions is unknown. */
	for (uint32_t i = 0; i < NR_MPI; i++)
		tables_add_site(
			t, &(struct trace_call_site){rank->program, F_EXCHANGE * SIZE + 0x40 + i});
	if (rank->number % 2)
		tables_add_comm(t,
		                &(struct trace_comm){.flags = TRACE_COMM_SELF,
		                                     .name = tables_string(t, "MPI_COMM_SELF"),
		                                     .nr_members = 1},
		                (const uint32_t *)&rank->number);
	rank->comm =
		tables_add_comm(t,
	                        &(struct trace_comm){.id = TRACE_COMM_WORLD_ID,
	                                             .name = tables_string(t, "MPI_COMM_WORLD"),
	                                             .nr_members = (uint32_t)job->nr},
	                        members);
	tables_add_process(t, &(struct trace_process){
				      .pid = 100 + rank->number,
				      .rank = rank->number,
				      .world_size = (uint32_t)job->nr,
				      .flags = TRACE_PROCESS_MPI | TRACE_PROCESS_FINALIZED,
				      .library = tables_string(t, "Open MPI v4.1.4"),
				      .host = tables_string(t, host),
			      });
	tables_add_instrument(t, &(struct trace_instrument){.event = CALLS,
	                                                    .share = tables_budget(t) / 2,
	                                                    .from = local(rank, TRUE_START)});
}

static void describe(struct fake_job *job, struct rank *rank)
{
	static const char *const modules[] = {"[unknown]", "/opt/unused", "/opt/job",
	                                      "/usr/lib/libmpi.so.40"};
	struct tables *t = rank->tables;
	struct trace_run *run = tables_run(t);
	struct trace_event *event = tables_add_event(t);
	char host[32];

	snprintf(host, sizeof(host), "node%d", rank->number / 2);
	run->flags = TRACE_RUN_CGROUP;
	run->stacks = TRACE_STACKS_DWARF;
	run->command = tables_string(t, "/opt/job");
	run->host = tables_string(t, host);
	run->version = tables_string(t, ADAPTRACE_VERSION);
	run->start = local(rank, TRUE_START);
	run->real_start = 1700000000000000000 + (uint64_t)(rank->number / 2) * 3 * MS;
	run->nr_cpus = 2;
	run->pid = 100 + (job->no_mpi ? rank->number % 2 : rank->number);
	run->budget = tables_budget(t);
	*event = (struct trace_event){.name = tables_string(t, "cpu-clock"), .base_period = PERIOD};
	rank->program = rank->number % 2 ? 2 : 1;
	for (uint16_t i = 0; i < rank->program + 2; i++) {
		struct trace_module *module = tables_module(t, i);

		module->path = tables_string(t, modules[i ? i + 2 - rank->program : 0]);
		module->type = i ? MODULE_FILE : MODULE_SPECIAL;
	}
	for (int i = 0; i <= job->by_turns; i++)
		rank->threads[i] = tables_add_thread(t, run->pid, run->pid + 1000 * i,
		                                     tables_string(t, "job"), run->start);
	rank->thread = rank->threads[0];
	tables_command(t, tables_string(t, "job"))->tasks = 1;
	if (job->no_mpi)
		return;
	event = tables_add_event(t);
	event->name = tables_string(t, "calls");
	event->unit = TRACE_CALLS;
	describe_job(job, rank, host);
}

static void rank_open(struct fake_job *job, struct rank *rank, const char *folder, int number)
{
	struct hmb_config config = {
		.size = 1 << 20, .nr_kinds = job->no_mpi ? 1 : 2, .max_path = 8};

	rank->number = number;
	rank->offset = (int64_t)(number / 2) * 7000 * (int64_t)MS;
	rank->drift = 20e-6 * (number / 2);
	rank->time = rank->sample = TRUE_START + (uint64_t)number * 1000;
	snprintf(rank->path, sizeof(rank->path), "%s/job.%d.atr", folder, number);
	rank->tables = tables_new(config.size, rank->path);
	if (!rank->tables)
		die("no memory for the tables");
	describe(job, rank);
	config.truncated_frame = 1;
	config.memory = tables_arena(rank->tables);
	config.ledger = tables_ledger(rank->tables);
	config.kinds[0].time_shift = 6;
	config.kinds[CALLS] = (struct hmb_kind_config){
		.content = HMB_CALLS, .time_shift = TIME_SHIFT, .share = config.size / 2};
	rank->hmb = hmb_new(&config);
	if (!rank->hmb)
		die("no memory for the buffer");
}

/* --- doing ------------------------------------------------------------------------------------ */

/* Until then the rank is in this function, or in this MPI call from there. */
static void spend(struct rank *rank, uint64_t until, enum function function, int call)
{
	uint64_t path[] = {0, frame_make(rank->program, F_STEP * SIZE + 0x20),
	                   frame_make(rank->program, 0x10)};
	struct hmb_sample sample = {.step = PERIOD, .thread = rank->thread, .path = path + 1};

	sample.path_size = 2;
	sample.leaf = frame_make(rank->program, function * SIZE + 0x40);
	if (call >= 0) {
		path[0] = sample.leaf;
		sample.leaf = frame_make(rank->program + 1, (uint32_t)call * SIZE + 0x80);
		sample.path = path;
		sample.path_size = 3;
	}
	for (; rank->sample < until; rank->sample += PERIOD) {
		sample.time = local(rank, rank->sample);
		sample.level = lambda(++rank->n);
		hmb_put(rank->hmb, &sample);
	}
	rank->time = until;
}

static void put_call(struct rank *rank, uint32_t region, uint64_t enter, uint32_t depth,
                     const struct call_part *parts, uint32_t nr_parts)
{
	struct call call = {
		.enter = local(rank, enter),
		.leave = local(rank, rank->time),
		.thread = rank->thread,
		.region = rank->first_region + region,
		.site = region < NR_MPI ? region + 1 : 0,
		.depth = depth,
		.parts = parts,
		.nr_parts = nr_parts,
	};

	if (rank->thread == rank->threads[0]) {
		hmb_put_call(rank->hmb, CALLS, 0, &call);
		return;
	}
	if (rank->nr_held == MAX_HELD)
		die("too many calls are held");
	rank->held[rank->nr_held].call = call;
	for (uint32_t i = 0; i < nr_parts; i++)
		rank->held[rank->nr_held].parts[i] = parts[i];
	rank->nr_held++;
}

static void put_held(struct rank *rank)
{
	for (unsigned i = 0; i < rank->nr_held; i++) {
		rank->held[i].call.parts = rank->held[i].parts;
		hmb_put_call(rank->hmb, CALLS, 0, &rank->held[i].call);
	}
	rank->nr_held = 0;
}

static void mpi_call(struct rank *rank, enum mpi number, uint64_t until,
                     const struct call_part *parts, uint32_t nr_parts)
{
	uint64_t enter = rank->time;

	spend(rank, until, F_EXCHANGE, (int)number);
	put_call(rank, number, enter, number != M_INIT && number != M_FINALIZE, parts, nr_parts);
}

static int neighbour(const struct fake_job *job, const struct rank *rank, int direction)
{
	return (rank->number + direction + job->nr) % job->nr;
}

static uint64_t message_size(uint64_t step, int from)
{
	return 1000 + step % 5 * 8 + (uint64_t)from;
}

/* Computes, and posts receives and sends; the first of two ranks computes for longer. */
static void first_half(struct fake_job *job, struct rank *rank, uint64_t step)
{
	struct call_part part = {.comm = rank->comm};

	if (job->by_turns)
		rank->thread = rank->threads[step % 2];
	rank->step_start = rank->time;
	spend(rank, rank->time + MS / 2 + rnd(job, MS / 2) + (rank->number % 2 ? 0 : MS / 2),
	      F_COMPUTE, -1);
	if (job->no_mpi)
		return;
	for (unsigned i = 0; i < 2; i++) {
		part = (struct call_part){.type = CALL_RECEIVE_POSTED, .request = ++rank->request};
		mpi_call(rank, M_IRECV, rank->time + 400, &part, 1);
	}
	for (int direction = -1; direction <= 1; direction += 2) {
		part = (struct call_part){.type = CALL_SEND_POSTED,
		                          .comm = rank->comm,
		                          .peer = neighbour(job, rank, direction),
		                          .tag = 10 + direction,
		                          .bytes = message_size(step, rank->number),
		                          .request = ++rank->request};
		job->posted[rank->number] = rank->time;
		job->sends++;
		mpi_call(rank, M_ISEND, rank->time + 700, &part, 1);
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Waits for both neighbours' messages. */
static void second_half(struct fake_job *job, struct rank *rank, uint64_t step)
{
	struct call_part parts[MAX_PARTS];
	uint64_t end = rank->time + 500;

	if (job->no_mpi)
		return;
	for (int i = 0; i < 2; i++) {
		int direction = 2 * i - 1, peer = neighbour(job, rank, direction);

		parts[i] = (struct call_part){.type = CALL_RECEIVE_DONE,
		                              .comm = rank->comm,
		                              .peer = peer,
		                              .tag = 10 - direction,
		                              .bytes = message_size(step, peer),
		                              .request = rank->request - 3 + (uint64_t)i};
		parts[2 + i] = (struct call_part){.type = CALL_SEND_DONE,
		                                  .request = rank->request - 1 + (uint64_t)i};
		end = later(end, job->posted[peer] + LATENCY + rnd(job, LATENCY));
	}
	mpi_call(rank, M_WAITALL, end, parts, MAX_PARTS);
}

static void put_regions(struct fake_job *job, struct rank *rank, uint64_t step, uint64_t steps)
{
	double energy = -100.5 + (double)step;
	struct call_part value = {.type = CALL_VALUE};

	memcpy(&value.bytes, &energy, sizeof(energy));
	if (job->no_mpi)
		return;
	put_call(rank, R_VALUE, rank->time, 1, &value, 1);
	if (step == steps / 2)
		put_call(rank, R_MARK, rank->time, 1, NULL, 0);
	put_call(rank, R_STEP, rank->step_start, 0, NULL, 0);
}

static void sum_up(struct fake_job *job, uint64_t step, uint64_t steps)
{
	uint64_t last = 0;

	for (int r = 0; r < job->nr; r++)
		last = later(last, job->ranks[r].time);
	for (int r = 0; r < job->nr; r++) {
		struct rank *rank = &job->ranks[r];
		struct call_part part = {.type = CALL_COLLECTIVE,
		                         .comm = rank->comm,
		                         .peer = CALL_NO_PEER,
		                         .bytes = 8,
		                         .bytes_in = 8};

		if (!job->no_mpi)
			mpi_call(rank, M_ALLREDUCE, last + LATENCY + rnd(job, LATENCY), &part, 1);
		put_regions(job, rank, step, steps);
	}
}

static void run(struct fake_job *job, uint64_t steps)
{
	for (int r = 0; r < job->nr && !job->no_mpi; r++)
		mpi_call(&job->ranks[r], M_INIT, job->ranks[r].time + 5 * MS, NULL, 0);
	for (uint64_t step = 0; step < steps; step++) {
		for (int r = 0; r < job->nr; r++)
			first_half(job, &job->ranks[r], step);
		for (int r = 0; r < job->nr; r++)
			second_half(job, &job->ranks[r], step);
		sum_up(job, step, steps);
		for (int r = 0; r < job->nr; r++)
			if ((step + 3U * (unsigned)r) % HELD_STEPS == 0 || step == steps - 1)
				put_held(&job->ranks[r]);
	}
	for (int r = 0; r < job->nr && !job->no_mpi; r++) {
		job->ranks[r].thread = job->ranks[r].threads[0];
		mpi_call(&job->ranks[r], M_FINALIZE, job->ranks[r].time + MS, NULL, 0);
	}
}

/* --- writing ---------------------------------------------------------------------------------- */

static void name_functions(const struct rank *rank)
{
	struct named_range ranges[NR_FUNCTIONS + NR_MPI];
	size_t nr = 0;

	for (uint32_t i = 0; i < NR_FUNCTIONS; i++)
		ranges[nr++] =
			(struct named_range){rank->program, i * SIZE, (i + 1) * SIZE, functions[i]};
	for (uint32_t i = 0; i < NR_MPI; i++)
		ranges[nr++] =
			(struct named_range){rank->program + 1, i * SIZE, (i + 1) * SIZE, mpi[i]};
	if (!name_ranges(rank->path, ranges, nr))
		die("cannot name its functions");
}

static void rank_close(struct fake_job *job, struct rank *rank)
{
	struct trace_instrument *instrument = tables_instrument(rank->tables, 0);

	tables_run(rank->tables)->end = local(rank, rank->time);
	if (instrument)
		instrument->to =
			hmb_floor(rank->hmb, CALLS) ? instrument->from : local(rank, rank->time);
	if (trace_write(rank->path, rank->tables, NULL, NULL, NULL))
		die("cannot write a trace");
	name_functions(rank);
	printf("%s{\"rank\": %d, \"calls\": %llu, \"stored\": %llu, \"samples\": %llu, "
	       "\"offset\": %lld, \"drift\": %g, \"end\": %llu}",
	       rank->number ? ",\n" : "", rank->number,
	       job->no_mpi ? 0 : (unsigned long long)rank->hmb->ledger->taken[CALLS],
	       job->no_mpi ? 0 : (unsigned long long)hmb_stored(rank->hmb, CALLS),
	       (unsigned long long)rank->hmb->ledger->taken[0], (long long)rank->offset,
	       rank->drift, (unsigned long long)rank->time);
	hmb_free(rank->hmb);
	tables_free(rank->tables);
}

int main(int argc, char **argv)
{
	static struct fake_job job = {.seed = 7};

	if (argc < 4)
		die("usage: make_job FOLDER RANKS STEPS [nompi|threads]");
	job.nr = atoi(argv[2]);
	job.no_mpi = argc > 4 && !strcmp(argv[4], "nompi");
	job.by_turns = argc > 4 && !strcmp(argv[4], "threads");
	if (job.nr < 1 || job.nr > MAX_RANKS)
		die("so many ranks are not possible");
	for (int r = 0; r < job.nr; r++)
		rank_open(&job, &job.ranks[r], argv[1], r);
	run(&job, strtoull(argv[3], NULL, 10));
	printf("{\"ranks\": [");
	for (int r = 0; r < job.nr; r++)
		rank_close(&job, &job.ranks[r]);
	printf("],\n\"sends\": %llu}\n", (unsigned long long)job.sends);
	return 0;
}
