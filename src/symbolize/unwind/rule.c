#include "symbolize/unwind/rule.h"
#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/cfi.h"
#include "symbolize/unwind/epilogue.h"
#include "symbolize/modules/peer_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define SET_BITS     12 /* 256 KiB: more sets would stay in the processor's caches less often */
#define NR_SETS      (1 << SET_BITS)
#define NR_WAYS      8
#define MAX_STRAIGHT 1024 /* bytes of code that are searched for a return or a frame push */
#define SHORT_WAY    64   /* shorter pieces of code are stored as single addresses */
#define MAX_RULES    4096 /* nine big libraries together have 2,107 different ones */

#define PAGE       4096
#define CACHE_LINE 64 /* a set fits into one, and a rule, too */

/*
 * An entry of the cache is one word: a piece of code with one rule, and the number of the rule.
 * Rules are the same for most functions; a table holds each once. It starts anew when a hostile
 * module fills it. A piece lies within a region of 1 KiB, and a set, which is a cache line, has the
 * pieces of its regions: what is near in the code is near in the cache.
 *
 *     63      52       50                24       20       10 9         0
 *    |  rule    |  0  |  tag of the region  |  0  |   bytes   |   first   |
 *
 * The set's number and the tag tell the region; bytes 0: there is no entry. Where rules are known
 * for single addresses alone, as in code made at run time, a region would have too many for its
 * set: these are scattered over all sets, as if their frames were others, with a mark in the tag.
 * Another marks those that the code itself told, for an instruction that begins there.
 */
#define REGION_BITS 10
#define REGION_SIZE (1 << REGION_BITS)
#define FRAME_BITS  48
#define TAG_BITS    (FRAME_BITS - REGION_BITS - SET_BITS)
#define TAG_SHIFT   24
#define RULE_SHIFT  52

#define SCATTERED ((uint64_t)1 << TAG_BITS)
#define BY_CODE   (2 * SCATTERED)

_Static_assert(TAG_SHIFT + TAG_BITS + 2 <= RULE_SHIFT && MAX_RULES <= 1 << (64 - RULE_SHIFT),
               "the fields of an entry");

struct rule_cache {
	struct cfi_reader *reader;
	struct peer_memory *memory;
	uint64_t asked;
	unsigned nr_rules;
	_Alignas(CACHE_LINE) uint64_t sets[NR_SETS][NR_WAYS]; /* each set in order of use */
	struct aligned_rule {
		_Alignas(CACHE_LINE) struct unwind_rule rule;
	} rules[MAX_RULES];
	uint16_t slots[2 * MAX_RULES]; /* rules by hash, number + 1 */
};

static const struct unwind_rule no_rule = {.type = RULE_NONE};

struct rule_cache *rule_cache_new(struct module_table *modules)
{
	struct rule_cache *cache = aligned_alloc(CACHE_LINE, sizeof(*cache));

	if (!cache)
		return NULL;
	memset(cache, 0, sizeof(*cache));
	cache->memory = module_table_memory(modules);
	cache->reader = cfi_reader_new(modules);
	if (!cache->reader) {
		free(cache);
		return NULL;
	}
	return cache;
}

void rule_cache_free(struct rule_cache *cache)
{
	if (!cache)
		return;
	cfi_reader_free(cache->reader);
	free(cache);
}

uint64_t rule_cache_asked(const struct rule_cache *cache)
{
	return cache->asked;
}

/* Returns the number of a rule in the table, to which it is added if it is new. */
static unsigned rule_number(struct rule_cache *cache, const struct unwind_rule *rule)
{
	size_t mask = 2 * MAX_RULES - 1, i = XXH3_64bits(rule, sizeof(*rule)) & mask;

	if (cache->nr_rules == MAX_RULES) {
		memset(cache->sets, 0, sizeof(cache->sets));
		memset(cache->slots, 0, sizeof(cache->slots));
		cache->nr_rules = 0;
	}
	for (; cache->slots[i]; i = (i + 1) & mask)
		if (!memcmp(&cache->rules[cache->slots[i] - 1].rule, rule, sizeof(*rule)))
			return cache->slots[i] - 1;
	cache->rules[cache->nr_rules].rule = *rule;
	cache->slots[i] = (uint16_t)(cache->nr_rules + 1);
	return cache->nr_rules++;
}

