/* What calls of two ranks on two hosts tell of the hosts' clocks: nothing that is not certain. */
#include "trace_world.h"

#include "trace/merge/merge_match.h"

#include <malloc.h>

enum { BARRIER, ALLREDUCE, MPI_SEND, MPI_RECV, IBARRIER, START, NR_REGIONS };
enum { MANY_HOSTS = 300 };

static const char *const regions[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Send",
                                      "MPI_Recv",    "MPI_Ibarrier",  "MPI_Start"};

struct pair {
	struct world world;
	struct trace *trace;
	struct clocks clocks;
	char *names[MANY_HOSTS];
	struct matcher *matcher;
};

/* As many ranks, each on a host of its own. */
static int job_open(void **state, uint32_t nr)
{
	static uint32_t host_of_rank[MANY_HOSTS];
	struct pair *p = calloc(1, sizeof(*p));
	struct tables *t;
	char name[16];

	world_open(&p->world, 64 << 10);
	t = p->world.tables;
	for (unsigned i = 0; i < NR_REGIONS; i++)
		tables_add_region(t, &(struct trace_region){.name = tables_string(t, regions[i])});
	tables_add_comm(t, &(struct trace_comm){.id = TRACE_COMM_WORLD_ID, .nr_members = nr}, NULL);
	tables_add_comm(t,
	                &(struct trace_comm){.id = 7, .flags = TRACE_COMM_INTER, .nr_members = nr},
	                NULL);
	tables_add_comm(t, &(struct trace_comm){.id = 8, .nr_members = nr + 1}, NULL);
	p->trace = world_written(&p->world);
	for (uint32_t host = 0; host < nr; host++) {
		snprintf(name, sizeof(name), "%u", host);
		p->names[host] = strdup(name);
		host_of_rank[host] = host;
		clocks_host(&p->clocks, p->names[host], 1000, 1000);
	}
	for (uint32_t host = 0; host < nr; host++)
		clocks_span(&p->clocks, host, 1000, 1000000);
	p->matcher = matcher_new(&p->clocks, host_of_rank, nr);
	assert_non_null(p->matcher);
	*state = p;
	return 0;
}

static int pair_open(void **state)
{
	return job_open(state, 2);
}

static int many_open(void **state)
{
	return job_open(state, MANY_HOSTS);
}

static int pair_close(void **state)
{
	struct pair *p = *state;

	matcher_free(p->matcher);
	clocks_fini(&p->clocks);
	for (unsigned host = 0; host < MANY_HOSTS; host++)
		free(p->names[host]);
	trace_close(p->trace);
	world_close(&p->world);
	free(p);
	return 0;
}

static void call(struct pair *p, int32_t rank, uint32_t region, uint64_t enter, uint64_t leave,
                 struct call_part part)
{
	struct call call = {
		.region = region, .enter = enter, .leave = leave, .parts = &part, .nr_parts = 1};

	assert_int_equal(matcher_call(p->matcher, p->trace, rank, &call), 0);
}

/* Rank 1 enters when rank 0 has left. */
static bool collective_tells(struct pair *p, uint32_t region, uint64_t sent, uint64_t received)
{
	struct call_part part = {
		.type = CALL_COLLECTIVE, .peer = CALL_NO_PEER, .bytes = sent, .bytes_in = received};
	uint32_t before = p->clocks.nr_bounds;

	call(p, 0, region, 2000, 3000, part);
	call(p, 1, region, 4000, 5000, part);
	return p->clocks.nr_bounds > before;
}

/* Libraries return at once from a sum of no numbers, as benchmarks ask for. */
static void nobody_waits_for_nothing(void **state)
{
	assert_false(collective_tells(*state, ALLREDUCE, 0, 0));
	assert_true(collective_tells(*state, ALLREDUCE, 8, 8));
}

/* Of which each has its number, whatever else one of them did. */
static void all_wait_at_a_barrier(void **state)
{
	call(*state, 0, MPI_SEND, 1500, 1600, (struct call_part){.type = CALL_SEND_DONE});
	assert_true(collective_tells(*state, BARRIER, 0, 0));
}

/* Where requests are not told, the call that begins a collective has its bytes. */
static void nobody_waits_where_one_begins(void **state)
{
	struct call_part part = {.type = CALL_COLLECTIVE, .peer = CALL_NO_PEER};

	assert_false(collective_tells(*state, IBARRIER, 0, 0));
	call(*state, 0, START, 5500, 5600, part);
	assert_true(collective_tells(*state, BARRIER, 0, 0));
}

