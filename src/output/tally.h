/*
 * Weights added up by call path, and by thread if wanted, of all events at once: for formats
 * without time.
 */
#ifndef OUTPUT_TALLY_H
#define OUTPUT_TALLY_H

#include "output/convert.h"
#include "output/paths.h"

struct tally_entry {
	uint32_t path, thread; /* thread: 0 if all are one */
};

struct tally {
	struct tally_entry *entries;
	uint64_t *weights; /* of each entry: one an event */
	uint32_t nr, room, nr_events;
	struct map64 by_key;
};

#define TALLY_WALKS 1 /* over the trace, for convert_plan() */

/* 0 or -errno; to be given to tally_fini() in either case. */
int tally_init(struct tally *tally, struct conversion *conversion, struct paths *paths,
               bool by_thread);
void tally_fini(struct tally *tally);

static inline const uint64_t *tally_weights(const struct tally *tally, uint32_t entry)
{
	return &tally->weights[(size_t)entry * tally->nr_events];
}

#endif
