#include "hmb/cct_index.h"

#include <stdlib.h>
#include <string.h>

#define TAG_BITS 48

/* Pages split when this full, in 1/16, and merge when their entries fill no more of one. */
#define SPLIT_FILL 14
#define MERGE_FILL 9

static uint32_t *page_slots(const struct bin *page)
{
	return (uint32_t *)(void *)bin_records(page);
}

static uint64_t node_tag(const struct node *node)
{
	return (uint64_t)node->tag_high << 32 | node->tag_low;
}

static uint32_t directory_slot(const struct cct_index *index, uint64_t tag)
{
	return (uint32_t)(tag >> (TAG_BITS - index->depth));
}

static uint32_t first_slot(const struct cct_index *index, uint64_t tag)
{
	return (uint32_t)(((tag & 0xffffffff) * index->page_slots) >> 32);
}

static uint32_t next_slot(const struct cct_index *index, uint32_t slot)
{
	return slot + 1 < index->page_slots ? slot + 1 : 0;
}

/* The part of an index entry that distinguishes most entries without reading their nodes. */
static uint32_t entry_mark(const struct cct_index *index, uint64_t tag)
{
	return (uint32_t)(tag << index->node_bits);
}

static uint32_t entry_node(const struct cct_index *index, uint32_t entry)
{
	return entry & (uint32_t)(((uint64_t)1 << index->node_bits) - 1);
}

static struct bin *page_of(const struct hmb *hmb, uint64_t tag)
{
	const struct cct_index *index = &hmb->cct.index;

	return bin_at(&hmb->arena, index->pages[directory_slot(index, tag)]);
}

/* Tells whether there is a node at this number. Bins that were given back may contain anything. */
static bool node_live(const struct hmb *hmb, uint32_t node, unsigned level)
{
	const struct bin *bin = node_bin(&hmb->arena, node);
	const unsigned char *at = (const unsigned char *)node_at(&hmb->arena, node);

	return hmb_bin_live(hmb, bin) && bin->level >= level &&
	       at >= (const unsigned char *)bin + bin_size(bin) - bin->node_bytes;
}

bool cct_node_is(const struct hmb *hmb, uint32_t node, struct cct_key key, unsigned level)
{
	const struct node *n = node_at(&hmb->arena, node);

	/* A bin that is not in use may have no memory behind its header. */
	return node_live(hmb, node, level) && n->frame == key.frame && node_tag(n) == key.tag;
}

void cct_index_prefetch(const struct hmb *hmb, struct cct_key key)
{
	const struct cct_index *index = &hmb->cct.index;

	if (index->nr_pages)
		__builtin_prefetch(page_slots(page_of(hmb, key.tag)) + first_slot(index, key.tag));
}

uint32_t cct_index_find(const struct hmb *hmb, struct cct_key key, unsigned level)
{
	const struct cct_index *index = &hmb->cct.index;
	uint32_t mark = entry_mark(index, key.tag);
	const uint32_t *slots;

	if (!index->nr_pages)
		return NODE_NONE;
	slots = page_slots(page_of(hmb, key.tag));
	for (uint32_t i = first_slot(index, key.tag); slots[i]; i = next_slot(index, i)) {
		uint32_t node = entry_node(index, slots[i]);

		if (slots[i] - node == mark && cct_node_is(hmb, node, key, level))
			return node;
	}
	return NODE_NONE;
}

/* Adds a node to a page with room, unless it is there already. */
static void page_add(const struct cct_index *index, struct bin *page, uint64_t tag, uint32_t node)
{
	uint32_t *slots = page_slots(page), entry = entry_mark(index, tag) | node;
	uint32_t i = first_slot(index, tag);

	for (; slots[i]; i = next_slot(index, i))
		if (slots[i] == entry)
			return;
	slots[i] = entry;
	page->nr_records++;
}

/* The number of times that nodes were removed: with a level, or when a kind was cleared. */
static uint64_t removals(const struct hmb *hmb)
{
	return (uint64_t)hmb->ledger->cleared << 32 | hmb->ledger->nr_reductions;
}

/* Tells whether no nodes were removed since the page was cleaned. */
static bool page_is_fresh(const struct hmb *hmb, const struct bin *page)
{
	return page->base_time == removals(hmb);
}

static void page_clear(const struct hmb *hmb, struct bin *page)
{
	memset(page_slots(page), 0, hmb->cct.index.page_slots * sizeof(uint32_t));
	page->nr_records = 0;
	page->base_time = removals(hmb);
}

/* Tells whether the node is the one that was added: its tag belongs on this page. */
static bool entry_valid(const struct hmb *hmb, const struct bin *page, uint32_t entry,
                        uint32_t node)
{
	uint64_t tag = node_tag(node_at(&hmb->arena, node));

	return entry - node == entry_mark(&hmb->cct.index, tag) && page_of(hmb, tag) == page;
}

/* Moves the page's live entries into the scratch space and returns their number. */
static uint32_t page_drain(struct hmb *hmb, struct bin *page)
{
	struct cct_index *index = &hmb->cct.index;
	const uint32_t *slots = page_slots(page);
	bool fresh = page_is_fresh(hmb, page);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < index->page_slots; i++) {
		uint32_t node = entry_node(index, slots[i]);

		if (node != NODE_NONE && (fresh || node_live(hmb, node, 0)) &&
		    entry_valid(hmb, page, slots[i], node))
			index->scratch[nr++] = node;
	}
	page_clear(hmb, page);
	return nr;
}

static void page_refill(struct hmb *hmb, uint32_t nr)
{
	const struct cct_index *index = &hmb->cct.index;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t tag = node_tag(node_at(&hmb->arena, index->scratch[i]));

		page_add(index, page_of(hmb, tag), tag, index->scratch[i]);
	}
}

