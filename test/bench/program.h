/*
 * A synthetic program under a profiler: one thread that spends its time in a number of sites, a
 * site being a leaf address in a calling context, as a stream of samples with jittered times.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <math.h>
#include <stdlib.h>

#include "hmb/hmb.h"

enum { PROGRAM_MAX_PATHS = 4096, PROGRAM_MAX_FRAMES = 120, PROGRAM_PICKS = 1 << 16 };

struct program_config {
	unsigned nr_paths, frames; /* calling contexts and their depth */
	unsigned shared;           /* the outermost frames, which all have in common */
	unsigned leaves;           /* addresses interrupted in each context */
	double skew;        /* a site's share falls with its rank to this power; 0: all alike */
	unsigned recursion; /* return addresses of a recursion that the strays end in; 0: they are
	                       new */
	double strays;      /* share of samples in a context that was never seen before */
	uint64_t period, jitter; /* ns; 2 in 3 samples come within ± jitter of their time */
};

/* 64 sites that are all alike. */
static const struct program_config program_even = {
	.nr_paths = 64,
	.frames = 20,
	.shared = 14,
	.leaves = 1,
	.period = 97081,
	.jitter = 1000,
};

/* Molecular dynamics: a few functions interrupted at many addresses, now and then a new path. */
static const struct program_config program_skewed = {
	.nr_paths = 60,
	.frames = 10,
	.shared = 6,
	.leaves = 40,
	.skew = 1,
	.strays = 0.003,
	.period = 97081,
	.jitter = 2000,
};

/* A compiler: every second sample comes on a path of its own. */
static const struct program_config program_compiler = {
	.nr_paths = 4000,
	.frames = 20,
	.shared = 8,
	.leaves = 8,
	.skew = 0.5,
	.strays = 0.5,
	.period = 97081,
	.jitter = 2000,
};

/* A recursive descent: deep stacks of few functions, and half of all samples on a way of their own.
 */
static const struct program_config program_recursion = {
	.nr_paths = 4000,
	.frames = 100,
	.shared = 40,
	.leaves = 8,
	.skew = 0.5,
	.strays = 0.5,
	.recursion = 8,
	.period = 97081,
	.jitter = 2000,
};

struct program {
	struct program_config config;
	uint64_t random, time;
	uint64_t nr_strays;
	uint64_t paths[PROGRAM_MAX_PATHS][PROGRAM_MAX_FRAMES]; /* innermost first */
	uint64_t stray[PROGRAM_MAX_FRAMES];
	uint32_t picks[PROGRAM_PICKS]; /* sites, as often as their shares say */
};

static inline uint64_t program_random(struct program *program)
{
	/* xorshift64* (Vigna, 2016) */
	program->random ^= program->random >> 12;
	program->random ^= program->random << 25;
	program->random ^= program->random >> 27;
	return program->random * 0x2545f4914f6cdd1d;
}

static inline uint64_t program_frame(uint64_t module, uint64_t at)
{
	return module << 32 | (at * 0x9e3779b1 & 0x3fffff);
}

static inline void program_pick_sites(struct program *program)
{
	unsigned nr = program->config.nr_paths * program->config.leaves, at = 0;
	double all = 0, sum = 0;

	for (unsigned i = 0; i < nr; i++)
		all += pow(i + 1, -program->config.skew);
	for (unsigned i = 0; i < nr; i++) {
		sum += pow(i + 1, -program->config.skew) / all;
		while (at < PROGRAM_PICKS && at < sum * PROGRAM_PICKS)
			program->picks[at++] = i;
	}
	while (at < PROGRAM_PICKS)
		program->picks[at++] = nr - 1;
}

static inline struct program *program_new(const struct program_config *config)
{
	struct program *program = calloc(1, sizeof(*program));
	unsigned own = config->frames - config->shared;

	program->config = *config;
	program->random = 0x9e3779b97f4a7c15;
	program->time = 1000000000;
	for (unsigned p = 0; p < config->nr_paths; p++)
		for (unsigned f = 0; f < config->frames; f++)
			program->paths[p][f] =
				program_frame(f % 3 + 1, f < own ? p * 32 + f + 1000 : f);
	program_pick_sites(program);
	return program;
}

static inline uint64_t program_jitter(struct program *program)
{
	uint64_t r = program_random(program), jitter = program->config.jitter;

	if (!jitter)
		return 0;
	if (r % 64 == 0) /* something else had the CPU */
		return (r >> 32) % (64 * jitter);
	return ((r >> 8) % jitter + (r >> 24) % jitter + (r >> 40) % jitter) * 2 / 3;
}

/* A path that no sample had before, beside a known one. */
static inline const uint64_t *program_stray(struct program *program, const uint64_t *path)
{
	const struct program_config *config = &program->config;

	program->nr_strays++;
	for (unsigned f = 0; f < config->frames; f++)
		program->stray[f] = path[f];
	for (unsigned f = 0; f < 3 && !config->recursion; f++)
		program->stray[f] = program_frame(2, 1000000 + program->nr_strays * 4 + f);
	for (uint64_t way = program->nr_strays, f = 0; way && config->recursion; f++) {
		program->stray[f] = program_frame(2, 1000000 + way % config->recursion);
		way /= config->recursion;
	}
	return program->stray;
}

/* The next sample taken, for a stream of its level and a kernel that samples at the shift. */
static inline void program_sample(struct program *program, struct stream *stream,
                                  struct hmb_sample *sample)
{
	const struct program_config *config = &program->config;
	uint64_t r = program_random(program);
	uint32_t site = program->picks[r % PROGRAM_PICKS];
	uint32_t leaf = site % config->leaves, path = site / config->leaves;

	program->time += config->period << stream->shift;
	*sample = (struct hmb_sample){
		.time = program->time + program_jitter(program),
		.level = stream_next(stream),
		.thread = 1,
		.leaf = program_frame(1, path * 32 + leaf + 100000),
		.path = program->paths[path],
		.path_size = config->frames,
	};
	sample->step = config->period << (sample->level + 1);
	if (config->strays > 0 && (double)(r >> 40) < config->strays * (1 << 24))
		sample->path = program_stray(program, sample->path);
}

#endif
