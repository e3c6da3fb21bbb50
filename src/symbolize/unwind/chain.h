/*
 * Chains: the last complete stack of each thread.
 *
 * When the copied piece of a deep stack ends too early, its outermost return addresses are often at
 * the same places, and the same, as in an earlier sample of the thread: then nothing above them has
 * changed either, and the earlier stack says how it goes on. How much has to agree was found on
 * compilers' stacks, cut and compared with longer copies: by one return address 50 of 1,000 that
 * were completed were wrong, by three in a row 1 to 50, by six less than 1; by one and the
 * registers that its function was called with 2, by two and those 1 of 5,000. A single one counts
 * only where stacks have joined a chain for a while.
 *
 * But where two functions call the same deep code by turns, all that a copy holds is the same under
 * both. So a chain is believed for a while only after its thread was seen to have it: in a copy
 * that went to the root, or by another look at the process. What comes and goes between two looks
 * stays unseen: each time that one found another stack, twice as many must find the same in a row.
 */
#ifndef SYMBOLIZE_UNWIND_CHAIN_H
#define SYMBOLIZE_UNWIND_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A frame, and where on the stack its return address was; 0: in a register, or it is the leaf. */
struct link {
	uint64_t slot, frame;
};

/* Whether two frames are in one function. */
typedef bool link_same_fn(void *arg, uint64_t a, uint64_t b);

/* Whether two stacks have frames of the same sizes in the same functions, whatever their lines. */
bool links_alike(const struct link *a, const struct link *b, size_t nr, link_same_fn *same,
                 void *arg);

/*
 * What a walk knew as it came to the frame of a link. As far as it came there by the words of the
 * stack that are named here, and no others, a later walk that comes to one of these frames with the
 * same registers, and finds the same words from there on, would do no other steps than this one
 * did: it need not do them.
 */
struct hold {
	uint64_t ra, fp, extra;
	int16_t sp; /* relative to the slot, like the others */
	/* Where registers were loaded from as this frame was come to; 0: they were not. */
	int16_t fp_at, extra_at;
	bool by_words;
};

/* Of at most 256 threads, the outermost 1024 frames. */
struct chain_table;

/* NULL with errno. */
struct chain_table *chain_table_new(void);
void chain_table_free(struct chain_table *table);

/* A stack, leaf first, for as long as nothing is stored. */
struct past {
	const struct link *links;
	const struct hold *holds;
	size_t nr;
};

/* The thread's last stack, if it was walked in a space of this generation; nr 0: there is none. */
struct past chain_past(struct chain_table *table, pid_t tid, uint64_t generation);

/*
 * Remembers a complete stack, leaf first. The outermost `same` links are those of chain_past().
 * holds: NULL: not known. since: for samples from this time on; 0: for all. What it has in common
 * with the stack before is good for those that this was good for. seen: when the thread was seen to
 * have it, ns; 0: it is made of one that was seen before.
 */
struct chain_news {
	const struct link *links;
	const struct hold *holds;
	size_t nr, same;
	uint64_t generation, since, seen;
};

void chain_store(struct chain_table *table, pid_t tid, const struct chain_news *news);

/* A stack that ends too early, leaf first; there is room for max. */
struct cut {
	struct link *links;
	struct hold *holds;
	size_t nr, max;
};

/*
 * Appends to a stack that was cut what its thread's last one had above the same outermost links.
 * How many links there are then; as before: nothing matches, or it is more than there is room for.
 */
size_t chain_stitch(struct chain_table *table, pid_t tid, uint64_t time, const struct cut *cut);

/* Whether it is time, in ns, to look whether the thread still has its chain. */
bool chain_is_due(struct chain_table *table, pid_t tid, uint64_t now);
/* Whether it had, at that time. */
void chain_looked(struct chain_table *table, pid_t tid, uint64_t now, bool same);
/* Whether the chain is believed for a sample of a time. */
bool chain_is_believed(struct chain_table *table, pid_t tid, uint64_t time);

/* Counts that nothing matched: how many times, since a chain of the thread was stored. */
unsigned chain_miss(struct chain_table *table, pid_t tid);

/*
 * Another processor wrote the stack just now, and a walk that waits for one line of it after the
 * other takes most of its time for that. Asks for them all at once, as far as the thread's last
 * chain went.
 */
void chain_prefetch(struct chain_table *table, pid_t tid, const unsigned char *stack, uint64_t base,
                    size_t size);

void chain_forget(struct chain_table *table, pid_t tid);

#endif
