/*
 * Chains: the last complete stack of each thread.
 *
 * When the copied piece of a deep stack ends too early, its outermost return addresses are often at
 * the same places, and the same, as in an earlier sample of the thread: then nothing above them has
 * changed either, and the earlier stack says how it goes on. How much has to agree was found on a
 * compiler's stacks, cut and compared with longer copies: by one return address 50 of 1,000 that
 * were completed were wrong, by three in a row 1 to 50, by six less than 1. A single one counts
 * only where stacks have joined a chain for a while.
 */
#ifndef SYMBOLIZE_CHAIN_H
#define SYMBOLIZE_CHAIN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A frame, and where on the stack its return address was; 0: in a register, or it is the leaf. */
struct link {
	uint64_t slot, frame;
};

/* Of at most 256 threads, the outermost 256 frames. */
struct chain_table;

struct chain_table *chain_table_new(void);
void chain_table_free(struct chain_table *table);

/* Remembers a complete stack, leaf first. since: for samples from this time on; 0: for all. */
void chain_store(struct chain_table *table, pid_t tid, const struct link *links, size_t nr,
                 uint64_t since);

/*
 * Appends to a stack that was cut what its thread's last one had above the same outermost links.
 * How many links there are then; nr: nothing matches, or it is more than max.
 */
size_t chain_stitch(struct chain_table *table, pid_t tid, uint64_t time, struct link *links,
                    size_t nr, size_t max);

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
