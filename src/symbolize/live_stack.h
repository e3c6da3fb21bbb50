/*
 * Live stacks: what lies beyond the copied piece of a stack, read from the process itself a moment
 * later.
 *
 * By then the thread has gone on. What is read is given only where the last KiB of the copy is
 * still in memory as it was, and even then it may be what a stack has left behind: whoever uses it
 * needs a sign that the thread is where it was. Nothing in the process is changed or halted.
 */
#ifndef SYMBOLIZE_LIVE_STACK_H
#define SYMBOLIZE_LIVE_STACK_H

#include "symbolize/unwind.h"

struct live_stack;

/* NULL: no memory. */
struct live_stack *live_stack_new(void);
void live_stack_free(struct live_stack *live);

/*
 * Makes the sample 256 KiB longer, or as much as there is. False: the process may not be read, is
 * gone, or has changed. Valid until the next call.
 */
bool live_stack_extend(struct live_stack *live, pid_t pid, const struct unwind_sample *sample,
                       struct unwind_sample *whole);

#endif