/*
 * Tells whether the address is in the trampoline that a signal handler returns to, for which some C
 * libraries have no call frame information. The address is that of one of its instructions, or of
 * the byte before it.
 */
static bool is_trampoline(struct rule_cache *cache, struct cfi *cfi, uint64_t vaddr)
{
	static const int64_t starts[] = {1, 0, -ARCH_TRAMPOLINE_STEP};
	uint8_t code[ARCH_TRAMPOLINE_SIZE];
	unsigned i;

	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (cfi_read(cache->reader, cfi, vaddr + (uint64_t)starts[i], code, sizeof(code)) ==
		            sizeof(code) &&
		    arch_is_trampoline(code))
			return true;
	return false;
}

/*
 * Tells whether the address is at the entry point of a program or of the dynamic linker, which has
 * no caller. glibc's dynamic linker and musl have no call frame information there.
 */
#define ENTRY_CODE_SIZE 96

static bool is_entry(struct rule_cache *cache, struct cfi *cfi, uint64_t vaddr)
{
	struct unwind_rule rule;
	struct cfi_range range;

	return cfi->entry && vaddr - cfi->entry < ENTRY_CODE_SIZE &&
	       !cfi_rule(cache->reader, cfi, cfi->entry, &rule, &range);
}

static ssize_t code_read(struct rule_cache *cache, const struct module *module, uint64_t addr,
                         void *to, size_t size)
{
	const struct iovec piece = {(void *)(uintptr_t)addr, size};

	return peer_memory_read(cache->memory, module->pid, &piece, 1, to);
}

/*
 * Makes a rule for code without a file, which is read from the process. The rule stays valid:
 * CPython never frees its trampolines, and other jit code that replaces jit code keeps a frame
 * pointer, too. *range is empty if the code cannot be read now.
 */
static void bare_rule(struct rule_cache *cache, const struct module *module, uint64_t vaddr,
                      struct unwind_rule *rule, struct cfi_range *range)
{
	uint8_t code[ARCH_BARE_SIZE] = {0};
	size_t before = ARCH_BARE_BEFORE;
	ssize_t got = code_read(cache, module, vaddr - before, code, sizeof(code));

	if (got <= 0 && got != -EAGAIN && vaddr % PAGE < ARCH_BARE_BEFORE) {
		before = vaddr % PAGE; /* the page may be the first of the mapping */
		got = code_read(cache, module, vaddr - before, code + ARCH_BARE_BEFORE - before,
		                sizeof(code) - ARCH_BARE_BEFORE + before);
	}
	if (got == -EAGAIN)
		range->end = range->start;
	if (got > 0)
		arch_bare_rule(code, rule);
}

static bool is_cloned(struct rule_cache *cache, struct cfi *cfi, uint64_t vaddr)
{
	uint8_t code[ARCH_CLONE_BEFORE];

	return cfi_read(cache->reader, cfi, vaddr - sizeof(code), code, sizeof(code)) ==
	               sizeof(code) &&
	       arch_is_clone(code);
}

/*
 * Tells whether the range contains the system call that makes a thread. The position of the thread
 * in it does not matter: before the call, the register of the result is not 0 yet.
 */
static bool is_cloning(struct rule_cache *cache, struct cfi *cfi, const struct cfi_range *range)
{
	uint8_t code[ARCH_CLONE_MAX];
	uint64_t size = range->end - range->start;

	return size <= sizeof(code) &&
	       arch_has_clone(code, cfi_read(cache->reader, cfi, range->start, code, size));
}

/* Tells whether call frame information begins just behind the address, which itself has none. */
static bool is_pushed(struct rule_cache *cache, struct cfi *cfi, uint64_t vaddr)
{
	struct unwind_rule rule;
	struct cfi_range range;

	return cfi_rule(cache->reader, cfi, vaddr + 1, &rule, &range) && range.start == vaddr + 1;
}

/* Tells whether the address is in the head of a PLT, behind its push. */
static bool is_plt_head(struct rule_cache *cache, struct cfi *cfi, uint64_t vaddr)
{
	uint8_t code[4];

	for (int at = 4; at < ARCH_PLT_HEAD; at += 4)
		if (cfi_read(cache->reader, cfi, vaddr - (uint64_t)at, code, sizeof(code)) ==
		            sizeof(code) &&
		    arch_is_plt_push(code))
			return true;
	return false;
}

