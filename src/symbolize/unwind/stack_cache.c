#include "symbolize/unwind/stack_cache.h"

#include <stdlib.h>
#include <string.h>

#define NR_SETS     64
#define NR_WAYS     4
#define MAX_ENTRIES 1024

#define CACHE_LINE   64
#define PREFETCH_ALL 6144 /* bytes: beyond, frames are so large that most lines are not needed */

/*
 * A cut stack is completed if JOIN_ENTRIES outermost entries agree with the cached stack, or
 * JOIN_REGS and the registers, or one in which more than JOIN_STAY cut stacks in a row ended.
 */
#define JOIN_ENTRIES 6
#define JOIN_REGS    2
#define JOIN_STAY    16

/* How often a thread is checked, and how long a cached stack is trusted after a check, ns. */
#define LOOK_EVERY  5000000
#define BELIEVE_FOR 50000000
#define MOST_NEEDED 16 /* checks */

struct cached_stack {
	pid_t tid; /* 0: nobody's, and empty */
	unsigned nr;
	unsigned misses; /* stack_cache_miss() since the last store */
	uint64_t stored; /* the time of the last store, in stores */
	uint64_t looked; /* when the thread was checked, ns */
	uint64_t seen;   /* when it was seen to have the stack, ns */
	unsigned same;   /* checks in a row that found the same stack */
	unsigned needed; /* value of same from which it is trusted; grows when a check fails */
	struct stack_entry anchor; /* where the last cut stack joined it, or could have */
	unsigned stay;             /* how many cut stacks in a row did so */
	uint64_t since;            /* for samples from this time on, in ns */
	unsigned old;              /* number of outermost entries that the stack before had, too: */
	uint64_t old_since;        /* they are valid for samples from this time on */
	uint64_t generation;
	bool has_regs; /* regs are filled */
	/* Filled from the end, so that the roots of all stacks stand in one place. */
	struct stack_entry entries[MAX_ENTRIES];
	struct frame_regs regs[MAX_ENTRIES];
};

/* 12 MiB, of which only the pages are ever touched that the stacks of the threads reach. */
struct stack_cache {
	uint64_t stores;
	struct cached_stack sets[NR_SETS][NR_WAYS];
};

struct stack_cache *stack_cache_new(void)
{
	return calloc(1, sizeof(struct stack_cache));
}

void stack_cache_free(struct stack_cache *cache)
{
	free(cache);
}

static size_t tid_set(pid_t tid)
{
	return (uint32_t)tid * 0x9e3779b9u >> 26;
}

static struct cached_stack *find_stack(struct stack_cache *cache, pid_t tid)
{
	struct cached_stack *set = cache->sets[tid_set(tid)];

	for (unsigned way = 0; way < NR_WAYS; way++)
		if (set[way].tid == tid)
			return &set[way];
	return NULL;
}

static void clear_stack(struct cached_stack *cached)
{
	memset(cached, 0, offsetof(struct cached_stack, entries)); /* the rest is not looked at */
}

/* Returns the thread's stack, or an empty one in place of the stack that was stored first. */
static struct cached_stack *claim_stack(struct stack_cache *cache, pid_t tid)
{
	struct cached_stack *cached = find_stack(cache, tid), *set = cache->sets[tid_set(tid)];

	if (cached)
		return cached;
	cached = set;
	for (unsigned way = 1; way < NR_WAYS; way++)
		if (set[way].stored < cached->stored)
			cached = &set[way];
	clear_stack(cached);
	cached->tid = tid;
	cached->stored = ++cache->stores;
	return cached;
}

static const struct stack_entry *cached_entries(const struct cached_stack *cached)
{
	return cached->entries + MAX_ENTRIES - cached->nr;
}

