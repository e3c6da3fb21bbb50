#include "symbolize/chain.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NR_SETS   64
#define NR_WAYS   4
#define MAX_LINKS 256

#define CACHE_LINE   64
#define PREFETCH_ALL 6144 /* bytes: beyond, frames are so large that most lines are not needed */

/* A stack joins a chain by so many links, or by one that so many cut stacks before it ended in. */
#define JOIN_LINKS 6
#define JOIN_STAY  16

struct chain {
	pid_t tid; /* 0: nobody's */
	unsigned nr;
	unsigned misses;    /* chain_miss() since the last store */
	uint64_t stored;    /* the time of the last store, in stores */
	struct link anchor; /* where the last stack joined it, or could have */
	unsigned stay;      /* how many did so in a row, while the chain had it */
	uint64_t since;     /* for samples after this time, in ns */
	struct link links[MAX_LINKS];
};

/* 1 MiB, of which only the pages of threads that were seen are ever touched. */
struct chain_table {
	uint64_t stores;
	struct chain sets[NR_SETS][NR_WAYS];
};

struct chain_table *chain_table_new(void)
{
	return calloc(1, sizeof(struct chain_table));
}

void chain_table_free(struct chain_table *table)
{
	free(table);
}

static size_t tid_set(pid_t tid)
{
	return (uint32_t)tid * 0x9e3779b9u >> 26;
}

static struct chain *chain_lookup(struct chain_table *table, pid_t tid)
{
	struct chain *set = table->sets[tid_set(tid)];
	unsigned way;

	for (way = 0; way < NR_WAYS; way++)
		if (set[way].tid == tid)
			return &set[way];
	return NULL;
}

/* The thread's chain, or else that of the thread that was not seen for the longest time. */
static struct chain *chain_claim(struct chain_table *table, pid_t tid)
{
	struct chain *set = table->sets[tid_set(tid)], *oldest = set;
	unsigned way;

	for (way = 0; way < NR_WAYS; way++) {
		if (set[way].tid == tid)
			return &set[way];
		if (set[way].stored < oldest->stored)
			oldest = &set[way];
	}
	return oldest;
}

static bool link_equal(const struct link *a, const struct link *b)
{
	return a->slot == b->slot && a->frame == b->frame;
}

static bool chain_has(const struct link *links, size_t nr, const struct link *link)
{
	while (nr > 0 && !link_equal(&links[nr - 1], link))
		nr--;
	return nr > 0;
}

void chain_store(struct chain_table *table, pid_t tid, const struct link *links, size_t nr,
                 uint64_t since)
{
	struct chain *chain;

	if (tid <= 0)
		return;
	if (nr > MAX_LINKS) {
		links += nr - MAX_LINKS;
		nr = MAX_LINKS;
	}
	chain = chain_claim(table, tid);
	if (chain->tid != tid || !chain_has(links, nr, &chain->anchor))
		chain->stay = 0;
	chain->tid = tid;
	chain->nr = (unsigned)nr;
	chain->misses = since ? chain->misses : 0;
	chain->since = since;
	chain->stored = ++table->stores;
	memcpy(chain->links, links, nr * sizeof(links[0]));
}

/* How many of the outermost of nr links are those up to number i of the chain; at most JOIN_LINKS.
 */
static unsigned links_equal(const struct chain *chain, size_t i, const struct link *links,
                            size_t nr)
{
	unsigned n = 0;

	while (n < JOIN_LINKS && n < nr && n <= i &&
	       link_equal(&chain->links[i - n], &links[nr - 1 - n]))
		n++;
	return n;
}

/*
 * Whether a stack joins the chain at its link number i. One link alone says little, for a function
 * may be called from two places at the same depth: unless stacks have joined there for a while.
 */
static bool chain_joins(struct chain *chain, size_t i, const struct link *links, size_t nr)
{
	unsigned n = links_equal(chain, i, links, nr);

	chain->stay = n ? chain->stay + 1 : 0;
	if (n)
		chain->anchor = chain->links[i];
	return n == JOIN_LINKS || chain->stay > JOIN_STAY;
}

size_t chain_stitch(struct chain_table *table, pid_t tid, uint64_t time, struct link *links,
                    size_t nr, size_t max)
{
	struct chain *chain = tid > 0 ? chain_lookup(table, tid) : NULL;
	const struct link *last = &links[nr - 1];
	size_t i, more;

	if (!chain || !last->slot || time < chain->since)
		return nr;
	for (i = 0; i < chain->nr; i++)
		if (chain->links[i].slot == last->slot)
			break;
	if (i == chain->nr)
		chain->stay = 0;
	if (i == chain->nr || !chain_joins(chain, i, links, nr))
		return nr;
	more = chain->nr - (i + 1);
	if (more > max - nr)
		return nr;
	memcpy(links + nr, chain->links + i + 1, more * sizeof(links[0]));
	return nr + more;
}

unsigned chain_miss(struct chain_table *table, pid_t tid)
{
	struct chain *chain = chain_claim(table, tid);

	if (chain->tid != tid) {
		chain->tid = tid;
		chain->nr = 0;
		chain->misses = 0;
		chain->stored = ++table->stores;
	}
	return ++chain->misses;
}

void chain_prefetch(struct chain_table *table, pid_t tid, const unsigned char *stack, uint64_t base,
                    size_t size)
{
	const struct chain *chain = tid > 0 ? chain_lookup(table, tid) : NULL;
	uint64_t at, last = 0;
	unsigned i;

	for (i = 0; chain && i < chain->nr; i++) {
		at = chain->links[i].slot - base;
		if (at >= size)
			continue;
		if (at >= PREFETCH_ALL)
			__builtin_prefetch(stack + at);
		last = at > last ? at : last;
	}
	for (at = 0; at <= last && at < PREFETCH_ALL && chain; at += CACHE_LINE)
		__builtin_prefetch(stack + at);
}

void chain_forget(struct chain_table *table, pid_t tid)
{
	struct chain *chain = chain_claim(table, tid);

	if (chain->tid == tid)
		*chain = (struct chain){0};
}
