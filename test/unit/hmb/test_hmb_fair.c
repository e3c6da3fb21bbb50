#include "hmb/code.h"
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "random_bins.h"

/*
 * What is stored must stand for what was taken: whoever ran, however short, at whatever period. All
 * is seeded, so that a bound of five standard deviations either holds for ever or never.
 */

enum { MAX_TALLY = 4 };

static const uint64_t BASE = 97081; /* ns */

static struct hmb *make_buffer(size_t size, unsigned nr_kinds)
{
	struct hmb_config config = {
		.size = size, .nr_kinds = nr_kinds, .max_path = 20, .truncated_frame = 1};

	for (unsigned k = 0; k < nr_kinds; k++)
		config.kinds[k].time_shift = 6;
	return buffer_new(config);
}

/* A sample of somebody (its leaf) by a stream. */
static bool put(struct hmb *hmb, unsigned kind, struct stream *stream, uint64_t time, unsigned who)
{
	uint64_t path[6];
	struct hmb_sample sample = {
		.kind = kind,
		.level = stream_next(stream),
		.time = time,
		.thread = who,
		.leaf = who,
		.path = path,
		.path_size = 6,
	};

	for (unsigned i = 0; i < 6; i++)
		path[i] = 10 + i + rnd_below(3) * (i < 3);
	sample.step = (uint64_t)BASE << (sample.level + 1);
	return hmb_put(hmb, &sample);
}

struct tally {
	uint64_t nr[MAX_TALLY]; /* stored, by leaf */
	uint64_t quarter[4];    /* by time */
	uint64_t end;           /* of the run */
};

static void tally_list(struct tally *tally, const struct hmb *hmb, const struct bin_list *list)
{
	static struct code_cursor cursor;
	struct code_sample got;
	const struct bin *bin;

	for (uint32_t ref = list->first; ref != BIN_NONE; ref = bin->next) {
		bin = bin_at(&hmb->arena, ref);
		assert_int_equal(code_open(&cursor, bin, bin_size(bin), arena_nodes(&hmb->arena)),
		                 0);
		while (code_next(&cursor, &got) == 1) {
			tally->nr[got.leaf]++;
			tally->quarter[got.time * 4 / (tally->end + 1)]++;
		}
	}
}

static struct tally tally_kind(const struct hmb *hmb, unsigned kind, uint64_t end)
{
	struct tally tally = {.end = end};

	for (unsigned l = hmb_floor(hmb, kind); l < NR_LEVELS; l++) {
		tally_list(&tally, hmb, &hmb->kinds[kind].levels[l].sub_bins);
		tally_list(&tally, hmb, &hmb->kinds[kind].levels[l].bins);
	}
	return tally;
}

/* Samples of weight 2^floor against what is true, in standard deviations of their number. */
static void assert_fair(uint64_t stored, unsigned floor, uint64_t truth)
{
	double expected = (double)truth / (double)((uint64_t)1 << floor);

	assert_true(fabs((double)stored - expected) < 5 * sqrt(expected) + 1);
}

/* The kernel goes on at the old period; streams of 3 samples beside one that lives for ever. */
static void short_streams_keep_their_share(void **state)
{
	struct hmb *hmb = make_buffer(64 << 10, 1);
	struct stream longest = stream_start(7, 0, 0);
	enum { STREAMS = 100000 };
	struct tally tally;
	unsigned floor;

	(void)state;
	for (uint64_t i = 1; i <= STREAMS; i++) {
		struct stream brief = stream_start(7, i, 0);

		for (unsigned n = 0; n < 3; n++) {
			put(hmb, 0, &brief, (i * 3 + n) * BASE, 0);
			put(hmb, 0, &longest, (i * 3 + n) * BASE, 1);
		}
	}
	floor = hmb_floor(hmb, 0);
	tally = tally_kind(hmb, 0, 3 * BASE * (STREAMS + 1));
	assert_in_range(floor, 4, 8);
	assert_fair(tally.nr[0], floor, 3 * STREAMS);
	assert_in_range(tally.nr[1], (3 * STREAMS >> floor) - 1, (3 * STREAMS >> floor) + 1);
	buffer_free(hmb);
}

/*
 * The kernel follows: every process has streams of its own, sampled at the period of its time from
 * a random phase on. Processes of 3 and of 40 base periods keep the shares of their run times.
 */
