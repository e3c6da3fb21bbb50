/*
 * Live stacks: what lies beyond the copied piece of a stack, read from the process itself a moment
 * later, as far as a walk asks for it: a single frame may take half a megabyte.
 *
 * By then the thread has gone on. What is read is given only where the outermost return addresses
 * of the copy are still in memory as they were, if that is asked for, and even then it may be what
 * a stack has left behind: whoever uses it needs a sign that the thread is where it was. Nothing in
 * the process is changed or halted.
 */
#ifndef SYMBOLIZE_UNWIND_LIVE_STACK_H
#define SYMBOLIZE_UNWIND_LIVE_STACK_H

#include "symbolize/unwind/stack_cache.h"
#include "symbolize/modules/peer_memory.h"
#include "symbolize/unwind/unwind.h"

struct live_stack;

/* `memory` must outlive the result. Returns NULL if there is no memory. */
struct live_stack *live_stack_new(struct peer_memory *memory);
void live_stack_free(struct live_stack *live);

/*
 * Prepares for reading words beyond the copy of a sample. Returns false if the process cannot be
 * read, or if the return addresses of these entries have changed. With nr 0 they are not checked.
 */
bool live_stack_begin(struct live_stack *live, pid_t pid, const struct unwind_sample *sample,
                      const struct stack_entry *entries, unsigned nr);

/* Continues on another stack of the process, from this address on. */
void live_stack_move(struct live_stack *live, uint64_t addr);

/*
 * Reads a word of the stack that is not completely in the copy. Returns false if it cannot be read,
 * is more than 1 GiB from the stack pointer, or too much was read for this sample.
 */
bool live_stack_word(struct live_stack *live, uint64_t addr, uint64_t *value);

#endif
