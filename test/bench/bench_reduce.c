/*
 * One reduction at various sizes of the buffer and shares of it to give back, as figure 5 of Wagner
 * and Knüpfer (2017): 10 ms for 100 MB at 50 %, where a flush of the buffer took 500 to 600 ms. The
 * yardstick is what a flat buffer has to do: move every second record down.
 */

#include <string.h>

#include "hmb/call_code.h"
#include "bench.h"
#include "program.h"
#include "raw_records.h"

enum { TURNS = 5, MOST_CLEARS = 40, RECORD = 48 };

static const size_t MB = 1000000;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, unsigned nr)
{
	qsort(values, nr, sizeof(*values), by_value);
	return values[nr / 2];
}

static double mean(const double *values, unsigned nr)
{
	double sum = 0;

	for (unsigned i = 0; i < nr; i++)
		sum += values[i];
	return sum / nr;
}

static struct hmb *buffer_new(size_t size)
{
	struct hmb_config config = {
		.memory = bench_memory(size),
		.size = size,
		.nr_kinds = 1,
		.max_path = 128,
		.truncated_frame = 1,
		.kinds = {{.time_shift = 6}},
	};

	return hmb_new(&config);
}

static void buffer_free(struct hmb *hmb)
{
	munmap(hmb->arena.memory, hmb->arena.size);
	hmb_free(hmb);
}

/*
 * The target has been running: what the caches held is gone, of a small buffer and its page tables
 * as well as of a large one.
 */
static void cool(void)
{
	static unsigned char other[256 << 20];

	for (size_t i = 0; i < sizeof(other); i += 64)
		other[i]++;
	BENCH_KEEP(other[0]);
}

/* The call and the first record that follows it, so that nothing is put off unseen. */
static double time_reduction(struct hmb *hmb)
{
	struct hmb_sample sample = {.level = 1, .step = 1};
	uint64_t start;

	cool();
	start = bench_now();
	hmb_close_lowest(hmb, 0, 0, HMB_CAUSE_MEMORY);
	hmb_put(hmb, &sample);
	return (double)(bench_now() - start) / 1000;
}

/*
 * Full, with so many of a hundred bins in level 0 and the others in level 1, which have coded
 * records before.
 */
static double one_reduction(size_t size, unsigned percent)
{
	struct hmb_sample samples[] = {{.level = 0, .step = 1}, {.level = 1, .step = 1}};
	struct hmb *hmb = buffer_new(size);
	static const char record[RECORD];
	uint64_t end = size / RECORD * 97 / 100;
	double us;

	for (unsigned i = 0; i < 2; i++)
		hmb_put(hmb, &samples[i]);
	for (uint64_t i = 0; i < end && !hmb->ledger->nr_reductions; i++)
		put_raw(hmb, 0, i * 37 % 100 >= percent, i, record, sizeof(record));
	us = time_reduction(hmb);
	buffer_free(hmb);
	return us;
}

static double reduction(size_t size, unsigned percent)
{
	double us[TURNS];

	for (unsigned i = 0; i < TURNS; i++)
		us[i] = one_reduction(size, percent);
	return median(us, TURNS);
}

/* The first reduction of a buffer full of samples with their tree, the levels being as they are. */
static double sampled_reduction(size_t size)
{
	double us[TURNS];

	for (unsigned t = 0; t < TURNS; t++) {
		struct hmb *hmb = buffer_new(size);
		struct program *program = program_new(&program_skewed);
		struct stream stream = stream_start(1, t, 0);
		struct hmb_sample sample;

		while (hmb_used(hmb) < size / 100 * 97) {
			program_sample(program, &stream, &sample);
			hmb_put(hmb, &sample);
		}
		us[t] = time_reduction(hmb);
		free(program);
		buffer_free(hmb);
	}
	return median(us, TURNS);
}

static void put_samples(struct hmb *hmb, struct program *program, unsigned kind, size_t bytes)
{
	struct stream stream = stream_start(1, kind, 0);
	uint64_t end = hmb->kinds[kind].bytes + bytes;
	struct hmb_sample sample;

	while (hmb->kinds[kind].bytes < end && !hmb_floor(hmb, 0)) {
		program_sample(program, &stream, &sample);
		sample.kind = kind;
		hmb_put(hmb, &sample);
	}
}

static double time_clear(struct hmb *hmb, unsigned first, unsigned nr)
{
	uint64_t start;

	cool();
	start = bench_now();
	for (unsigned k = first; k < first + nr; k++)
		hmb_clear(hmb, k);
	return (double)(bench_now() - start) / 1000;
}

