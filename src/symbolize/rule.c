#include "symbolize/rule.h"
#include "symbolize/arch.h"
#include "symbolize/cfi.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <xxhash.h>

#define SET_BITS     14 /* 512 KiB: a big compiler has 50,000 addresses in a few seconds */
#define NR_SETS      (1 << SET_BITS)
#define NR_WAYS      4
#define MAX_STRAIGHT 1024 /* bytes of code that are looked at where no rule says what it does */
#define MAX_RULES    4096 /* nine big libraries together have 2,107 different ones */

#define PAGE       4096
#define CACHE_LINE 64 /* a set, or a rule, never takes two */

/*
 * An entry of the cache is one word: the frame, and above it the number of its rule. Rules are the
 * same for most functions; a table holds each once. It starts anew when a hostile module fills it.
 */
#define ENTRY_FRAME_BITS 48

struct rule_cache {
	struct cfi_reader *reader;
	uint64_t asked;
	unsigned nr_rules;
	_Alignas(CACHE_LINE) uint64_t sets[NR_SETS][NR_WAYS]; /* last used first; 0: empty */
	struct aligned_rule {
		_Alignas(CACHE_LINE) struct unwind_rule rule;
	} rules[MAX_RULES];
	uint16_t slots[2 * MAX_RULES]; /* rules by hash, number + 1 */
};

static const struct unwind_rule no_rule = {.kind = RULE_NONE};

struct rule_cache *rule_cache_new(struct module_table *modules)
{
	struct rule_cache *cache = aligned_alloc(CACHE_LINE, sizeof(*cache));

	if (!cache)
		return NULL;
	memset(cache, 0, sizeof(*cache));
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

/* The number of a rule in the table. */
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
 * A signal handler returns to a trampoline, which some C libraries leave undescribed. The address
 * is that of one of its instructions, or of the byte before.
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
 * Nothing is above the code at an entry point, of a program or of the dynamic linker, that is not
 * described: glibc's dynamic linker, or musl.
 */
#define ENTRY_CODE_SIZE 96

static bool is_entry(struct rule_cache *cache, struct cfi *cfi, uint64_t vaddr)
{
	struct unwind_rule rule;

	return cfi->entry && vaddr - cfi->entry < ENTRY_CODE_SIZE &&
	       !cfi_rule(cache->reader, cfi, cfi->entry, &rule);
}

static size_t code_read(struct rule_cache *cache, const struct module *module,
                        const struct cfi *cfi, uint64_t addr, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)addr, size};
	ssize_t n;

	if (cfi)
		return cfi_read(cache->reader, cfi, addr, to, size);
	n = process_vm_readv(module->pid, &local, 1, &remote, 1, 0);
	return n > 0 ? (size_t)n : 0;
}

/*
 * Code that nothing describes. If it has no file it is read where it is, and stays what it was
 * found to be: what CPython makes is never freed, and what is made in the place of other code keeps
 * a frame pointer, as that did.
 */
static bool is_bare(struct rule_cache *cache, struct module *module, const struct cfi *cfi,
                    uint32_t vaddr, struct unwind_rule *rule)
{
	uint8_t code[ARCH_BARE_SIZE] = {0};
	uint64_t addr = module->window << 32 | vaddr;
	size_t before = ARCH_BARE_BEFORE;

	if (!code_read(cache, module, cfi, addr - before, code, sizeof(code))) {
		before = vaddr % PAGE; /* it may be the first there is */
		if (before >= ARCH_BARE_BEFORE ||
		    !code_read(cache, module, cfi, addr - before, code + ARCH_BARE_BEFORE - before,
		               sizeof(code) - ARCH_BARE_BEFORE + before))
			return false;
	}
	return arch_bare_rule(code, vaddr, !cfi, rule);
}

/* In the head of a PLT, behind its push. */
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

static void rule_ask(struct rule_cache *cache, struct module *module, uint32_t vaddr,
                     struct unwind_rule *rule)
{
	struct cfi *cfi = module->kind == MODULE_ANON ? NULL : cfi_get(cache->reader, module);

	memset(rule, 0, sizeof(*rule));
	cache->asked++;
	if (!cfi && module->kind != MODULE_ANON)
		return;
	if (cfi && cfi_rule(cache->reader, cfi, vaddr, rule)) {
		arch_mend_rule(rule);
		return;
	}
	memset(rule, 0, sizeof(*rule));
	if (cfi && is_trampoline(cache, cfi, vaddr))
		*rule = arch_signal_rule;
	else if (cfi && is_plt_head(cache, cfi, vaddr))
		*rule = arch_plt_rule;
	else if (cfi && is_entry(cache, cfi, vaddr))
		rule->kind = RULE_ROOT;
	else if (!is_bare(cache, module, cfi, vaddr, rule))
		memset(rule, 0, sizeof(*rule));
}

static bool entry_has(uint64_t entry, uint64_t frame)
{
	return (entry ^ frame) << (64 - ENTRY_FRAME_BITS) == 0;
}

static void entry_to_front(uint64_t *set, unsigned way, uint64_t entry)
{
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = entry;
}

/* Not where it is looked for first: in one of the other ways, or nowhere yet. */
__attribute__((noinline)) static const struct unwind_rule *
rule_search(struct rule_cache *cache, struct module *module, uint64_t frame, uint64_t *set)
{
	struct unwind_rule rule;
	unsigned way;

	for (way = 1; way < NR_WAYS; way++) {
		if (!entry_has(set[way], frame))
			continue;
		entry_to_front(set, way, set[way]);
		return &cache->rules[set[0] >> ENTRY_FRAME_BITS].rule;
	}
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_SPECIAL)
		return &no_rule;
	rule_ask(cache, module, frame_offset(frame), &rule);
	rule.plain = rule_is_plain(&rule);
	entry_to_front(set, NR_WAYS - 1,
	               (uint64_t)rule_number(cache, &rule) << ENTRY_FRAME_BITS | frame);
	return &cache->rules[set[0] >> ENTRY_FRAME_BITS].rule;
}

const struct unwind_rule *rule_cache_get(struct rule_cache *cache, struct module *module,
                                         uint32_t vaddr)
{
	uint64_t frame = frame_make(module->id, vaddr);
	uint64_t *set = cache->sets[(frame * 0x9e3779b97f4a7c15ull) >> (64 - SET_BITS)];

	if (entry_has(set[0], frame))
		return &cache->rules[set[0] >> ENTRY_FRAME_BITS].rule;
	return rule_search(cache, module, frame, set);
}

bool rule_cache_after_call(struct rule_cache *cache, struct module *module, uint32_t vaddr)
{
	struct cfi *cfi = cfi_get(cache->reader, module);
	uint8_t code[ARCH_CALL_MAX];

	return cfi && vaddr >= ARCH_CALL_MAX &&
	       cfi_read(cache->reader, cfi, vaddr + 1 - ARCH_CALL_MAX, code, sizeof(code)) ==
	               sizeof(code) &&
	       arch_is_call(code);
}

/* The code of so many bytes, a multiple of ARCH_CODE_STEP, that ends at an address. */
static bool code_before(struct rule_cache *cache, struct module *module, uint32_t vaddr,
                        uint8_t *code, size_t size)
{
	struct cfi *cfi = cfi_get(cache->reader, module);

	return cfi && size <= vaddr &&
	       cfi_read(cache->reader, cfi, vaddr - size, code, size) == size;
}

bool rule_cache_straight(struct rule_cache *cache, struct module *module, uint32_t from,
                         uint32_t to)
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

bool rule_cache_makes_frame(struct rule_cache *cache, struct module *module, uint32_t vaddr)
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
