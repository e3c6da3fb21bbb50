/*
 * The detector of periods, per event, on a stream that does not lock, against the matrix of the
 * paper with the sums of its rows kept, as the compiler makes both. Then an event of a program in
 * which nothing repeats, which is searched for long periods now and then, on the mean.
 */

#include "bench.h"
#include "hmb/period.h"
#include "hmb/segment.h"

#include <string.h>

enum { EVENTS = 2048, TURNS = 20, MOST = 8192 };

static uint16_t events[EVENTS];

/* N = M. A row of the matrix for each event, as bytes; a column for each delay. */
struct matrix {
	uint32_t delays, at;
	uint16_t past[2 * MOST];
	uint32_t sums[MOST];
	uint8_t *cells;
};

static uint32_t matrix_put(struct matrix *matrix, uint16_t event)
{
	uint32_t delays = matrix->delays, found = 0;
	uint8_t *row = matrix->cells + (size_t)matrix->at * delays;
	const uint16_t *past = matrix->past + matrix->at;

	for (uint32_t m = 0; m < delays; m++) {
		uint8_t differs = past[m] != event;

		matrix->sums[m] += (uint32_t)differs - row[m];
		row[m] = differs;
	}
	for (uint32_t m = 0; m < delays && !found; m++)
		if (!matrix->sums[m])
			found = m + 1;
	matrix->at = (matrix->at + delays - 1) % delays;
	matrix->past[matrix->at] = matrix->past[matrix->at + delays] = event;
	return found;
}

static double run_matrix(void *arg)
{
	uint64_t start = bench_now(), found = 0;

	for (unsigned i = 0; i < EVENTS; i++)
		found += matrix_put(arg, events[i]);
	BENCH_KEEP(found);
	return (double)(bench_now() - start) / EVENTS;
}

static double run_period(void *arg)
{
	uint64_t start = bench_now(), found = 0;

	for (unsigned i = 0; i < EVENTS; i++)
		found += period_put(arg, events[i]);
	BENCH_KEEP(found);
	return (double)(bench_now() - start) / EVENTS;
}

static void compare(uint32_t delays, const char *goal)
{
	struct matrix *matrix = bench_memory(sizeof(*matrix));
	struct period period;
	double runs = 1e9, cells = 1e9;
	char what[64];

	*matrix = (struct matrix){.delays = delays};
	matrix->cells = bench_memory((size_t)delays * delays);
	memset(matrix->cells, 1, (size_t)delays * delays);
	for (uint32_t m = 0; m < delays; m++)
		matrix->sums[m] = delays;
	period_init(&period, delays, 32, bench_memory(period_bytes(delays)));
	for (unsigned i = 0; i < TURNS; i++) {
		runs = bench_least(run_period, &period, runs);
		cells = bench_least(run_matrix, matrix, cells);
	}
	snprintf(what, sizeof(what), "an event, M = %u", delays);
	bench_figure(what, runs, "the paper's matrix", cells, goal);
}

static void take(void *arg, const struct segment_iteration *iteration)
{
	(void)arg;
	(void)iteration;
}

static double put_random(struct segmenter *segmenter, unsigned nr)
{
	static uint32_t state = 1;
	struct segment_queue *queue = segmenter_queue(segmenter);
	uint64_t start = bench_clock(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < nr; i++) {
		uint16_t event;

		state = state * 1664525 + 1013904223;
		event = (uint16_t)(1 + (state >> 24) % 50);
		if (!segment_queue_put(queue, event))
			segmenter_put(segmenter, event, false);
	}
	return (double)(bench_clock(CLOCK_THREAD_CPUTIME_ID) - start) / nr;
}

/* All rounds of the search are in so many events. */
#define CYCLE (512 * 16500)

static void compare_unlocked(void)
{
	struct segmenter *segmenter =
		segmenter_init(bench_memory(segmenter_bytes()), true, take, NULL);
	struct period period;
	double runs = 1e9, mean;

	period_init(&period, 512, 32, bench_memory(period_bytes(512)));
	put_random(segmenter, CYCLE);
	mean = put_random(segmenter, CYCLE);
	for (unsigned i = 0; i < TURNS; i++)
		runs = bench_least(run_period, &period, runs);
	bench_figure("an event where nothing locks, mean", mean, "all of M = 512", runs,
	             "<= 10 ns");
}

int main(void)
{
	uint32_t state = 1;

	for (unsigned i = 0; i < EVENTS; i++) {
		state = state * 1664525 + 1013904223;
		events[i] = (uint16_t)(1 + (state >> 24) % 50);
	}
	bench_head("period", "ns");
	compare(512, "<= 60 ns, <= 0.167");
	compare(2048, "");
	compare(8192, "");
	compare_unlocked();
	return 0;
}
