/*
 * The coding of counters: what the kernel had counted at each sample, in about a byte a counter.
 *
 * A stream (see enum stream_owner) has running totals, of the sampled event itself and of up to
 * eight others. Every sample stores its stream's totals, not what was added since the sample
 * before: so the difference between any two samples of a stream that are still there is what was
 * counted between them, whatever else was thinned out.
 *
 * Totals are rounded to units of 1 << shift, 1/256 to 1/512 of what is usual from sample to sample
 * when the bin is begun. The error of a difference is at most one unit, and the sum of differences
 * has that of one.
 *
 * Inside a bin every total is expected to be the stream's last one plus its usual step; what it is
 * more or less is written as a Golomb-Rice code whose parameter follows what came before:
 *
 *     counters = [first record of a bin: one byte of shift for each counter]
 *                for each counter, in bits, the lowest of a byte first:
 *                    stream new in this bin:  7 bits length of the total, its bits but the highest
 *                    else with u = zigzag(total - expected):
 *                        u >> k ones, a zero, k bits; or, in place of 16 and more ones,
 *                        16 ones, 6 bits length of u less one, its bits
 *                bits of zero up to a whole byte
 *
 * The page adaptrace-trace(5) specifies the same for other readers.
 */
#ifndef HMB_COUNTER_CODE_H
#define HMB_COUNTER_CODE_H

#include "hmb/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COUNTER_STREAMS 256 /* of which a bin remembers the totals */

/* No record takes more bytes, the shifts included. */
static inline size_t counter_max_record(unsigned nr)
{
	return (size_t)12 * nr;
}

/*
 * The state of the prediction after the latest totals of a bin. Encoder and decoder keep identical
 * models.
 */
struct counter_model {
	unsigned nr;
	uint8_t shifts[COUNTER_MAX];
	struct counter_spread {
		uint64_t sum; /* of the latest values of u */
		uint32_t nr;
	} spreads[COUNTER_MAX];
	uint64_t usual[COUNTER_MAX];    /* the step that the latest stream takes */
	uint64_t keys[COUNTER_STREAMS]; /* number of the CPU or thread + 1 */
	struct counter_stream {
		uint64_t last[COUNTER_MAX], step[COUNTER_MAX]; /* in units */
	} streams[COUNTER_STREAMS];
};

/* Before the first record of a bin. */
void counter_begin(struct counter_model *model, unsigned nr);

/*
 * Writes the totals of a stream, which has this number, and returns the place behind them. The
 * shifts are those for this bin, and written with its first record.
 */
unsigned char *counter_put(struct counter_model *model, unsigned char *at, uint32_t number,
                           const uint64_t *totals, bool first);

/*
 * Reads them back, rounded. Returns the place behind them; NULL: they do not end before `end`, or
 * make no sense.
 */
const unsigned char *counter_get(struct counter_model *model, const unsigned char *at,
                                 const unsigned char *end, uint32_t number, uint64_t *totals,
                                 bool first);

/*
 * The usual differences between the counters of successive samples over all streams. The units of
 * the code are chosen by them.
 */
struct counter_scale {
	unsigned nr, seen;
	double mean[COUNTER_MAX]; /* of the differences, the latest most */
	uint64_t keys[COUNTER_STREAMS];
	uint64_t last[COUNTER_STREAMS][COUNTER_MAX];
};

/*
 * Notes the totals of a sample in the stream of this number. A stream that is not remembered,
 * because it is new or another stream took its place, yields no difference.
 */
void counter_scale_note(struct counter_scale *scale, uint32_t number, const uint64_t *totals);
/* By how many bits each counter's differences may be shifted right, for what is usual. */
void counter_scale_shifts(const struct counter_scale *scale, uint8_t shifts[COUNTER_MAX]);

#endif
