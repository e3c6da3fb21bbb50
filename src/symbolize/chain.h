/*
 * Chains: the last complete stack of each thread.
 *
 * When the copied piece of a deep stack ends too early, its outermost return address is often at
 * the same place, and the same, as in an earlier sample of the thread: then nothing above it has
 * changed either, and the earlier stack says how it goes on. Of 64 KiB stacks cut at 16 KiB, 85 %
 * could be completed so, and none wrongly.
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

/* Remembers a complete stack, leaf first. */
void chain_store(struct chain_table *table, pid_t tid, const struct link *links, size_t nr);

/*
 * Appends to a stack that was cut what its thread's last one had above the same outermost link.
 * How many links there are then; nr: nothing matches, or it is more than max.
 */
size_t chain_stitch(const struct chain_table *table, pid_t tid, struct link *links, size_t nr,
                    size_t max);

/* Where the thread's last chain had its outermost return address; 0: not known. */
uint64_t chain_end(const struct chain_table *table, pid_t tid);

void chain_forget(struct chain_table *table, pid_t tid);

#endif
