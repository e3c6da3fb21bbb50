/*
 * Putting samples of synthetic programs and interning their stacks, against appending them to a
 * flat buffer of the same size.
 */

#include <string.h>

#include "bench.h"
#include "flat.h"
#include "program.h"
#include "hmb/cct.h"

enum { SIZE = 100 << 20, SAMPLES = 1024, FRAMES = 20, PERIOD = 97081 };

struct world {
	struct hmb *hmb;
	struct program *program;
	void *memory;
	struct flat flat;
	struct stream stream;
	struct hmb_sample samples[SAMPLES];
	uint32_t contexts[SAMPLES];
	uint64_t paths[SAMPLES][FRAMES]; /* for new stacks */
};

static void world_open(struct world *w, const struct program_config *program)
{
	struct hmb_config config = {
		.size = SIZE,
		.nr_kinds = 1,
		.max_path = 128,
		.truncated_frame = 1,
		.kinds = {{.time_shift = 6}},
	};

	w->memory = config.memory = bench_memory(SIZE);
	w->hmb = hmb_new(&config);
	w->program = program_new(program);
	w->flat = (struct flat){bench_memory(SIZE), SIZE, 0};
	w->stream = stream_start(1, 1, 0);
}

static void world_close(struct world *w)
{
	hmb_free(w->hmb);
	free(w->program);
	munmap(w->memory, SIZE);
	munmap(w->flat.memory, SIZE);
}

/* The samples of one turn, made outside of what is timed. */
static void world_sample(struct world *w)
{
	for (unsigned i = 0; i < SAMPLES; i++)
		program_sample(w->program, &w->stream, &w->samples[i]);
}

static double run_flat(void *arg)
{
	struct world *w = arg;
	uint64_t start = bench_now();

	for (unsigned i = 0; i < SAMPLES; i++)
		flat_put(&w->flat, &w->samples[i]);
	return (double)(bench_now() - start) / SAMPLES;
}

static double run_put(void *arg)
{
	struct world *w = arg;
	uint64_t start = bench_now();

	for (unsigned i = 0; i < SAMPLES; i++)
		hmb_put(w->hmb, &w->samples[i]);
	return (double)(bench_now() - start) / SAMPLES;
}

static double run_intern(void *arg)
{
	struct world *w = arg;
	uint64_t start = bench_now();

	for (unsigned i = 0; i < SAMPLES; i++)
		w->contexts[i] = cct_intern(w->hmb, &w->samples[i]);
	return (double)(bench_now() - start) / SAMPLES;
}

static double run_put_known(void *arg)
{
	struct world *w = arg;
	uint64_t start = bench_now();

	for (unsigned i = 0; i < SAMPLES; i++)
		hmb_put_at(w->hmb, &w->samples[i], w->contexts[i]);
	return (double)(bench_now() - start) / SAMPLES;
}

/* Stacks that were never seen before: nr_new frames on top of known ones. */
static void renew_stacks(struct world *w, unsigned nr_new)
{
	for (unsigned i = 0; i < SAMPLES; i++) {
		memcpy(w->paths[i], w->samples[i].path, sizeof(w->paths[i]));
		for (unsigned f = 0; f < nr_new; f++)
			w->paths[i][f] = program_random(w->program) >> 16;
		w->samples[i].path = w->paths[i];
	}
}

static const char *const APPEND = "append of 192 bytes to 100 MiB";

static void known_stacks(const char *name, const struct program_config *program)
{
	struct bench_series put = {.nr = 0}, append = put, intern = put, known = put;
	struct world *w = malloc(sizeof(*w));
	double flat;

	world_open(w, program);
	for (unsigned i = 0; i < BENCH_TURNS; i++) {
		world_sample(w);
		bench_turn(run_put, w, &put);
		world_sample(w);
		bench_turn(run_flat, w, &append);
		world_sample(w);
		bench_turn(run_intern, w, &intern);
		bench_turn(run_put_known, w, &known);
	}
	flat = bench_median(&append);
	printf(" %s\n", name);
	bench_figure("put, context known", bench_median(&known), APPEND, flat,
	             "<= 15 ns, ratio <= 1");
	bench_figure("intern", bench_median(&intern), APPEND, flat, "<= 60 ns");
	bench_figure("intern and put", bench_median(&put), APPEND, flat, "");
	world_close(w);
	free(w);
}

