/*
 * Partners of messages where iterations were dropped, against what the program did: the bytes of a
 * message are its number, so that the ends that are told must have the same numbers on both sides.
 */
#include "cases.h"
#include "trace_world.h"
#include "hmb/channel.h"
#include "trace/message_pairs.h"

enum { RANKS = 4, STEPS = 200, CALLS = NR_EVENTS, MOST = 1 << 12, CALL = 1000, SLOW = 100000000 };
enum { PAIRED = 7, LATE, TO_FIRST, AT_BEGIN, TAGS = 4, CHANNELS = RANKS * RANKS * TAGS };

/* A program: in each step some inner iterations of an exchange and a sum, then what is sent to 0.
 */
struct program {
	unsigned trips;    /* in each step; 0: any number */
	bool is_ahead;     /* messages are received in the next step */
	bool has_points;   /* iterations say how far the thread was */
	bool lost;         /* calls were lost */
	unsigned nr_ranks; /* that are in the trace */
};

struct ends {
	uint32_t ids[MOST];
	unsigned nr;
};

struct rank {
	uint64_t time, balance, sent, received, begin;
	uint32_t collectives, calls;
	bool stores, stored; /* the step, and the one before */
	bool is_slow;
	struct trace_iterations entry;
};

struct job {
	struct world w;
	struct program program;
	struct rank ranks[RANKS];
	uint32_t regions[3], comm;
	uint32_t next_id, on_way[RANKS];                /* to a rank's partner */
	unsigned nr_whole;                              /* messages of which both ends were put */
	struct ends sent[CHANNELS], received[CHANNELS]; /* that are told */
};

/* --- making it -------------------------------------------------------------------------------- */

static void job_open(struct job *job, const struct program *program)
{
	static const uint32_t members[RANKS] = {0, 1, 2, 3};
	struct tables *t;

	job->program = *program;
	world_make_tables(&job->w, 4 << 20);
	describe(&job->w);
	t = job->w.tables;
	*tables_add_event(t) =
		(struct trace_event){.name = tables_string(t, "calls"), .unit = TRACE_CALLS};
	for (uint32_t i = 0; i < 3; i++)
		job->regions[i] = tables_add_region(
			t, &(struct trace_region){.name = tables_string(t, "MPI_x"),
		                                  .region_class = TRACE_MPI_POINT_TO_POINT});
	job->comm = tables_add_comm(
		t, &(struct trace_comm){.id = TRACE_COMM_WORLD_ID, .nr_members = RANKS}, members);
	for (uint32_t i = 0; i < program->nr_ranks; i++) {
		uint32_t thread = tables_add_thread(t, 200 + (int)i, 200 + (int)i,
		                                    tables_string(t, "rank"), 0);

		assert_int_equal(thread, 6 + i);
		tables_add_process(t, &(struct trace_process){.pid = 200 + (int)i, .rank = (int)i});
		job->ranks[i].time = CALL;
	}
	tables_add_instrument(t, &(struct trace_instrument){.event = CALLS, .lost = program->lost});
	world_make_buffer(&job->w, (struct hmb_config){.nr_kinds = CALLS + 1,
	                                               .max_path = MAX_DEPTH,
	                                               .kinds[CALLS].content = HMB_CALLS});
}

static void put_part(struct job *job, unsigned number, struct call_part part)
{
	struct rank *rank = &job->ranks[number];
	struct call call = {.enter = rank->time,
	                    .leave = rank->time + CALL / 2,
	                    .thread = 6 + number,
	                    .region = job->regions[part.type == CALL_COLLECTIVE],
	                    .nr_parts = 1,
	                    .parts = &part};

	rank->time += CALL;
	rank->calls++;
	part.comm = job->comm;
	if (number >= job->program.nr_ranks)
		return;
	if (rank->stores) {
		assert_true(hmb_put_call(job->w.hmb, CALLS, 0, &call));
	} else {
		tables_ledger(job->w.tables)->taken[CALLS]++;
		tables_ledger(job->w.tables)->reduced[CALLS]++;
	}
}

static void send(struct job *job, unsigned from, unsigned to, int tag, uint32_t id)
{
	struct rank *rank = &job->ranks[from];

	put_part(job, from,
	         (struct call_part){
			 .type = CALL_SEND, .peer = (int32_t)to, .tag = tag, .bytes = id});
	rank->sent++;
	rank->balance += channel_hash(TRACE_COMM_WORLD_ID, from, to, tag);
}

static void receive(struct job *job, unsigned from, unsigned to, int tag, uint32_t id)
{
	struct rank *rank = &job->ranks[to];

	put_part(job, to,
	         (struct call_part){
			 .type = CALL_RECEIVE, .peer = (int32_t)from, .tag = tag, .bytes = id});
	rank->received++;
	rank->balance -= channel_hash(TRACE_COMM_WORLD_ID, from, to, tag);
}

static void add_message(struct job *job, unsigned from, unsigned to, int tag)
{
	uint32_t id = ++job->next_id;

	send(job, from, to, tag, id);
	receive(job, from, to, tag, id);
	job->nr_whole += job->ranks[from].stores && job->ranks[to].stores &&
	                 (from > to ? from : to) < job->program.nr_ranks;
}

