/*
 * The bins of an arena that go into a trace. The arena may be one that a killed recorder left: what
 * was being written just then is cut off, and counted.
 */
#ifndef TRACE_WRITE_LIVE_BINS_H
#define TRACE_WRITE_LIVE_BINS_H

#include "hmb/hmb.h"
#include "trace/write/frame_set.h"

struct live_bins {
	struct arena arena; /* a view: sizes and places only */
	const struct hmb_ledger *ledger;
	uint32_t *granules; /* by whole bin of the arena: its number in the trace + 1, or 0 */
	uint32_t nr;        /* whole bins in the trace */
	uint64_t stored[HMB_MAX_KINDS]; /* samples, calls, records */
	uint64_t node_bytes, last_time;
	uint64_t cut;             /* bins of which an end made no sense */
	struct frame_set *frames; /* every frame that a record or node mentions; not finished */
};

/* Returns 0 or -ENOMEM. The caller keeps the arena; damaged bins in it are repaired. */
int live_bins_init(struct live_bins *live, void *memory, size_t size,
                   const struct hmb_ledger *ledger);
void live_bins_fini(struct live_bins *live);

/* Calls fn with the bytes of every whole bin in the order of the trace, until it returns not 0. */
typedef int live_bins_fn(void *arg, const void *bytes, size_t size);
int live_bins_each(const struct live_bins *live, live_bins_fn *fn, void *arg);

#endif
