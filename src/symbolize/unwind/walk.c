/*
 * The walk by rules. The special cases were found by single-stepping programs beside a shadow
 * stack. Without them one stack in a hundred is cut or wrong.
 */
#include "symbolize/unwind/walk_again.h"

#define ROOT_WORDS       64      /* above an outermost frame, that are looked at */
#define SIGNAL_FRAME_MAX 0x10000 /* bytes, with all registers of the largest processors */

/* Loads a word that is not in the copied stack. */
__attribute__((noinline)) static bool load_beyond(struct state *state, uint64_t addr,
                                                  uint64_t *value)
{
	struct walk *walk = state->walk;
	bool beyond = addr > (walk->other ? walk->other : state->base);

	if (beyond && walk->live && live_stack_word(walk->live, addr, value))
		return true;
	walk->cut |= beyond;
	return false;
}

/* Loads a word of the stack. */
static inline bool load(struct state *state, uint64_t addr, uint64_t *value)
{
	uint64_t at = addr - state->base;

	if (at >= state->words_end)
		return load_beyond(state, addr, value);
	memcpy(value, state->walk->sample->stack + at, sizeof(*value));
	return true;
}

/* Loads the return address of the current frame from its slot. */
static inline bool load_ra(struct state *state, uint64_t *ra)
{
	struct walk *walk = state->walk;

	if (load(state, state->slot, ra))
		return true;
	walk->wanted = state->slot;
	walk->wanted_nr = walk->nr;
	return false;
}

static const struct mapping *find_map(const struct state *state, uint64_t addr)
{
	const struct mapping *map = state->map;

	if (!map || addr - map->start >= map->end - map->start)
		map = space_lookup(state->walk->space, addr);
	return map;
}

/*
 * Tells whether ra can be a return address: it is in code, and behind a call instruction if the
 * code can be read.
 */
static bool is_return(const struct state *state, uint64_t ra)
{
	const struct mapping *map = find_map(state, ra - 1);

	return map && rule_cache_after_call(state->rules, map->module, ra - 1 - map->bias);
}

/* True only on architectures where calls put the return address into a register. */
static inline bool sp_is_unsure(const struct state *state)
{
	return ARCH_RA == ARCH_EXTRA && state->sp_unsure;
}

/*
 * Tells whether the code has continued from ra to the current address, so that the call at ra has
 * returned.
 */
static bool came_from(const struct state *state, uint64_t ra)
{
	return state->map && ra <= state->ip && ra >= state->map->start &&
	       rule_cache_straight(state->rules, state->map->module, ra - state->map->bias,
	                           state->ip - state->map->bias);
}

/*
 * Tells whether the function has saved the frame pointer and the link register. It may have
 * restored them since.
 */
static bool makes_frame(const struct state *state)
{
	return state->map && rule_cache_makes_frame(state->rules, state->map->module,
	                                            state->ip - state->map->bias);
}

/*
 * A register that we do not follow has its sampled value for sure only in the innermost frame.
 * Assembly (OpenSSL's) has functions that keep their CFA in one and call others that leave it
 * alone, so it is tried there too, and the caller must look like one.
 */
static bool rule_cfa(const struct state *state, const struct unwind_rule *rule, uint64_t *cfa)
{
	if (rule->cfa_base != RULE_REG) {
		*cfa = state->regs[rule->cfa_base];
	} else {
		if (!state->sampled)
			return false;
		*cfa = arch_sample_reg(state->sampled, rule->cfa_reg);
	}
	*cfa += (uint64_t)rule->cfa_offset;
	return true;
}

static bool adjust_cfa(struct state *state, const struct unwind_rule *rule, uint64_t *cfa)
{
	if (rule->cfa_how == RULE_CFA_LOAD) {
		if (!load(state, *cfa, cfa))
			return false;
		*cfa += (uint64_t)rule->cfa_adjust;
	} else if (rule->cfa_how == RULE_CFA_PLT) {
		*cfa += (state->ip & 15) >= (uint64_t)rule->cfa_adjust ? 8 : 0;
	}
	/* A signal's handler may have had a stack of its own, and longjmp is about to change it. */
	if (rule->signal || rule->sp.how != RULE_SAME)
		return true;
	return state->inner ? *cfa >= state->regs[RULE_SP] : *cfa > state->regs[RULE_SP];
}