/* Each message is received in the step after that in which it was sent. */
static void add_late_message(struct job *job, unsigned from, unsigned to, int tag)
{
	if (job->on_way[from])
		receive(job, from, to, tag, job->on_way[from]);
	job->on_way[from] = ++job->next_id;
	send(job, from, to, tag, job->on_way[from]);
}

static void add_sum(struct job *job)
{
	for (unsigned i = 0; i < RANKS; i++) {
		put_part(job, i, (struct call_part){.type = CALL_COLLECTIVE, .peer = -1});
		job->ranks[i].collectives++;
		if (job->ranks[i].is_slow)
			job->ranks[i].time += SLOW;
		job->ranks[i].is_slow = false;
	}
}

/* Rank 0 receives from any source: in another order each time. */
static void add_step(struct job *job)
{
	unsigned trips = job->program.trips ? job->program.trips : 1 + (unsigned)rnd(&job->w, 6);
	unsigned first = (unsigned)rnd(&job->w, RANKS - 1);

	for (unsigned i = 0; i < RANKS; i++)
		add_message(job, i, i ^ 1, AT_BEGIN);
	while (trips--) {
		add_sum(job);
		for (unsigned i = 0; i < RANKS; i++)
			add_message(job, i, i ^ 1, PAIRED);
	}
	for (unsigned i = 0; job->program.is_ahead && i < RANKS; i++)
		add_late_message(job, i, i ^ 2, LATE);
	for (unsigned i = 0; i < RANKS - 1; i++)
		add_message(job, 1 + (first + i) % (RANKS - 1), 0, TO_FIRST);
}

/* --- iterations ------------------------------------------------------------------------------- */

static bool is_slow(unsigned step, unsigned rank)
{
	return lambda_mix(step * RANKS + rank) % 32 == 0 || (step == STEPS - 2 && rank == 1);
}

/* Some steps are stored by all ranks, and slow ones by one of them, as the last one. */
static bool is_stored(unsigned step, unsigned rank)
{
	if (step == STEPS - 1)
		return rank == 0;
	return step < 10 || step % 16 == 0 || is_slow(step, rank);
}

/* The recorder begins an entry, too, where stored calls go on: it says how far the thread was. */
static bool needs_entry(const struct rank *rank)
{
	return !rank->entry.nr || rank->entry.nr == TRACE_ITERATIONS_NR ||
	       (rank->stores && !rank->stored);
}

static void begin_step(struct job *job, unsigned number, unsigned step)
{
	struct rank *rank = &job->ranks[number];
	bool has_points = job->program.has_points;

	rank->stored = rank->stores;
	rank->stores = is_stored(step, number);
	rank->is_slow = is_slow(step, number);
	rank->begin = rank->time;
	rank->calls = 0;
	if (!needs_entry(rank))
		return;
	if (rank->entry.nr && number < job->program.nr_ranks)
		tables_add_iterations(job->w.tables, &rank->entry);
	rank->entry = (struct trace_iterations){
		.begin = rank->begin,
		.thread = 6 + number,
		.phase = 1,
		.level = 1,
		.ordinal = 1 + step + 5 * number, /* each rank found the loop at another time */
		.collectives = has_points ? rank->collectives : TRACE_NO_POINT,
		.balance = rank->balance,
	};
}

static void end_step(struct rank *rank)
{
	struct trace_iterations *entry = &rank->entry;

	trace_iteration_set(entry, entry->nr++, rank->time - rank->begin,
	                    rank->stores ? TRACE_ITERATION_STORED : 0);
	entry->calls += rank->calls;
}

static void add_sums(struct job *job, unsigned number)
{
	const struct rank *rank = &job->ranks[number];

	tables_add_call_sum(job->w.tables, &(struct trace_call_sum){.thread = 6 + number,
	                                                            .region = job->regions[0],
	                                                            .peer = -1,
	                                                            .calls = rank->sent,
	                                                            .sent = rank->sent,
	                                                            .received = rank->received});
}

static struct trace *run(struct job *job)
{
	for (unsigned step = 0; step < STEPS; step++) {
		for (unsigned i = 0; i < RANKS; i++)
			begin_step(job, i, step);
		add_step(job);
		for (unsigned i = 0; i < RANKS; i++)
			end_step(&job->ranks[i]);
	}
	/* The program ends in a step. */
	for (unsigned i = 0; i < RANKS; i++)
		job->ranks[i].stores = true;
	add_step(job);
	for (unsigned i = 0; i < job->program.nr_ranks; i++) {
		tables_add_iterations(job->w.tables, &job->ranks[i].entry);
		add_sums(job, i);
	}
	return world_written(&job->w);
}

/* --- reading it ------------------------------------------------------------------------------- */

static void note_told(struct job *job, unsigned rank, const struct call_part *part)
{
	bool sends = part->type == CALL_SEND;
	unsigned peer = (unsigned)part->peer;
	unsigned channel = sends ? rank * RANKS + peer : peer * RANKS + rank;
	struct ends *ends = sends ? job->sent : job->received;

	ends += channel * TAGS + (unsigned)part->tag - PAIRED;

	assert_true(ends->nr < MOST);
	ends->ids[ends->nr++] = (uint32_t)part->bytes;
}

