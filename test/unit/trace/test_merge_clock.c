/* Clocks of hosts that exchange messages: how far they are brought together. */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map64.h"
#include "trace/merge/merge_clock.h"
#include "random_bins.h"

#define SECOND 1000000000ULL

enum { NR_HOSTS = 4, LATENCY = 2000 };

/* What a host's clock shows at a true time: its own start, a drift, and a temperature that changes.
 */
static uint64_t shown(unsigned host, uint64_t time, double wave)
{
	double seconds = (double)time / 1e9;

	return time + (host + 1) * 12345 * SECOND +
	       (uint64_t)(int64_t)(seconds * 20000 * (host % 2 ? 1 : -1) * host +
	                           wave * host * sin(seconds / 40));
}

static void clocks_begin(struct clocks *clocks, uint64_t length, double wave)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	*clocks = (struct clocks){0};
	for (unsigned h = 0; h < NR_HOSTS; h++) /* real times are wrong by milliseconds */
		assert_int_equal(clocks_host(clocks, names[h], shown(h, 0, wave),
		                             1700 * SECOND + h * 3000000),
		                 h);
	for (unsigned h = 0; h < NR_HOSTS; h++)
		clocks_span(clocks, h, shown(h, 0, wave), shown(h, length, wave));
}

/* Neighbours send to each other now and then, mostly much slower than they could. */
static void exchange(struct clocks *clocks, uint64_t length, double wave)
{
	for (uint64_t time = 0; time < length; time += rnd_below(length / 5000)) {
		unsigned a = (unsigned)rnd_below(NR_HOSTS - 1), b = a + 1;
		uint64_t delay = LATENCY + (rnd_below(4) ? rnd_below(1000000) : rnd_below(500));

		if (rnd_below(2)) {
			a = b;
			b = a - 1;
		}
		assert_int_equal(
			clocks_bound(clocks, a, clocks_guess(clocks, a, shown(a, time, wave)), b,
		                     clocks_guess(clocks, b, shown(b, time + delay, wave))),
			0);
	}
}

/* The largest distance from the first host's clock; times never go back. */
static double worst(const struct clocks *clocks, uint64_t length, double wave)
{
	double most = 0;

	for (unsigned h = 0; h < NR_HOSTS; h++) {
		uint64_t last = 0;

		for (uint64_t time = 0; time <= length; time += length / 997) {
			uint64_t got = clocks_time(clocks, h, shown(h, time, wave));

			assert_true(got >= last);
			last = got;
			most = fmax(most, fabs((double)(int64_t)(got - shown(0, time, wave))));
		}
	}
	return most;
}

static double solve(uint64_t length, double wave)
{
	struct clocks clocks;
	double most;

	clocks_begin(&clocks, length, wave);
	exchange(&clocks, length, wave);
	assert_int_equal(clocks_solve(&clocks), 0);
	for (unsigned h = 1; h < NR_HOSTS; h++)
		assert_true(clocks.hosts[h].placed && clocks.hosts[h].error < 100000);
	most = worst(&clocks, length, wave);
	clocks_fini(&clocks);
	return most;
}

/* Three hops, each within half of what a message takes at least, and a little. */
static void test_short(void **state)
{
	(void)state;
	assert_true(solve(SECOND / 10, 0) < 3 * LATENCY);
}

static void test_drift(void **state)
{
	(void)state;
	assert_true(solve(1000 * SECOND, 0) < 3 * LATENCY);
}

/* Several lines follow a wave of hundreds of microseconds, which one line could not. */
static void test_uneven(void **state)
{
	double most = solve(1000 * SECOND, 100000);

	(void)state;
	print_message("uneven clocks: %.1f us apart at most\n", most / 1000);
	assert_true(most < 25000);
}

/* Without messages there is the real time, which is wrong by milliseconds, and said to be so. */
static void test_guess(void **state)
{
	struct clocks clocks;

	(void)state;
	clocks_begin(&clocks, SECOND, 0);
	assert_int_equal(clocks_solve(&clocks), 0);
	assert_int_equal(clocks.hosts[0].error, 0);
	assert_true(clocks.hosts[1].error == CLOCK_NO_ERROR);
	assert_true(worst(&clocks, SECOND, 0) < 10000000);
	clocks_fini(&clocks);
}

