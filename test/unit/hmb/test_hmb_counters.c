#include "hmb/code.h"
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "counter_series.h"

/*
 * What counters are for: between any two samples of a stream that are left, what was counted is
 * known, whatever was thinned out between them. Everything that was ever put is kept beside the
 * buffer to compare with. All is seeded.
 */

enum { NR_STREAMS = 4, MAX_SAMPLES = 400000, MOST_SHIFT = 12 };

static const uint64_t PERIOD = 97081;

struct kept {
	uint64_t time;
	uint64_t totals[COUNTER_MAX];
};

struct world {
	struct hmb *hmb;
	struct series *series[NR_STREAMS];
	struct stream streams[NR_STREAMS];
	struct kept *all[NR_STREAMS];
	size_t nr[NR_STREAMS];
	enum stream_owner owner;
};

static void world_open(struct world *w, size_t size, enum stream_owner owner)
{
	struct hmb_config config = {
		.size = size,
		.nr_kinds = 1,
		.max_path = 8,
		.truncated_frame = 1,
		.kinds = {{.nr_counters = COUNTER_MAX, .stream_owner = owner}},
	};

	w->owner = owner;
	w->hmb = buffer_new(config);
	for (unsigned i = 0; i < NR_STREAMS; i++) {
		w->series[i] = series_new(i + 1);
		w->streams[i] = stream_start(7, i, 0);
		w->all[i] = malloc(MAX_SAMPLES * sizeof(*w->all[i]));
		w->nr[i] = 0;
	}
}

static void world_close(struct world *w)
{
	buffer_free(w->hmb);
	for (unsigned i = 0; i < NR_STREAMS; i++) {
		free(w->series[i]);
		free(w->all[i]);
	}
}

/* The kernel's period follows the buffer's floor at first, as it does in a recording. */
static void put_next(struct world *w, uint64_t n)
{
	unsigned i = n % NR_STREAMS;
	unsigned shift = w->streams[i].shift;
	struct kept *kept = &w->all[i][w->nr[i]];
	uint64_t path[] = {1ULL << 32 | series_site(w->series[i]), 2ULL << 32 | 5};
	struct hmb_sample sample = {
		.time = w->nr[i] ? kept[-1].time + (PERIOD << shift) : PERIOD + i,
		.level = stream_next(&w->streams[i]),
		.cpu = w->owner == STREAM_OF_CPU ? i : (unsigned)(n / 7 % 3),
		.thread = w->owner == STREAM_OF_THREAD ? i : (unsigned)(n / 5 % 6),
		.leaf = 1ULL << 32 | series_site(w->series[i]),
		.path = path,
		.path_size = 2,
		.counters = kept->totals,
	};

	series_step(w->series[i], PERIOD << shift, kept->totals);
	kept->time = sample.time;
	w->nr[i]++;
	hmb_put(w->hmb, &sample);
	for (unsigned s = 0; s < NR_STREAMS; s++)
		if (hmb_floor(w->hmb, 0) <= MOST_SHIFT)
			stream_slow(&w->streams[s], hmb_floor(w->hmb, 0));
}

