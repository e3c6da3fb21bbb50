/*
 * Two kinds of the buffer that take turns, so that they hold the last seconds of what another kind
 * has of the run. The one whose turn it is takes the records. Once it spans its seconds, or has
 * used up its memory, the other one is cleared and takes its turn.
 *
 * Each has an entry in the windows of the tables, by which readers know from when on it has
 * records.
 */
#ifndef RECORD_HISTORY_HALVES_H
#define RECORD_HISTORY_HALVES_H

#include "hmb/hmb.h"
#include "trace/live/tables.h"

/*
 * A half lasts so much longer than was asked for: somebody who wants to see what led to an event
 * learns of it later, and the copy takes a while.
 */
#define HALVES_LATE_NS ((uint64_t)500000000)

struct halves {
	struct hmb *hmb; /* NULL: there are no halves */
	struct tables *tables;
	unsigned kinds[2];
	unsigned event;              /* the kind that has the records of the run */
	uint64_t span, late;         /* ns that a turn is to last; and how much longer it does */
	unsigned shift, first_shift; /* records of a level from here on; at the start */
	unsigned current;            /* the half whose turn it is */
	unsigned nr_begun;           /* turns since the start */
	uint64_t from;               /* start of the current turn, ns */
	uint64_t skipped;            /* ns of it in which nothing was recorded */
	/* ns that the shortest turn held when its memory was used up; 0: none was */
	uint64_t fits;
};

/* Empties both, and begins the turn of the first one. */
void halves_restart(struct halves *halves, uint64_t time);
/*
 * Begins the turn of the other half if that of the current one is over. Records from this time on
 * come after this call.
 */
void halves_follow(struct halves *halves, uint64_t time);
/* Notes that the current half has less than it was to have, because that cost too much. */
void halves_note_cut(const struct halves *halves);

/* Returns the kind of the half whose turn it is. */
static inline unsigned halves_kind(const struct halves *halves)
{
	return halves->kinds[halves->current];
}

/* Tells whether the next record might be too much for the memory of the current half. */
static inline bool halves_are_used_up(const struct halves *halves)
{
	const struct hmb *hmb = halves->hmb;
	const struct hmb_kind *kind = &hmb->kinds[halves_kind(halves)];

	return kind->bytes + ((size_t)1 << hmb->arena.bin_shift) > kind->config.share ||
	       hmb_floor(hmb, halves_kind(halves)) > halves->shift;
}

#endif
