/*
 * bench_replay TRACE: the samples of a recorded program in their order, put again and again as if
 * it ran in a loop, so that all contexts are known; against appending them to a flat buffer, with
 * their stacks as they are, and cut or extended to 20 frames.
 */

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "bench.h"
#include "flat.h"
#include "hmb/cct.h"
#include "recorded_samples.h"

enum { SIZE = 100 << 20, BATCH = 256, TURNS = 15, FRAMES = 20 };

struct replay {
	struct hmb_sample *samples;
	size_t nr;
	unsigned time_shift;
	uint64_t batch_frames[BATCH * RECORDED_MAX_PATH];
	struct hmb_sample batch[BATCH];
	uint32_t contexts[BATCH];
	uint64_t duration; /* of the program */
	uint64_t time;     /* that the turns before this one took of it */
	struct hmb *hmb;
	struct flat flat;
};

/* --- the samples ------------------------------------------------------------------------------ */

static struct hmb_sample recorded(const struct trace *trace, const struct trace_sample *sample)
{
	uint64_t *frames = malloc(RECORDED_MAX_PATH * sizeof(*frames));
	size_t nr = recorded_stack(trace, sample, frames);

	frames = realloc(frames, nr * sizeof(*frames));
	return recorded_sample(trace, sample, frames, nr);
}

static bool load(struct replay *replay, const char *path)
{
	char why[TRACE_WHY_SIZE];
	struct trace *trace = trace_open(path, why);
	struct trace_walk *walk = trace ? trace_walk_new(trace, 0) : NULL;
	struct trace_sample sample;

	if (!walk)
		return false;
	replay->time_shift = recorded_time_shift(trace);
	while (trace_walk_next(walk, &sample) == 1)
		if (ARRAY_ADD(replay->samples, replay->nr, recorded(trace, &sample)))
			exit(1);
	replay->duration = trace_run(trace)->end - trace_run(trace)->start;
	trace_walk_free(walk);
	trace_close(trace);
	return replay->nr;
}

/* --- what is timed, in batches that are at hand in the caches as if just unwound -------------- */

static size_t take_batch(struct replay *replay, size_t from)
{
	size_t nr = replay->nr - from < BATCH ? replay->nr - from : BATCH;
	uint64_t *frames = replay->batch_frames;

	for (size_t i = 0; i < nr; i++) {
		struct hmb_sample *sample = &replay->batch[i];

		*sample = replay->samples[from + i];
		sample->time += replay->time;
		memcpy(frames, sample->path, sample->path_size * sizeof(*frames));
		sample->path = frames;
		frames += sample->path_size;
	}
	return nr;
}

struct times {
	double intern, put, append, append_20;
};

static void intern_and_put(struct replay *replay, struct times *times)
{
	uint64_t intern = 0, put = 0;

	for (size_t from = 0, nr; from < replay->nr; from += nr) {
		nr = take_batch(replay, from);
		intern -= bench_now();
		for (size_t i = 0; i < nr; i++)
			replay->contexts[i] = cct_intern(replay->hmb, &replay->batch[i]);
		intern += bench_now();
		put -= bench_now();
		for (size_t i = 0; i < nr; i++)
			hmb_put_at(replay->hmb, &replay->batch[i], replay->contexts[i]);
		put += bench_now();
	}
	times->intern = fmin(times->intern, (double)intern);
	times->put = fmin(times->put, (double)put);
}

/* With stacks of as many frames, whatever stands behind shorter ones; 0: as they are. */
static void append_all(struct replay *replay, unsigned frames, double *least)
{
	uint64_t append = 0;

	for (size_t from = 0, nr; from < replay->nr; from += nr) {
		nr = take_batch(replay, from);
		for (size_t i = 0; frames && i < nr; i++)
			replay->batch[i].path_size = frames;
		append -= bench_now();
		for (size_t i = 0; i < nr; i++)
			flat_put(&replay->flat, &replay->batch[i]);
		append += bench_now();
	}
	*least = fmin(*least, (double)append);
}

static void measure(struct replay *replay)
{
	struct times least = {1e18, 1e18, 1e18, 1e18}, first = least;
	double nr = (double)replay->nr, frames = 0;
	char yardstick[64];

	for (unsigned i = 0; i < TURNS; i++) {
		intern_and_put(replay, i ? &least : &first);
		append_all(replay, 0, &least.append);
		append_all(replay, FRAMES, &least.append_20);
		replay->time += replay->duration;
	}
	for (size_t i = 0; i < replay->nr; i++)
		frames += replay->samples[i].path_size;
	snprintf(yardstick, sizeof(yardstick), "append of %.1f frames", frames / nr);
	bench_figure("put, context known", least.put / nr, "append of 20 frames",
	             least.append_20 / nr, "<= 15 ns, ratio <= 1");
	bench_figure("put, context known", least.put / nr, yardstick, least.append / nr, "");
	bench_figure("intern", least.intern / nr, yardstick, least.append / nr, "<= 60 ns");
	bench_figure("put, the first time", first.put / nr, yardstick, least.append / nr, "");
	bench_figure("intern, the first time", first.intern / nr, yardstick, least.append / nr, "");
}

int main(int argc, char **argv)
{
	struct replay *replay = calloc(1, sizeof(*replay));
	struct hmb_config config = {
		.size = SIZE,
		.nr_kinds = 1,
		.max_path = RECORDED_MAX_PATH,
		.truncated_frame = 1,
	};

	if (argc < 2)
		return 0;
	if (!load(replay, argv[1]))
		return 1;
	config.memory = bench_memory(SIZE);
	config.kinds[0].time_shift = replay->time_shift;
	replay->hmb = hmb_new(&config);
	replay->flat = (struct flat){bench_memory(SIZE), SIZE, 0};
	measure(replay);
	return 0;
}