/* Drops the entries of nodes that have left. */
static void page_clean(struct hmb *hmb, struct bin *page)
{
	if (!page_is_fresh(hmb, page))
		page_refill(hmb, page_drain(hmb, page));
}

static bool page_full(const struct cct_index *index, const struct bin *page)
{
	return page->nr_records * 16 >= index->page_slots * SPLIT_FILL;
}

static bool directory_double(struct cct_index *index)
{
	size_t size = (size_t)1 << index->depth;
	uint32_t *pages;

	if (index->depth == index->max_depth)
		return false;
	pages = malloc(2 * size * sizeof(*pages));
	if (!pages)
		return false;
	for (size_t i = 0; i < size; i++)
		pages[2 * i] = pages[2 * i + 1] = index->pages[i];
	free(index->pages);
	index->pages = pages;
	index->depth++;
	return true;
}

/* Lets every directory slot that agrees with tag in the first `bits` bits point to the page. */
static void directory_point(struct hmb *hmb, uint64_t tag, unsigned bits, const struct bin *page)
{
	struct cct_index *index = &hmb->cct.index;
	uint32_t span = 1U << (index->depth - bits);
	uint32_t first = directory_slot(index, tag) & ~(span - 1);

	for (uint32_t i = 0; i < span; i++)
		index->pages[first + i] = bin_ref(&hmb->arena, page);
}

static struct bin *new_page(struct hmb *hmb, const struct hmb_sample *sample)
{
	struct cct_index *index = &hmb->cct.index;
	struct bin *page = hmb_take_index(hmb, sample->kind, sample->level, sample->time);

	if (!page)
		return NULL;
	page_clear(hmb, page);
	index->nr_pages++;
	return page;
}

static bool page_split(struct hmb *hmb, const struct hmb_sample *sample, uint64_t tag)
{
	struct cct_index *index = &hmb->cct.index;
	struct bin *page = page_of(hmb, tag), *upper;
	unsigned bits = page->level + 1U;
	uint32_t nr;

	if (bits > index->depth && !directory_double(index))
		return false;
	upper = new_page(hmb, sample);
	if (!upper)
		return false;
	nr = page_drain(hmb, page);
	page->level = upper->level = (uint8_t)bits;
	directory_point(hmb, tag | (uint64_t)1 << (TAG_BITS - bits), bits, upper);
	page_refill(hmb, nr);
	return true;
}

static bool first_page(struct hmb *hmb, const struct hmb_sample *sample)
{
	struct cct_index *index = &hmb->cct.index;
	struct bin *page = new_page(hmb, sample);

	if (!page)
		return false;
	index->pages[0] = bin_ref(&hmb->arena, page);
	return true;
}

/* Makes room for one more entry on the page of tag. */
static bool make_room(struct hmb *hmb, const struct hmb_sample *sample, uint64_t tag)
{
	struct cct_index *index = &hmb->cct.index;

	if (!index->nr_pages)
		return first_page(hmb, sample);
	if (!page_full(index, page_of(hmb, tag)))
		return true;
	page_clean(hmb, page_of(hmb, tag));
	while (page_full(index, page_of(hmb, tag)))
		if (!page_split(hmb, sample, tag))
			return false;
	return true;
}

void cct_index_insert(struct hmb *hmb, const struct hmb_sample *sample, struct cct_key key,
                      uint32_t node)
{
	const struct cct_index *index = &hmb->cct.index;
	uint32_t mark = entry_mark(index, key.tag), *slots, i;
	struct bin *page;
	bool known = false;

	if (!make_room(hmb, sample, key.tag))
		return;
	page = page_of(hmb, key.tag);
	slots = page_slots(page);
	for (i = first_slot(index, key.tag); slots[i]; i = next_slot(index, i)) {
		uint32_t old = entry_node(index, slots[i]);

		/* Twice where a node took the very place of one that had left: both must agree. */
		if (slots[i] - old == mark && cct_node_is(hmb, old, key, 0)) {
			slots[i] = mark | node;
			known = true;
		}
	}
	if (known)
		return;
	slots[i] = mark | node;
	page->nr_records++;
}

void cct_index_shrink(struct hmb *hmb)
{
	struct cct_index *index = &hmb->cct.index;
	uint64_t tag = (uint64_t)index->tidy_at++ << (TAG_BITS - index->depth);
	struct bin *page, *buddy;
	uint64_t buddy_tag;
	uint32_t nr;

	if (index->tidy_at >> index->depth)
		index->tidy_at = 0;
	if (index->nr_pages < 2)
		return;
	page = page_of(hmb, tag);
	buddy_tag = tag ^ (uint64_t)1 << (TAG_BITS - page->level);
	buddy = page_of(hmb, buddy_tag);
	page_clean(hmb, page);
	page_clean(hmb, buddy);
	if (buddy->level != page->level ||
	    (page->nr_records + buddy->nr_records) * 16 > index->page_slots * MERGE_FILL)
		return;
	nr = page_drain(hmb, buddy);
	page->level--;
	directory_point(hmb, tag, page->level, page);
	page_refill(hmb, nr);
	arena_give(&hmb->arena, buddy);
	index->nr_pages--;
}

void cct_clear(struct hmb *hmb)
{
	struct cct_index *index = &hmb->cct.index;
	uint32_t last = BIN_NONE;

	if (!index->nr_pages)
		return;
	/* A page has adjacent places in the directory. */
	for (size_t i = 0; i < (size_t)1 << index->depth; i++) {
		if (index->pages[i] != last)
			arena_give(&hmb->arena, bin_at(&hmb->arena, index->pages[i]));
		last = index->pages[i];
	}
	index->nr_pages = index->depth = index->tidy_at = 0;
	index->pages[0] = 0;
}
