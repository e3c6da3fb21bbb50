#include "symbolize/chain.h"

#include <stdlib.h>
#include <string.h>

#define NR_SETS   64
#define NR_WAYS   4
#define MAX_LINKS 256

struct chain {
	pid_t tid; /* 0: nobody's */
	unsigned nr;
	uint64_t stored; /* the time of the last store, in stores */
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

static const struct chain *chain_lookup(const struct chain_table *table, pid_t tid)
{
	const struct chain *set = table->sets[tid_set(tid)];
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

void chain_store(struct chain_table *table, pid_t tid, const struct link *links, size_t nr)
{
	struct chain *chain;

	if (tid <= 0)
		return;
	if (nr > MAX_LINKS) {
		links += nr - MAX_LINKS;
		nr = MAX_LINKS;
	}
	chain = chain_claim(table, tid);
	chain->tid = tid;
	chain->nr = (unsigned)nr;
	chain->stored = ++table->stores;
	memcpy(chain->links, links, nr * sizeof(links[0]));
}

size_t chain_stitch(const struct chain_table *table, pid_t tid, struct link *links, size_t nr,
                    size_t max)
{
	const struct chain *chain = tid > 0 ? chain_lookup(table, tid) : NULL;
	const struct link *last = &links[nr - 1];
	size_t i, more;

	if (!chain || !last->slot)
		return nr;
	for (i = 0; i < chain->nr; i++)
		if (chain->links[i].slot == last->slot)
			break;
	if (i == chain->nr || chain->links[i].frame != last->frame)
		return nr;
	more = chain->nr - (i + 1);
	if (more > max - nr)
		return nr;
	memcpy(links + nr, chain->links + i + 1, more * sizeof(links[0]));
	return nr + more;
}

uint64_t chain_end(const struct chain_table *table, pid_t tid)
{
	const struct chain *chain = tid > 0 ? chain_lookup(table, tid) : NULL;
	unsigned i;

	for (i = chain ? chain->nr : 0; i > 0; i--)
		if (chain->links[i - 1].slot)
			return chain->links[i - 1].slot;
	return 0;
}

void chain_forget(struct chain_table *table, pid_t tid)
{
	struct chain *chain = chain_claim(table, tid);

	if (chain->tid == tid)
		*chain = (struct chain){0};
}