static bool return_address(struct state *state, const struct unwind_rule *rule, uint64_t *ra)
{
	const struct rule_value *value = &rule->ra;

	state->slot = 0;
	switch (value->how) {
	case RULE_AT:
		state->slot = state->regs[value->base] + (uint64_t)value->offset;
		if (ARCH_RA == ARCH_EXTRA && state->inner && state->slot < state->regs[RULE_SP]) {
			*ra = state->regs[RULE_EXTRA]; /* it was popped already: see caller_reg() */
			state->slot = 0;
			return true;
		}
		return load_ra(state, ra);
	case RULE_IN: /* vfork and longjmp keep it in one while they change stacks */
		if (!state->inner || !state->sampled)
			return false;
		*ra = arch_sample_reg(state->sampled, value->base);
		return true;
	case RULE_SAME: /* a leaf function that never left the link register */
		*ra = state->regs[RULE_EXTRA];
		return state->inner;
	default:
		return false;
	}
}

/*
 * The caller's value of a register. Behind a pop, compilers do not say that the register has its
 * old value again; in the innermost frame a slot that is no more on the stack means just that.
 */
static inline uint64_t caller_reg(struct state *state, const struct rule_value *value,
                                  enum rule_base which)
{
	uint64_t slot, saved;

	switch (value->how) {
	case RULE_SAME:
		return state->regs[which];
	case RULE_AT:
		slot = state->regs[value->base] + (uint64_t)value->offset;
		if (state->inner && (slot < state->regs[RULE_SP] ||
		                     (value->base == RULE_FP && slot >= state->regs[RULE_CFA])))
			return state->regs[which];
		return load(state, slot, &saved) ? saved : 0;
	case RULE_IN:
		return state->inner && state->sampled ? arch_sample_reg(state->sampled, value->base)
		                                      : 0;
	default:
		return 0;
	}
}

/*
 * If the frame pointer points to the words that this frame saved, computes the CFA from it and not
 * from the stack pointer.
 */
static void trust_frame_pointer(struct state *state, const struct unwind_rule *rule, uint64_t *cfa)
{
	uint64_t by_fp =
		state->regs[RULE_FP] + (uint64_t)ARCH_FRAME_RECORD - (uint64_t)rule->fp.offset;
	uint64_t ra;

	state->sp_unsure = false;
	if (rule->cfa_base != RULE_SP || rule->fp.how != RULE_AT || rule->fp.base != RULE_CFA ||
	    rule->ra.how != RULE_AT || rule->ra.base != RULE_CFA ||
	    rule->ra.offset != rule->fp.offset + 8 || by_fp < *cfa ||
	    !load(state, by_fp + (uint64_t)rule->ra.offset, &ra) ||
	    !is_return(state, ra & ARCH_CODE_MASK))
		return;
	*cfa = by_fp;
}

/*
 * If a handler ran on the interrupted stack, the interrupted frame is right above the signal's
 * frame.
 */
static void leave_handler(struct state *state)
{
	struct walk *walk = state->walk;
	uint64_t sp = state->regs[RULE_SP];

	state->sampled = NULL;
	if (sp - state->base <= walk->sample->stack_size + SIGNAL_FRAME_MAX)
		return;
	walk->other = sp - 1;
	if (walk->live)
		live_stack_move(walk->live, sp);
}

static bool step_follow(struct state *state, const struct unwind_rule *rule)
{
	uint64_t cfa, ra, sp, fp, extra;

	if (!rule_cfa(state, rule, &cfa) || !adjust_cfa(state, rule, &cfa))
		return false;
	if (sp_is_unsure(state))
		trust_frame_pointer(state, rule, &cfa);
	state->regs[RULE_CFA] = cfa;
	if (!return_address(state, rule, &ra))
		return false;
	sp = rule->sp.how == RULE_SAME ? cfa : caller_reg(state, &rule->sp, RULE_SP);
	ra &= ARCH_CODE_MASK;
	if (rule->cfa_base == RULE_REG && !state->inner && !is_return(state, ra))
		return false;
	fp = caller_reg(state, &rule->fp, RULE_FP);
	extra = caller_reg(state, &rule->extra, RULE_EXTRA);
	state->regs[RULE_FP] = fp;
	state->regs[RULE_EXTRA] = extra;
	state->regs[RULE_SP] = sp;
	state->ip = ra;
	state->inner = rule->signal;
	if (rule->signal)
		leave_handler(state);
	return true;
}

/*
 * A register under a plain rule. Which registers a function saves is a surprise to the processor:
 * there is a choice of address here instead of a branch.
 */
static inline void plain_reg(struct state *state, const struct rule_value *value, uint64_t cfa,
                             enum rule_base which)
{
	static const uint64_t lost;
	uint64_t at = cfa + (uint64_t)value->offset - state->base;
	const void *saved = at < state->words_end ? state->walk->sample->stack + at
	                                          : (const unsigned char *)&lost;
	const void *from = value->how == RULE_AT ? saved : &state->regs[which];

