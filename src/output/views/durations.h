/*
 * A histogram of times, for medians and percentiles in bounded memory: 32 buckets an octave, so
 * that a quantile is right within 1.6 %. Least, most and sum are exact.
 */
#ifndef OUTPUT_VIEWS_DURATIONS_H
#define OUTPUT_VIEWS_DURATIONS_H

#include <stdint.h>

#define DURATION_BUCKETS 1408 /* up to 2^48 ns, three days */

/* All zero is empty. */
struct durations {
	uint64_t nr, sum, least, most;
	uint32_t buckets[DURATION_BUCKETS];
};

void durations_add(struct durations *durations, uint64_t ns);
void durations_merge(struct durations *durations, const struct durations *from);
/* Returns a value that this part of all does not exceed, 0 < part <= 1; 0: there are none. */
uint64_t durations_quantile(const struct durations *durations, double part);
/* Returns how many are longer, as far as the buckets tell. */
uint64_t durations_above(const struct durations *durations, uint64_t ns);

#endif
