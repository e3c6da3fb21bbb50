/*
 * Where a walk by rules is, and the steps that the thread's last walk took from there: most calls
 * last longer than the time between two samples. For walk.c alone, all of which is one piece: what
 * a walk knows is in registers then.
 */
#ifndef SYMBOLIZE_UNWIND_WALK_AGAIN_H
#define SYMBOLIZE_UNWIND_WALK_AGAIN_H

#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/walk.h"

#include <string.h>

struct state {
	struct walk *walk;
	struct rule_cache *rules;
	const uint64_t *sampled;   /* the registers; NULL beyond a signal frame */
	uint64_t base, words_end;  /* of the stack; offset behind the last place for a word */
	const struct mapping *map; /* of the current frame; NULL: unknown */
	uint64_t regs[RULE_REG];   /* by enum rule_base */
	uint64_t ip;
	uint64_t slot;            /* where ip was loaded from; 0: nowhere */
	struct frame_regs loaded; /* how the walk reached this frame, without values */
	size_t ahead;   /* the first entry of the last stack that this walk may still reach */
	unsigned root;  /* the number of the entry that was the root of the last stack */
	bool inner;     /* the frame was interrupted at ip; else it called, and ip is next */
	bool sp_unsure; /* what it called may have pushed something that nothing describes */
};

/* Enters the current frame. */
static inline void walk_add(struct state *state, uint64_t frame)
{
	struct walk *walk = state->walk;
	struct frame_regs *regs = &walk->regs[walk->nr];

	walk->entries[walk->nr++] = (struct stack_entry){state->slot, frame};
	*regs = state->loaded;
	regs->ra = state->ip;
	regs->fp = state->regs[RULE_FP];
	regs->extra = state->regs[RULE_EXTRA];
}

/* Whether a word is in the copied stack, and is what it was. */
static inline bool same_word(const struct state *state, uint64_t slot, uint64_t mask, uint64_t was)
{
	uint64_t at = slot - state->base, word;

	if (at >= state->words_end)
		return false;
	memcpy(&word, state->walk->sample->stack + at, sizeof(word));
	return (word & mask) == was;
}

/* Whether the step that led to an entry of the last stack would be taken again. */
static inline bool same_step(const struct state *state, const struct stack_entry *entry,
                             const struct frame_regs *regs)
{
	return regs->by_words && same_word(state, entry->slot, ARCH_CODE_MASK, regs->ra) &&
	       (!regs->fp_at ||
	        same_word(state, entry->slot + (uint64_t)regs->fp_at, UINT64_MAX, regs->fp)) &&
	       (!regs->extra_at ||
	        same_word(state, entry->slot + (uint64_t)regs->extra_at, UINT64_MAX, regs->extra));
}

/* Whether the walk is where the last walk was, with the same registers. */
static inline bool same_state(const struct state *state, const struct stack_entry *entry,
                              const struct frame_regs *regs)
{
	return regs->by_words && state->slot == entry->slot && state->ip == regs->ra &&
	       state->regs[RULE_FP] == regs->fp && state->regs[RULE_EXTRA] == regs->extra &&
	       state->regs[RULE_SP] == entry->slot + (uint64_t)regs->sp;
}

/* Enters the frames of the last stack's entries `from` to `to` - 1, and goes on to that of `to`. */
static inline void take_last(struct state *state, size_t from, size_t to)
{
	struct walk *walk = state->walk;
	const struct last_stack *last = &walk->last;
	size_t more = to - from - 1;

	/* How this frame was come to is this walk's own. */
	walk_add(state, last->entries[from].frame);
	memcpy(walk->entries + walk->nr, last->entries + from + 1, more * sizeof(*last->entries));
	memcpy(walk->regs + walk->nr, last->regs + from + 1, more * sizeof(*last->regs));
	walk->nr += (unsigned)more;
	state->slot = last->entries[to].slot;
	state->loaded = last->regs[to];
	state->ip = state->loaded.ra;
	state->regs[RULE_FP] = state->loaded.fp;
	state->regs[RULE_EXTRA] = state->loaded.extra;
	state->regs[RULE_SP] = state->slot + (uint64_t)state->loaded.sp;
	walk->nr_again = to + 1 == last->nr ? (unsigned)(more + 1) : 0;
	state->root = walk->nr;
}

/*
 * Takes the steps that the thread's last walk took from here on, without looking for their rules,
 * as far as they would be the same.
 */
static inline void steps_again(struct state *state)
{
	const struct last_stack *last = &state->walk->last;
	size_t i = state->ahead, from, room = state->walk->max - state->walk->nr;

	while (i < last->nr && last->entries[i].slot < state->slot)
		i++;
	state->ahead = from = i;
	if (i == last->nr || !same_state(state, &last->entries[i], &last->regs[i]))
		return;
	while (i + 1 < last->nr && i + 1 - from < room &&
	       same_step(state, &last->entries[i + 1], &last->regs[i + 1]))
		i++;
	if (i == from)
		return;
	take_last(state, from, i);
	state->ahead = i + 1;
}

#endif
