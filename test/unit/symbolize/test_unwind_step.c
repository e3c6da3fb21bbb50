/*
 * Small programs, each for a kind of stack, run instruction by instruction beside a shadow stack:
 * start-up, prologues and epilogues included, every chain must be exact.
 */
#if defined(__x86_64__) || defined(__aarch64__)

#include "stepper.h"

#define MAX_STEPS 200000

static void program_is_walked_exactly(const char *name, bool from_mark, unsigned long max_steps)
{
	char path[4096], *command[] = {path, from_mark ? "marked" : NULL, NULL};
	struct stepper *stepper;

	target_path(path, name);
	stepper = stepper_new(command, true);
	if (from_mark) {
		run_to_mark(stepper);
		assert_true(shadow_believe(stepper));
		assert_true(stepper->nr_believed >= 2);
	}
	step_all(stepper, max_steps);
	print_message("%s: %lu steps, %lu of %lu chains exact; libunwind %lu\n", name,
	              stepper->steps, stepper->checks - stepper->wrong, stepper->checks,
	              stepper->checks - stepper->other_wrong);
	assert_in_range(stepper->wrong, 0, KNOWN_WRONG);
	assert_true(stepper->checks > 40);
	stepper_free(stepper);
}

static void start_of_a_dynamic_program(void **state)
{
	(void)state;
	program_is_walked_exactly("step_deep", false, 15000);
}

static void deep_calls_and_plt(void **state)
{
	(void)state;
	program_is_walked_exactly("step_deep", true, MAX_STEPS);
}

static void functions_in_debug_frame_only(void **state)
{
	(void)state;
	program_is_walked_exactly("step_deep_debug_frame", true, MAX_STEPS);
}

/* From the first instruction to the last, where that is possible; without a table in .eh_frame_hdr.
 */
static void static_program(void **state)
{
	(void)state;
	program_is_walked_exactly("step_deep_static", STATIC_FROM_MARK, MAX_STEPS);
}

static void arranged_stacks(void **state)
{
	(void)state;
	program_is_walked_exactly("step_stack", true, MAX_STEPS);
}

static void assembly_that_says_nothing(void **state)
{
	(void)state;
	program_is_walked_exactly("step_asm", true, MAX_STEPS);
}

static void signal_handlers(void **state)
{
	(void)state;
	program_is_walked_exactly("step_signal", true, MAX_STEPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_of_a_dynamic_program),
		cmocka_unit_test(deep_calls_and_plt),
		cmocka_unit_test(functions_in_debug_frame_only),
		cmocka_unit_test(static_program),
		cmocka_unit_test(arranged_stacks),
		cmocka_unit_test(assembly_that_says_nothing),
		cmocka_unit_test(signal_handlers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* shadow stacks are kept on x86-64 and aarch64 only */
}

#endif