	memcpy(&state->regs[which], from, sizeof(state->regs[which]));
}

/* Returns where a register is saved, relative to the return address; 0: it is not saved. */
static inline int16_t saved_at(const struct rule_value *value, const struct unwind_rule *rule)
{
	return value->how == RULE_AT ? (int16_t)(value->offset - rule->ra.offset) : 0;
}

/*
 * Does what step_follow() does, for a plain rule in a frame that made a call. It has fewer cases.
 */
static inline bool step_plain(struct state *state, const struct unwind_rule *rule)
{
	uint64_t cfa = state->regs[rule->cfa_base] + (uint64_t)rule->cfa_offset, ra;

	if (cfa <= state->regs[RULE_SP])
		return false;
	state->slot = cfa + (uint64_t)rule->ra.offset;
	if (!load_ra(state, &ra))
		return false;
	plain_reg(state, &rule->fp, cfa, RULE_FP);
	plain_reg(state, &rule->extra, cfa, RULE_EXTRA);
	state->regs[RULE_SP] = cfa;
	state->ip = ra & ARCH_CODE_MASK;
	state->loaded.sp = (int16_t)-rule->ra.offset;
	state->loaded.fp_at = saved_at(&rule->fp, rule);
	state->loaded.extra_at = saved_at(&rule->extra, rule);
	state->loaded.by_words = true;
	return true;
}

static void called_from(struct state *state, uint64_t ra, uint64_t slot, uint64_t sp)
{
	state->ip = ra;
	state->slot = slot;
	state->regs[RULE_SP] = sp;
	state->inner = false;
}

/*
 * Guesses by the frame pointer, which jit code keeps: it points to the caller's, and the return
 * address is above.
 */
static bool guess_frame_pointer(struct state *state)
{
	uint64_t at = state->regs[RULE_FP] + (uint64_t)ARCH_FRAME_RECORD, next, ra;

	if (at % 8 || at < state->regs[RULE_SP] || !load(state, at, &next) ||
	    !load(state, at + 8, &ra))
		return false;
	ra &= ARCH_CODE_MASK;
	if (ra ? !find_map(state, ra - 1) : state->inner)
		return false;
	called_from(state, ra, at + 8, at + 16);
	state->sp_unsure = ARCH_RECORD_BELOW;
	state->regs[RULE_FP] = next;
	return true;
}

/*
 * Small pieces of assembly leave the link register alone, or have called others since and made a
 * frame for that. They may have pushed something, too.
 */
static bool guess_link(struct state *state)
{
	uint64_t ra = state->regs[RULE_EXTRA] & ARCH_CODE_MASK, saved;
	uint64_t at = state->regs[RULE_FP] + (uint64_t)ARCH_FRAME_RECORD + 8;

	if (!is_return(state, ra) || came_from(state, ra))
		return false;
	if (at >= state->regs[RULE_SP] && load(state, at, &saved) &&
	    (saved & ARCH_CODE_MASK) == ra && makes_frame(state))
		return guess_frame_pointer(state);
	called_from(state, ra, 0, state->regs[RULE_SP]);
	state->sp_unsure = true;
	return true;
}

/*
 * A new thread returns from the system call that made it, too, but on a stack where nobody called
 * it: C libraries leave that place undescribed. (The child of a fork has a copy of the stack.)
 */
static bool is_new_thread(const struct state *state, const struct unwind_rule *rule)
{
	return rule->type == RULE_CLONED && state->inner && state->sampled &&
	       arch_sample_reg(state->sampled, ARCH_RESULT) == 0;
}

/* Guesses that the return address is at the top of the stack, or near it. */
static bool guess_near(struct state *state, const struct unwind_rule *rule)
{
	uint64_t sp = state->regs[RULE_SP], slot, ra;

	if (ARCH_RA == ARCH_EXTRA)
		return !is_new_thread(state, rule) && guess_link(state);
	for (slot = sp; slot - sp < 32; slot += 8) {
		if (!load(state, slot, &ra) || !is_return(state, ra))
			continue;
		called_from(state, ra, slot, slot + 8);
		if (state->regs[RULE_FP] == slot - 8) /* this code keeps one, and is done with it */
			load(state, slot - 8, &state->regs[RULE_FP]);
		return true;
	}
	return false;
}

/*
 * The ABI marks the outermost frame by a frame pointer of 0. Code that has no use for the register
 * may find 0 there, too, as it was when the program began: then return addresses are not far.
 */
