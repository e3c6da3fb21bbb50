/*
 * Opaque records in a buffer, for what looks at its bins alone: put as samples are, and never read.
 * Kinds of them are of the content HMB_SAMPLES.
 */
#ifndef TEST_RAW_RECORDS_H
#define TEST_RAW_RECORDS_H

#include <string.h>

#include "hmb/hmb.h"

/* As hmb_put(), of a kind that loses everything when it passes its share. */
static inline bool put_raw(struct hmb *hmb, unsigned kind, unsigned level, uint64_t time,
                           const void *record, size_t size)
{
	struct hmb_kind *k = &hmb->kinds[kind];
	struct bin *bin;

	hmb->ledger->taken[kind]++;
	if (level < hmb_floor(hmb, kind))
		return false;
	bin = hmb_room(hmb, kind, level, size, time);
	if (k->config.share && k->bytes > k->config.share)
		while (hmb_floor(hmb, kind) < NR_LEVELS)
			hmb_close_lowest(hmb, kind, time, HMB_CAUSE_SHARE);
	if (!bin || level < hmb_floor(hmb, kind))
		return false;
	memcpy(bin_records(bin) + bin->record_bytes, record, size);
	bin->nr_records++;
	__atomic_store_n(&bin->record_bytes, bin->record_bytes + (uint32_t)size, __ATOMIC_RELEASE);
	return true;
}

#endif