/* Of a rank without a trace, and of two groups that meet, nobody knows who waits. */
static void strangers_tell_nothing(void **state)
{
	struct call_part barrier = {.type = CALL_COLLECTIVE, .peer = CALL_NO_PEER};
	struct pair *p = *state;

	for (int32_t rank = -1; rank <= 1 << 20; rank += 1 << 20)
		for (unsigned i = 0; i < 2; i++)
			call(p, rank, BARRIER, 2000, 3000, barrier);
	for (int send = 1; send >= 0; send--)
		call(p, send ? 0 : 2, send ? MPI_SEND : MPI_RECV, 2000, 3000,
		     (struct call_part){.type = send ? CALL_SEND : CALL_RECEIVE,
		                        .comm = 2,
		                        .peer = send ? 2 : 0});
	barrier.comm = 1;
	for (int32_t rank = 0; rank < 2; rank++)
		call(p, rank, BARRIER, 2000, 3000, barrier);
	assert_int_equal(p->clocks.nr_bounds, 0);
	assert_true(collective_tells(p, BARRIER, 0, 0));
}

/* In whatever order they come, each is known against the first. */
static void all_hosts_meet(void **state)
{
	struct call_part part = {.type = CALL_COLLECTIVE, .peer = CALL_NO_PEER};
	struct pair *p = *state;

	for (uint32_t turn = 0; turn < 4; turn++)
		for (uint32_t i = 0; i < MANY_HOSTS; i++) {
			uint32_t rank = (i * 7 + turn * 41) % MANY_HOSTS;

			call(p, (int32_t)rank, BARRIER, 2000 + turn * 1000 + i,
			     2500 + turn * 1000 + i, part);
		}
	assert_int_equal(p->clocks.nr_bounds, MANY_HOSTS - 1);
	assert_int_equal(clocks_solve(&p->clocks), 0);
	for (uint32_t host = 1; host < MANY_HOSTS; host++)
		assert_true(p->clocks.hosts[host].error < 1000);
}

static void message_end(struct pair *p, int tag, int32_t from, bool send, uint64_t time)
{
	int32_t rank = send ? from : 1 - from;
	struct call_part part = {
		.type = send ? CALL_SEND : CALL_RECEIVE, .peer = 1 - rank, .tag = tag};

	call(p, rank, send ? MPI_SEND : MPI_RECV, time, time, part);
}

/* A send that found no room would leave its receive to the next send, which came later. */
static void messages_without_room_find_no_wrong_ends(void **state)
{
	enum { MANY = 1 << 20 };
	struct pair *p = *state;

	for (unsigned i = 0; i < MANY; i++)
		message_end(p, 1, 0, true, 2000);
	message_end(p, 2, 0, true, 2000);
	for (unsigned i = 0; i < MANY; i++)
		message_end(p, 1, 0, false, 3000);
	message_end(p, 2, 0, false, 3000);
	message_end(p, 2, 0, true, 900000);
	assert_int_equal(p->clocks.nr_bounds, 1);
	assert_int_equal(clocks_bound(&p->clocks, 1, 2000, 0, 3000), 0);
	assert_int_equal(clocks_solve(&p->clocks), 0);
	assert_in_range(p->clocks.hosts[1].error, 1000, 1001);
}

/* Programs may give every message a tag of its own, and one rank's trace may end early. */
static void memory_does_not_grow_with_what_is_alone(void **state)
{
	enum { MANY = 1 << 20 };
	struct call_part barrier = {.type = CALL_COLLECTIVE, .peer = CALL_NO_PEER};
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;

	for (unsigned i = 0; i < MANY; i++)
		call(*state, 0, BARRIER, 2000, 3000, barrier);
	for (unsigned i = 0; i < MANY; i++)
		for (int send = 1; send >= 0; send--)
			message_end(*state, (int)i, 0, send, send ? 2000 : 3000);
	assert_true(mallinfo2().uordblks + mallinfo2().hblkhd < before + (4 << 20));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_waits_for_nothing, pair_open, pair_close),
		cmocka_unit_test_setup_teardown(all_wait_at_a_barrier, pair_open, pair_close),
		cmocka_unit_test_setup_teardown(nobody_waits_where_one_begins, pair_open,
	                                        pair_close),
		cmocka_unit_test_setup_teardown(strangers_tell_nothing, pair_open, pair_close),
		cmocka_unit_test_setup_teardown(all_hosts_meet, many_open, pair_close),
		cmocka_unit_test_setup_teardown(messages_without_room_find_no_wrong_ends, pair_open,
	                                        pair_close),
		cmocka_unit_test_setup_teardown(memory_does_not_grow_with_what_is_alone, pair_open,
	                                        pair_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