static bool is_outermost(const struct state *state)
{
	uint64_t at = state->regs[RULE_SP] - state->base, word;

	if (state->inner || state->regs[RULE_FP] != 0)
		return false;
	for (unsigned n = 0; n < ROOT_WORDS && at < state->words_end; n++, at += sizeof(word)) {
		memcpy(&word, state->walk->sample->stack + at, sizeof(word));
		if (is_return(state, word & ARCH_CODE_MASK))
			return false;
	}
	return true;
}

/* The result of a step. */
enum step_end {
	STEP_CALLER, /* the state is the caller's */
	STEP_ROOT,   /* nobody called the frame */
	STEP_LOST,   /* the caller is unknown */
};

static enum step_end step_caller(bool found)
{
	return found ? STEP_CALLER : STEP_LOST;
}

/*
 * Makes a rule from the instructions that follow. The rule is used only if it leads to a return
 * address.
 */
static enum step_end step_by_code(struct state *state)
{
	const struct mapping *map = state->map;
	struct state before = *state;
	const struct unwind_rule *rule =
		rule_cache_by_code(state->rules, map->module, state->ip - map->bias);

	if (rule->type == RULE_ROOT)
		return STEP_ROOT;
	if (rule->type == RULE_FOLLOW && step_follow(state, rule) && is_return(state, state->ip))
		return STEP_CALLER;
	*state = before;
	return STEP_LOST;
}

/* Guesses the caller where no rule gives it. The most reliable guess comes first. */
static enum step_end step_guess(struct state *state, const struct unwind_rule *rule)
{
	bool is_file = state->map && state->map->module->type != MODULE_ANON;
	enum step_end end = STEP_LOST;

	if (is_outermost(state))
		return STEP_ROOT;
	state->walk->no_rule = true;
	if (is_file && rule->type == RULE_NONE)
		end = step_by_code(state);
	if (end != STEP_LOST)
		return end;
	if (state->inner && is_file && guess_near(state, rule))
		return STEP_CALLER;
	if (is_new_thread(state, rule))
		return STEP_ROOT;
	return step_caller(guess_frame_pointer(state) || (state->inner && guess_near(state, rule)));
}

/* Adds the current frame to the walk and continues with its caller. */
static enum step_end step(struct state *state)
{
	static const struct unwind_rule no_rule = {.type = RULE_NONE};
	const struct unwind_rule *rule = &no_rule;
	uint64_t addr = state->inner ? state->ip : state->ip - 1, frame = FRAME_UNKNOWN;

	state->map = find_map(state, addr);
	if (state->map) {
		uint64_t vaddr = addr - state->map->bias;

		rule = rule_cache_get(state->rules, state->map->module, vaddr);
		/*
		 * Code that was not called begins at ip; the byte before may belong to another
		 * function.
		 */
		vaddr += !state->inner && (rule->signal || rule->type == RULE_PUSHED);
		frame = frame_make(state->map->module->id, (uint32_t)vaddr);
	}
	walk_add(state, frame);
	state->loaded.by_words = false;
	state->walk->no_rule = false;
	if (rule->plain && !state->inner && !sp_is_unsure(state) && !state->walk->live)
		return step_caller(step_plain(state, rule));
	if (rule->type == RULE_FOLLOW)
		return step_caller(step_follow(state, rule));
	if (rule->type == RULE_ROOT || (rule->type == RULE_PUSHED && !state->inner))
		return STEP_ROOT;
	return step_guess(state, rule);
}

void walk_rules(struct walk *walk, struct rule_cache *rules)
{
	const uint64_t *regs = walk->sample->regs;
	size_t size = walk->sample->stack_size;
	struct state state = {.walk = walk, .rules = rules, .sampled = regs, .inner = true};
	enum step_end end;

	state.ip = arch_sample_reg(regs, ARCH_PC);
	state.base = state.regs[RULE_SP] = arch_sample_reg(regs, ARCH_SP);
	state.words_end = size < sizeof(uint64_t) ? 0 : size - sizeof(uint64_t) + 1;
	state.regs[RULE_FP] = arch_sample_reg(regs, ARCH_FP);
	state.regs[RULE_EXTRA] = arch_sample_reg(regs, ARCH_EXTRA);
	while ((end = step(&state)) == STEP_CALLER && state.ip && walk->nr < walk->max) {
		if (state.ahead < walk->last.nr && !state.inner && !sp_is_unsure(&state))
			steps_again(&state);
	}
	walk->complete = end == STEP_ROOT || (end == STEP_CALLER && !state.ip);
	if (walk->nr != state.root + 1)
		walk->nr_again = 0; /* it went on beyond the root of the last stack */
}
