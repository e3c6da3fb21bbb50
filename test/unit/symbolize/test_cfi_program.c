/* Call frame instructions that no compiler writes, one short program each. */
#include "cases.h"
#include "symbolize/unwind/arch.h"
#include "symbolize/unwind/cfi_entry.h"

#include <dwarf.h>
#include <stdlib.h>

/* The CFA is the stack pointer + 16; the return address is at CFA - 8, the frame pointer - 16. */
static const uint8_t usual[] = {DW_CFA_def_cfa,         ARCH_SP, 16,
                                DW_CFA_offset_extended, ARCH_RA, 1,
                                DW_CFA_offset_extended, ARCH_FP, 2};

static struct cursor cursor_of(const void *bytes, size_t size)
{
	return (struct cursor){.at = bytes, .end = (const uint8_t *)bytes + size};
}

static bool run_row(const uint8_t *program, size_t size, uint64_t vaddr, struct unwind_rule *rule,
                    struct cfi_range *range)
{
	const struct cfi_cie cie = {
		.code_align = 1,
		.data_align = (uint64_t)-8,
		.ra = ARCH_RA,
		.program = cursor_of(usual, sizeof(usual)),
	};
	const struct cfi_fde fde = {
		.start = 0x1000,
		.end = 0x2000000,
		.program = cursor_of(program, size),
	};

	memset(rule, 0xff, sizeof(*rule));
	return cfi_program_rule(&cie, &fde, vaddr, rule, range);
}

static bool run(const uint8_t *program, size_t size, uint64_t vaddr, struct unwind_rule *rule)
{
	struct cfi_range range;

	return run_row(program, size, vaddr, rule, &range);
}

#define RUN(vaddr, rule, ...)                                                      \
	({                                                                         \
		const uint8_t program_[] = {__VA_ARGS__};                          \
		/* On the heap, for the sanitizer to see a read beyond the end. */ \
		uint8_t *copy_ = malloc(sizeof(program_));                         \
		memcpy(copy_, program_, sizeof(program_));                         \
		bool known_ = run(copy_, sizeof(program_), vaddr, rule);           \
		free(copy_);                                                       \
		known_;                                                            \
	})

static void rows_end_where_locations_advance(void **state)
{
	struct unwind_rule rule;
	uint64_t vaddr;

	(void)state;
	for (vaddr = 0x1000; vaddr < 0x1001000; vaddr += vaddr < 0x1020 ? 1 : 0x301) {
		int32_t expected = vaddr < 0x1001     ? 16
		                   : vaddr < 0x1011   ? 24
		                   : vaddr < 0x1211   ? 32
		                   : vaddr < 0x101211 ? 40
		                                      : 48;

		assert_true(RUN(vaddr, &rule, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 24,
		                DW_CFA_advance_loc1, 0x10, DW_CFA_def_cfa_offset, 32,
		                DW_CFA_advance_loc2, 0, 2, DW_CFA_def_cfa_offset, 40,
		                DW_CFA_advance_loc4, 0, 0, 0x10, 0, DW_CFA_def_cfa_offset, 48));
		assert_int_equal(rule.cfa_offset, expected);
	}
}

static void location_can_be_set(void **state)
{
	struct unwind_rule rule;

	(void)state;
	assert_true(RUN(0x1fff, &rule, DW_CFA_set_loc, 0, 0x20, 0, 0, 0, 0, 0, 0,
	                DW_CFA_def_cfa_offset, 24));
	assert_int_equal(rule.cfa_offset, 16);
	assert_true(RUN(0x2000, &rule, DW_CFA_set_loc, 0, 0x20, 0, 0, 0, 0, 0, 0,
	                DW_CFA_def_cfa_offset, 24));
	assert_int_equal(rule.cfa_offset, 24);
}

/* Of addresses with one row, and of all of them. */
static void ranges_are_those_of_rows(void **state)
{
	static const uint8_t program[] = {
		DW_CFA_advance_loc | 0x10, DW_CFA_def_cfa_offset, 24,
		DW_CFA_advance_loc | 0x20, DW_CFA_def_cfa_offset, 32,
	};
	struct unwind_rule rule;
	struct cfi_range range;
	uint64_t vaddr;

	(void)state;
	for (vaddr = 0x1000; vaddr < 0x1050; vaddr++) {
		assert_true(run_row(program, sizeof(program), vaddr, &rule, &range));
		assert_int_equal(range.start, vaddr < 0x1010   ? 0x1000
		                              : vaddr < 0x1030 ? 0x1010
		                                               : 0x1030);
		assert_int_equal(range.end, vaddr < 0x1010   ? 0x1010
		                            : vaddr < 0x1030 ? 0x1030
		                                             : 0x2000000);
	}
}

