/*
 * test_unwind_programs [STEPS]: real programs run instruction by instruction beside a shadow stack,
 * as they start and in windows spread over their run: of 1,000 chains, 999 must be exact.
 */
#if defined(__x86_64__)

#include "stepper.h"

#define NR_WINDOWS 8
#define APART_MS   40

/* In all, of each program: a third as it starts, and the rest in the windows. */
static unsigned long max_steps = 40000;

/* A window may begin just where a return address is overwritten: then it begins a little later. */
static bool believe_soon(struct stepper *stepper)
{
	bool believed = shadow_believe(stepper);

	for (unsigned tries = 0; !believed && tries < 5 && run_on(stepper, 1); tries++)
		believed = shadow_believe(stepper);
	return believed;
}

static void program_is_walked(const char *name, char *const *command)
{
	struct stepper *stepper;
	unsigned i, broken = 0;

	if (access(command[0], X_OK)) {
		print_message("%s: not here: %s\n", name, command[0]);
		skip();
	}
	stepper = stepper_new(command, false);
	step_all(stepper, max_steps / 3);
	for (i = 0; i < NR_WINDOWS && stepper->pid && run_on(stepper, APART_MS); i++) {
		if (believe_soon(stepper))
			step_all(stepper, max_steps * 2 / 3 / NR_WINDOWS);
		else
			broken += stepper->pid != 0;
	}
	print_message("%s: %lu steps, %u windows, %lu of %lu chains exact, %lu while a return"
	              " address was overwritten\n",
	              name, stepper->steps, i,
	              stepper->checks - stepper->wrong - stepper->overwritten, stepper->checks,
	              stepper->overwritten);
	assert_true(stepper->checks > 1000);
	assert_true(stepper->wrong * 1000 <= stepper->checks);
	assert_true(stepper->overwritten * 20 <= stepper->checks);
	assert_int_equal(broken, 0);
	stepper_free(stepper);
}

static void compressor(void **state)
{
	char path[4096], *command[] = {"/usr/bin/xz", "-T1", "-k", "-c", path, NULL};

	(void)state;
	target_path(path, "../unit/test_unwind_programs");
	program_is_walked("xz", command);
}

static void database(void **state)
{
	char *command[] = {
		"/usr/bin/sqlite3", ":memory:",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000000)"
		"SELECT i % 97, count(*), max(printf('%x', i)), avg(i) FROM n"
		" WHERE hex(i) LIKE '%3%' GROUP BY 1 ORDER BY 2, 3;",
		NULL};

	(void)state;
	program_is_walked("sqlite3", command);
}

static void interpreter(void **state)
{
	char *command[] = {"/usr/bin/python3", "-S", "-c",
	                   "import re\n"
	                   "class A:\n"
	                   "    def __lt__(self, other): return self.n < other.n\n"
	                   "    def __init__(self, n): self.n = n * 7919 % 1009\n"
	                   "def deep(n): return deep(n - 1) + 1 if n else 0\n"
	                   "for i in range(100000):\n"
	                   "    sorted(A(n) for n in range(50))\n"
	                   "    try: deep(50) / 0\n"
	                   "    except ZeroDivisionError: pass\n"
	                   "    re.sub('(a|b)+', lambda m: m.group().upper(), 'abcaab' * 9)\n"
	                   "    {k: str(k) for k in range(99)}\n",
	                   NULL};

	(void)state;
	program_is_walked("python3", command);
}

static void exceptions(void **state)
{
	char path[4096], *command[] = {path, NULL};

	(void)state;
	target_path(path, "step_throw");
	program_is_walked("C++", command);
}

static void rust(void **state)
{
	char path[4096], *command[] = {path, NULL};

	(void)state;
	target_path(path, "step_panic");
	program_is_walked("Rust (by rustc, if that is installed)", command);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressor),  cmocka_unit_test(database),
		cmocka_unit_test(interpreter), cmocka_unit_test(exceptions),
		cmocka_unit_test(rust),
	};

	if (argc > 1)
		max_steps = strtoul(argv[1], NULL, 10);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
	return 77; /* shadow stacks are kept on x86-64 only */
}

#endif
