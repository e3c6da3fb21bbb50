#include "symbolize/unwind/known_callers.h"

#include <stdlib.h>
#include <string.h>

#define NR_NODES   16384
#define NR_SLOTS   (2 * NR_NODES)
#define NR_EPOCHS  256
#define EPOCH_BITS 10 /* a thread's number has at most 22 */
#define AMBIGUOUS  UINT64_MAX

/* Number 0 is above the outermost frames. */
struct node {
	struct stack_entry entry;
	uint64_t since; /* valid for samples from this time on, ns; or AMBIGUOUS */
	uint32_t owner; /* see owner_of() */
	uint32_t caller;
};

struct known_callers {
	same_function_fn *same;
	void *arg;
	uint32_t nr; /* of nodes, with number 0 */
	struct node nodes[NR_NODES];
	uint16_t slots[NR_SLOTS];   /* numbers of nodes, by hash; 0: free */
	uint32_t epochs[NR_EPOCHS]; /* by hash of the thread; raised when a thread is forgotten */
};

static void callers_clear(struct known_callers *callers)
{
	memset(callers->slots, 0, sizeof(callers->slots));
	callers->nr = 1;
}

struct known_callers *known_callers_new(same_function_fn *same, void *arg)
{
	struct known_callers *callers = calloc(1, sizeof(*callers));

	if (!callers)
		return NULL;
	callers->same = same;
	callers->arg = arg;
	callers_clear(callers);
	return callers;
}

void known_callers_free(struct known_callers *callers)
{
	free(callers);
}

/* Returns a key for a thread that changes when it is forgotten, as its number may be used again. */
static uint32_t owner_of(const struct known_callers *callers, pid_t tid)
{
	uint32_t epoch = callers->epochs[(uint32_t)tid % NR_EPOCHS];

	return (uint32_t)tid << EPOCH_BITS | epoch % (1U << EPOCH_BITS);
}

/* Returns the slot of the node for an entry, or the free slot where it would be. */
static uint32_t slot_of(const struct known_callers *callers, uint32_t owner,
                        const struct stack_entry *entry)
{
	uint64_t hash =
		(entry->slot ^ entry->frame << 13 ^ (uint64_t)owner << 32) * 0x9e3779b97f4a7c15ull;
	uint32_t i = (uint32_t)(hash >> 40) % NR_SLOTS;

	for (; callers->slots[i]; i = (i + 1) % NR_SLOTS) {
		const struct node *node = &callers->nodes[callers->slots[i]];

		if (node->owner == owner && node->entry.slot == entry->slot &&
		    node->entry.frame == entry->frame)
			break;
	}
	return i;
}

/*
 * Tells whether the callers of two nodes differ at most in the positions of calls within functions.
 */
static bool are_alike(const struct known_callers *callers, uint32_t a, uint32_t b)
{
	const struct node *nodes = callers->nodes;

	/* A node was made after its caller, or was given one like it: there may be circles. */
	for (unsigned n = 0; a != b && n < NR_NODES; n++) {
		if (!a || !b ||
		    !entries_alike(&nodes[a].entry, &nodes[b].entry, 1, callers->same,
		                   callers->arg))
			return false;
		a = nodes[a].caller;
		b = nodes[b].caller;
	}
	return a == b;
}

static void node_meet(struct known_callers *callers, struct node *node, uint64_t since,
                      uint32_t caller)
{
	if (node->since == AMBIGUOUS)
		return;
	if (node->caller == caller) {
		node->since = since < node->since ? since : node->since;
		return;
	}
	node->since = are_alike(callers, node->caller, caller) ? since : AMBIGUOUS;
	node->caller = caller;
}

/* Returns the number of an entry's node, which is added or updated. */
static uint32_t node_put(struct known_callers *callers, uint32_t owner,
                         const struct stack_entry *entry, uint64_t since, uint32_t caller)
{
	uint32_t slot = slot_of(callers, owner, entry), number = callers->slots[slot];

	if (number) {
		node_meet(callers, &callers->nodes[number], since, caller);
		return number;
	}
	number = callers->nr++;
	callers->nodes[number] = (struct node){*entry, since, owner, caller};
	callers->slots[slot] = (uint16_t)number;
	return number;
}

void known_callers_learn(struct known_callers *callers, pid_t tid, uint64_t since,
                         const struct stack_entry *entries, size_t nr, size_t old)
{
	uint32_t owner = owner_of(callers, tid), caller = 0;

	if (nr >= NR_NODES)
		return;
	if (callers->nr + nr > NR_NODES)
		callers_clear(callers);
	if (old && old < nr)
		caller = callers->slots[slot_of(callers, owner, &entries[nr - old])];
	if (caller)
		nr -= old;
	while (nr-- > 1 && entries[nr].slot)
		caller = node_put(callers, owner, &entries[nr], since, caller);
}

/* Returns the number of frames above a node; max + 1 if there are more, or they are unknown. */
static size_t count_callers(const struct known_callers *callers, const struct node *node,
                            uint64_t time, size_t max)
{
	size_t n = 0;

	for (;; node = &callers->nodes[node->caller], n++) {
		if (node->since > time || n > max)
			return max + 1;
		if (!node->caller)
			return n;
	}
}

size_t known_callers_append(const struct known_callers *callers, pid_t tid, uint64_t time,
                            const struct cut *cut)
{
	const struct stack_entry *last = &cut->entries[cut->nr - 1];
	uint32_t number = callers->slots[slot_of(callers, owner_of(callers, tid), last)];
	const struct node *node = &callers->nodes[number];
	size_t max = cut->max - cut->nr, more;

	if (!number || !last->slot)
		return cut->nr;
	more = count_callers(callers, node, time, max);
	if (more > max)
		return cut->nr;
	for (size_t i = 0; i < more; i++) {
		node = &callers->nodes[node->caller];
		cut->entries[cut->nr + i] = node->entry;
		cut->regs[cut->nr + i] = (struct frame_regs){0};
	}
	return cut->nr + more;
}

void known_callers_forget(struct known_callers *callers, pid_t tid)
{
	callers->epochs[(uint32_t)tid % NR_EPOCHS]++;
}
