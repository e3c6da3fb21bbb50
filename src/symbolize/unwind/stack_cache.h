/*
 * The stack cache: the last complete stack of each thread.
 *
 * The copied piece of a deep stack may end too early. If its outermost return addresses are at the
 * same places as in an earlier sample of the thread, and are the same, then nothing above them has
 * changed either, and the earlier stack completes it. The number of words that must agree was
 * measured on compilers' stacks, which were cut and compared with longer copies: with one return
 * address 50 of 1,000 completed stacks were wrong, with three in a row 1 to 50, with six less than
 * 1; with one and the registers that its function was called with 2 of 1,000, with two and these
 * registers 1 of 5,000. A single one counts only after many cut stacks in a row have ended there.
 *
 * If two functions call the same deep code by turns, a copy looks the same under both. So a stack
 * is trusted for some time only after its thread was seen to have it: in a copy that reached the
 * root, or when the process was read again. Changes between two such checks stay unseen. Each time
 * that a check finds another stack, twice as many checks in a row must find the same one.
 */
#ifndef SYMBOLIZE_UNWIND_STACK_CACHE_H
#define SYMBOLIZE_UNWIND_STACK_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A frame, and the place of its return address on the stack; 0: it is in a register, or the frame
 * is the leaf.
 */
struct stack_entry {
	uint64_t slot, frame;
};

/* Tells whether two frames are in one function. */
typedef bool same_function_fn(void *arg, uint64_t a, uint64_t b);

/*
 * Tells whether two stacks have frames of the same sizes in the same functions; lines may differ.
 */
bool entries_alike(const struct stack_entry *a, const struct stack_entry *b, size_t nr,
                   same_function_fn *same, void *arg);

/*
 * The registers of a walk when it reached the frame of an entry, and the places of the words on the
 * stack that it had loaded them from. If the walk used no other words, a later walk that reaches
 * the frame with the same registers, and finds the same words from there on, would take the same
 * steps. So it can skip them.
 */
struct frame_regs {
	uint64_t ra, fp, extra;
	int16_t sp; /* relative to the slot, like the others */
	/* Where registers were loaded from on the way to this frame; 0: they were not loaded. */
	int16_t fp_at, extra_at;
	bool by_words;
};

/* Holds at most 256 threads, and the outermost 1024 frames of each. */
struct stack_cache;

/* NULL with errno. */
struct stack_cache *stack_cache_new(void);
void stack_cache_free(struct stack_cache *cache);

/* A stack, leaf first. It is valid until another one is stored. */
struct last_stack {
	const struct stack_entry *entries;
	const struct frame_regs *regs;
	size_t nr;
};

/* Returns the thread's last stack if it was walked in a space of this generation, else nr is 0. */
struct last_stack stack_cache_last(struct stack_cache *cache, pid_t tid, uint64_t generation);

/*
 * A complete stack to remember, leaf first. Its outermost `same` entries are those of
 * stack_cache_last(). regs may be NULL: they are unknown. The stack is valid for samples from the
 * time `since` on (0: for all samples); the part in common with the stack before keeps that one's
 * time. seen is when the thread was seen to have the stack, in ns; 0: it was composed from one that
 * was seen before.
 */
struct new_stack {
	const struct stack_entry *entries;
	const struct frame_regs *regs;
	size_t nr, same;
	uint64_t generation, since, seen;
};

void stack_cache_store(struct stack_cache *cache, pid_t tid, const struct new_stack *news);

/* A stack that ends too early, leaf first, with room for max entries. */
struct cut {
	struct stack_entry *entries;
	struct frame_regs *regs;
	size_t nr, max;
};

/*
 * Completes a stack that was cut with the part of its thread's last stack above the same outermost
 * entries. Returns the new number of entries. It is unchanged if nothing matches or there is no
 * room.
 */
size_t stack_cache_stitch(struct stack_cache *cache, pid_t tid, uint64_t time,
                          const struct cut *cut);

/* Tells whether the thread should be checked now (ns) for still having its stack. */
bool stack_cache_is_due(struct stack_cache *cache, pid_t tid, uint64_t now);
/* Stores the result of that check: whether the thread had the same stack. */
void stack_cache_looked(struct stack_cache *cache, pid_t tid, uint64_t now, bool same);
/* Tells whether the stack is trusted for a sample of that time. */
bool stack_cache_is_believed(struct stack_cache *cache, pid_t tid, uint64_t time);

/*
 * Counts a stack that matched nothing. Returns their number since a stack of the thread was stored.
 */
unsigned stack_cache_miss(struct stack_cache *cache, pid_t tid);

/*
 * Prefetches the stack as far as the thread's last stack went. Another processor wrote the stack
 * just now, and a walk would spend most of its time waiting for one cache line after the other.
 */
void stack_cache_prefetch(struct stack_cache *cache, pid_t tid, const unsigned char *stack,
                          uint64_t base, size_t size);

void stack_cache_forget(struct stack_cache *cache, pid_t tid);

#endif