/* One direction alone says nothing. */
static void test_one_way(void **state)
{
	struct clocks clocks;

	(void)state;
	clocks_begin(&clocks, SECOND, 0);
	for (uint64_t time = 0; time < SECOND; time += SECOND / 100)
		clocks_bound(&clocks, 0, clocks_guess(&clocks, 0, shown(0, time, 0)), 1,
		             clocks_guess(&clocks, 1, shown(1, time + LATENCY, 0)));
	assert_int_equal(clocks_solve(&clocks), 0);
	assert_true(clocks.hosts[1].error == CLOCK_NO_ERROR);
	clocks_fini(&clocks);
}

/* Clocks that all are right, of which nobody knows. */
static void begin_many(struct clocks *clocks, char names[][16], uint32_t nr)
{
	*clocks = (struct clocks){0};
	for (uint32_t h = 0; h < nr; h++) {
		snprintf(names[h], sizeof(names[h]), "%u", h);
		clocks_host(clocks, names[h], SECOND, SECOND);
	}
	for (uint32_t h = 0; h < nr; h++)
		clocks_span(clocks, h, SECOND, 2 * SECOND);
}

static void tell(struct clocks *clocks, uint32_t a, uint32_t b, uint64_t delay)
{
	for (uint64_t time = SECOND; time < 2 * SECOND; time += SECOND / 50) {
		assert_int_equal(clocks_bound(clocks, a, time, b, time + delay), 0);
		assert_int_equal(clocks_bound(clocks, b, time, a, time + delay), 0);
	}
}

/* What is told of times before the run or after it counts as its first and last moments. */
static void test_beyond(void **state)
{
	static char names[2][16];
	struct clocks clocks;

	(void)state;
	for (unsigned turned = 0; turned < 2; turned++) {
		begin_many(&clocks, names, 2);
		for (unsigned a = 0; a < 2; a++) {
			uint64_t time = a == turned ? 5 * SECOND : SECOND / 2;

			assert_int_equal(clocks_bound(&clocks, a, time, !a, time + LATENCY), 0);
		}
		assert_int_equal(clocks_solve(&clocks), 0);
		assert_int_equal(clocks.hosts[1].error, LATENCY + 1);
		assert_int_equal(clocks_time(&clocks, 1, SECOND), SECOND);
		clocks_fini(&clocks);
	}
}

/* Many short hops in a row are worse than a long one. */
static void test_far(void **state)
{
	enum { NR = 100 };
	static char names[NR][16];
	struct clocks clocks;

	(void)state;
	begin_many(&clocks, names, NR);
	for (uint32_t h = 1; h < NR; h++) {
		tell(&clocks, h - 1, h, LATENCY);
		tell(&clocks, 0, h, 5 * LATENCY);
	}
	assert_int_equal(clocks_solve(&clocks), 0);
	for (uint32_t h = 1; h < NR; h++)
		assert_in_range(clocks.hosts[h].error, 1, 5 * LATENCY + 2);
	clocks_fini(&clocks);
}

/* Messages of pairs by which no host was placed do not arrive before they were sent, either. */
static void test_all_pairs(void **state)
{
	enum { NR = 60 };
	static char names[NR][16];
	struct clocks clocks;

	(void)state;
	begin_many(&clocks, names, NR);
	for (uint32_t h = 1; h < NR; h++) {
		for (uint64_t time = SECOND; time < 2 * SECOND; time += SECOND / 50) {
			/* What lies between the two is in the middle for nobody. */
			clocks_bound(&clocks, 0, time, h, time + h % 3 * 5 * LATENCY + LATENCY);
			clocks_bound(&clocks, h, time, 0, time + h % 4 * 5 * LATENCY + LATENCY);
		}
		tell(&clocks, h - 1, h, LATENCY);
	}
	assert_int_equal(clocks_solve(&clocks), 0);
	for (uint32_t h = 1; h < NR; h++) {
		assert_in_range(clocks.hosts[h].error, 1, 20 * LATENCY);
		for (uint64_t time = SECOND; time < 2 * SECOND; time += SECOND / 50) {
			assert_true(clocks_time(&clocks, h, time + LATENCY) + 10 >=
			            clocks_time(&clocks, h - 1, time));
			assert_true(clocks_time(&clocks, h - 1, time + LATENCY) + 10 >=
			            clocks_time(&clocks, h, time));
		}
	}
	clocks_fini(&clocks);
}