static const struct frame_regs *cached_regs(const struct cached_stack *cached)
{
	return cached->regs + MAX_ENTRIES - cached->nr;
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

static bool has_entry(const struct stack_entry *entries, size_t nr, const struct stack_entry *entry)
{
	while (nr > 0 && !entry_equal(&entries[nr - 1], entry))
		nr--;
	return nr > 0;
}

struct last_stack stack_cache_last(struct stack_cache *cache, pid_t tid, uint64_t generation)
{
	const struct cached_stack *cached = find_stack(cache, tid);

	if (!cached || !cached->has_regs || cached->since || cached->generation != generation)
		return (struct last_stack){0};
	return (struct last_stack){cached_entries(cached), cached_regs(cached), cached->nr};
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

/* Sets from when on the new stack is valid. The part that the stack before had keeps its time. */
static void set_since(struct cached_stack *cached, const struct new_stack *news)
{
	size_t common = entries_common(cached_entries(cached), cached->nr, news->entries, news->nr,
	                               news->since ? SIZE_MAX : 0);

	if (common > cached->old)
		cached->old_since = cached->since;
	cached->old = (unsigned)common;
	cached->since = news->since;
}

/* Returns the time from which on the entries from number i on are valid. */
static uint64_t good_since(const struct cached_stack *cached, size_t i)
{
	return cached->nr - i > cached->old ? cached->since : cached->old_since;
}

/* Copies all entries but those that the cache has already. */
static void copy_stack(struct cached_stack *cached, const struct new_stack *news)
{
	size_t nr = news->nr < MAX_ENTRIES ? news->nr : MAX_ENTRIES, beyond = news->nr - nr;
	size_t more = nr > news->same ? nr - news->same : 0, to = MAX_ENTRIES - nr;

	cached->nr = (unsigned)nr;
	memcpy(cached->entries + to, news->entries + beyond, more * sizeof(*news->entries));
	if (news->regs)
		memcpy(cached->regs + to, news->regs + beyond, more * sizeof(*news->regs));
}

void stack_cache_store(struct stack_cache *cache, pid_t tid, const struct new_stack *news)
{
	struct cached_stack *cached;

	if (tid <= 0)
		return;
	cached = claim_stack(cache, tid);
	if (cached->stay && !has_entry(news->entries, news->nr, &cached->anchor))
		cached->stay = 0;
	if (!news->since)
		cached->misses = 0;
	if (news->seen)
		cached->seen = news->seen;
	set_since(cached, news);
	cached->stored = ++cache->stores;
	cached->generation = news->generation;
	cached->has_regs = news->regs;
	copy_stack(cached, news);
}

/*
 * Tells whether a cut stack joins the cached one at its entry number i. One entry alone says
 * little, for a function may be called from two places at the same depth: unless stacks have joined
 * there for a while.
 */
static bool joins_stack(struct cached_stack *cached, size_t i, const struct cut *cut)
{
	const struct frame_regs *ours = &cached_regs(cached)[i], *theirs = &cut->regs[cut->nr - 1];
	size_t n =
		entries_common(cached_entries(cached), i + 1, cut->entries, cut->nr, JOIN_ENTRIES);

	cached->stay = n ? cached->stay + 1 : 0;
	if (!n)
		return false;
	cached->anchor = cached_entries(cached)[i];
	return n == JOIN_ENTRIES || cached->stay > JOIN_STAY ||
	       (n >= JOIN_REGS && cached->has_regs && ours->fp == theirs->fp &&
	        ours->extra == theirs->extra);
}

/*
 * The first step may have been another one, with other registers. Without registers all steps may.
 */
static void append_regs(const struct cached_stack *cached, size_t i, struct frame_regs *to)
{
	const struct frame_regs *from = cached_regs(cached);
	size_t nr = cached->nr - i, n;

	memcpy(to, from + i, nr * sizeof(*to));
	for (n = 0; n < nr && (n == 0 || !cached->has_regs); n++)
		to[n].by_words = false;
}

size_t stack_cache_stitch(struct stack_cache *cache, pid_t tid, uint64_t time,
                          const struct cut *cut)
{
	struct cached_stack *cached = find_stack(cache, tid);
	const struct stack_entry *last = &cut->entries[cut->nr - 1];
	size_t i, more;

	if (!cached || !last->slot)
		return cut->nr;
	for (i = 0; i < cached->nr; i++)
		if (cached_entries(cached)[i].slot == last->slot)
			break;
	/* Else the stack was cut before it came to the anchor: that says nothing of it. */
	if (i == cached->nr && last->slot >= cached->anchor.slot)
		cached->stay = 0;
	if (i == cached->nr || time < good_since(cached, i) || !joins_stack(cached, i, cut))
		return cut->nr;
	more = cached->nr - (i + 1);
	if (more > cut->max - cut->nr)
		return cut->nr;
	memcpy(cut->entries + cut->nr, cached_entries(cached) + i + 1,
	       more * sizeof(*cut->entries));
	append_regs(cached, i + 1, cut->regs + cut->nr);
	return cut->nr + more;
}

bool stack_cache_is_due(struct stack_cache *cache, pid_t tid, uint64_t now)
{
	struct cached_stack *cached = find_stack(cache, tid);

	if (!cached || now < cached->looked + LOOK_EVERY)
		return false;
	cached->looked = now;
	return true;
}

void stack_cache_looked(struct stack_cache *cache, pid_t tid, uint64_t now, bool same)
{
	struct cached_stack *cached = find_stack(cache, tid);

	if (!cached)
		return;
	if (same) {
		cached->seen = now;
		cached->same++;
		return;
	}
	cached->same = 0;
	cached->needed = cached->needed ? 2 * cached->needed : 1;
	if (cached->needed > MOST_NEEDED)
		cached->needed = MOST_NEEDED;
}

bool stack_cache_is_believed(struct stack_cache *cache, pid_t tid, uint64_t time)
{
	const struct cached_stack *cached = find_stack(cache, tid);

	return cached && cached->same >= cached->needed &&
	       (time <= cached->seen || time - cached->seen <= BELIEVE_FOR);
}

unsigned stack_cache_miss(struct stack_cache *cache, pid_t tid)
{
	return ++claim_stack(cache, tid)->misses;
}

void stack_cache_prefetch(struct stack_cache *cache, pid_t tid, const unsigned char *stack,
                          uint64_t base, size_t size)
{
	const struct cached_stack *cached = find_stack(cache, tid);
	const struct stack_entry *first, *entry;
	uint64_t at, end = 0;

	if (!cached)
		return;
	/* Outer ones have higher slots, but where a signal's handler has a stack of its own. */
	first = cached_entries(cached);
	for (entry = first + cached->nr; entry-- > first;) {
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

void stack_cache_forget(struct stack_cache *cache, pid_t tid)
{
	struct cached_stack *cached = find_stack(cache, tid);

	if (cached)
		clear_stack(cached);
}
