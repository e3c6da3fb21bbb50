/* The index of the calling-context tree, used by cct.c alone; cct.h tells what it is. */
#ifndef HMB_CCT_INDEX_H
#define HMB_CCT_INDEX_H

#include "hmb/hmb.h"

/* The key that identifies a node: its frame and 48 bits of the hash of its path. */
struct cct_key {
	uint64_t frame, tag;
};

/* Tells whether a node is alive, has this key, and lies in a bin of this level or above. */
bool cct_node_is(const struct hmb *hmb, uint32_t node, struct cct_key key, unsigned level);

/* Prefetches the memory that a search for this key reads. */
void cct_index_prefetch(const struct hmb *hmb, struct cct_key key);

/* Finds the newest live node of this key at this level or above, or NODE_NONE. */
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