/* Makes the rule for code that no entry of the call frame information covers. */
static struct unwind_rule undescribed_rule(struct rule_cache *cache, struct cfi *cfi,
                                           uint64_t vaddr)
{
	if (is_trampoline(cache, cfi, vaddr))
		return arch_signal_rule;
	if (is_plt_head(cache, cfi, vaddr))
		return arch_plt_rule;
	if (is_entry(cache, cfi, vaddr))
		return (struct unwind_rule){.type = RULE_ROOT};
	if (is_cloned(cache, cfi, vaddr))
		return (struct unwind_rule){.type = RULE_CLONED};
	return (struct unwind_rule){.type = is_pushed(cache, cfi, vaddr) ? RULE_PUSHED : RULE_NONE};
}

/*
 * Makes the rule at an address. *range is set to the addresses around it that have the same rule.
 */
static void rule_ask(struct rule_cache *cache, struct module *module, uint64_t vaddr,
                     struct unwind_rule *rule, struct cfi_range *range)
{
	struct cfi *cfi = cfi_get(cache->reader, module);

	cache->asked++;
	if (cfi && cfi_rule(cache->reader, cfi, vaddr, rule, range)) {
		arch_mend_rule(rule);
		if (rule->ra.how == RULE_SAME && is_cloning(cache, cfi, range))
			*rule = (struct unwind_rule){.type = RULE_CLONED};
		return;
	}
	*range = (struct cfi_range){vaddr, vaddr + 1};
	*rule = cfi ? undescribed_rule(cache, cfi, vaddr) : no_rule;
	if (module->type == MODULE_ANON)
		bare_rule(cache, module, vaddr, rule, range);
}

/* The set of an address, and the tag and offset that its entry must have. */
struct place {
	uint64_t *set, tag;
	uint32_t at; /* offset in its region */
};

#define ODD 0x9e3779b97f4a7c15ull

/* Neighbouring regions have neighbouring sets. The tag distinguishes modules and distant code. */
static inline struct place place_of(struct rule_cache *cache, uint64_t frame, uint64_t mark)
{
	uint64_t region = frame >> REGION_BITS, tag = region >> SET_BITS;
	uint64_t set = (region ^ (tag * ODD) >> (64 - SET_BITS)) % NR_SETS;

	return (struct place){cache->sets[set], tag | mark, (uint32_t)frame % REGION_SIZE};
}

/*
 * Returns a place for a single address. No two frames share one, as multiplication by an odd number
 * is reversible.
 */
static inline struct place place_scattered(struct rule_cache *cache, uint64_t frame, uint64_t mark)
{
	return place_of(cache, frame * ODD % ((uint64_t)1 << FRAME_BITS), SCATTERED | mark);
}

static inline bool entry_has(uint64_t entry, const struct place *place)
{
	return (entry >> TAG_SHIFT) % (2 * BY_CODE) == place->tag &&
	       place->at - (uint32_t)(entry % REGION_SIZE) <
	               (uint32_t)(entry >> REGION_BITS) % (2 * REGION_SIZE);
}

static uint64_t entry_make(const struct place *place, unsigned rule, uint64_t first, uint64_t bytes)
{
	return (uint64_t)rule << RULE_SHIFT | place->tag << TAG_SHIFT | bytes << REGION_BITS |
	       first;
}

/* Returns an entry for the part of the range that is in the place's region. */
static uint64_t entry_piece(const struct place *place, unsigned rule, uint64_t vaddr,
                            const struct cfi_range *range)
{
	uint64_t region = vaddr - place->at, end = region + REGION_SIZE;
	uint64_t first = range->start > region ? range->start - region : 0;

	return entry_make(place, rule, first,
	                  (range->end < end ? range->end : end) - region - first);
}

static const struct unwind_rule *place_search(struct rule_cache *cache, const struct place *place)
{
	uint64_t *set = place->set;

	for (unsigned way = 0; way < NR_WAYS; way++) {
		uint64_t entry = set[way];

		if (!entry_has(entry, place))
			continue;
		set[way] = set[way - (way > 0)];
		set[way - (way > 0)] = entry;
		return &cache->rules[entry >> RULE_SHIFT].rule;
	}
	return NULL;
}

