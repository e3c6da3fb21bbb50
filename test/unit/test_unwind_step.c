/*
 * The truth about stacks: programs run one instruction at a time beside a shadow stack that is kept
 * from their calls and returns. At each instruction, start-up, prologues and epilogues included,
 * the walked chain must be the shadow stack.
 */
#include "maps.h"
#include "stepping.h"
#include "symbolize/unwind.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#ifdef STEPPING

#define MAX_DEPTH     256
#define MAX_STACK     (32 * 1024)
#define CHECKS_PER_PC 2
#define PC_SLOTS      (1 << 16)
#define MAX_STEPS     200000

struct stepper {
	pid_t pid;
	struct module_table *modules, *other_modules;
	struct unwinder *unwinder, *other;
	struct space *space, *other_space;
	struct call calls[MAX_DEPTH];
	unsigned nr_calls;
	struct insn *insns; /* by a hash of pc */
	struct user_regs_struct regs, before;
	uint64_t sampled[SAMPLED_REGS];
	unsigned char stack[MAX_STACK];
	uint64_t base[MAX_DEPTH]; /* the chain above the first instruction */
	unsigned nr_base;
	unsigned long steps, checks, wrong, other_wrong, jumps;
};

static size_t target_read(const struct stepper *stepper, uint64_t addr, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)addr, size};
	ssize_t n = process_vm_readv(stepper->pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static struct insn *insn_at(struct stepper *stepper, uint64_t pc)
{
	size_t i = (pc * 0x9e3779b97f4a7c15ull) >> 48;
	unsigned char code[16] = {0};

	while (stepper->insns[i].pc && stepper->insns[i].pc != pc)
		i = (i + 1) % PC_SLOTS;
	if (!stepper->insns[i].pc) {
		stepper->insns[i].pc = pc;
		if (target_read(stepper, pc, code, sizeof(code)) < 2)
			target_read(stepper, pc, code, 2);
		insn_decode(&stepper->insns[i], code);
	}
	return &stepper->insns[i];
}

static void shadow_push(struct stepper *stepper, uint64_t slot, uint64_t ip, bool interrupted)
{
	assert_true(stepper->nr_calls < MAX_DEPTH);
	stepper->calls[stepper->nr_calls++] = (struct call){slot, ip, interrupted, interrupted};
}

/* Where the call that has just been made, or the signal's handler, is to return to. */
static uint64_t shadow_return(const struct stepper *stepper)
{
	uint64_t ra;

	if (!RETURN_ADDRESS_ON_STACK)
		return regs_link(&stepper->regs);
	assert_int_equal(target_read(stepper, regs_sp(&stepper->regs), &ra, 8), 8);
	return ra;
}

/* After an instruction: what has returned is taken off, what was called put on. */
static void shadow_update(struct stepper *stepper, const struct insn *done)
{
	struct call *calls = stepper->calls;

	if (done->is_syscall && regs_syscall(&stepper->before) == SYS_RESTORE) {
		while (stepper->nr_calls && !calls[--stepper->nr_calls].interrupted)
			;
		return;
	}
	while (stepper->nr_calls && !calls[stepper->nr_calls - 1].interrupted &&
	       call_returned(&calls[stepper->nr_calls - 1], &stepper->regs, done))
		stepper->nr_calls--;
	if (call_made(&stepper->before, &stepper->regs, done))
		shadow_push(stepper, regs_sp(&stepper->regs), shadow_return(stepper), false);
}

static unsigned shadow_chain(const struct stepper *stepper, uint64_t *frames)
{
	unsigned i = stepper->nr_calls, n = 0;

	frames[n++] = space_frame(stepper->space, regs_pc(&stepper->regs));
	while (i-- > 0) {
		const struct call *call = &stepper->calls[i];

		frames[n++] = space_frame(stepper->space, call->ip - !call->exact);
	}
	memcpy(frames + n, stepper->base, stepper->nr_base * sizeof(frames[0]));
	return n + stepper->nr_base;
}

static bool frames_equal(const uint64_t *a, const uint64_t *b, unsigned nr)
{
	return !memcmp(a, b, nr * sizeof(a[0]));
}

/* The dynamic linker's first function says that nobody called it, although its start did. */
static bool chain_equal(const struct stepper *stepper, const uint64_t *walked, unsigned nr,
                        const uint64_t *shadow, unsigned nr_shadow)
{
	const struct module *root =
		module_table_get(stepper->modules, frame_module(shadow[nr_shadow - 1]));

	if (nr + 1 == nr_shadow && strstr(root->path, "/ld-linux"))
		nr_shadow--;
	return nr == nr_shadow && frames_equal(walked, shadow, nr);
}

/*
 * longjmp on aarch64 says that all is in the jump buffer, which is not in the sample, and its walk
 * ends at once. On x86-64, with its registers loaded already, it says that its caller is where it
 * is about to go: the second frame called setjmp, and what was to be left is gone.
 */
static bool chain_jumps(struct stepper *stepper, const uint64_t *walked, unsigned nr,
                        const uint64_t *shadow, unsigned nr_shadow)
{
	if (walked[0] != shadow[0] || stepper->jumps >= MAX_JUMPS)
		return false;
	if (JUMPS_END ? nr != 1
	              : nr <= 2 || nr > nr_shadow + 1 ||
	                        !frames_equal(walked + 2, shadow + nr_shadow - (nr - 2), nr - 2))
		return false;
	stepper->jumps++;
	return true;
}

static void chain_print(const struct stepper *stepper, const uint64_t *frames, unsigned nr)
{
	unsigned i;

	for (i = 0; i < nr; i++)
		print_message("  %s+%#x\n",
		              module_table_get(stepper->modules, frame_module(frames[i]))->path,
		              frame_offset(frames[i]));
}

static void sample_take(struct stepper *stepper, struct unwind_sample *sample)
{
	size_t size;

	assert_int_equal(SAMPLED_REGS, __builtin_popcountll(unwind_regs_mask()));
	regs_sample(&stepper->regs, stepper->sampled);
	*sample = (struct unwind_sample){.regs = stepper->sampled, .stack = stepper->stack};
	/* The end of the stack's mapping may be nearer. */
	for (size = MAX_STACK; size >= 64 && !sample->stack_size; size /= 2)
		sample->stack_size =
			target_read(stepper, regs_sp(&stepper->regs), stepper->stack, size);
}

static void chain_check(struct stepper *stepper)
{
	uint64_t walked[MAX_DEPTH], shadow[2 * MAX_DEPTH];
	unsigned n, nr_shadow = shadow_chain(stepper, shadow);
	struct unwind_sample sample;
	enum unwind_end end;

	sample_take(stepper, &sample);
	stepper->checks++;
	n = unwinder_walk(stepper->unwinder, stepper->space, &sample, walked, MAX_DEPTH, &end);
	if ((end != UNWIND_COMPLETE || !chain_equal(stepper, walked, n, shadow, nr_shadow)) &&
	    ((end != UNWIND_COMPLETE) != JUMPS_END ||
	     !chain_jumps(stepper, walked, n, shadow, nr_shadow))) {
		if (stepper->wrong++ < 5) {
			print_message("walked, end %d:\n", end);
			chain_print(stepper, walked, n);
			print_message("truth:\n");
			chain_print(stepper, shadow, nr_shadow);
		}
	}
	n = unwinder_walk(stepper->other, stepper->other_space, &sample, walked, MAX_DEPTH, &end);
	stepper->other_wrong += !chain_equal(stepper, walked, n, shadow, nr_shadow);
}

/* The chain at a mark is believed: it is what the other programs' start-up was checked for. */
static void base_take(struct stepper *stepper)
{
	uint64_t walked[MAX_DEPTH];
	struct unwind_sample sample;
	enum unwind_end end;

	sample_take(stepper, &sample);
	stepper->nr_base =
		unwinder_walk(stepper->unwinder, stepper->space, &sample, walked, MAX_DEPTH, &end) -
		1;
	assert_int_equal(end, UNWIND_COMPLETE);
	assert_true(stepper->nr_base >= 2);
	memcpy(stepper->base, walked + 1, stepper->nr_base * sizeof(walked[0]));
}

static void maps_refresh(struct stepper *stepper)
{
	maps_read(stepper->space, stepper->modules);
	maps_read(stepper->other_space, stepper->other_modules);
}

static void regs_read(struct stepper *stepper)
{
	struct iovec regs = {&stepper->regs, sizeof(stepper->regs)};

	assert_int_equal(ptrace(PTRACE_GETREGSET, stepper->pid, NT_PRSTATUS, &regs), 0);
}

/* Lets one instruction run, or a signal arrive. False: the program has ended. */
static bool step(struct stepper *stepper, int *signal)
{
	int status;

	stepper->before = stepper->regs;
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, stepper->pid, NULL, *signal), 0);
	assert_int_equal(waitpid(stepper->pid, &status, __WALL), stepper->pid);
	if (!WIFSTOPPED(status)) {
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
		stepper->pid = 0;
		return false;
	}
	regs_read(stepper);
	*signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	return true;
}

