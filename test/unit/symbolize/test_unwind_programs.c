/*
 * test_unwind_programs [STEPS]: real programs run instruction by instruction beside a shadow stack,
 * as they start and in windows spread over their run: of 1,000 chains, 999 must be exact.
 */
#if defined(__x86_64__)

#include "stepper.h"

#include <dlfcn.h>
#include <inttypes.h>

#define NR_WINDOWS 8
#define APART_MS   40

/* The unwinder of exceptions rewrites its frame in some 60 instructions, each checked twice. */
#define MAX_OVERWRITTEN (3 * 60 * CHECKS_PER_PC)

/* In all, of each program: a third as it starts, and the rest in the windows. */
static unsigned long max_steps = 40000;

/* -- windows ---------------------------------------------------------------------------------- */

/*
 * The unwinder of exceptions rewrites its own frame before it leaves by it. A window that begins
 * just there would believe what no walk can know, so in programs that throw they begin where an
 * exception is raised, and where a handler has just been chosen: the frame is rewritten next.
 */
static const char *const begins[] = {"_Unwind_RaiseException", "_Unwind_SetIP"};

/* Where the program has a function of the unwinder; 0: it has none. */
static uint64_t unwinder_function(const struct stepper *stepper, const char *name)
{
	void *library = dlopen("libgcc_s.so.1", RTLD_NOW), *function;
	char path[64], line[8192], ours[4096];
	uint64_t start = 0, first;
	Dl_info info;
	FILE *maps;

	function = library ? dlsym(library, name) : NULL;
	snprintf(path, sizeof(path), "/proc/%d/maps", stepper->pid);
	maps = fopen(path, "re");
	if (function && maps && dladdr(function, &info) && realpath(info.dli_fname, ours)) {
		while (!start && fgets(line, sizeof(line), maps))
			if (strstr(line, ours) && sscanf(line, "%" SCNx64, &first) == 1)
				start = first + (uint64_t)function - (uint64_t)info.dli_fbase;
	}
	if (maps)
		fclose(maps);
	return start;
}

/* As far as the instruction at addr. False: the program has ended. */
static bool run_to(struct stepper *stepper, uint64_t addr)
{
	void *at = (void *)(uintptr_t)addr;
	long code = ptrace(PTRACE_PEEKTEXT, stepper->pid, at, NULL);
	int signal;

	assert_int_equal(ptrace(PTRACE_POKETEXT, stepper->pid, at, (code & ~0xffL) | 0xcc), 0);
	assert_int_equal(ptrace(PTRACE_CONT, stepper->pid, NULL, 0), 0);
	if (!stop_wait(stepper, &signal))
		return false;
	assert_int_equal(regs_pc(&stepper->regs), addr + 1);
	stepper->regs.rip = addr;
	regs_write(stepper);
	assert_int_equal(ptrace(PTRACE_POKETEXT, stepper->pid, at, code), 0);
	maps_refresh(stepper);
	return true;
}

/* False: the program has ended. */
static bool window_begin(struct stepper *stepper, unsigned window, bool throws)
{
	uint64_t begin;

	if (!run_on(stepper, APART_MS))
		return false;
	if (!throws)
		return true;
	begin = unwinder_function(stepper, begins[window % 2]);
	assert_true(begin);
	return run_to(stepper, begin);
}

static void program_is_walked(const char *name, char *const *command, bool throws)
{
	struct stepper *stepper;
	unsigned i, broken = 0;

	if (access(command[0], X_OK)) {
		print_message("%s: not here: %s\n", name, command[0]);
		skip();
	}
	stepper = stepper_new(command, false);
	step_all(stepper, max_steps / 3);
	for (i = 0; i < NR_WINDOWS && stepper->pid && window_begin(stepper, i, throws); i++) {
		if (shadow_believe(stepper))
			step_all(stepper, max_steps * 2 / 3 / NR_WINDOWS);
		else
			broken++;
	}
	print_message("%s: %lu steps, %u windows, %lu of %lu chains exact, %lu while a return"
	              " address was overwritten\n",
	              name, stepper->steps, i,
	              stepper->checks - stepper->wrong - stepper->overwritten, stepper->checks,
	              stepper->overwritten);
	assert_true(stepper->checks > 1000);
	assert_true(stepper->wrong * 1000 <= stepper->checks);
	assert_true(stepper->overwritten <= MAX_OVERWRITTEN);
	assert_true(!throws || stepper->overwritten);
	assert_int_equal(broken, 0);
	stepper_free(stepper);
}

/* -- programs --------------------------------------------------------------------------------- */

static void compressor(void **state)
{
	char path[4096], *command[] = {"/usr/bin/xz", "-T1", "-k", "-c", path, NULL};

	(void)state;
	target_path(path, "../unit/symbolize/test_unwind_programs");
	program_is_walked("xz", command, false);
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
	program_is_walked("sqlite3", command, false);
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
	program_is_walked("python3", command, false);
}

static void exceptions(void **state)
{
	char path[4096], *command[] = {path, NULL};

	(void)state;
	target_path(path, "step_throw");
	program_is_walked("C++", command, true);
}

static void rust(void **state)
{
	char path[4096], *command[] = {path, NULL};

	(void)state;
	target_path(path, "step_panic");
	program_is_walked("Rust (by rustc, if that is installed)", command, true);
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