static void place_put(const struct place *place, uint64_t entry)
{
	memmove(place->set + 1, place->set, (NR_WAYS - 1) * sizeof(*place->set));
	place->set[0] = entry;
}

/* Stores a rule for its range, or as scattered if the range is a single address. */
static const struct unwind_rule *keep_rule(struct rule_cache *cache, const struct unwind_rule *rule,
                                           uint64_t vaddr, const struct cfi_range *range,
                                           const struct place *place, const struct place *single)
{
	unsigned number = rule_number(cache, rule);

	if (range->end - range->start == 1)
		place_put(single, entry_make(single, number, single->at, 1));
	else
		place_put(place, entry_piece(place, number, vaddr, range));
	return &cache->rules[number].rule;
}

/* Searches the other ways of the set, and makes the rule if it is not in the cache. */
__attribute__((noinline)) static const struct unwind_rule *rule_search(struct rule_cache *cache,
                                                                       struct module *module,
                                                                       uint64_t vaddr,
                                                                       const struct place *place)
{
	const struct unwind_rule *known = place_search(cache, place);
	struct place single = place_scattered(cache, frame_make(module->id, (uint32_t)vaddr), 0);
	struct unwind_rule rule;
	struct cfi_range range;

	if (!known)
		known = place_search(cache, &single);
	if (known)
		return known;
	if (module->type == MODULE_KERNEL || module->type == MODULE_SPECIAL)
		return &no_rule;
	rule_ask(cache, module, vaddr, &rule, &range);
	if (range.start == range.end)
		return &no_rule;
	rule.plain = rule_is_plain(&rule);
	return keep_rule(cache, &rule, vaddr, &range, place, &single);
}

const struct unwind_rule *rule_cache_get(struct rule_cache *cache, struct module *module,
                                         uint64_t vaddr)
{
	uint64_t frame = frame_make(module->id, (uint32_t)vaddr);
	struct place place = module->type == MODULE_ANON ? place_scattered(cache, frame, 0)
	                                                 : place_of(cache, frame, 0);

	if (entry_has(place.set[0], &place))
		return &cache->rules[place.set[0] >> RULE_SHIFT].rule;
	return rule_search(cache, module, vaddr, &place);
}

struct code_of {
	struct rule_cache *cache;
	struct cfi *cfi;
};

static size_t read_for_epilogue(void *arg, uint64_t addr, void *to, size_t size)
{
	const struct code_of *code = arg;

	return cfi_read(code->cache->reader, code->cfi, addr, to, size);
}

/* Makes a rule from code and stores it. Short pieces are stored as single addresses. */
static const struct unwind_rule *rule_sweep(struct rule_cache *cache, struct module *module,
                                            uint64_t vaddr, const struct place *place,
                                            const struct place *single)
{
	struct code_of code = {cache, cfi_get(cache->reader, module)};
	struct cfi_range range = {vaddr, vaddr + 1};
	struct unwind_rule rule;

	cache->asked++;
	if (!code.cfi || !epilogue_rule(read_for_epilogue, &code, vaddr, &rule, &range.end))
		rule = no_rule;
	if (range.end - range.start < SHORT_WAY)
		range.end = range.start + 1;
	return keep_rule(cache, &rule, vaddr, &range, place, single);
}

const struct unwind_rule *rule_cache_by_code(struct rule_cache *cache, struct module *module,
                                             uint64_t vaddr)
{
	uint64_t frame = frame_make(module->id, (uint32_t)vaddr);
	struct place place = place_of(cache, frame, BY_CODE);
	struct place single = place_scattered(cache, frame, BY_CODE);
	const struct unwind_rule *known = place_search(cache, &single);

	if (!known)
		known = place_search(cache, &place);
	return known ? known : rule_sweep(cache, module, vaddr, &place, &single);
}

bool rule_cache_after_call(struct rule_cache *cache, struct module *module, uint64_t vaddr)
{
	struct cfi *cfi = cfi_get(cache->reader, module);

	return cfi && cfi_after_call(cache->reader, cfi, vaddr);
}

