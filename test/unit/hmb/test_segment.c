/* Streams of programs whose loops are known, and what is found of them. */
#include "cases.h"
#include "hmb/segment.h"
#include "random.h"

#include <stdlib.h>

enum { MOST_PHASES = 64, SEND = 1, RECEIVE, WAIT, REDUCE, RARE_REDUCE, OTHER, FIRST_FREE = 20 };

struct found {
	unsigned iterations, patterns, calls;
	uint64_t begin, end, first_ordinal, last_ordinal;
};

struct world {
	struct segmenter *segmenter;
	void *memory;
	uint64_t seed, nr;
	struct found phases[SEGMENT_LEVELS][MOST_PHASES];
	uint64_t last_end[SEGMENT_LEVELS];
	unsigned phase, nr_loose;            /* of the lowest level */
	unsigned rows[MOST_PHASES], nr_rows; /* of more than 32 iterations of the lowest level */
};

static void take(void *arg, const struct segment_iteration *iteration)
{
	struct world *world = arg;
	struct found *found = &world->phases[iteration->level][iteration->phase % MOST_PHASES];

	assert_true(iteration->begin < iteration->end && iteration->end <= world->nr);
	assert_true(iteration->begin >= world->last_end[iteration->level]);
	world->last_end[iteration->level] = iteration->end;
	if (!found->iterations++) {
		found->begin = iteration->begin;
		found->first_ordinal = iteration->ordinal;
	}
	found->end = iteration->end;
	found->last_ordinal = iteration->ordinal;
	found->patterns += iteration->is_new;
	found->calls += (unsigned)(iteration->end - iteration->begin);
	if (!iteration->level) {
		world->phase = iteration->phase;
		world->nr_loose += iteration->is_loose;
	}
	if (iteration->level || iteration->row < 32)
		return;
	world->nr_rows += iteration->row == 32;
	world->rows[(world->nr_rows - 1) % MOST_PHASES] = iteration->row;
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));

	world->memory = aligned_alloc(16, (segmenter_bytes() + 15) / 16 * 16);
	world->segmenter = segmenter_init(world->memory, false, take, world);
	world->seed = 7;
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	free(world->memory);
	free(world);
	return 0;
}

static unsigned any(struct world *world, unsigned below)
{
	return (unsigned)random_below(&world->seed, below);
}

static void put(struct world *world, unsigned event)
{
	world->nr++;
	segmenter_put(world->segmenter, (uint16_t)event, event == REDUCE || event == RARE_REDUCE);
}

static void put_row(struct world *world, unsigned first, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		put(world, first + i);
}

/* Calls of a program that starts. */
static void start(struct world *world)
{
	for (unsigned i = 0; i < 200; i++)
		put(world, 3000 + any(world, 100));
}

static const struct found *largest(const struct world *world, unsigned level)
{
	const struct found *found = &world->phases[level][0];

	for (unsigned i = 1; i < MOST_PHASES; i++)
		if (world->phases[level][i].iterations > found->iterations)
			found = &world->phases[level][i];
	return found;
}

/* The last iteration has no successor that would end it; a few at the beginning may be foreign. */
static void assert_found(const struct world *world, unsigned level, unsigned iterations,
                         unsigned calls)
{
	const struct found *found = largest(world, level);

	assert_in_range(found->iterations, iterations - 4, iterations + 4);
	assert_in_range(found->calls / found->iterations, calls * 99 / 100, calls * 101 / 100 + 1);
}

static void takes_little_memory(void **state)
{
	(void)state;
	assert_true(segmenter_bytes() <= 120 * 1024);
}

static void a_plain_loop(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 300; i++)
		put_row(world, FIRST_FREE, 37);
	assert_found(world, 0, 300, 37);
	/* Counted before it was found, too. */
	assert_int_equal(largest(world, 0)->last_ordinal - largest(world, 0)->first_ordinal + 1,
	                 largest(world, 0)->iterations);
	assert_int_equal(largest(world, 0)->first_ordinal, 1);
	assert_int_equal(largest(world, 1)->iterations, 0);
}

/* Any rotation of the loop gives iterations that begin at the collective. */
static void ranks_begin_at_the_collective(void **state)
{
	struct world *world = *state;

	for (unsigned i = 0; i < 8; i++)
		put(world, REDUCE);
	start(world);
	for (unsigned i = 0; i < 300; i++) {
		put_row(world, FIRST_FREE, 5 + any(world, 3));
		put(world, REDUCE);
		put(world, WAIT);
	}
	assert_in_range(largest(world, 0)->last_ordinal, 8 + 296, 8 + 300);
}