/* A row that begins before the one that it follows is never come to by addresses in between. */
static void ranges_hold_where_locations_go_back(void **state)
{
	static const uint8_t program[] = {
		DW_CFA_advance_loc1,
		0x40,
		DW_CFA_def_cfa_offset,
		24,
		DW_CFA_set_loc,
		0x10,
		0x10,
		0,
		0,
		0,
		0,
		0,
		0,
		DW_CFA_def_cfa_offset,
		32,
		DW_CFA_advance_loc1,
		0x60,
		DW_CFA_def_cfa_offset,
		40,
	};
	struct unwind_rule rule, there;
	struct cfi_range range, ignored;
	uint64_t vaddr, at;

	(void)state;
	for (vaddr = 0x1000; vaddr < 0x1100; vaddr++) {
		assert_true(run_row(program, sizeof(program), vaddr, &rule, &range));
		assert_in_range(vaddr, range.start, range.end - 1);
		for (at = range.start; at < range.end && at < 0x1100; at++) {
			assert_true(run_row(program, sizeof(program), at, &there, &ignored));
			assert_memory_equal(&rule, &there, sizeof(rule));
		}
	}
}

static void cfa_takes_every_form(void **state)
{
	struct unwind_rule rule;

	(void)state;
	assert_true(RUN(0x1000, &rule, DW_CFA_def_cfa_sf, ARCH_FP, 0x7e));
	assert_int_equal(rule.cfa_base, RULE_FP);
	assert_int_equal(rule.cfa_offset, 16);
	assert_true(RUN(0x1000, &rule, DW_CFA_def_cfa_offset_sf, 0x7d));
	assert_int_equal(rule.cfa_base, RULE_SP);
	assert_int_equal(rule.cfa_offset, 24);
	assert_true(RUN(0x1000, &rule, DW_CFA_def_cfa_register, 10));
	assert_int_equal(rule.cfa_base, RULE_REG);
	assert_int_equal(rule.cfa_reg, 10);
	assert_true(RUN(0x1000, &rule, DW_CFA_def_cfa_expression, 5, DW_OP_breg0 + ARCH_FP, 0x78,
	                DW_OP_deref, DW_OP_plus_uconst, 8));
	assert_int_equal(rule.cfa_how, RULE_CFA_LOAD);
	assert_int_equal(rule.cfa_base, RULE_FP);
	assert_int_equal(rule.cfa_offset, -8);
	assert_int_equal(rule.cfa_adjust, 8);
	/* An offset that was computed is forgotten with the next plain one. */
	assert_true(RUN(0x1000, &rule, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + ARCH_FP, 0,
	                DW_OP_deref, DW_CFA_def_cfa, ARCH_SP, 8));
	assert_int_equal(rule.cfa_how, RULE_CFA_PLAIN);
}