static void new_stacks(unsigned nr_new)
{
	struct program_config program = program_even;
	struct bench_series put = {.nr = 0}, append = put;
	struct world *w = malloc(sizeof(*w));
	char what[64];

	world_open(w, &program);
	for (unsigned i = 0; i < BENCH_TURNS / 50; i++) {
		world_sample(w);
		renew_stacks(w, nr_new);
		bench_turn(run_put, w, &put);
		bench_turn(run_flat, w, &append);
	}
	snprintf(what, sizeof(what), "intern and put, %u new frames", nr_new);
	bench_figure(what, bench_median(&put), APPEND, bench_median(&append), "");
	world_close(w);
	free(w);
}

static uint64_t record_bytes(const struct hmb *hmb)
{
	uint64_t bytes = 0;

	for (unsigned l = hmb_floor(hmb, 0); l < NR_LEVELS; l++) {
		const struct hmb_level *level = &hmb->kinds[0].levels[l];

		for (unsigned i = 0; i < 2; i++) {
			uint32_t ref = i ? level->bins.first : level->sub_bins.first;

			for (; ref != BIN_NONE; ref = bin_at(&hmb->arena, ref)->next)
				bytes += bin_at(&hmb->arena, ref)->record_bytes;
		}
	}
	return bytes;
}

static void coded_bytes(const char *name, const struct program_config *program, const char *goal)
{
	struct world *w = malloc(sizeof(*w));
	struct hmb *hmb;
	double stored, with_contexts;
	char what[64];

	world_open(w, program);
	hmb = w->hmb;
	for (unsigned i = 0; i < 4000000; i++) {
		program_sample(w->program, &w->stream, w->samples);
		hmb_put(hmb, w->samples);
	}
	stored = (double)hmb_stored(hmb, 0);
	with_contexts = (double)(record_bytes(hmb) + hmb_context_bytes(hmb)) / stored;
	snprintf(what, sizeof(what), "%s: a record", name);
	bench_figure(what, (double)record_bytes(hmb) / stored, "varints, on real runs", 6, goal);
	snprintf(what, sizeof(what), "%s: with its share of contexts", name);
	bench_figure(what, with_contexts, "appended call chain, header", 8 + 8 * program->frames,
	             *goal ? "<= 5" : "");
	snprintf(what, sizeof(what), "%s: a node (%.3f a sample)", name,
	         (double)hmb->cct.nr_nodes / stored);
	bench_figure(what, (double)hmb_context_bytes(hmb) / (double)hmb->cct.nr_nodes, "", 0,
	             "<= 20");
	world_close(w);
	free(w);
}

int main(void)
{
	struct program_config program = program_even;

	program.nr_paths = 1;
	bench_head("put", "ns");
	known_stacks("the same 20 frames again and again", &program);
	program.nr_paths = 64;
	known_stacks("64 stacks of 20 frames at random, the outer 14 in common", &program);
	program.shared = 0;
	known_stacks("64 stacks of 20 frames at random, nothing in common", &program);
	program.nr_paths = 4096;
	program.shared = 14;
	known_stacks("4096 stacks of 20 frames at random, the outer 14 in common", &program);
	printf(" stacks that were never seen before\n");
	new_stacks(1);
	new_stacks(6);
	new_stacks(20);
	bench_head("coding", "bytes");
	coded_bytes("64 sites", &program_even, "<= 4");
	coded_bytes("a skewed mix", &program_skewed, "<= 4");
	coded_bytes("a compiler", &program_compiler, "");
	return 0;
}
