#include "symbolize/unwind/chain.h"

#include <stdlib.h>
#include <string.h>

#define NR_SETS     64
#define NR_WAYS     4
#define MAX_ENTRIES 1024

#define CACHE_LINE   64
#define PREFETCH_ALL 6144 /* bytes: beyond, frames are so large that most lines are not needed */

/*
 * A stack joins a chain by so many entries, or by fewer with the same registers, or by one that so
 * many cut stacks before it ended in.
 */
#define JOIN_ENTRIES 6
#define JOIN_REGS    2
#define JOIN_STAY    16

/* How often a thread is looked at, and how long it is believed that it has what was seen, ns. */
#define LOOK_EVERY  5000000
#define BELIEVE_FOR 50000000
#define MOST_NEEDED 16 /* looks */

struct chain {
	pid_t tid; /* 0: nobody's, and empty */
	unsigned nr;
	unsigned misses;           /* chain_miss() since the last store */
	uint64_t stored;           /* the time of the last store, in stores */
	uint64_t looked;           /* when the thread was looked at, ns */
	uint64_t seen;             /* when it was seen to have the chain, ns */
	unsigned same;             /* looks in a row that found what was there */
	unsigned needed;           /* as many must, for it was another stack before; 0: never */
	struct stack_entry anchor; /* where the last stack joined it, or could have */
	unsigned stay;             /* how many did so in a row, while the chain had it */
	uint64_t since;            /* for samples from this time on, in ns */
	unsigned old;       /* but for so many of the outermost, which the chain before had, too, */
	uint64_t old_since; /* from this one on */
	uint64_t generation;
	bool has_regs; /* regs are filled */
	/* Filled from the end, so that the roots of all stacks stand in one place. */
	struct stack_entry entries[MAX_ENTRIES];
	struct frame_regs regs[MAX_ENTRIES];
};

/* 12 MiB, of which only the pages are ever touched that the stacks of the threads reach. */
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

	for (unsigned way = 0; way < NR_WAYS; way++)
		if (set[way].tid == tid)
			return &set[way];
	return NULL;
}

static void chain_clear(struct chain *chain)
{
	memset(chain, 0, offsetof(struct chain, entries)); /* the rest is not looked at */
}

/* The thread's chain, or an empty one, of the thread that was not seen for the longest time. */
static struct chain *chain_claim(struct chain_table *table, pid_t tid)
{
	struct chain *chain = chain_lookup(table, tid), *set = table->sets[tid_set(tid)];

	if (chain)
		return chain;
	chain = set;
	for (unsigned way = 1; way < NR_WAYS; way++)
		if (set[way].stored < chain->stored)
			chain = &set[way];
	chain_clear(chain);
	chain->tid = tid;
	chain->stored = ++table->stores;
	return chain;
}

static const struct stack_entry *chain_entries(const struct chain *chain)
{
	return chain->entries + MAX_ENTRIES - chain->nr;
}

static const struct frame_regs *chain_regs(const struct chain *chain)
{
	return chain->regs + MAX_ENTRIES - chain->nr;
}

static bool entry_equal(const struct stack_entry *a, const struct stack_entry *b)
{
	return a->slot == b->slot && a->frame == b->frame;
}

bool entries_alike(const struct stack_entry *a, const struct stack_entry *b, size_t nr,
                   same_function_fn *same, void *arg)
{
	for (size_t i = 0; i < nr; i++)
		if (a[i].slot != b[i].slot ||
		    (a[i].frame != b[i].frame && !same(arg, a[i].frame, b[i].frame)))
			return false;
	return true;
}

static bool chain_has(const struct stack_entry *entries, size_t nr, const struct stack_entry *entry)
{
	while (nr > 0 && !entry_equal(&entries[nr - 1], entry))
		nr--;
	return nr > 0;
}

struct last_stack chain_last(struct chain_table *table, pid_t tid, uint64_t generation)
{
	const struct chain *chain = chain_lookup(table, tid);

	if (!chain || !chain->has_regs || chain->since || chain->generation != generation)
		return (struct last_stack){0};
	return (struct last_stack){chain_entries(chain), chain_regs(chain), chain->nr};
}

/* How many entries two stacks have in common, from the outermost on; at most `most`. */
static size_t entries_common(const struct stack_entry *entries, size_t nr,
                             const struct stack_entry *others, size_t nr_others, size_t most)
{
	size_t n = 0;

	while (n < most && n < nr && n < nr_others &&
	       entry_equal(&entries[nr - 1 - n], &others[nr_others - 1 - n]))
		n++;
	return n;
}

/* A chain that is good from some time on. What an earlier one had is good for longer. */
static void chain_since(struct chain *chain, const struct chain_news *news)
{
	size_t common = entries_common(chain_entries(chain), chain->nr, news->entries, news->nr,
	                               news->since ? SIZE_MAX : 0);

	if (common > chain->old)
		chain->old_since = chain->since;
	chain->old = (unsigned)common;
	chain->since = news->since;
}

/* From when on the entries are good that the chain has from number i on. */
static uint64_t good_since(const struct chain *chain, size_t i)
{
	return chain->nr - i > chain->old ? chain->since : chain->old_since;
}

