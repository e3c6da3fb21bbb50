/*
 * λ: which level of the hierarchical memory buffer a sample belongs to (Wagner and Knüpfer,
 * "Automatic Adaption of the Sampling Frequency for Detailed Performance Analysis", 2017).
 *
 * λ(n) is the number of trailing zeros of n, the ordinal of the sample in its stream. Level λ holds
 * every 2^(λ+1)-th sample, so dropping the lowest level leaves every second sample:
 *
 *     n   1 2 3 4 5 6 7 8 9 …
 *     λ   0 1 0 2 0 1 0 3 0 …
 *
 * A stream is a sequence of samples taken with one period: of one event on one CPU, or of one
 * inherited event in one thread. Its ordinal starts at a random number, for else streams shorter
 * than 2^floor samples would lose every sample, and the programs made of them would vanish.
 */
#ifndef HMB_LAMBDA_H
#define HMB_LAMBDA_H

#include <stdbool.h>
#include <stdint.h>

#define NR_LEVELS 64

static inline unsigned lambda(uint64_t n)
{
	return n ? (unsigned)__builtin_ctzll(n) : NR_LEVELS - 1;
}

struct stream {
	uint64_t n;           /* ordinal of the newest sample, in units of base period << shift */
	unsigned shift;       /* the kernel samples at base period << shift */
	uint64_t early, skip; /* of events that count occurrences: see stream_next_count() */
	/*
	 * Samples that are missing because the kernel began a period anew when it changed. The next
	 * sample stands for them, too: see stream_leave().
	 */
	uint32_t owed;
	uint32_t change; /* number of the change of period before the newest sample, + 1; 0: none */
};

#define LAMBDA_GAMMA 0x9e3779b97f4a7c15

/* splitmix64 (Steele, Lea and Flood, 2014); without the sum n and n / 2 would have bits in common.
 */
static inline uint64_t lambda_mix(uint64_t z)
{
	z += LAMBDA_GAMMA;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* The start of a stream that is reproducible from the run's seed and the stream's number. */
static inline struct stream stream_start(uint64_t seed, uint64_t number, unsigned shift)
{
	uint64_t z = seed + number * LAMBDA_GAMMA;

	return (struct stream){.n = lambda_mix(z) >> shift, .shift = shift};
}

/* The period became base << shift, and remains at least as long. */
static inline void stream_slow(struct stream *stream, unsigned shift)
{
	if (shift <= stream->shift)
		return;
	stream->n >>= shift - stream->shift;
	stream->shift = shift;
}

/* Returns a number below 2^bits that depends on the stream alone. */
static inline uint64_t stream_chance(const struct stream *stream, unsigned bits)
{
	return lambda_mix(stream->n ^ LAMBDA_GAMMA * stream->change) & (((uint64_t)1 << bits) - 1);
}

/*
 * The period fell to base << shift for a while. The ordinals between the last one and the next one
 * of the longer period get numbers:
 *
 *     n, period 4 times as long     11              12              13
 *     n, after it fell              44  45  46  47  48  49  50  51  52
 *
 * It is unknown how much of the longer period was over, so chance decides.
 */
static inline void stream_enter(struct stream *stream, unsigned shift)
{
	unsigned depth = stream->shift - shift;

	stream->n = (stream->n << depth) + stream_chance(stream, depth);
	stream->shift = shift;
}

/*
 * The period rose to base << shift again. The kernel begins it anew, so that what was over of it is
 * not counted: r + 1/2 short periods on average, with r of them since the last ordinal of the
 * longer one. So often is one sample more owed.
 */
static inline void stream_leave(struct stream *stream, unsigned shift)
{
	unsigned depth = shift - stream->shift;
	uint64_t rest = stream->n & (((uint64_t)1 << depth) - 1);
	uint64_t chance = stream_chance(stream, depth + 1);

	stream->owed += chance / 2 < rest || (chance / 2 == rest && chance % 2);
	stream_slow(stream, shift);
}

/* A sample arrived: its level. */
static inline unsigned stream_next(struct stream *stream)
{
	unsigned level = stream->shift + lambda(++stream->n);

	return level < NR_LEVELS ? level : NR_LEVELS - 1;
}

/*
 * The level of a sample of an event that counts occurrences, as page faults or tracepoints.
 * Programs repeat such occurrences in powers of two: of calls that read and write in turn every
 * second one writes, and of buffers of 64 pages every 64th fault is in the same function. The
 * trailing zeros of the ordinal would select always the same of them. So chance decides which
 * ordinal of each pair has the higher level.
 */
static inline unsigned lambda_random(uint64_t n)
{
	unsigned level = 0;

	while (level < NR_LEVELS - 1 && !((n ^ lambda_mix(n / 2)) & 1)) {
		n /= 2;
		level++;
	}
	return level;
}

/* Like stream_slow(), for events that count occurrences; their period is a little less than this.
 */
static inline void stream_slow_counts(struct stream *stream, unsigned shift, uint64_t base)
{
	if (shift <= stream->shift)
		return;
	stream_slow(stream, shift);
	stream->early = lambda_mix(stream->n) % (base << shift);
	stream->skip = 0;
}

/* Returns the level of a sample that is owed. */
static inline unsigned stream_pay(struct stream *stream, bool small_steps)
{
	unsigned level;

	stream->owed--;
	stream->n++;
	level = stream->shift + (small_steps ? lambda_random(stream->n) : lambda(stream->n));
	return level < NR_LEVELS ? level : NR_LEVELS - 1;
}

/*
 * Like stream_enter() and stream_leave(). Which ordinal of the shorter period is one of the longer
 * period is by chance here, so half a period is missing when they are left, and half a longer one
 * when they are entered.
 */
static inline void stream_enter_counts(struct stream *stream, unsigned shift, uint64_t base)
{
	stream->owed += stream_chance(stream, 1) != 0;
	stream_enter(stream, shift);
	stream->early = lambda_mix(stream->n) % (base << shift);
	stream->skip = 0;
}

static inline void stream_leave_counts(struct stream *stream, unsigned shift, uint64_t base)
{
	stream->owed += !stream_chance(stream, shift - stream->shift + 1);
	stream_slow_counts(stream, shift, base);
}

/*
 * A sample arrived, `period` occurrences after the last one, where it is to stand for the step of
 * base << shift of them: its level. When samples together are early by a step, one of the next is
 * of level 0, which is closed. Chance decides which one: the first would always be the same
 * occurrence in a program that repeats with the period of the samples.
 */
static inline unsigned stream_next_count(struct stream *stream, uint64_t base, uint64_t period)
{
	uint64_t step = base << stream->shift;
	unsigned level;

	if (period < step)
		stream->early += step - period;
	if (stream->early >= step) {
		stream->early -= step;
		stream->skip = 1 + lambda_mix(stream->n) % (step / (step - period));
	}
	if (stream->skip && !--stream->skip)
		return 0;
	level = stream->shift + lambda_random(++stream->n);
	return level < NR_LEVELS ? level : NR_LEVELS - 1;
}

#endif
