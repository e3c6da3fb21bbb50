/*
 * A copy of the buffer while the recorder works on it. The recorder is not involved: nothing is
 * locked and nobody waits. The copy holds all samples and calls of one moment, as a trace would if
 * the recorder had ended then.
 *
 * This works because a live bin is never taken for another use, and a bin only grows until then.
 * First the progress of each bin is noted, then all bins are copied and cut off at the noted
 * places, and last the open levels are read. Whatever a record refers to is older than the record
 * and therefore copied as well. Tables that records refer to must be copied before the open levels
 * are read: entries that only closed levels refer to may have other users by then. If a kind is
 * cleared meanwhile, the copy has none of its records of before.
 */
#ifndef HMB_ARENA_SNAPSHOT_H
#define HMB_ARENA_SNAPSHOT_H

#include "hmb/hmb.h"

/*
 * Copies an arena of `size` bytes and its ledger, which another process may write meanwhile, into
 * zeroed memory of the same size. The copy of the ledger has no levels yet. Returns 0 or -ENOMEM.
 */
int hmb_snapshot(void *to, struct hmb_ledger *to_ledger, const void *from, size_t size,
                 const struct hmb_ledger *ledger);
/* Completes the copy of the ledger: adds which levels are open, and when the others were closed. */
void hmb_snapshot_levels(struct hmb_ledger *to, const struct hmb_ledger *from);

/*
 * A copy that is brought up to date again and again: the first update copies all bins, later ones
 * those that have changed. `to` is zeroed memory of the same size; only updates may write to it.
 * NULL: no memory.
 */
struct arena_copy *arena_copy_new(void *to, const void *from, size_t size);
void arena_copy_free(struct arena_copy *copy);
/*
 * Does what hmb_snapshot() does; hmb_snapshot_levels() must follow. The copy never fails and is
 * bounded by the size, whatever the bytes are.
 */
void arena_copy_update(struct arena_copy *copy, struct hmb_ledger *to,
                       const struct hmb_ledger *ledger);

#endif
