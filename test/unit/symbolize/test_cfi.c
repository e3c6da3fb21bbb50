/* Call frame information: every row of real libraries against libdw, and files that lie. */
#include "cases.h"
#include "maps.h"
#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/cfi.h"
#include "target_path.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	struct module_table *modules;
	struct cfi_reader *reader;
	struct space *space;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->modules = module_table_new();
	fixture->reader = cfi_reader_new(fixture->modules);
	fixture->space = space_new(getpid());
	maps_read(fixture->space, fixture->modules);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	cfi_reader_free(fixture->reader);
	space_put(fixture->space);
	module_table_free(fixture->modules);
	free(fixture);
	return 0;
}

/* The loaded module that holds an address of this process. */
static struct module *module_at(const struct fixture *fixture, const void *addr)
{
	const struct mapping *mapping = space_lookup(fixture->space, (uintptr_t)addr);

	assert_non_null(mapping);
	return mapping->module;
}

/* -- libdw's answer, in our form -------------------------------------------------------------- */

static uint8_t base_of(uint64_t reg)
{
	return reg == ARCH_SP      ? RULE_SP
	       : reg == ARCH_FP    ? RULE_FP
	       : reg == ARCH_EXTRA ? RULE_EXTRA
	                           : RULE_REG;
}

static bool op_is_breg(const Dwarf_Op *op, uint64_t *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
		return true;
	}
	*reg = op->number;
	*offset = (int64_t)op->number2;
	return op->atom == DW_OP_bregx;
}

static bool oracle_cfa(Dwarf_Frame *frame, struct unwind_rule *rule)
{
	Dwarf_Op *ops;
	size_t nr;
	uint64_t reg;
	int64_t offset;

	if (dwarf_frame_cfa(frame, &ops, &nr) || nr == 0 || !op_is_breg(&ops[0], &reg, &offset))
		return false;
	if (nr == 9 && ops[1].atom == DW_OP_breg16) {
		rule->cfa_how = RULE_CFA_PLT;
		rule->cfa_adjust = (int16_t)(ops[4].atom - DW_OP_lit0);
	} else if (nr == 2 || nr == 3) {
		if (ops[1].atom != DW_OP_deref || (nr == 3 && ops[2].atom != DW_OP_plus_uconst))
			return false;
		rule->cfa_how = RULE_CFA_LOAD;
		rule->cfa_adjust = nr == 3 ? (int16_t)ops[2].number : 0;
	} else if (nr != 1) {
		return false;
	}
	rule->cfa_base = base_of(reg);
	rule->cfa_reg = (uint8_t)reg;
	rule->cfa_offset = (int32_t)offset;
	return true;
}

static struct rule_value oracle_value(Dwarf_Frame *frame, int reg, bool *undefined)
{
	struct rule_value value = {.how = RULE_LOST};
	Dwarf_Op memory[3], *ops;
	uint64_t base;
	int64_t offset;
	size_t nr;

	*undefined = false;
	assert_int_equal(dwarf_frame_register(frame, reg, memory, &ops, &nr), 0);
	if (nr > 0 && ops[nr - 1].atom == DW_OP_stack_value) {
		value.how = RULE_SAME; /* the stack pointer, by default: the CFA itself */
	} else if (nr == 0) {
		*undefined = ops == memory;
		if (!ops)
			value.how = RULE_SAME;
	} else if (ops[0].atom == DW_OP_call_frame_cfa && nr == 1) {
		value = (struct rule_value){.how = RULE_AT, .base = RULE_CFA};
	} else if (ops[0].atom == DW_OP_call_frame_cfa && ops[1].atom == DW_OP_plus_uconst) {
		value = (struct rule_value){RULE_AT, RULE_CFA, 0, (int32_t)ops[1].number};
	} else if (nr == 2 && op_is_breg(&ops[1], &base, &offset) && base_of(base) != RULE_REG) {
		value = (struct rule_value){RULE_AT, base_of(base), 0, (int32_t)offset};
	} else if (nr == 1 && ops[0].atom == DW_OP_regx) {
		value = (struct rule_value){.how = RULE_IN, .base = (uint8_t)ops[0].number};
	}
	return value;
}