static void inner_loops_of_any_length(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 500; i++) {
		put_row(world, FIRST_FREE, 6);
		for (unsigned k = 5 + any(world, 20); k; k--)
			put_row(world, SEND, 4);
	}
	assert_in_range(largest(world, 1)->iterations, 496, 504);
	assert_true(largest(world, 1)->patterns <= 8);
	assert_true(segmenter_is_inner(world->segmenter, 0));
}

static void two_inner_loops(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 500; i++) {
		for (unsigned k = 12 + any(world, 20); k; k--)
			put_row(world, SEND, 3);
		for (unsigned k = 20 + any(world, 20); k; k--)
			put_row(world, FIRST_FREE, 2);
		put(world, REDUCE);
	}
	assert_in_range(largest(world, 1)->iterations, 490, 504);
	assert_true(segmenter_is_inner(world->segmenter, 0));
}

static void long_inner_loops_of_one_event(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 300; i++) {
		for (unsigned k = 0; k < 64; k++)
			put(world, k < 32 ? SEND : RECEIVE);
		put_row(world, WAIT, 3);
	}
	assert_true(largest(world, 1)->iterations >= 290 || largest(world, 0)->iterations >= 290);
}

static void phases_change(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 300; i++)
		put_row(world, FIRST_FREE, 7);
	start(world);
	for (unsigned i = 0; i < 300; i++)
		put_row(world, 100, 300);
	start(world);
	for (unsigned i = 0; i < 300; i++)
		put_row(world, FIRST_FREE, 7);
	/* A pause of 200 events ends no phase; a pattern of iterations that lasts does, for
	 * readers.
	 */
	assert_int_equal(world->nr_rows, 3);
	assert_in_range(world->rows[0], 298, 300);
	assert_in_range(world->rows[1], 296, 300);
	assert_in_range(world->rows[2], 298, 300);
}

/* The anchor of the second loop is loose until the first loop is known to be over. */
static void a_loop_takes_the_place_of_another(void **state)
{
	struct world *world = *state;

	for (unsigned i = 0; i < 300; i++)
		put_row(world, FIRST_FREE, 7);
	for (unsigned i = 0; i < 300; i++)
		put_row(world, 100, 30);
	assert_int_equal(world->phase, 2);
	assert_in_range(world->nr_loose, 20, 60);
	assert_in_range(world->phases[0][1].iterations - world->nr_loose, 299, 301);
	assert_in_range(world->phases[0][2].iterations + world->nr_loose, 298, 300);
}

static void foreign_events(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 1000; i++) {
		unsigned at = any(world, 20) ? 100 : any(world, 36);

		for (unsigned k = 0; k < 37; k++) {
			put(world, FIRST_FREE + k);
			if (k == at)
				put(world, OTHER);
		}
	}
	assert_found(world, 0, 1000, 37);
	assert_false(segmenter_is_inner(world->segmenter, 0));
}

/*
 * Every twelfth step asks with a collective of its own whether to exchange, and more often at
 * first: the first period that is found has both collectives.
 */
static void steps_of_which_some_have_another_collective(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 2000; i++) {
		put_row(world, FIRST_FREE, 6 + (i / 100 & 1) * 3);
		put(world, REDUCE);
		if ((i > 10 && i < 30) || i % 12 == 0)
			put(world, RARE_REDUCE);
		if (i % 12 == 0)
			put_row(world, 100, 4);
	}
	assert_in_range(largest(world, 0)->iterations, 1980, 2004);
	assert_false(segmenter_is_inner(world->segmenter, 0));
}

/* No event occurs once, and those that are chosen at first are missing from every twentieth step.
 */
static void steps_of_which_some_have_not_the_anchor(void **state)
{
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 2000; i++) {
		put_row(world, FIRST_FREE, 3);
		put_row(world, FIRST_FREE, 3);
		if (i % 20 == 19) {
			put_row(world, 100, 12);
		} else {
			put_row(world, SEND, 3);
			put_row(world, SEND, 3);
		}
	}
	assert_in_range(world->phases[0][1].iterations, 1990, 2004);
}

/* No event of the loop occurs once. */
static void anchors_of_several_events(void **state)
{
	static const uint16_t loop[] = {1, 2, 1, 3, 2, 3, 1, 2, 3, 1, 3, 2};
	struct world *world = *state;

	start(world);
	for (unsigned i = 0; i < 12 * 200; i++)
		put(world, loop[i % 12]);
	assert_found(world, 0, 200, 12);
}

static void long_periods(void **state)
{
	struct world *world = *state;

	for (unsigned i = 0; i < 40; i++)
		for (unsigned k = 0; k < 3500; k++)
			put(world, 1 + k);
	assert_in_range(largest(world, 0)->iterations, 20, 40);
	assert_int_equal(largest(world, 0)->calls, 3500 * largest(world, 0)->iterations);
}

