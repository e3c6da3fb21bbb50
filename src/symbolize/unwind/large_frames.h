/*
 * Beyond: how stacks go on above a frame that no copy holds.
 *
 * A routine with large arrays on the stack takes more than a sample can copy. Where its return
 * address lies is known, and what is there can be read from the process some milliseconds later;
 * but the thread may have left the routine by then, and have come again from elsewhere. So that is
 * read again and again, at least READ_EVERY apart, and believed where it was the same several times
 * in a row: as long as that lasts, and for samples from the first of these times on. Each time it
 * was not, it must be the same twice as often to be believed again.
 *
 * Where callers differ only in the place of a function from which they made the call, those are
 * believed which were read last: a routine that is called from several lines of one function has
 * its time distributed over them as it is found there, and no sample for sure.
 */
#ifndef SYMBOLIZE_UNWIND_LARGE_FRAMES_H
#define SYMBOLIZE_UNWIND_LARGE_FRAMES_H

#include "symbolize/unwind/chain.h"

struct beyond_table;

/* A frame: whose, where its return address is, and where it ends below. */
struct beyond_key {
	pid_t tid;
	uint64_t slot, bottom;
};

/* For some 256 frames at a time; same: of which callers are alike. NULL: no memory. */
struct beyond_table *beyond_table_new(link_same_fn *same, void *arg);
void beyond_table_free(struct beyond_table *table);

/* Whether it is time, in ns, to read what is above the frame. */
bool beyond_is_due(struct beyond_table *table, const struct beyond_key *key, uint64_t now);

/* What was found there then: the frame that the return address leads to, with that slot, and all
 * above. */
void beyond_learn(struct beyond_table *table, const struct beyond_key *key, uint64_t now,
                  const struct link *links, size_t nr);

/*
 * Appends that to a stack that ends in the frame, for a sample of a time; without holds. How many
 * links there are then; as before: nothing is believed, or it is more than there is room for.
 */
size_t beyond_append(const struct beyond_table *table, const struct beyond_key *key, uint64_t time,
                     const struct cut *cut);

void beyond_forget(struct beyond_table *table, pid_t tid);

#endif