static bool oracle_rule(Dwarf_Frame *frame, bool signal, struct unwind_rule *rule)
{
	bool root, lost;

	memset(rule, 0, sizeof(*rule));
	rule->signal = signal;
	rule->ra = oracle_value(frame, ARCH_RA, &root);
	if (root) {
		rule->ra = (struct rule_value){0};
		rule->type = RULE_ROOT;
		return true;
	}
	rule->type = RULE_FOLLOW;
	rule->sp = oracle_value(frame, ARCH_SP, &lost);
	rule->fp = oracle_value(frame, ARCH_FP, &lost);
	/* libdw counts rbx among the registers that calls destroy: it mistakes it for number 0. */
	rule->extra = oracle_value(frame, ARCH_EXTRA, &lost);
	/* Where it is the link register we ask for the return address alone. */
	if (lost || ARCH_EXTRA == ARCH_RA)
		rule->extra = (struct rule_value){.how = RULE_SAME};
	return oracle_cfa(frame, rule) && rule->ra.how != RULE_LOST;
}

/* -- every row -------------------------------------------------------------------------------- */

struct tally {
	unsigned rows, unknown;
};

/* At an address of a row. */
static void row_check(struct fixture *fixture, struct cfi *cfi, Dwarf_Frame *frame, uint64_t vaddr,
                      const struct cfi_range *row, struct tally *tally)
{
	struct unwind_rule ours, theirs;
	struct cfi_range range;
	Dwarf_Addr start, end;
	bool signal, expressible;

	dwarf_frame_info(frame, &start, &end, &signal);
	expressible = oracle_rule(frame, signal, &theirs);
	memset(&ours, 0, sizeof(ours));
	if (cfi_rule(fixture->reader, cfi, vaddr, &ours, &range) != expressible)
		fail_msg("row at %#" PRIx64 ": %s by libdw", vaddr, expressible ? "known" : "not");
	if (expressible && memcmp(&ours, &theirs, sizeof(ours)))
		fail_msg("row at %#" PRIx64 " differs from libdw's", vaddr);
	if (expressible && memcmp(&range, row, sizeof(range)))
		fail_msg("row of %#" PRIx64 " goes from %#" PRIx64 " to %#" PRIx64, vaddr,
		         range.start, range.end);
	tally->rows++;
	tally->unknown += !expressible;
}

/* An executable segment, row by row, the first and the last byte of each. */
static void segment_check(struct fixture *fixture, struct cfi *cfi, const struct segment *text,
                          Dwarf_CFI *oracle, struct tally *tally)
{
	uint64_t vaddr = text->vaddr;
	struct cfi_range range, row;
	struct unwind_rule rule;

	while (vaddr < text->vaddr + text->size) {
		Dwarf_Addr start, end;
		Dwarf_Frame *frame;
		bool signal;

		if (dwarf_cfi_addrframe(oracle, vaddr, &frame)) {
			assert_false(cfi_rule(fixture->reader, cfi, vaddr, &rule, &range));
			vaddr++;
			continue;
		}
		/* What libdw takes for the start of a restored row is that of the remembered one.
		 */
		dwarf_frame_info(frame, &start, &end, &signal);
		row = (struct cfi_range){vaddr, end};
		row_check(fixture, cfi, frame, vaddr, &row, tally);
		row_check(fixture, cfi, frame, end - 1, &row, tally);
		free(frame);
		vaddr = end;
	}
}

static struct tally module_check(struct fixture *fixture, struct module *module)
{
	struct cfi *cfi = cfi_get(fixture->reader, module);
	struct tally tally = {0};
	Dwarf_CFI *oracle;
	unsigned i;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(module_fd(fixture->modules, module), ELF_C_READ, NULL);
	assert_non_null(elf);
	oracle = dwarf_getcfi_elf(elf);
	if (!oracle && module->type == MODULE_VDSO) { /* without any, on aarch64 */
		elf_end(elf);
		return tally;
	}
	assert_non_null(oracle);
	for (i = 0; i < module->nr_segments; i++)
		segment_check(fixture, cfi, &module->segments[i], oracle, &tally);
	print_message("%s: %u rows, %u that no rule expresses\n", module->path, tally.rows,
	              tally.unknown);
	dwarf_cfi_end(oracle);
	elf_end(elf);
	return tally;
}