static void nothing_in_random_events(void **state)
{
	struct world *world = *state;
	const unsigned symbols[] = {2, 3, 8, 64};

	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < 100000; k++)
			put(world, 1 + any(world, symbols[i]));
	for (unsigned i = 0; i < SEGMENT_LEVELS; i++)
		assert_int_equal(largest(world, i)->iterations, 0);
}

static void the_end_of_a_loop(void **state)
{
	struct world *world = *state;

	for (unsigned i = 0; i < 300; i++)
		put_row(world, FIRST_FREE, 37);
	for (unsigned i = 0; i < 100000; i++)
		put(world, 3000 + any(world, 100));
	assert_found(world, 0, 300, 37);
	assert_true(largest(world, 0)->end < 37 * 300 + 100);
}

/* --- events that are looked at later ---------------------------------------------------------- */

enum { STREAM = 150000 };

struct told {
	struct segment_iteration iterations[STREAM];
	unsigned when[STREAM], nr, now;
};

static void tell(void *arg, const struct segment_iteration *iteration)
{
	struct told *told = arg;

	assert_true(told->nr < STREAM);
	told->when[told->nr] = told->now;
	told->iterations[told->nr++] = *iteration;
}

/* A loop, in which some events are foreign, around another one or not, or no loop at all. */
static unsigned put_part(struct world *world, uint16_t *to, unsigned most)
{
	const unsigned periods[] = {1, 2, 3, 12, 60, 300, 900, 2500};
	unsigned period = periods[any(world, 8)], first = 20 + any(world, 100), nr = 0;
	unsigned most_inner = any(world, 2) * 9, times = 5 + any(world, 8000 / period + 5);

	for (; times && nr + period + most_inner * 3 + 1 < most; times--) {
		for (unsigned i = 0; i < period; i++)
			to[nr++] = (uint16_t)(first + i * 7 % 61);
		for (unsigned i = most_inner ? any(world, most_inner * 3) : 0; i; i--)
			to[nr++] = (uint16_t)(WAIT + i % 3);
		if (!any(world, 25))
			to[nr++] = (uint16_t)(3000 + any(world, 90));
	}
	for (unsigned i = any(world, 3) * 1000; i && nr < most; i--)
		to[nr++] = (uint16_t)(1 + any(world, 60));
	return nr;
}

static void put_stream(struct told *told, const uint16_t *events, bool pausing, bool at_once)
{
	void *memory = aligned_alloc(16, (segmenter_bytes() + 15) / 16 * 16);
	struct segmenter *segmenter = segmenter_init(memory, pausing, tell, told);
	struct segment_queue *queue = segmenter_queue(segmenter);

	told->nr = 0;
	for (told->now = 0; told->now < STREAM; told->now++) {
		if (at_once)
			queue->look = queue->nr;
		segmenter_put(segmenter, events[told->now], events[told->now] % 13 == 0);
	}
	free(memory);
}

static void assert_same(const struct told *told, const struct told *other)
{
	assert_true(told->nr > 1000);
	assert_int_equal(told->nr, other->nr);
	assert_memory_equal(told->when, other->when, told->nr * sizeof(*told->when));
	for (unsigned i = 0; i < told->nr; i++) {
		const struct segment_iteration *a = &told->iterations[i];
		const struct segment_iteration *b = &other->iterations[i];

		assert_true(a->begin == b->begin && a->end == b->end);
		assert_true(a->phase == b->phase && a->ordinal == b->ordinal && a->row == b->row);
		assert_true(a->level == b->level && a->pattern == b->pattern);
		assert_true(a->is_new == b->is_new && a->is_loose == b->is_loose);
	}
}

/* The same iterations are told at the same events if each event is looked at when it comes. */
static void no_look_is_missed(void **state)
{
	static uint16_t events[STREAM];
	struct told *eager = calloc(2, sizeof(*eager)), *told = eager + 1;

	for (unsigned stream = 0; stream < 8; stream++) {
		for (unsigned nr = 0; nr < STREAM;)
			nr += put_part(*state, events + nr, STREAM - nr);
		put_stream(eager, events, stream % 2, true);
		put_stream(told, events, stream % 2, false);
		assert_same(told, eager);
	}
	free(eager);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_little_memory),
		TEST(a_plain_loop),
		TEST(ranks_begin_at_the_collective),
		TEST(inner_loops_of_any_length),
		TEST(two_inner_loops),
		TEST(long_inner_loops_of_one_event),
		TEST(phases_change),
		TEST(a_loop_takes_the_place_of_another),
		TEST(foreign_events),
		TEST(steps_of_which_some_have_another_collective),
		TEST(steps_of_which_some_have_not_the_anchor),
		TEST(anchors_of_several_events),
		TEST(long_periods),
		TEST(nothing_in_random_events),
		TEST(the_end_of_a_loop),
		TEST(no_look_is_missed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