/* What the kernel pushed for a signal: where it came, and where its handler returns to. */
static void shadow_signal(struct stepper *stepper)
{
	shadow_push(stepper, 0, regs_pc(&stepper->before), true);
	shadow_push(stepper, regs_sp(&stepper->regs), shadow_return(stepper), false);
	stepper->calls[stepper->nr_calls - 1].exact = true;
}

/* To the next mark or the end of the program, or as far as max steps lead. */
static void step_all(struct stepper *stepper, unsigned long max)
{
	int signal = 0, delivered;
	struct insn *insn;

	while (stepper->steps++ < max) {
		insn = insn_at(stepper, regs_pc(&stepper->regs));
		if (insn->is_mark)
			return;
		if (insn->checks < CHECKS_PER_PC && ++insn->checks)
			chain_check(stepper);
		delivered = signal;
		if (!step(stepper, &signal))
			return;
		if (delivered)
			shadow_signal(stepper);
		else
			shadow_update(stepper, insn);
		if (insn->is_syscall && syscall_maps(regs_syscall(&stepper->before)))
			maps_refresh(stepper);
	}
}

/* Where a breakpoint stops at itself it would do so for ever. */
static void mark_pass(struct stepper *stepper)
{
	struct iovec regs = {&stepper->regs, sizeof(stepper->regs)};

	regs_skip(&stepper->regs, MARK_SIZE);
	assert_int_equal(ptrace(PTRACE_SETREGSET, stepper->pid, NT_PRSTATUS, &regs), 0);
}