static void every_row_of_libc_is_libdw_s(void **state)
{
	struct fixture *fixture = *state;
	struct tally tally = module_check(fixture, module_at(fixture, (void *)(uintptr_t)getpid));

	assert_true(tally.rows > 10000);
	assert_true(tally.unknown <= 4);
}

static void every_row_of_the_linker_is_libdw_s(void **state)
{
	struct fixture *fixture = *state;
	unsigned i, checked = 0;

	for (i = 1; i < module_table_count(fixture->modules); i++) {
		struct module *module = module_table_get(fixture->modules, (uint16_t)i);

		if (!strstr(module->path, "/ld-linux") && !strstr(module->path, "libstdc++") &&
		    module->type != MODULE_VDSO)
			continue;
		checked += module_check(fixture, module).rows > 0;
	}
	assert_true(checked >= 1);
}

/* Without the linker's table a program's functions are found through one made here. */
static void own_index_finds_what_the_linkers_table_finds(void **state)
{
	struct fixture *fixture = *state;
	struct module *module = module_at(fixture, (void *)(uintptr_t)getpid);
	struct cfi *cfi = cfi_get(fixture->reader, module);

	assert_true(cfi->eh.table);
	cfi->eh.table = 0;
	cfi->eh.nr = 0;
	cfi->eh.scanned = true;
	assert_true(module_check(fixture, module).rows > 10000);
	assert_non_null(cfi->eh.index);
}

static void addresses_of_one_function(void **state)
{
	struct fixture *fixture = *state;
	const struct mapping *mapping = space_lookup(fixture->space, (uintptr_t)&strfry);
	struct cfi *cfi = cfi_get(fixture->reader, mapping->module);
	uint64_t fry = (uintptr_t)&strfry - mapping->bias;
	uint64_t other = (uintptr_t)&getpid - mapping->bias;

	assert_true(cfi_same_function(fixture->reader, cfi, fry, fry + 20));
	assert_true(cfi_same_function(fixture->reader, cfi, fry + 20, fry));
	assert_false(cfi_same_function(fixture->reader, cfi, fry, fry - 1));
	assert_false(cfi_same_function(fixture->reader, cfi, fry, other));
	assert_false(cfi_same_function(fixture->reader, cfi, 8, 8)); /* no code */
}

/*
 * The cache gives each address the rule that it has by itself, whatever was asked before: far and
 * near, often enough for pieces of code to be put out and asked for again.
 */
static void cached_rules_are_those_of_their_addresses(void **state)
{
	struct fixture *fixture = *state, *other;
	struct module *module = module_at(fixture, (void *)(uintptr_t)getpid), *same;
	struct cfi *cfi = cfi_get(fixture->reader, module);
	const struct segment *text = &module->segments[0];
	uint64_t code = (uintptr_t)getpid - space_lookup(fixture->space, (uintptr_t)getpid)->bias;
	struct unwind_rule ours, alone;
	struct rule_cache *cache;
	struct cfi_range range;
	uint64_t random = 1, vaddr;
	unsigned i, known = 0;

	setup((void **)&other);
	same = module_at(other, (void *)(uintptr_t)getpid);
	cache = rule_cache_new(other->modules);
	for (i = 0; i < 100000; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		vaddr = text->vaddr + (random >> 33) % text->size;
		if (i % 4)
			vaddr = code + (random >> 33) % 65536;
		memset(&alone, 0, sizeof(alone));
		ours = *rule_cache_get(cache, same, (uint32_t)vaddr);
		if (!cfi_rule(fixture->reader, cfi, vaddr, &alone, &range))
			continue;
		arch_mend_rule(&alone);
		assert_int_equal(ours.plain, rule_is_plain(&ours));
		ours.plain = 0;
		assert_memory_equal(&ours, &alone, sizeof(ours));
		known++;
	}
	assert_true(known > 50000);
	assert_true(rule_cache_asked(cache) < known * 3 / 4);
	rule_cache_free(cache);
	teardown((void **)&other);
}