/* Where all hosts talk to all, and where groups of them do. */
static void test_many_pairs(void **state)
{
	enum { NR = 120, GROUP = 40 };
	static char names[NR][16];

	(void)state;
	for (unsigned group = GROUP; group <= NR; group += NR - GROUP) {
		struct clocks clocks;

		begin_many(&clocks, names, NR);
		for (uint32_t a = 0; a < NR; a++)
			for (uint32_t b = a + 1; b < NR; b++)
				if (a / group == b / group)
					tell(&clocks, a, b, LATENCY);
		for (uint32_t a = group - 1; a + 1 < NR; a += group)
			tell(&clocks, a, a + 1, LATENCY);
		assert_in_range(clocks.nr_bounds, NR - 1, NR * 17);
		assert_int_equal(clocks_solve(&clocks), 0);
		for (uint32_t h = 1; h < NR; h++)
			assert_in_range(clocks.hosts[h].error, 1, 6 * (LATENCY + 1));
		clocks_fini(&clocks);
	}
}

/* A host that was booted again between two runs has two clocks. */
static void test_hosts(void **state)
{
	struct clocks clocks = {0};

	(void)state;
	assert_int_equal(clocks_host(&clocks, "a", 5 * SECOND, 1000 * SECOND), 0);
	assert_int_equal(clocks_host(&clocks, "a", 7 * SECOND, 1002 * SECOND + 1000), 0);
	assert_int_equal(clocks_host(&clocks, "a", 5 * SECOND, 2000 * SECOND), 1);
	assert_int_equal(clocks_host(&clocks, "b", 5 * SECOND, 1000 * SECOND), 2);
	/* As far apart as numbers go. */
	assert_int_equal(clocks_host(&clocks, "c", 0, INT64_MAX), 3);
	assert_int_equal(clocks_host(&clocks, "c", 1ULL << 62, 0), 4);
	clocks_fini(&clocks);
}

/* What hashing keeps is what an array would. */
static void test_map(void **state)
{
	enum { KEYS = 2000 };
	struct map64 map = {0};
	uint32_t *kept = calloc(KEYS, sizeof(*kept));

	(void)state;
	for (unsigned n = 0; n < 200000; n++) {
		uint64_t key = rnd_below(KEYS);

		if (rnd_below(2)) {
			map64_remove(&map, key << 20);
			kept[key] = 0;
		} else if (!kept[key]) {
			assert_int_equal(map64_add(&map, key << 20, (uint32_t)key), 0);
			kept[key] = 1;
		}
		key = rnd_below(KEYS);
		assert_int_equal(map64_get(&map, key << 20),
		                 kept[key] ? (uint32_t)key : UINT32_MAX);
	}
	map64_fini(&map);
	free(kept);
}

/* The run is from the first to the last moment of all hosts. */
static void a_run_spans_all_hosts(void **state)
{
	static const uint64_t spans[][2] = {{300, 500}, {200, 400}, {250, 700}, {260, 600}};
	struct clocks clocks = {0};

	(void)state;
	assert_int_equal(clocks_host(&clocks, "a", 100, 1700 * SECOND), 0);
	for (unsigned i = 0; i < 4; i++)
		clocks_span(&clocks, 0, spans[i][0], spans[i][1]);
	assert_int_equal(clocks.start, 200);
	assert_int_equal(clocks.end, 700);
	clocks_fini(&clocks);
	/* One that is over at once has a length, by which is divided. */
	assert_int_equal(clocks_host(&clocks, "a", 100, 1700 * SECOND), 0);
	clocks_span(&clocks, 0, 300, 300);
	assert_int_equal(clocks.start, 300);
	assert_int_equal(clocks.end, 301);
	clocks_fini(&clocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beyond),     cmocka_unit_test(a_run_spans_all_hosts),
		cmocka_unit_test(test_short),      cmocka_unit_test(test_drift),
		cmocka_unit_test(test_uneven),     cmocka_unit_test(test_guess),
		cmocka_unit_test(test_one_way),    cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_far),        cmocka_unit_test(test_all_pairs),
		cmocka_unit_test(test_many_pairs), cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
