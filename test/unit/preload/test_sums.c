#include "cases.h"
#include "ring_memory.h"

#include "preload/mpi_calls.h"
#include "preload/write.h"

/* Sums of calls in the memory of a recorder that is not there. */

static int setup(void **state)
{
	(void)state;
	ring_memory_map();
	assert_true(thread_start(&this_thread));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ring_memory_unmap();
	return 0;
}

/* Peers fill so many rows. */
#define MOST_OF_PEERS (RING_LARGE_SUMS / 8 * 6)

static struct visit visit_from(uint32_t region, uintptr_t site)
{
	thread_begin_record(&this_thread, region, 0, site);
	this_thread.idle = false;
	this_thread.weight = 1;
	return (struct visit){.thread = &this_thread};
}

static struct visit visit_of(uint32_t region)
{
	return visit_from(region, 0);
}

static void send_from(uintptr_t site, int32_t peer, uint64_t bytes, bool wanted, uint64_t enter,
                      uint64_t leave)
{
	struct visit visit = visit_from(CALL_Send, site);

	visit_message(&visit, CALL_SEND, 1, peer, 7, bytes);
	thread_write(&this_thread, wanted, enter, leave);
}

static void send_to(int32_t peer, uint64_t bytes, bool wanted, uint64_t enter, uint64_t leave)
{
	send_from(0, peer, bytes, wanted, enter, leave);
}

static const struct ring_sum *row_of(uint32_t region, int32_t peer)
{
	for (uint32_t i = 0; i < this_thread.ring->nr_sums; i++)
		if (this_thread.sums[i].region == region && this_thread.sums[i].peer == peer)
			return &this_thread.sums[i];
	return NULL;
}

/* The same whether a call is the first of its kind, a known one, or not wanted as a record. */
static void test_known_and_unknown(void **state)
{
	const struct ring_sum *row;
	uint64_t ticks = 1000;

	(void)state;
	for (int i = 0; i < 100; i++, ticks += 100)
		send_to(3, 8, i % 3, ticks, ticks + (i == 50 ? 90 : 10));
	row = row_of(CALL_Send, 3);
	assert_non_null(row);
	assert_int_equal(row->comm, 1);
	assert_int_equal(row->calls, 100);
	assert_int_equal(row->polls, 0);
	assert_int_equal(row->ticks, 99 * 10 + 90);
	assert_int_equal(row->longest, 90);
	assert_int_equal(row->moved[RING_SENT], 100);
	assert_int_equal(row->moved[RING_BYTES], 800);
	assert_int_equal(row->moved[RING_RECEIVED], 0);
	assert_int_equal(this_thread.ring->nr_sums, 2);
}

/* A full ring loses records, and no sums. */
static void test_lost_records(void **state)
{
	uint64_t nr = this_thread.mask + 100ULL, ticks = 1000;

	(void)state;
	for (uint64_t i = 0; i < nr; i++, ticks += 100)
		send_to(3, 8, true, ticks, ticks + 10);
	assert_true(this_thread.ring->lost > 0);
	assert_int_equal(row_of(CALL_Send, 3)->calls, nr);
	assert_int_equal(row_of(CALL_Send, 3)->ticks, nr * 10);
}

/* A call with messages to several peers counts once, and each message with its peer. */
static void test_several_peers(void **state)
{
	(void)state;
	for (int round = 0; round < 5; round++) {
		struct visit visit = visit_of(CALL_Waitall);

		for (int i = 0; i < 8; i++) {
			uint64_t *at = visit_part(&visit, CALL_RECEIVE_DONE, 1, i % 4);

			at[0] = 7;
			at[1] = 100;
			visit_request(&visit, CALL_RECEIVE_DONE, (uint64_t)(round * 8 + i));
		}
		thread_write(&this_thread, true, 1000, 1010);
	}
	assert_int_equal(row_of(CALL_Waitall, 0)->calls, 5);
	assert_int_equal(row_of(CALL_Waitall, 0)->ticks, 50);
	assert_int_equal(row_of(CALL_Waitall, 1)->calls, 0);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(row_of(CALL_Waitall, i)->moved[RING_RECEIVED], 10);
		assert_int_equal(row_of(CALL_Waitall, i)->moved[RING_BYTES_IN], 1000);
	}
}

/* Peers beyond three quarters of the rows share one. Regions still find rows, and nothing is
 * missing. */
static void test_many_peers(void **state)
{
	enum { PEERS = RING_LARGE_SUMS };
	uint64_t calls = 0, sent = 0;

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < PEERS; i++)
			send_to(i, 8, false, 1000, 1010);
	assert_int_equal(row_of(CALL_Send, 300)->moved[RING_SENT], 2);
	for (uint32_t i = 0; i < this_thread.ring->nr_sums; i++) {
		calls += this_thread.sums[i].calls;
		sent += this_thread.sums[i].moved[RING_SENT];
	}
	assert_int_equal(calls, 2 * PEERS);
	assert_int_equal(sent, 2 * PEERS);
	assert_int_equal(this_thread.ring->nr_sums, MOST_OF_PEERS + 1);
	assert_int_equal(row_of(CALL_Send, CALL_NO_PEER)->moved[RING_SENT],
	                 2 * (PEERS - MOST_OF_PEERS + 1));
	assert_null(row_of(CALL_Send, PEERS - 1));
	/* The rest is full as well. */
	for (uint32_t i = 0; i < RING_LARGE_SUMS; i++) {
		visit_of(RING_USER_REGIONS + i);
		thread_write(&this_thread, false, 1000, 1010);
	}
	assert_int_equal(this_thread.ring->nr_sums, RING_LARGE_SUMS);
	assert_int_equal(this_thread.sums[0].calls, MOST_OF_PEERS + 1);
}