/* Returns the sum of all collectives that are told. */
static unsigned read_rank(struct job *job, const struct message_pairs *pairs,
                          const struct call_index *index, unsigned rank)
{
	struct message_reader *reader = message_reader_new(pairs, 0, 6 + rank);
	struct call_walk *walk = call_walk_thread(index, 6 + rank);
	struct trace_call call;
	unsigned collectives = 0;

	assert_non_null(reader);
	assert_non_null(walk);
	while (call_walk_next(walk, &call) == 1) {
		const bool *told = message_reader_next(reader, &call.call);

		assert_non_null(told);
		if (*told && call.call.parts[0].type == CALL_COLLECTIVE)
			collectives++;
		else if (*told)
			note_told(job, rank, &call.call.parts[0]);
	}
	call_walk_free(walk);
	message_reader_free(reader);
	return collectives;
}

/* Readers pair the ends that are told of each channel in their order. Returns their number. */
static unsigned check_pairs(const struct job *job)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < CHANNELS; i++) {
		assert_int_equal(job->sent[i].nr, job->received[i].nr);
		assert_memory_equal(job->sent[i].ids, job->received[i].ids,
		                    job->sent[i].nr * sizeof(uint32_t));
		nr += job->sent[i].nr;
	}
	return nr;
}

/* Returns the number of messages that have their partners, all of which are right. */
static unsigned paired(struct program program, unsigned *nr_whole)
{
	const struct scratch scratch = {.fd = -1};
	struct job *job = calloc(1, sizeof(*job));
	struct iteration_index iterations;
	struct message_pairs *pairs;
	struct call_index *index;
	struct trace *trace;
	unsigned nr, collectives = 0;

	job_open(job, &program);
	trace = run(job);
	index = call_index_new(trace, &scratch);
	assert_non_null(index);
	assert_int_equal(iteration_index_init(&iterations, trace), 0);
	assert_int_equal(message_pairs_new(&pairs, &(struct message_source){index, &iterations}, 1),
	                 0);
	for (unsigned i = 0; i < program.nr_ranks; i++)
		collectives += read_rank(job, pairs, index, i);
	assert_int_equal(collectives % RANKS, 0);
	nr = check_pairs(job);
	*nr_whole = job->nr_whole;
	message_pairs_free(pairs);
	iteration_index_fini(&iterations);
	call_index_free(index);
	trace_close(trace);
	world_close(&job->w);
	free(job);
	return nr;
}

/* Each pattern has as many messages as its stored iterations: all ends can be numbered. */
static void all_pairs_are_found_where_steps_are_alike(void **state)
{
	struct program program = {.trips = 3, .has_points = true, .nr_ranks = RANKS};
	unsigned nr_whole, nr = paired(program, &nr_whole);

	(void)state;
	assert_int_equal(nr, nr_whole);
	program.has_points = false;
	nr = paired(program, &nr_whole);
	assert_int_equal(nr, nr_whole);
	program.nr_ranks = RANKS - 1;
	nr = paired(program, &nr_whole);
	assert_int_equal(nr, nr_whole);
}

/* Then those of steps that all ranks have are found. */
static void steps_of_any_length_need_all_ranks(void **state)
{
	struct program program = {.has_points = true, .nr_ranks = RANKS};
	unsigned nr_whole, nr = paired(program, &nr_whole);

	(void)state;
	assert_true(nr > nr_whole / 2 && nr <= nr_whole);
	program.nr_ranks = RANKS - 1;
	assert_int_equal(paired(program, &nr_whole), 0);
}

/* Where it is not known how far threads were, the steps before the first dropped one remain. */
static void without_points_the_first_steps_remain(void **state)
{
	struct program program = {.nr_ranks = RANKS},
		       with = {.has_points = true, .nr_ranks = RANKS};
	unsigned nr_whole, nr = paired(program, &nr_whole), more = paired(with, &nr_whole);

	(void)state;
	assert_true(nr > 0 && nr < more / 2);
}

/* Collectives are passed by messages: only before the first of these are partners known. */
static void messages_on_their_way_hide_partners(void **state)
{
	struct program program = {.has_points = true, .is_ahead = true, .nr_ranks = RANKS};
	unsigned nr_whole, nr = paired(program, &nr_whole);

	(void)state;
	assert_true(nr < nr_whole / 10);
	program.trips = 2;
	nr = paired(program, &nr_whole);
	assert_true(nr >= nr_whole);
}

static void lost_calls_hide_partners(void **state)
{
	struct program program = {.has_points = true, .lost = true, .nr_ranks = RANKS};
	unsigned nr_whole;

	(void)state;
	assert_int_equal(paired(program, &nr_whole), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_pairs_are_found_where_steps_are_alike),
		cmocka_unit_test(steps_of_any_length_need_all_ranks),
		cmocka_unit_test(without_points_the_first_steps_remain),
		cmocka_unit_test(messages_on_their_way_hide_partners),
		cmocka_unit_test(lost_calls_hide_partners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