static void processes_of_any_length_keep_their_share(void **state)
{
	static const unsigned lives[] = {3, 40};
	struct hmb *hmb = make_buffer(64 << 10, 1);
	uint64_t time = 0, lived[2] = {0};
	struct tally tally;
	unsigned floor;

	(void)state;
	for (uint64_t i = 0; i < 40000; i++) {
		unsigned who = i % 2, shift = hmb_floor(hmb, 0);
		struct stream stream = stream_start(11, i, shift);
		uint64_t period = (uint64_t)BASE << shift, end = time + (uint64_t)BASE * lives[who];

		for (uint64_t t = time + rnd_below(period); t < end; t += period)
			put(hmb, 0, &stream, t, who);
		lived[who] += lives[who];
		time = end;
	}
	floor = hmb_floor(hmb, 0);
	tally = tally_kind(hmb, 0, time);
	assert_in_range(floor, 4, 8);
	assert_fair(tally.nr[0], floor, lived[0]);
	assert_fair(tally.nr[1], floor, lived[1]);
	buffer_free(hmb);
}

static void assert_even(size_t budget, uint64_t periods, unsigned lag)
{
	struct hmb *hmb = make_buffer(budget, 1);
	struct stream stream = stream_start(5, lag, 0);
	uint64_t time = 0, late = 0;
	struct tally tally;

	while (time < (uint64_t)BASE * periods) {
		time += (uint64_t)BASE << stream.shift;
		put(hmb, 0, &stream, time, 0);
		if (stream.shift < hmb_floor(hmb, 0) && late++ >= lag) {
			stream_slow(&stream, hmb_floor(hmb, 0));
			late = 0;
		}
	}
	tally = tally_kind(hmb, 0, time);
	assert_true(hmb_floor(hmb, 0) >= 6);
	for (unsigned q = 0; q < 4; q++)
		assert_in_range(tally.quarter[q], tally.nr[0] / 4 - 2, tally.nr[0] / 4 + 2);
	assert_in_range(tally.nr[0], (periods >> hmb_floor(hmb, 0)) - 2,
	                (periods >> hmb_floor(hmb, 0)) + 2);
	buffer_free(hmb);
}

/* However late the kernel follows, what is stored is even over the whole run. */
static void the_whole_run_is_covered_evenly(void **state)
{
	(void)state;
	for (unsigned lag = 0; lag <= 5000; lag += 2500)
		assert_even(64 << 10, 1000000, lag);
	assert_even(1 << 20, 36000000, 5000); /* an hour at 10 kHz */
}

static void rare_events_stay_whole(void **state)
{
	struct hmb *hmb = make_buffer(256 << 10, 3);
	struct stream streams[] = {stream_start(1, 0, 0), stream_start(1, 1, 0),
	                           stream_start(1, 2, 0)};

	(void)state;
	for (uint64_t i = 1; i <= 1000000; i++) { /* 10,000 : 1,000 : 10 */
		put(hmb, 0, &streams[0], i * BASE, 0);
		if (i % 10 == 0)
			put(hmb, 1, &streams[1], i * BASE, 1);
		if (i % 1000 == 0)
			put(hmb, 2, &streams[2], i * BASE, 2);
	}
	assert_int_equal(hmb_floor(hmb, 2), 0);
	assert_int_equal(hmb_stored(hmb, 2), 1000);
	assert_true(hmb_floor(hmb, 0) > hmb_floor(hmb, 1));
	/* The two that are frequent share the rest like brothers. */
	assert_true(hmb->kinds[0].bytes < 3 * hmb->kinds[1].bytes);
	assert_true(hmb->kinds[1].bytes < 3 * hmb->kinds[0].bytes);
	buffer_free(hmb);
}

static void a_burst_thins_its_own_event_alone(void **state)
{
	struct hmb *hmb = make_buffer(256 << 10, 2);
	struct stream steady = stream_start(2, 0, 0), burst = stream_start(2, 1, 0);
	unsigned floor;

	(void)state;
	for (uint64_t i = 1; i <= 20000; i++) {
		put(hmb, 0, &steady, i * BASE, 0);
		for (unsigned n = 0; n < 100 && i / 1000 == 10; n++)
			put(hmb, 1, &burst, i * BASE + n * 900, 1);
		if (i == 10999)
			floor = hmb_floor(hmb, 1);
	}
	assert_int_equal(hmb_floor(hmb, 0), 0);
	assert_int_equal(hmb_stored(hmb, 0), 20000);
	assert_true(floor > 0);
	/* For good: an event that was thinned does not come back. */
	assert_true(hmb_floor(hmb, 1) >= floor);
	assert_int_equal(hmb->ledger->nr_reductions, hmb_floor(hmb, 1));
	buffer_free(hmb);
}

