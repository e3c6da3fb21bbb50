#include "cases.h"
#include "ring_memory.h"

#include <math.h>
#include <stdlib.h>

#include "hmb/lambda.h"
#include "output/views/call_times.h"
#include "preload/mpi_calls.h"
#include "preload/write.h"

/*
 * Calls of which only some are timed. Times are those of a made-up program; a real clock is not
 * read.
 */

static int setup(void **state)
{
	(void)state;
	ring_memory_map();
	assert_true(thread_start(&this_thread));
	/* Ticks are ns. */
	process.shared->instants[1] = (struct ring_instant){0, 0, 1};
	process.shared->instant = 1;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ring_memory_unmap();
	return 0;
}

/* No moment of all calls. */
static void thin_by(unsigned shift)
{
	this_thread.ring->thin = ring_thin(shift, NR_LEVELS);
}

/* A call as visit_enter() and visit_leave() make it. Returns its weight. */
static uint32_t send_to(int32_t peer, uint64_t bytes, uint64_t enter, uint64_t duration)
{
	struct thread *thread = &this_thread;
	struct visit visit = {.thread = thread};
	bool wanted;

	thread->weight = thread_weigh(thread, CALL_Send);
	wanted = thread->weight && thread_wants_times(thread, enter, enter + duration);
	thread->idle = false;
	thread_begin_record(thread, CALL_Send, 0, 0);
	visit_message(&visit, CALL_SEND, 1, peer, 7, bytes);
	thread_write(thread, wanted, enter, enter + duration);
	return thread->weight;
}

static const struct ring_sum *row_of(uint32_t region, int32_t peer)
{
	for (uint32_t i = 0; i < this_thread.ring->nr_sums; i++)
		if (this_thread.sums[i].region == region && this_thread.sums[i].peer == peer)
			return &this_thread.sums[i];
	return NULL;
}

/* Adds up the rows as the recorder and a report do. */
static struct call_time time_of_sends(void)
{
	struct call_times times = {0};
	struct call_time time;

	for (uint32_t i = 0; i < this_thread.ring->nr_sums; i++) {
		const struct ring_sum *row = &this_thread.sums[i];
		const struct trace_call_sum sum = {
			.region = row->region,
			.calls = row->calls,
			.time = row->ticks,
			.untimed = row->untimed,
			.extra = row->extra,
			.extra_time = row->extra_ticks,
			.extra_squares = row->extra_squares,
		};

		if (row->region == CALL_Send)
			assert_int_equal(call_times_add(&times, call_times_key(&sum), &sum), 0);
	}
	assert_int_equal(times.nr, 1);
	time = times.of[0];
	call_times_fini(&times);
	return time;
}

/* Numbers, bytes and partners have every call. */
static void test_counts(void **state)
{
	enum { CALLS = 100000, PEERS = 7 };
	uint64_t timed = 0, calls = 0, bytes[PEERS] = {0}, sent[PEERS] = {0};

	(void)state;
	thin_by(5);
	for (int i = 0; i < CALLS; i++) {
		int peer = i % 10 % PEERS;
		uint64_t size = (uint64_t)(i % 13) * 8;

		timed += send_to(peer, size, 1000ULL * (unsigned)i, 10) > 0;
		bytes[peer] += size;
		sent[peer]++;
	}
	for (int peer = 0; peer < PEERS; peer++) {
		const struct ring_sum *row = row_of(CALL_Send, peer);

		assert_int_equal(row->calls, sent[peer]);
		assert_int_equal(row->moved[RING_SENT], sent[peer]);
		assert_int_equal(row->moved[RING_BYTES], bytes[peer]);
		assert_int_equal(row->longest, 10);
		calls += row->calls;
	}
	assert_int_equal(calls, CALLS);
	assert_int_equal(this_thread.ring->calls, CALLS);
	assert_int_equal(this_thread.ring->untimed, CALLS - timed);
	assert_in_range(timed, CALLS / 32, CALLS / 32 + 300);
	/* Of a call that always takes as long, the time is exact. */
	assert_int_equal(call_time(&(struct call_time[]){time_of_sends()}[0]), 10 * CALLS);
}

/* Calls that are rare keep exact times, and without thinning all do. */
static void test_exact(void **state)
{
	struct call_time time;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (unsigned i = 0; i < (round ? THIN_ALL : 5000); i++)
			assert_int_equal(send_to(3, 8, 1000ULL * i, i), 1);
		time = time_of_sends();
		assert_false(call_time_thinned(&time));
		assert_true(call_time_variance(&time) == 0);
		thin_by(10);
	}
}

static double uniform(void)
{
	return (drand48() + 1e-9) / (1 + 1e-9);
}

/*
 * A program's loop of eight calls to two peers: most are short, one waits, and one of 300 meets
 * something long.
 */
static uint64_t duration_of(unsigned i)
{
	double ns = i % 8 == 5 ? 20000 * uniform() : 300 * exp(0.5 * sqrt(-2 * log(uniform())));

	return (uint64_t)(lrand48() % 300 ? ns : ns + 30000);
}

/* Programs repeat themselves. Whether thinning changes meanwhile must not matter. */
static bool is_covered(unsigned calls)
{
	struct call_time time;
	uint64_t truth = 0, now = 0;
	double error;

	thin_by(0);
	for (unsigned i = 0; i < calls; i++) {
		uint64_t duration = duration_of(i);

		if (i % (calls / 8) == calls / 16)
			thin_by((unsigned)lrand48() % 7);
		send_to((int32_t)(i % 8 / 5), 8, now, duration);
		truth += duration;
		now += duration + 500;
	}
	time = time_of_sends();
	error = CALL_ERROR_DEVIATIONS * sqrt(call_time_variance(&time));
	return fabs((double)call_time(&time) - (double)truth) <= error;
}

static void test_errors_cover(void **state)
{
	const unsigned runs = ROUNDS(400);
	unsigned covered = 0;

	srand48(20);
	for (unsigned i = 0; i < runs; i++) {
		teardown(state);
		setup(state);
		this_thread.random = (uint32_t)mrand48() | 1;
		covered += is_covered(20000);
	}
	print_message("95 %% errors cover the time in %u of %u runs\n", covered, runs);
	assert_true(covered >= 0.93 * runs);
}

/* A moment that is wanted is seen at the first timed call in it; then all calls are recorded. */
static void test_moments(void **state)
{
	const uint64_t moment = (uint64_t)1 << RING_MOMENT_SHIFT;
	uint64_t recorded = 0, in_moment = 0, timed_outside = 0, outside = 0, head = 0;

	(void)state;
	this_thread.ring->thin = ring_thin(4, 3);
	for (uint64_t now = moment + moment / 2; now < 41 * moment; now += 500) {
		bool timed = send_to(3, 8, now, 100);
		bool inside = (now >> RING_MOMENT_SHIFT) % 8 == 0;
		uint64_t at = now % moment;

		if (inside && at > 200000 && at < moment - 200000) {
			in_moment++;
			recorded += timed && this_thread.head > head;
		} else if (!inside && at > 200000 && at < moment - 200000) {
			/* The first calls are all timed. */
			outside += now > 8 * moment;
			timed_outside += timed && now > 8 * moment;
			assert_true(this_thread.head == head);
		}
		this_thread.ring->tail = head = this_thread.head;
	}
	assert_int_equal(recorded, in_moment);
	assert_in_range(timed_outside, outside / 16 * 9 / 10, outside / 16 * 11 / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_counts),
		TEST(test_exact),
		TEST(test_errors_cover),
		TEST(test_moments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