/* Reads the `size` bytes of code before an address. size is a multiple of ARCH_CODE_STEP. */
static bool code_before(struct rule_cache *cache, struct module *module, uint64_t vaddr,
                        uint8_t *code, size_t size)
{
	struct cfi *cfi = cfi_get(cache->reader, module);

	return cfi && size <= vaddr &&
	       cfi_read(cache->reader, cfi, vaddr - size, code, size) == size;
}

bool rule_cache_straight(struct rule_cache *cache, struct module *module, uint64_t from,
                         uint64_t to)
{
	uint8_t code[MAX_STRAIGHT];
	size_t size = to - from, at;

	if (size > sizeof(code) || !code_before(cache, module, to, code, size))
		return false;
	for (at = 0; at + ARCH_CODE_STEP <= size; at += ARCH_CODE_STEP)
		if (arch_is_return(code + at))
			return false;
	return true;
}

bool rule_cache_makes_frame(struct rule_cache *cache, struct module *module, uint64_t vaddr)
{
	uint8_t code[ARCH_CODE_STEP];
	uint32_t at;

	for (at = 0; at < MAX_STRAIGHT; at += ARCH_CODE_STEP) {
		if (!code_before(cache, module, vaddr - at, code, sizeof(code)) ||
		    arch_is_return(code))
			return false;
		if (arch_is_frame_push(code))
			return true;
	}
	return false;
}

bool rule_cache_same_function(struct rule_cache *cache, struct module *module, uint64_t a,
                              uint64_t b)
{
	struct cfi *cfi = cfi_get(cache->reader, module);

	return cfi && cfi_same_function(cache->reader, cfi, a, b);
}

#define EXIT_MAX 64 /* at most as long is exit() of any C library */

/* Tells whether a function is at most as long as EXIT_MAX and has no return instruction. */
static bool never_returns(struct rule_cache *cache, struct cfi *cfi, uint64_t start)
{
	uint8_t code[EXIT_MAX];
	size_t size = cfi_read(cache->reader, cfi, start, code, sizeof(code));
	size_t n = 1;

	if (start > UINT32_MAX - EXIT_MAX)
		return false;
	while (n < size &&
	       cfi_same_function(cache->reader, cfi, (uint32_t)start, (uint32_t)(start + n)))
		n++;
	for (size_t at = 0; at + ARCH_CODE_STEP <= n; at += ARCH_CODE_STEP)
		if (arch_is_return(code + at))
			return false;
	return size && n < size;
}

/*
 * Tells whether the frame is that of a C library that runs main() or a thread's function. glibc has
 * call frame information there, which does not mark it as outermost.
 */
static bool runs_program(struct rule_cache *cache, struct module *module, uint32_t vaddr)
{
	struct cfi *cfi = cfi_get(cache->reader, module);
	uint8_t code[ARCH_RUN_SIZE];
	int32_t target = 0;

	if (!cfi || !cfi_after_call(cache->reader, cfi, vaddr) ||
	    cfi_read(cache->reader, cfi, (uint64_t)vaddr + 1, code, sizeof(code)) < sizeof(code))
		return false;
	switch (arch_run(code, &target)) {
	case ARCH_RUNS_THREAD:
		return true;
	case ARCH_RUNS_MAIN:
		return never_returns(cache, cfi, (uint64_t)vaddr + 1 + (uint64_t)target);
	default:
		return false;
	}
}

bool rule_cache_is_root(struct rule_cache *cache, struct module *module, uint32_t vaddr)
{
	const struct unwind_rule *rule = rule_cache_get(cache, module, vaddr);

	return rule->type == RULE_ROOT || rule->type == RULE_PUSHED || rule->type == RULE_CLONED ||
	       runs_program(cache, module, vaddr);
}

enum module_runtime rule_cache_runtime(struct rule_cache *cache, struct module *module)
{
	const struct cfi *cfi = cfi_get(cache->reader, module);

	if (!cfi)
		return RUNTIME_OTHER;
	if (cfi->is_go || cfi->is_haskell)
		return cfi->is_go ? RUNTIME_GO : RUNTIME_HASKELL;
	return cfi->eh.size || cfi->debug.size ? RUNTIME_OTHER : RUNTIME_NO_CFI;
}