/* Clears one kind again and again after so many bytes of samples. Returns the mean. */
static double clear_kind(struct hmb *hmb, struct program *program, size_t bytes, unsigned turns)
{
	double us[MOST_CLEARS];

	for (unsigned i = 0; i < turns; i++) {
		put_samples(hmb, program, 1, bytes);
		us[i] = time_clear(hmb, 1, 1);
	}
	return mean(us, turns);
}

/* A window of a few MB and a half of the history beside a run of 60 MB, and all of the buffer. */
static void clears(double *window, double *half, double *all)
{
	struct hmb_config config = {
		.memory = bench_memory(100 * MB),
		.size = 100 * MB,
		.nr_kinds = 2,
		.max_path = 128,
		.truncated_frame = 1,
		.kinds = {{.time_shift = 6}, {.time_shift = 6}},
	};
	struct hmb *hmb = hmb_new(&config);
	struct program *program = program_new(&program_skewed);
	double us[TURNS];

	put_samples(hmb, program, 0, 60 * MB);
	*window = clear_kind(hmb, program, 2 * MB, MOST_CLEARS);
	*half = clear_kind(hmb, program, 30 * MB, TURNS);
	for (unsigned i = 0; i < TURNS; i++) {
		put_samples(hmb, program, 1, 30 * MB);
		us[i] = time_clear(hmb, 0, 2);
		put_samples(hmb, program, 0, 60 * MB);
	}
	*all = mean(us, TURNS);
	free(program);
	buffer_free(hmb);
}

/* All calls leave when they fill half of the buffer: the put that makes them go. */
static double one_share(size_t size)
{
	struct hmb_config config = {
		.memory = bench_memory(size),
		.size = size,
		.nr_kinds = 2,
		.max_path = 8,
		.kinds[1] = {.content = HMB_CALLS, .time_shift = 3, .share = size / 2},
	};
	struct hmb *hmb = hmb_new(&config);
	struct call call = {.region = 7};
	uint64_t start;
	bool kept;
	double us;

	do {
		call.enter += 5000;
		call.leave = call.enter + (call.enter * 37 & 0xfff);
		start = bench_now();
		kept = hmb_put_call(hmb, 1, 0, &call);
		us = (double)(bench_now() - start) / 1000;
	} while (kept);
	buffer_free(hmb);
	return us;
}

static double share_used_up(size_t size)
{
	double us[TURNS];

	for (unsigned i = 0; i < TURNS; i++)
		us[i] = one_share(size);
	return median(us, TURNS);
}

/* A flat buffer: find every second record and close the gaps. */
static double flat_reduction(size_t size)
{
	unsigned char *flat = bench_memory(size);
	double us[TURNS];

	for (unsigned t = 0; t < TURNS; t++) {
		uint64_t start;
		size_t to = 0;

		memset(flat, 1, size);
		start = bench_now();
		for (size_t from = RECORD; from + RECORD <= size; from += 2 * RECORD, to += RECORD)
			memcpy(flat + to, flat + from, RECORD);
		us[t] = (double)(bench_now() - start) / 1000;
	}
	munmap(flat, size);
	return median(us, TURNS);
}

int main(void)
{
	double flat = flat_reduction(100 * MB), small, large, sampled, window, half, all;
	char what[64];

	bench_head("reduce", "us");
	clears(&window, &half, &all);
	bench_figure("100 MB, a window of 2 MB is cleared (mean)", window,
	             "flat buffer of 100 MB, 50 %", flat, "<= 50 us");
	bench_figure("100 MB, half a history of 30 MB is cleared (mean)", half,
	             "flat buffer of 100 MB, 50 %", flat, "<= 50 us");
	bench_figure("100 MB, all is cleared (mean)", all, "flat buffer of 100 MB, 50 %", flat,
	             "<= 400 us");
	for (unsigned percent = 10; percent <= 90; percent += 10) {
		snprintf(what, sizeof(what), "100 MB, %u %% of the bins", percent);
		bench_figure(what, reduction(100 * MB, percent), "flat buffer of 100 MB, 50 %",
		             flat, percent == 50 ? "<= 20 us (paper: 10000)" : "");
	}
	sampled = sampled_reduction(100 * MB);
	bench_figure("100 MB of samples with their tree, 50 %", sampled,
	             "flat buffer of 100 MB, 50 %", flat, "<= 20 us");
	small = reduction(10 * MB, 50);
	large = reduction(1000 * MB, 50);
	bench_figure("all calls of 100 MB, their share used up", share_used_up(100 * MB),
	             "flat buffer of 100 MB, 50 %", flat, "<= 20 us");
	bench_figure("1 GB, 50 % of the bins", large, "10 MB, 50 % of the bins", small,
	             "ratio <= 2");
	return 0;
}
