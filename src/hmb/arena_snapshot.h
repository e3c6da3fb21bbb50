/*
 * A copy of the buffer of a recorder at work, which takes no notice of it: nothing is locked and
 * nobody waits. It holds the samples and calls of one moment, all of them, as they would be in the
 * trace if the recorder had ended then.
 *
 * That is possible because bins only grow until they are taken anew, and of what is live none is:
 * first is noted how far each bin got, then all are copied and cut off there, and last is asked
 * which levels are open still. What a record refers to is older than the record, so it was copied;
 * tables that it refers to must be copied before the last question, for what only closed levels
 * refer to may be others' by then.
 */
#ifndef HMB_ARENA_SNAPSHOT_H
#define HMB_ARENA_SNAPSHOT_H

#include "hmb/hmb.h"

/*
 * Of the arena of `size` bytes and its ledger, which another process may write meanwhile, into
 * zeroed memory of the same size. The copy of the ledger has no levels yet. 0 or -ENOMEM.
 */
int hmb_snapshot(void *to, struct hmb_ledger *to_ledger, const void *from, size_t size,
                 const struct hmb_ledger *ledger);
/* Ends it: which levels are open, and which were closed when. */
void hmb_snapshot_levels(struct hmb_ledger *to, const struct hmb_ledger *from);

#endif