static const struct ring_sum *row_from(uint32_t site, int32_t peer)
{
	for (uint32_t i = 0; i < this_thread.ring->nr_sums; i++)
		if (this_thread.sums[i].site == site && this_thread.sums[i].peer == peer)
			return &this_thread.sums[i];
	return NULL;
}

/* Calls from different places have rows of their own, whether they have a slot or not. */
static void test_sites(void **state)
{
	const uintptr_t here = 0x5000123, there = 0x5000456;
	uint32_t a, b;

	(void)state;
	for (int i = 0; i < 5; i++) {
		send_from(here, 1, 8, i % 2, 1000, 1010);
		send_from(there, 1, 8, false, 1000, 1010);
		send_from(here, 2, 8, true, 1000, 1010);
	}
	a = site_number(here);
	b = site_number(there);
	assert_true(a && b && a != b);
	assert_int_equal(row_from(a, 1)->calls, 5);
	assert_int_equal(row_from(b, 1)->calls, 5);
	assert_int_equal(row_from(a, 2)->calls, 5);
	assert_null(row_from(b, 2));
	assert_null(row_from(0, 1));
}

/* Where there is no room for rows of a peer and a site, first the site is left out. */
static void test_many_sites(void **state)
{
	enum { PEERS = 600, SITES = 8 };
	uint64_t calls = 0, sent = 0;

	(void)state;
	for (int i = 0; i < SITES * PEERS; i++)
		send_from(0x6000000 + (uintptr_t)(i % SITES), i / SITES, 8, false, 1000, 1010);
	for (uint32_t i = 0; i < this_thread.ring->nr_sums; i++) {
		calls += this_thread.sums[i].calls;
		sent += this_thread.sums[i].peer != CALL_NO_PEER
		                ? this_thread.sums[i].moved[RING_SENT]
		                : 0;
	}
	assert_int_equal(calls, SITES * PEERS);
	assert_int_equal(sent, SITES * PEERS);
	assert_int_equal(row_from(0, PEERS - 1)->calls, SITES);
}

static void test_polls(void **state)
{
	(void)state;
	for (int i = 0; i < 10; i++) {
		visit_of(CALL_Test);
		this_thread.idle = i % 5;
		thread_write(&this_thread, true, 1000, 1010);
	}
	assert_int_equal(row_of(CALL_Test, CALL_NO_PEER)->calls, 10);
	assert_int_equal(row_of(CALL_Test, CALL_NO_PEER)->polls, 8);
}

static void post_to(int32_t peer, uint64_t request, bool wanted, uint64_t ticks)
{
	struct visit visit = visit_of(CALL_Isend);
	uint64_t *at = visit_part(&visit, CALL_SEND_POSTED, 1, peer);

	at[0] = 7;
	at[1] = 8;
	visit_request(&visit, CALL_SEND_POSTED, request);
	thread_write(&this_thread, wanted, ticks, ticks + 10);
}

/* The recorder learns the requests of records that were left out before the next one. */
static void test_requests_of_records_left_out(void **state)
{
	const uint64_t *words = this_thread.words;
	uint64_t head, request;

	(void)state;
	for (request = 1; request < 10; request++)
		post_to(3, request, true, 1000 * request);
	assert_int_equal(this_thread.requests.posted, 9);
	head = this_thread.head;
	for (; request < 20; request++)
		post_to(3, request, false, 1000 * request);
	assert_int_equal(this_thread.head, head);
	post_to(3, request, true, 1000 * request);
	assert_int_equal(ring_head_record(words[head]), RING_REQUESTS);
	assert_int_equal(words[head + 1], 19);
	assert_int_equal(words[head + 2], 0);
	/* The call is still known. */
	assert_true(ring_is_short_again(words[head + 3]));
	assert_int_equal(this_thread.head, head + 4);
	assert_int_equal(row_of(CALL_Isend, 3)->calls, 20);
}

/* Records are wanted of calls that touch a moment of the floor or above. */
static void test_moments(void **state)
{
	const uint64_t moment = (uint64_t)1 << RING_MOMENT_SHIFT, margin = 200000;

	(void)state;
	assert_true(thread_wants_times(&this_thread, moment, moment + 1));
	process.shared->instants[1] = (struct ring_instant){1000, 4 * moment, 2};
	process.shared->instant = 1;
	process.shared->floor = 2;
	/* Ticks of 2 ns; moment 4 begins at tick 1000. */
	assert_true(thread_wants_times(&this_thread, 1000, 1010));
	assert_true(
		thread_wants_times(&this_thread, 1000 + moment / 2 - margin, 1000 + moment / 2));
	assert_false(thread_wants_times(&this_thread, 1000 + moment / 2 + margin,
	                                1000 + moment - margin));
	assert_true(thread_wants_times(&this_thread, 1000 - moment, 1000 + moment));
	assert_true(thread_wants_times(&this_thread, 1000 + 2 * moment, 1000 + 2 * moment));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_known_and_unknown),
		TEST(test_lost_records),
		TEST(test_several_peers),
		TEST(test_many_peers),
		TEST(test_sites),
		TEST(test_many_sites),
		TEST(test_polls),
		TEST(test_requests_of_records_left_out),
		TEST(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
