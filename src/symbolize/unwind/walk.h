/*
 * Walks: one sample's way from its leaf outward, by either engine.
 */
#ifndef SYMBOLIZE_UNWIND_WALK_H
#define SYMBOLIZE_UNWIND_WALK_H

#include "symbolize/unwind/stack_cache.h"
#include "symbolize/unwind/live_stack.h"
#include "symbolize/unwind/rule.h"
#include "symbolize/unwind/unwind.h"

struct walk {
	const struct space *space;
	const struct unwind_sample *sample;
	struct live_stack *live;     /* for what is beyond the copied stack; NULL: nothing is */
	struct stack_entry *entries; /* room for max; what was found */
	struct frame_regs *regs;     /* likewise; of no use where another engine walked */
	unsigned nr, max;
	struct last_stack last; /* the thread's last stack; nr 0: none is known */
	unsigned nr_again;      /* that many of the outermost entries are those of the last stack */
	bool complete;
	bool no_rule; /* of the last frame: nothing is known of its code */
	bool cut;     /* stopped because the copied stack ended */
	/* Where the return address of entry number wanted_nr - 1 is, which the copy does not have.
	 */
	uint64_t wanted;
	unsigned wanted_nr; /* 0: none */
	uint64_t other; /* below the stack that a signal handler with its own one interrupted; or 0
	                 */
};

/* Fills entries and regs from the leaf outward, and says how it ended. */
void walk_rules(struct walk *walk, struct rule_cache *rules);

/* The engine of libunwind. */
struct libunwind_walker;

/* The table must outlive the walker. Returns NULL with errno on failure. */
struct libunwind_walker *libunwind_walker_new(struct module_table *modules);
void libunwind_walker_free(struct libunwind_walker *walker);
/* Does the same as walk_rules(), but fills no regs. */
void walk_libunwind(struct walk *walk, struct libunwind_walker *walker);

#endif
