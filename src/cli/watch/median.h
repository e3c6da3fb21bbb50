/*
 * The median of all values so far, in bounded memory: a histogram with 64 buckets an octave for
 * each sign, so that it is right within 0.8 %. Values nearer to 0 than 2^-64 count as 0.
 */
#ifndef CLI_WATCH_MEDIAN_H
#define CLI_WATCH_MEDIAN_H

#include <stdint.h>

#define MEDIAN_OCTAVES 128
#define MEDIAN_STEPS   64
#define MEDIAN_BUCKETS (MEDIAN_OCTAVES * MEDIAN_STEPS)

/* All zero is empty. */
struct median {
	uint64_t nr;
	uint64_t zeros;
	uint32_t buckets[2][MEDIAN_BUCKETS]; /* of positive and of negative values */
};

/* A value that is no number is not counted. */
void median_add(struct median *median, double value);
/* 0 if there are no values. */
double median_get(const struct median *median);

#endif
