/* Code that nothing describes, known by its instructions; and such that only looks alike. */
#if defined(__x86_64__)

#include "cases.h"
#include "symbolize/unwind/arch.h"

#include <string.h>

static const uint8_t made[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3};

/* What is found with these instructions as the only code, looked at from byte at on. */
static bool ask(const void *code, size_t size, size_t at, int *cfa)
{
	uint8_t window[ARCH_BARE_SIZE] = {0};
	struct unwind_rule rule;

	memcpy(window + ARCH_BARE_BEFORE - at, code, size);
	if (!arch_bare_rule(window, &rule))
		return false;
	assert_int_equal(rule.type, RULE_FOLLOW);
	assert_int_equal(rule.cfa_base, RULE_SP);
	assert_int_equal(rule.ra.offset, -8);
	*cfa = rule.cfa_offset;
	return true;
}

static void at_each_instruction(void **state)
{
	static const struct {
		size_t at;
		int cfa;
	} cases[] = {{0, 8}, {4, 16}, {5, 16}, {6, 16}, {10, 8}};
	int cfa;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* CPython puts one behind the other, at whatever address. */
		assert_true(ask(made, sizeof(made), cases[i].at, &cfa));
		assert_int_equal(cfa, cases[i].cfa);
	}
}

static void one_behind_the_other(void **state)
{
	uint8_t code[3 * sizeof(made)];
	size_t i;
	int cfa;

	(void)state;
	for (i = 0; i < 3; i++)
		memcpy(code + i * sizeof(made), made, sizeof(made));
	for (i = 0; i < 3; i++) {
		assert_true(ask(code, sizeof(code), i * sizeof(made) + 5, &cfa));
		assert_int_equal(cfa, 16);
	}
}

static void other_code(void **state)
{
	/* sub $24, %rsp; call *%rsi; add $24, %rsp; ret */
	static const uint8_t larger[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd6,
	                                 0x48, 0x83, 0xc4, 0x18, 0xc3};
	/* sub $8, %rsp; push %rbx; call *%rcx; pop %rbx; add $8, %rsp; ret */
	static const uint8_t pushes[] = {0x48, 0x83, 0xec, 0x08, 0x53, 0xff, 0xd1,
	                                 0x5b, 0x48, 0x83, 0xc4, 0x08, 0xc3};
	static const uint8_t zeros[64];
	int cfa;

	(void)state;
	assert_false(ask(larger, sizeof(larger), 5, &cfa));
	assert_false(ask(pushes, sizeof(pushes), 6, &cfa));
	assert_false(ask(zeros, sizeof(zeros), 5, &cfa));
	assert_false(ask(made, 10, 5, &cfa)); /* without its end */
	/* Behind its end it is not in it. */
	assert_false(ask(made, sizeof(made), 11, &cfa));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(at_each_instruction),
		cmocka_unit_test(one_behind_the_other),
		cmocka_unit_test(other_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* all code keeps a frame pointer there */
}

#endif