static void registers_take_every_form(void **state)
{
	struct unwind_rule rule;

	(void)state;
	assert_true(RUN(0x1000, &rule, DW_CFA_nop));
	assert_int_equal(rule.ra.offset, -8);
	assert_int_equal(rule.fp.offset, -16);
	assert_int_equal(rule.extra.how, RULE_SAME);
	assert_true(RUN(0x1000, &rule, DW_CFA_same_value, ARCH_FP));
	assert_int_equal(rule.fp.how, RULE_SAME);
	assert_true(
		RUN(0x1000, &rule, DW_CFA_same_value, ARCH_FP, DW_CFA_restore_extended, ARCH_FP));
	assert_int_equal(rule.fp.offset, -16);
	assert_true(RUN(0x1000, &rule, DW_CFA_undefined, ARCH_FP));
	assert_int_equal(rule.fp.how, RULE_LOST);
	assert_true(RUN(0x1000, &rule, DW_CFA_offset_extended_sf, ARCH_FP, 0x7e));
	assert_int_equal(rule.fp.offset, 16);
	assert_true(RUN(0x1000, &rule, DW_CFA_GNU_negative_offset_extended, ARCH_FP, 3));
	assert_int_equal(rule.fp.offset, 24);
	assert_true(RUN(0x1000, &rule, DW_CFA_val_offset, ARCH_FP, 3));
	assert_int_equal(rule.fp.how, RULE_LOST);
	assert_true(RUN(0x1000, &rule, DW_CFA_register, ARCH_FP, 5));
	assert_int_equal(rule.fp.how, RULE_IN);
	assert_int_equal(rule.fp.base, 5);
	assert_true(RUN(0x1000, &rule, DW_CFA_expression, ARCH_FP, 2, DW_OP_breg0 + ARCH_SP, 8));
	assert_int_equal(rule.fp.how, RULE_AT);
	assert_int_equal(rule.fp.base, RULE_SP);
	assert_true(RUN(0x1000, &rule, DW_CFA_val_expression, ARCH_FP, 2, DW_OP_lit0, DW_OP_lit0));
	assert_int_equal(rule.fp.how, RULE_LOST);
	assert_true(RUN(0x1000, &rule, DW_CFA_undefined, ARCH_RA));
	assert_int_equal(rule.type, RULE_ROOT);
}

static void rows_are_remembered(void **state)
{
	struct unwind_rule rule;

	(void)state;
	assert_true(RUN(0x1000, &rule, DW_CFA_remember_state, DW_CFA_def_cfa, ARCH_FP, 99,
	                DW_CFA_restore_state));
	assert_int_equal(rule.cfa_base, RULE_SP);
	assert_int_equal(rule.cfa_offset, 16);
	assert_false(RUN(0x1000, &rule, DW_CFA_restore_state));
}

/* A library's reader would take gigabytes for the first, and as much again for the second. */
static void lies_cost_nothing(void **state)
{
	static uint8_t remember[100000];
	struct unwind_rule rule;

	(void)state;
	assert_true(RUN(0x1000, &rule, DW_CFA_offset_extended, 0xff, 0xff, 0xff, 0x3f, 1));
	assert_int_equal(rule.ra.offset, -8);
	memset(remember, DW_CFA_remember_state, sizeof(remember));
	assert_false(run(remember, sizeof(remember), 0x1000, &rule));
	/* Operands that are cut off, or too large. */
	assert_false(RUN(0x1000, &rule, DW_CFA_def_cfa, ARCH_SP));
	assert_false(RUN(0x1000, &rule, DW_CFA_def_cfa_offset, 0x80));
	assert_false(RUN(0x1000, &rule, DW_CFA_advance_loc4, 1, 2));
	assert_false(RUN(0x1000, &rule, DW_CFA_def_cfa_expression, 200, DW_OP_breg7));
	assert_false(RUN(0x1000, &rule, DW_CFA_expression, ARCH_FP, 0xff, 0xff, 0xff, 0xff, 0xff,
	                 0xff, 0xff, 0xff, 0xff, 1));
	assert_false(RUN(0x1000, &rule, DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0x7f));
	assert_false(RUN(0x1000, &rule, DW_CFA_def_cfa, 0x80, 2, 8));
	/* An instruction from the range of vendors. */
	assert_false(RUN(0x1000, &rule, 0x3f));
}

/* Whatever the bytes are: an answer, from within them. */
static void random_programs_end(void **state)
{
	struct unwind_rule rule;
	unsigned i, j;

	(void)state;
	srand(2);
	for (i = 0; i < 200000; i++) {
		size_t size = 1 + (size_t)rand() % 24;
		uint8_t *program = malloc(size);

		for (j = 0; j < size; j++)
			program[j] = (uint8_t)(rand() % 3 ? rand() % 0x30 : rand());
		if (run(program, size, 0x1000 + (uint64_t)rand() % 64, &rule))
			assert_in_range(rule.type, RULE_FOLLOW, RULE_ROOT);
		free(program);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_end_where_locations_advance),
		cmocka_unit_test(location_can_be_set),
		cmocka_unit_test(ranges_are_those_of_rows),
		cmocka_unit_test(ranges_hold_where_locations_go_back),
		cmocka_unit_test(cfa_takes_every_form),
		cmocka_unit_test(registers_take_every_form),
		cmocka_unit_test(rows_are_remembered),
		cmocka_unit_test(lies_cost_nothing),
		cmocka_unit_test(random_programs_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