static const struct kept *find_kept(const struct world *w, unsigned stream, uint64_t time)
{
	size_t low = 0, high = w->nr[stream];

	while (low + 1 < high) {
		size_t middle = (low + high) / 2;

		if (w->all[stream][middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return &w->all[stream][low];
}

/* A total is off by half a unit at most, which is small beside what is usual in between. */
static void check_bin(const struct world *w, const struct bin *bin, struct code_cursor *cursor,
                      uint64_t *samples, size_t *bytes)
{
	struct code_sample sample;

	*bytes += bin->record_bytes;
	assert_int_equal(code_open(cursor, bin, bin_size(bin), arena_nodes(&w->hmb->arena)), 0);
	while (code_next(cursor, &sample) == 1) {
		unsigned stream = w->owner == STREAM_OF_CPU ? sample.cpu : sample.thread;
		const struct kept *kept = find_kept(w, stream, sample.time);

		assert_non_null(sample.counters);
		assert_int_equal(kept->time, sample.time);
		for (unsigned i = 0; i < COUNTER_MAX; i++) {
			unsigned shift = cursor->counters.shifts[i];
			uint64_t unit = (uint64_t)1 << shift;
			uint64_t off = sample.counters[i] > kept->totals[i]
			                       ? sample.counters[i] - kept->totals[i]
			                       : kept->totals[i] - sample.counters[i];

			assert_true(2 * off <= unit || !off);
		}
		++*samples;
	}
}

static void check_all(const struct world *w)
{
	struct code_cursor *cursor = malloc(sizeof(*cursor));
	const struct arena *arena = &w->hmb->arena;
	uint64_t samples = 0;
	size_t bytes = 0;

	for (unsigned l = hmb_floor(w->hmb, 0); l < NR_LEVELS; l++) {
		const struct hmb_level *level = &w->hmb->kinds[0].levels[l];

		for (uint32_t r = level->bins.first; r != BIN_NONE; r = bin_at(arena, r)->next)
			check_bin(w, bin_at(arena, r), cursor, &samples, &bytes);
		for (uint32_t r = level->sub_bins.first; r != BIN_NONE; r = bin_at(arena, r)->next)
			check_bin(w, bin_at(arena, r), cursor, &samples, &bytes);
	}
	assert_int_equal(samples, hmb_stored(w->hmb, 0));
	assert_int_equal(bytes, hmb_record_bytes(w->hmb));
	free(cursor);
}

static void totals_are_right_after_any_thinning(void **state)
{
	static const size_t sizes[] = {64 << 10, 100 << 10, 1 << 20};

	(void)state;
	for (unsigned round = 0; round < 6; round++) {
		struct world w;

		world_open(&w, sizes[round % 3], round / 3 ? STREAM_OF_THREAD : STREAM_OF_CPU);
		for (uint64_t n = 0; n < 200000; n++) {
			put_next(&w, n);
			if (n % 50000 == 0)
				check_all(&w);
		}
		check_all(&w);
		assert_true(hmb_floor(w.hmb, 0) >= 2);
		world_close(&w);
	}
}

/* The units are a small part of what is usual between samples of the lowest level that is left. */
static void check_units(enum stream_owner owner)
{
	struct world w;
	double usual;

	world_open(&w, 256 << 10, owner);
	for (uint64_t n = 0; n < 1200000 / 4; n++)
		put_next(&w, n);
	for (unsigned i = 0; i < COUNTER_MAX; i++) {
		uint8_t shifts[COUNTER_MAX];

		counter_scale_shifts(w.hmb->kinds[0].scale, shifts);
		usual = series_rate(i) * (double)(PERIOD << hmb_floor(w.hmb, 0));
		/* What is rare is told exactly. */
		assert_true(!shifts[i] || ldexp(1, shifts[i]) < usual / 64);
		assert_true(ldexp(1, shifts[i]) > usual / 4096);
	}
	world_close(&w);
}

static void units_follow_the_period(void **state)
{
	(void)state;
	check_units(STREAM_OF_CPU);
	check_units(STREAM_OF_THREAD);
}

static size_t counter_bytes(unsigned nr_counters)
{
	struct hmb_config config = {
		.size = 1 << 20,
		.nr_kinds = 1,
		.max_path = 8,
		.truncated_frame = 1,
		.kinds = {{.nr_counters = nr_counters}},
	};
	struct series *series = series_new(1);
	uint64_t totals[COUNTER_MAX];
	struct hmb_sample sample = {.leaf = 1ULL << 32 | 7, .counters = totals};
	struct hmb *hmb = buffer_new(config);
	size_t bytes;

	for (unsigned i = 0; i < 40000; i++) {
		series_step(series, PERIOD, totals);
		sample.time += PERIOD;
		hmb_put(hmb, &sample);
	}
	bytes = hmb_record_bytes(hmb);
	buffer_free(hmb);
	free(series);
	return bytes;
}

static void a_counter_takes_little(void **state)
{
	double each = (double)(counter_bytes(COUNTER_MAX) - counter_bytes(0)) / 40000 / 8;

	(void)state;
	assert_true(each > 0.5 && each < 2);
}

/* Streams that share a place do not take each other's totals for what is usual. */
static void many_streams_keep_their_units(void **state)
{
	struct counter_scale scale = {.nr = 1};
	uint8_t shifts[COUNTER_MAX];

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		const uint64_t total = (uint64_t)1 << 40 | i / 3 * 1000;

		counter_scale_note(&scale, (uint32_t)(i % 3 * COUNTER_STREAMS / 2), &total);
	}
	counter_scale_shifts(&scale, shifts);
	assert_int_equal(shifts[0], 1); /* 1000 are 500 units */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(totals_are_right_after_any_thinning),
		cmocka_unit_test(units_follow_the_period),
		cmocka_unit_test(a_counter_takes_little),
		cmocka_unit_test(many_streams_keep_their_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
