

#include "cases.h"
#include "record/session.h"

/* How much of the stack is copied from the start where it cannot become more later. */

enum { USUAL = 16384, LARGE = 32768, MOST = 65528, KIB = 1024, KHZ = 970793, KHZ10 = 97081 };

static struct record_config config;
static struct session session;

static int setup(void **state)
{
	(void)state;
	config = (struct record_config){
		.nr_events = 1, .events[0].unit = EVENT_NS, .stack.size = USUAL};
	session = (struct session){.config = &config, .sampling.way = SAMPLER_LADDER};
	return 0;
}

static uint32_t size_at(uint64_t period, size_t room)
{
	return stack_copy_size(&session, period, room);
}

/* While nobody empties a ring for 10 or 50 ms after it asked for that. */
static void copies_lose_no_samples(void **state)
{
	const uint64_t periods[] = {KHZ10, 2 * KHZ10, 4 * KHZ10, KHZ, 4 * KHZ};

	(void)state;
	for (unsigned i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		for (size_t room = 160 * KIB; room < 8192 * KIB; room += 96 * KIB) {
			uint32_t size = size_at(periods[i], room);
			double come = 1e6 / (double)periods[i];
			double fit = (double)room / (size + 300);

			assert_int_equal(size % 8, 0);
			assert_in_range(size, USUAL, MOST);
			if (size > USUAL)
				assert_true(fit >= 3 && fit >= 10 * come);
			if (size > LARGE)
				assert_true(fit >= 50 * come);
		}
	}
	/* of rings of 256 KiB, which an ordinary user always gets, and of 4 MiB */
	assert_int_equal(size_at(KHZ, 160 * KIB), USUAL);
	assert_in_range(size_at(2 * KHZ, 160 * KIB), 30 * KIB, LARGE);
	assert_int_equal(size_at(4 * KHZ, 160 * KIB), LARGE);
	assert_in_range(size_at(KHZ, 2048 * KIB), 38 * KIB, 41 * KIB);
	assert_int_equal(size_at(2 * KHZ, 2048 * KIB), MOST);
	assert_int_equal(size_at(KHZ10, 160 * KIB), USUAL);
	assert_in_range(size_at(KHZ10, 2048 * KIB), 19 * KIB, 20 * KIB);
	assert_int_equal(size_at(2 * KHZ10, 2048 * KIB), LARGE);
	/* however seldom they are */
	assert_in_range(size_at(1000000000, 160 * KIB), 50 * KIB, 53 * KIB);
}

/* As if all stacks were deep, and beside what a sample costs anyway. */
static void copies_cost_no_more_than_allowed(void **state)
{
	uint32_t size;

	(void)state;
	config.max_overhead = 0.05;
	session.guard.price = 4000;
	size = size_at(KHZ10, 65536 * KIB);
	assert_in_range(size, USUAL + 5 * KIB, USUAL + 6 * KIB);
	assert_int_equal(size_at(KHZ, 8192 * KIB), MOST);
	session.guard.price = 4900;
	assert_int_equal(size_at(KHZ10, 65536 * KIB), USUAL);
	config.max_overhead = 0;
	assert_int_equal(size_at(KHZ10, 65536 * KIB), MOST);
}

static void events_share_the_ring(void **state)
{
	uint32_t alone = size_at(2 * KHZ10, 2048 * KIB);

	(void)state;
	config.nr_events = 2;
	config.events[1].unit = EVENT_NS;
	assert_int_equal(size_at(4 * KHZ10, 2048 * KIB), alone);
	assert_true(size_at(2 * KHZ10, 2048 * KIB) < alone);
	/* of which nobody knows how often it occurs */
	config.events[1].unit = EVENT_COUNT;
	assert_int_equal(size_at(KHZ, 8192 * KIB), USUAL);
}

static void what_can_grow_or_was_said_stays(void **state)
{
	(void)state;
	session.sampling.way = SAMPLER_CGROUP;
	assert_int_equal(size_at(KHZ, 8192 * KIB), USUAL);
	session.sampling.nr_counters = 1;
	assert_int_equal(size_at(KHZ, 8192 * KIB), MOST);
	config.stack.fixed = true;
	assert_int_equal(size_at(KHZ, 8192 * KIB), USUAL);
}

/* Copies that grow do so to the largest, where the ring then holds 10 ms of samples. */
static void rings_have_room_for_copies_that_grow(void **state)
{
	const size_t usual = 4096 * KIB, most = 65536 * KIB;

	(void)state;
	session.sampling.way = SAMPLER_CGROUP;
	config.stack.mode = TRACE_STACKS_DWARF;
	config.period = KHZ10;
	assert_int_equal(stack_copy_ring(&session, usual, most), 2 * usual);
	assert_int_equal(stack_copy_ring(&session, usual, 2 * usual), 2 * usual);
	assert_int_equal(stack_copy_ring(&session, usual, 2 * usual - 1), usual);
	session.sampling.shift[0] = 1;
	assert_int_equal(stack_copy_ring(&session, usual, most), usual);
	session.sampling.shift[0] = 0;
	config.nr_events = 2;
	config.events[1].unit = EVENT_NS;
	assert_int_equal(stack_copy_ring(&session, usual, most), 4 * usual);
	config.events[1].unit = EVENT_COUNT;
	assert_int_equal(stack_copy_ring(&session, usual, most), usual);
	config.nr_events = 1;
	config.stack.fixed = true;
	assert_int_equal(stack_copy_ring(&session, usual, most), usual);
	config.stack.fixed = false;
	session.sampling.way = SAMPLER_LADDER;
	assert_int_equal(stack_copy_ring(&session, usual, most), usual);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(copies_lose_no_samples, setup),
		cmocka_unit_test_setup(copies_cost_no_more_than_allowed, setup),
		cmocka_unit_test_setup(events_share_the_ring, setup),
		cmocka_unit_test_setup(what_can_grow_or_was_said_stays, setup),
		cmocka_unit_test_setup(rings_have_room_for_copies_that_grow, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
