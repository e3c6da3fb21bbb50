/*
 * Weights of all events and counters, added up by call path, and by thread if wanted. Formats
 * without time use it.
 */
#ifndef OUTPUT_CONVERT_TALLY_H
#define OUTPUT_CONVERT_TALLY_H

#include "output/convert/convert.h"
#include "output/profile/paths.h"

struct tally_entry {
	uint32_t path, thread; /* thread: 0 if all are one */
};

struct tally;

/* 0 or -errno, which ends the walk. */
typedef int tally_full_fn(void *arg, const struct tally *tally);

struct tally_config {
	bool by_thread;
	/*
	 * Readers of some formats add up repeated entries. For such a format `full` is called
	 * whenever there are `many` entries, which are dropped afterwards so that memory is
	 * bounded, and with the last ones. NULL: all entries are kept.
	 */
	uint32_t many;
	tally_full_fn *full;
	void *arg;
};

struct tally {
	struct tally_entry *entries;
	uint64_t *weights; /* of each entry: one an event, then one a counter */
	uint32_t nr, nr_events, nr_weights;
	size_t most;             /* entries at once so far */
	struct hash_slots found; /* entries, by path and thread */
};

#define TALLY_WALKS 1 /* over the trace, for convert_plan() */

/* Returns 0 or -errno; call tally_fini() in either case. */
int tally_init(struct tally *tally, struct conversion *conversion, struct paths *paths,
               const struct tally_config *config);
void tally_fini(struct tally *tally);

static inline const uint64_t *tally_weights(const struct tally *tally, uint32_t entry)
{
	return &tally->weights[(size_t)entry * tally->nr_weights];
}

#endif