/* A clock that runs through seconds of events at some rate, a hundred times as often in bursts. */
struct source {
	struct stream stream;
	uint64_t interval; /* ns */
	uint64_t next;     /* ns */
	uint64_t late;     /* samples that come at the old period after a reduction */
	uint64_t taken;
};

/* In every seventh second a burst of 100 ms, each kind at its own time. */
static bool in_burst(unsigned kind, uint64_t time)
{
	uint64_t second = time / 1000000000, within = time % 1000000000 / 1000000;

	return second % 7 == kind && within / 100 == kind + 2;
}

static void source_step(struct hmb *hmb, struct source *source, unsigned kind)
{
	uint64_t interval = source->interval / (in_burst(kind, source->next) ? 100 : 1);

	put(hmb, kind, &source->stream, source->next, kind);
	source->taken++;
	if (source->stream.shift < hmb_floor(hmb, kind) && source->late++ >= 50) {
		stream_slow(&source->stream, hmb_floor(hmb, kind));
		source->late = 0;
	}
	source->next += interval << source->stream.shift;
}

/*
 * 10,000 : 1,000 : 10 a second, with bursts of them all, the kernel following late: the rare one
 * keeps every sample, and the frequent ones share what is left of the memory.
 */
static void bursts_leave_the_rare_alone(void **state)
{
	struct hmb *hmb = make_buffer(256 << 10, 3);
	struct source sources[] = {{stream_start(3, 0, 0), 100000},
	                           {stream_start(3, 1, 0), 1000000},
	                           {stream_start(3, 2, 0), 100000000}};
	uint64_t end = 60000000000;

	(void)state;
	for (;;) {
		unsigned kind = 0;

		for (unsigned k = 1; k < 3; k++)
			if (sources[k].next < sources[kind].next)
				kind = k;
		if (sources[kind].next >= end)
			break;
		source_step(hmb, &sources[kind], kind);
	}
	assert_int_equal(hmb_floor(hmb, 2), 0);
	assert_int_equal(hmb_stored(hmb, 2), sources[2].taken);
	assert_true(sources[2].taken > 600);
	assert_true(hmb_floor(hmb, 0) > hmb_floor(hmb, 1) && hmb_floor(hmb, 1) > 0);
	assert_true(hmb->kinds[0].bytes < 3 * hmb->kinds[1].bytes);
	assert_true(hmb->kinds[1].bytes < 3 * hmb->kinds[0].bytes);
	assert_int_equal(hmb_floor(hmb, 2), 0);
	buffer_free(hmb);
}

/* Where several events hold the same, the first one makes room. */
static void of_equals_the_first_is_thinned(void **state)
{
	struct hmb *hmb = make_buffer(64 << 10, 3);
	struct hmb_sample sample = {.step = BASE};

	(void)state;
	while (!hmb->ledger->nr_reductions) {
		uint64_t least = hmb->kinds[0].bytes;

		for (sample.kind = 0; sample.kind < 3 && !hmb->ledger->nr_reductions; sample.kind++)
			hmb_put(hmb, &sample);
		sample.time += BASE;
		if (hmb->ledger->nr_reductions)
			for (unsigned k = 1; k < 3; k++)
				assert_int_equal(hmb->kinds[k].bytes, least);
	}
	assert_true(hmb_floor(hmb, 0) > 0);
	buffer_free(hmb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_streams_keep_their_share),
		cmocka_unit_test(processes_of_any_length_keep_their_share),
		cmocka_unit_test(the_whole_run_is_covered_evenly),
		cmocka_unit_test(rare_events_stay_whole),
		cmocka_unit_test(a_burst_thins_its_own_event_alone),
		cmocka_unit_test(bursts_leave_the_rare_alone),
		cmocka_unit_test(of_equals_the_first_is_thinned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