static void target_start(struct stepper *stepper, const char *name, bool to_mark)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 100);
	int status;

	assert_true(n > 0);
	path[n] = 0;
	snprintf(strrchr(path, '/'), 100, "/../targets/%s", name);
	stepper->pid = fork();
	assert_true(stepper->pid >= 0);
	if (stepper->pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(100);
		execl(path, path, to_mark ? "marked" : NULL, NULL);
		_exit(101);
	}
	assert_int_equal(waitpid(stepper->pid, &status, 0), stepper->pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 100)
		skip();
	if (!WIFSTOPPED(status))
		fail_msg("cannot run %s", path);
	if (to_mark) {
		assert_int_equal(ptrace(PTRACE_CONT, stepper->pid, NULL, 0), 0);
		assert_int_equal(waitpid(stepper->pid, &status, 0), stepper->pid);
		assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	}
	regs_read(stepper);
	if (to_mark)
		mark_pass(stepper);
}

static struct stepper *stepper_new(const char *name, bool to_mark)
{
	struct stepper *stepper = calloc(1, sizeof(*stepper));

	stepper->insns = calloc(PC_SLOTS, sizeof(stepper->insns[0]));
	stepper->modules = module_table_new();
	stepper->other_modules = module_table_new();
	stepper->unwinder = unwinder_new(stepper->modules, UNWIND_RULES);
	stepper->other = unwinder_new(stepper->other_modules, UNWIND_LIBUNWIND);
	assert_true(stepper->unwinder && stepper->other && stepper->insns);
	target_start(stepper, name, to_mark);
	stepper->space = space_new(stepper->pid);
	stepper->other_space = space_new(stepper->pid);
	return stepper;
}

static void stepper_free(struct stepper *stepper)
{
	if (stepper->pid) {
		kill(stepper->pid, SIGKILL);
		waitpid(stepper->pid, NULL, __WALL);
	}
	unwinder_free(stepper->unwinder);
	unwinder_free(stepper->other);
	module_table_free(stepper->modules);
	module_table_free(stepper->other_modules);
	space_put(stepper->space);
	space_put(stepper->other_space);
	free(stepper->insns);
	free(stepper);
}

static void program_is_walked_exactly(const char *name, bool from_mark, unsigned long max_steps)
{
	struct stepper *stepper = stepper_new(name, from_mark);

	maps_refresh(stepper);
	if (from_mark)
		base_take(stepper);
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
