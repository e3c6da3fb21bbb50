/*
 * Rules: how to find the caller's registers at one address of a module.
 *
 * The canonical frame address (CFA) is the caller's stack pointer, nearly always. It is computed
 * first, from a register; then every register that we follow is either unchanged, or saved at an
 * address relative to the CFA or to one of the followed registers.
 */
#ifndef SYMBOLIZE_UNWIND_RULE_H
#define SYMBOLIZE_UNWIND_RULE_H

#include "symbolize/modules/module.h"

#include <stdbool.h>

/* The base of an address. The first four index the walker's array of registers. */
enum rule_base {
	RULE_CFA,
	RULE_SP,
	RULE_FP,
	RULE_EXTRA,
	RULE_REG, /* another register, whose value only the innermost frame knows for sure */
};

enum rule_type {
	RULE_NONE,   /* no call frame information: guess */
	RULE_FOLLOW, /* compute the CFA, then the registers */
	RULE_ROOT,   /* the frame has no caller */
	RULE_PUSHED, /* the frame has no caller: makecontext() pushed the address of the code behind
	                it */
	RULE_CLONED, /* a new thread begins here, without a caller; for the old thread: guess */
};

/* RULE_FOLLOW: how the CFA is computed from base + offset. */
enum rule_cfa {
	RULE_CFA_PLAIN,
	RULE_CFA_LOAD, /* the word there, + adjust */
	RULE_CFA_PLT,  /* + 8 in the part of a 16-byte PLT entry from byte adjust on */
};

enum rule_how {
	RULE_SAME,
	RULE_LOST, /* unknown */
	RULE_AT,   /* saved at base + offset */
	RULE_IN,   /* in register number base */
};

struct rule_value {
	uint8_t how, base;
	int16_t pad;
	int32_t offset;
};

/* Without padding, so that rules can be compared and hashed as bytes. */
struct unwind_rule {
	uint8_t type, signal; /* signal: the caller was interrupted and did not call */
	uint8_t cfa_how, cfa_base, cfa_reg;
	uint8_t plain; /* set by the cache: as rule_is_plain() says */
	int16_t cfa_adjust;
	int32_t cfa_offset;
	struct rule_value ra, sp, fp, extra; /* sp: RULE_SAME: it is the CFA */
};

_Static_assert(sizeof(struct unwind_rule) == 44, "padding in a rule");

/* Tells whether the difference between two such offsets fits into 16 bits. */
static inline bool rule_is_near(const struct rule_value *value)
{
	return value->offset > INT16_MIN / 2 && value->offset < INT16_MAX / 2;
}

/*
 * Tells whether the rule has the most common form, for which the walk has a shorter path: the
 * return address and the registers are saved relative to the CFA or unchanged, the CFA is relative
 * to a followed register, and the caller made a call.
 */
static inline bool rule_is_plain(const struct unwind_rule *rule)
{
	return rule->type == RULE_FOLLOW && !rule->signal && rule->cfa_how == RULE_CFA_PLAIN &&
	       rule->cfa_base < RULE_REG && rule->sp.how == RULE_SAME && rule->ra.how == RULE_AT &&
	       rule->ra.base == RULE_CFA &&
	       (rule->fp.how == RULE_SAME ||
	        (rule->fp.how == RULE_AT && rule->fp.base == RULE_CFA)) &&
	       (rule->extra.how == RULE_SAME ||
	        (rule->extra.how == RULE_AT && rule->extra.base == RULE_CFA)) &&
	       rule_is_near(&rule->ra) && rule_is_near(&rule->fp) && rule_is_near(&rule->extra);
}

/*
 * A cache of rules by frame. A rule depends on the module alone and not on where it is mapped, so
 * forks, execs and further processes of a program find their rules in the cache.
 */
struct rule_cache;

/* The table must outlive the cache. Returns NULL with errno on failure. */
struct rule_cache *rule_cache_new(struct module_table *modules);
void rule_cache_free(struct rule_cache *cache);

/* Returns the rule at an address. The result is never NULL, and is valid until the next call. */
const struct unwind_rule *rule_cache_get(struct rule_cache *cache, struct module *module,
                                         uint64_t vaddr);

/*
 * Returns a rule that is made from the code (epilogue.h), for the instruction at an address that
 * has no rule in rule_cache_get(). If the rule does not lead to a return address, it is wrong. If
 * no rule can be made, the result is of the type RULE_NONE. It is valid until the next call.
 */
const struct unwind_rule *rule_cache_by_code(struct rule_cache *cache, struct module *module,
                                             uint64_t vaddr);

/* Whether the return address with this frame (the byte before it) follows a call instruction. */
bool rule_cache_after_call(struct rule_cache *cache, struct module *module, uint64_t vaddr);

/*
 * Tells whether two addresses are in one function, as they are near and no return lies between
 * them.
 */
bool rule_cache_straight(struct rule_cache *cache, struct module *module, uint64_t from,
                         uint64_t to);
bool rule_cache_makes_frame(struct rule_cache *cache, struct module *module, uint64_t vaddr);

/* Tells whether two addresses of a module are in one function by its call frame information. */
bool rule_cache_same_function(struct rule_cache *cache, struct module *module, uint64_t a,
                              uint64_t b);

/*
 * Tells whether the function of a frame has no caller, or is the one from which a C library runs
 * main() or a thread's function. The latter is recognized by its use of their result.
 */
bool rule_cache_is_root(struct rule_cache *cache, struct module *module, uint32_t vaddr);

/* Language runtimes of modules. Rules cannot describe how Go and Haskell use stacks. */
enum module_runtime {
	RUNTIME_OTHER,
	RUNTIME_NO_CFI, /* the file has no call frame information */
	RUNTIME_GO,
	RUNTIME_HASKELL,
};
enum module_runtime rule_cache_runtime(struct rule_cache *cache, struct module *module);

/* Returns how many rules were not in the cache. */
uint64_t rule_cache_asked(const struct rule_cache *cache);

#endif
