/*
 * Claims: which of many ranges has each of some offsets, where the last range to come has won.
 *
 * Ranges are told from the last to the first, and an offset stays with the first to claim it. All
 * of it takes n log n time, however the ranges overlap.
 */
#ifndef SYMBOLIZE_ELF_RANGE_CLAIMS_H
#define SYMBOLIZE_ELF_RANGE_CLAIMS_H

#include <stddef.h>
#include <stdint.h>

struct claims {
	const uint32_t *offsets; /* ascending; the caller's */
	size_t n;
	uint32_t *owner; /* of each offset: the argument of claims_take(), or 0 */
	size_t *next;    /* of each offset: the next one without an owner, as far as known */
};

/* Returns 0 or -ENOMEM. claims_fini() must be called in either case. */
int claims_init(struct claims *claims, const uint32_t *offsets, size_t n);
void claims_fini(struct claims *claims);

/* Sets the owner (not 0) of all offsets in [lo, hi) that have no owner yet. */
void claims_take(struct claims *claims, uint32_t lo, uint32_t hi, uint32_t owner);

#endif