static struct module *target_module(const struct fixture *fixture, const char *name)
{
	char path[4096];
	struct module_file file = {.path = path, .pid = getpid()};
	struct stat st;

	target_path(path, name);
	assert_int_equal(stat(path, &st), 0);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	return module_table_file(fixture->modules, &file);
}

static struct unwind_rule rule_at(const struct fixture *fixture, struct cfi *cfi, uint64_t vaddr)
{
	struct unwind_rule rule;
	struct cfi_range range;

	memset(&rule, 0, sizeof(rule));
	assert_true(cfi_rule(fixture->reader, cfi, vaddr, &rule, &range));
	return rule;
}

/* Linkers of Go compress .debug_frame. */
static void compressed_sections_say_the_same(void **state)
{
	struct fixture *fixture = *state;
	struct module *modules[] = {target_module(fixture, "step_deep_debug_frame"),
	                            target_module(fixture, "step_deep_debug_frame_packed")};
	struct cfi *plain = cfi_get(fixture->reader, modules[0]);
	struct cfi *packed = cfi_get(fixture->reader, modules[1]);
	struct unwind_rule rule, other;

	assert_int_equal(plain->debug.packed, 0);
	assert_true(packed->debug.packed > 0);
	cfi_same_function(fixture->reader, plain, 0, 0); /* makes the index */
	assert_true(plain->debug.nr > 1);
	for (uint32_t i = 0; i < plain->debug.nr; i++) {
		rule = rule_at(fixture, plain, plain->debug.index[i].start + 1);
		other = rule_at(fixture, packed, plain->debug.index[i].start + 1);
		assert_memory_equal(&rule, &other, sizeof(rule));
	}
}

#if defined(__x86_64__)
/* The function on_other_stack, by its size. */
static uint64_t switching_function(const struct fixture *fixture, struct cfi *cfi)
{
	for (uint32_t i = 0; i < cfi->debug.nr; i++) {
		uint64_t at = cfi->debug.index[i].start;

		if (cfi_same_function(fixture->reader, cfi, at, at + 5) &&
		    !cfi_same_function(fixture->reader, cfi, at, at + 6))
			return at;
	}
	return 0;
}

static void stack_that_was_left_has_no_caller(void **state)
{
	struct fixture *fixture = *state;
	struct module *module = target_module(fixture, "step_deep_debug_frame");
	struct cfi *cfi = cfi_get(fixture->reader, module);
	uint64_t at;

	cfi_same_function(fixture->reader, cfi, 0, 0); /* makes the index */
	at = switching_function(fixture, cfi);
	assert_int_not_equal(at, 0);
	assert_int_equal(rule_at(fixture, cfi, at).type, RULE_FOLLOW);
	assert_int_equal(rule_at(fixture, cfi, at + 4).type, RULE_NONE);
}
#endif

/* Code made at run time has a rule for each address, and many addresses in one place. */
static void dense_rules_stay_known(void **state)
{
	struct fixture *fixture = *state;
	struct rule_cache *cache = rule_cache_new(fixture->modules);
	unsigned char *code =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct module *module;
	unsigned pass, i;

	assert_ptr_not_equal(code, MAP_FAILED);
	module = module_table_anon(fixture->modules, getpid(), (uintptr_t)code);
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < 1024; i += 8)
			rule_cache_get(cache, module, (uint32_t)(uintptr_t)code + i);
	assert_int_equal(rule_cache_asked(cache), 128);
	munmap(code, 4096);
	rule_cache_free(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_row_of_libc_is_libdw_s),
		TEST(every_row_of_the_linker_is_libdw_s),
		TEST(own_index_finds_what_the_linkers_table_finds),
		TEST(cached_rules_are_those_of_their_addresses),
		TEST(addresses_of_one_function),
		TEST(compressed_sections_say_the_same),
#if defined(__x86_64__)
		TEST(stack_that_was_left_has_no_caller),
#endif
		TEST(dense_rules_stay_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
