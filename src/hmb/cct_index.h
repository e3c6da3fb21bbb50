/* The index of the calling-context tree, used by cct.c alone; cct.h tells what it is. */
#ifndef HMB_CCT_INDEX_H
#define HMB_CCT_INDEX_H

#include "hmb/hmb.h"

/* What identifies a node: its frame and 48 bits of the hash of its path. */
struct cct_key {
	uint64_t frame, tag;
};

/* Whether a live node of this key stands there, in a bin of this level or above. */
bool cct_node_is(const struct hmb *hmb, uint32_t node, struct cct_key key, unsigned level);

/* Asks the processor for what will be looked at when this key is looked for. */
void cct_index_prefetch(const struct hmb *hmb, struct cct_key key);

/* The newest live node of this key; NODE_NONE: there is none, or it lies below the level. */
uint32_t cct_index_find(const struct hmb *hmb, struct cct_key key, unsigned level);

/*
 * Enters a node, over an older one with its key. For the sample's sake the index may take bins;
 * where no way is left to grow, the node stays without an entry, which costs sharing, not truth.
 */
void cct_index_insert(struct hmb *hmb, const struct hmb_sample *sample, struct cct_key key,
                      uint32_t node);

/* Merges two pages if there are two that fit well into one. */
void cct_index_shrink(struct hmb *hmb);

#endif