/* All but what the chain has already. */
static void chain_copy(struct chain *chain, const struct chain_news *news)
{
	size_t nr = news->nr < MAX_ENTRIES ? news->nr : MAX_ENTRIES, beyond = news->nr - nr;
	size_t more = nr > news->same ? nr - news->same : 0, to = MAX_ENTRIES - nr;

	chain->nr = (unsigned)nr;
	memcpy(chain->entries + to, news->entries + beyond, more * sizeof(*news->entries));
	if (news->regs)
		memcpy(chain->regs + to, news->regs + beyond, more * sizeof(*news->regs));
}

void chain_store(struct chain_table *table, pid_t tid, const struct chain_news *news)
{
	struct chain *chain;

	if (tid <= 0)
		return;
	chain = chain_claim(table, tid);
	if (chain->stay && !chain_has(news->entries, news->nr, &chain->anchor))
		chain->stay = 0;
	if (!news->since)
		chain->misses = 0;
	if (news->seen)
		chain->seen = news->seen;
	chain_since(chain, news);
	chain->stored = ++table->stores;
	chain->generation = news->generation;
	chain->has_regs = news->regs;
	chain_copy(chain, news);
}

/*
 * Whether a stack joins the chain at its entry number i. One entry alone says little, for a
 * function may be called from two places at the same depth: unless stacks have joined there for a
 * while.
 */
static bool chain_joins(struct chain *chain, size_t i, const struct cut *cut)
{
	const struct frame_regs *ours = &chain_regs(chain)[i], *theirs = &cut->regs[cut->nr - 1];
	size_t n = entries_common(chain_entries(chain), i + 1, cut->entries, cut->nr, JOIN_ENTRIES);

	chain->stay = n ? chain->stay + 1 : 0;
	if (!n)
		return false;
	chain->anchor = chain_entries(chain)[i];
	return n == JOIN_ENTRIES || chain->stay > JOIN_STAY ||
	       (n >= JOIN_REGS && chain->has_regs && ours->fp == theirs->fp &&
	        ours->extra == theirs->extra);
}

/*
 * The first step may have been another one, with other registers. Without registers all steps may.
 */
static void append_regs(const struct chain *chain, size_t i, struct frame_regs *to)
{
	const struct frame_regs *from = chain_regs(chain);
	size_t nr = chain->nr - i, n;

	memcpy(to, from + i, nr * sizeof(*to));
	for (n = 0; n < nr && (n == 0 || !chain->has_regs); n++)
		to[n].by_words = false;
}

size_t chain_stitch(struct chain_table *table, pid_t tid, uint64_t time, const struct cut *cut)
{
	struct chain *chain = chain_lookup(table, tid);
	const struct stack_entry *last = &cut->entries[cut->nr - 1];
	size_t i, more;

	if (!chain || !last->slot)
		return cut->nr;
	for (i = 0; i < chain->nr; i++)
		if (chain_entries(chain)[i].slot == last->slot)
			break;
	/* Else the stack was cut before it came to the anchor: that says nothing of it. */
	if (i == chain->nr && last->slot >= chain->anchor.slot)
		chain->stay = 0;
	if (i == chain->nr || time < good_since(chain, i) || !chain_joins(chain, i, cut))
		return cut->nr;
	more = chain->nr - (i + 1);
	if (more > cut->max - cut->nr)
		return cut->nr;
	memcpy(cut->entries + cut->nr, chain_entries(chain) + i + 1, more * sizeof(*cut->entries));
	append_regs(chain, i + 1, cut->regs + cut->nr);
	return cut->nr + more;
}

bool chain_is_due(struct chain_table *table, pid_t tid, uint64_t now)
{
	struct chain *chain = chain_lookup(table, tid);

	if (!chain || now < chain->looked + LOOK_EVERY)
		return false;
	chain->looked = now;
	return true;
}

void chain_looked(struct chain_table *table, pid_t tid, uint64_t now, bool same)
{
	struct chain *chain = chain_lookup(table, tid);

	if (!chain)
		return;
	if (same) {
		chain->seen = now;
		chain->same++;
		return;
	}
	chain->same = 0;
	chain->needed = chain->needed ? 2 * chain->needed : 1;
	if (chain->needed > MOST_NEEDED)
		chain->needed = MOST_NEEDED;
}

bool chain_is_believed(struct chain_table *table, pid_t tid, uint64_t time)
{
	const struct chain *chain = chain_lookup(table, tid);

	return chain && chain->same >= chain->needed &&
	       (time <= chain->seen || time - chain->seen <= BELIEVE_FOR);
}

unsigned chain_miss(struct chain_table *table, pid_t tid)
{
	return ++chain_claim(table, tid)->misses;
}

void chain_prefetch(struct chain_table *table, pid_t tid, const unsigned char *stack, uint64_t base,
                    size_t size)
{
	const struct chain *chain = chain_lookup(table, tid);
	const struct stack_entry *first, *entry;
	uint64_t at, end = 0;

	if (!chain)
		return;
	/* Outer ones have higher slots, but where a signal's handler has a stack of its own. */
	first = chain_entries(chain);
	for (entry = first + chain->nr; entry-- > first;) {
		at = entry->slot - base;
		if (at >= size)
			continue;
		end = at > end ? at : end;
		if (at < PREFETCH_ALL)
			break;
		__builtin_prefetch(stack + at);
	}
	for (at = 0; at <= end && at < PREFETCH_ALL; at += CACHE_LINE)
		__builtin_prefetch(stack + at);
}

void chain_forget(struct chain_table *table, pid_t tid)
{
	struct chain *chain = chain_lookup(table, tid);

	if (chain)
		chain_clear(chain);
}
