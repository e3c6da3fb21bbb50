/*
 * The truth about stacks: a program that runs one instruction at a time beside a shadow stack that
 * is kept from its calls and returns. At each instruction the walked chain must be the shadow
 * stack.
 *
 * A program can also be stopped in the middle of its run. What is on its stack then is believed,
 * but not for ever: a return that does not take the innermost return address known shows that a
 * call was missed, or was none.
 */
#ifndef UNIT_STEPPER_H
#define UNIT_STEPPER_H

#include "cases.h"
#include "maps.h"
#include "stepping.h"
#include "symbolize/unwind/unwind.h"
#include "symbolize/unwind/walk.h"
#include "target_path.h"

#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_DEPTH     1024
#define MAX_STACK     (64 * 1024)
#define CHECKS_PER_PC 2
#define MAX_SETTLING  2000
#define PC_SLOTS      (1 << 18)

/* What walks: an engine, and the program as it knows it. */
struct walker {
	struct module_table *modules;
	struct unwinder *unwinder;
	struct space *space;
};

struct stepper {
	pid_t pid;
	struct walker ours, theirs; /* theirs: libunwind, or nothing */
	struct call calls[MAX_DEPTH];
	unsigned nr_calls;
	unsigned nr_believed; /* of them, outermost first: not seen when they were made */
	struct insn *insns;   /* by a hash of pc */
	unsigned nr_insns;
	struct user_regs_struct regs, before;
	uint64_t sampled[SAMPLED_REGS];
	unsigned char stack[MAX_STACK];
	unsigned long steps, checks, wrong, other_wrong, jumps, strays;
	unsigned long overwritten; /* see doubt_settle() */
	unsigned long doubts;      /* chains found wrong just now, with so many calls then: */
	unsigned nr_doubted;
	uint64_t landing; /* the frame that the next instruction is to lead to, or 0 */
};

/* -- the program ------------------------------------------------------------------------------ */

static inline size_t target_read(const struct stepper *stepper, uint64_t addr, void *to,
                                 size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)addr, size};
	ssize_t n = process_vm_readv(stepper->pid, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static inline struct insn *insn_at(struct stepper *stepper, uint64_t pc)
{
	size_t i = (pc * 0x9e3779b97f4a7c15ull) >> 46;
	unsigned char code[16] = {0};

	while (stepper->insns[i].pc && stepper->insns[i].pc != pc)
		i = (i + 1) % PC_SLOTS;
	if (!stepper->insns[i].pc) {
		assert_true(++stepper->nr_insns < PC_SLOTS);
		stepper->insns[i].pc = pc;
		if (target_read(stepper, pc, code, sizeof(code)) < 2)
			target_read(stepper, pc, code, 2);
		insn_decode(&stepper->insns[i], code);
	}
	return &stepper->insns[i];
}

static inline void sample_take(struct stepper *stepper, struct unwind_sample *sample)
{
	size_t size;

	assert_int_equal(SAMPLED_REGS, __builtin_popcountll(unwind_regs_mask()));
	regs_sample(&stepper->regs, stepper->sampled);
	/* Of a thread, so that one walk makes use of the one before. */
	*sample = (struct unwind_sample){
		.regs = stepper->sampled,
		.stack = stepper->stack,
		.tid = stepper->pid,
	};
	/* The end of the stack's mapping may be nearer. */
	for (size = MAX_STACK; size >= 64 && !sample->stack_size; size /= 2)
		sample->stack_size =
			target_read(stepper, regs_sp(&stepper->regs), stepper->stack, size);
}

/* -- the shadow stack ------------------------------------------------------------------------- */

static inline void shadow_push(struct stepper *stepper, uint64_t slot, uint64_t ip,
                               bool interrupted)
{
	assert_true(stepper->nr_calls < MAX_DEPTH);
	stepper->calls[stepper->nr_calls++] = (struct call){slot, ip, interrupted, interrupted};
}

static inline void shadow_pop(struct stepper *stepper)
{
	stepper->nr_calls--;
	if (stepper->nr_believed > stepper->nr_calls)
		stepper->nr_believed = stepper->nr_calls;
}

/* A return to where no known call came from: what was believed of the calls was wrong. */
static inline void shadow_return(struct stepper *stepper)
{
	const struct call *last = stepper->calls + stepper->nr_calls - 1;

	if (stepper->nr_calls && call_expected(last, &stepper->before))
		return;
	stepper->strays++;
	if (stepper->nr_calls && stepper->nr_calls == stepper->nr_believed)
		stepper->wrong++;
}

/* Where the call that has just been made, or the signal's handler, is to return to. */
static inline uint64_t shadow_link(const struct stepper *stepper)
{
	uint64_t ra;

	if (!RETURN_ADDRESS_ON_STACK)
		return regs_link(&stepper->regs);
	assert_int_equal(target_read(stepper, regs_sp(&stepper->regs), &ra, 8), 8);
	return ra;
}

/* After an instruction: what has returned is taken off, what was called put on. */
static inline void shadow_update(struct stepper *stepper, const struct insn *done)
{
	if (done->is_syscall && regs_syscall(&stepper->before) == SYS_RESTORE) {
		while (stepper->nr_calls && !stepper->calls[stepper->nr_calls - 1].interrupted)
			shadow_pop(stepper);
		if (stepper->nr_calls)
			shadow_pop(stepper);
		return;
	}
	if (done->is_ret)
		shadow_return(stepper);
	while (stepper->nr_calls && !stepper->calls[stepper->nr_calls - 1].interrupted &&
	       call_returned(&stepper->calls[stepper->nr_calls - 1], &stepper->regs, done))
		shadow_pop(stepper);
	if (call_made(&stepper->before, &stepper->regs, done))
		shadow_push(stepper, regs_sp(&stepper->regs), shadow_link(stepper), false);
}

/* What the kernel pushed for a signal: where it came, and where its handler returns to. */
static inline void shadow_signal(struct stepper *stepper)
{
	shadow_push(stepper, 0, regs_pc(&stepper->before), true);
	shadow_push(stepper, regs_sp(&stepper->regs), shadow_link(stepper), false);
	stepper->calls[stepper->nr_calls - 1].exact = true;
}

static inline unsigned shadow_chain(const struct stepper *stepper, uint64_t *frames)
{
	unsigned i = stepper->nr_calls, n = 0;

	frames[n++] = space_frame(stepper->ours.space, regs_pc(&stepper->regs));
	while (i-- > 0) {
		const struct call *call = &stepper->calls[i];

		frames[n++] = space_frame(stepper->ours.space, call->ip - !call->exact);
	}
	return n;
}

/*
 * The calls that are not returned from yet, as the walk sees them. It has tables of its own, for
 * modules have but one set of rules. False: the walk does not reach the start of the program.
 */
static inline bool shadow_believe(struct stepper *stepper)
{
	struct module_table *modules = module_table_new();
	struct rule_cache *rules = rule_cache_new(modules);
	struct space *space = space_new(stepper->pid);
	static struct stack_entry entries[MAX_DEPTH];
	static struct frame_regs regs[MAX_DEPTH];
	struct unwind_sample sample;
	struct walk walk = {
		.space = space,
		.sample = &sample,
		.entries = entries,
		.regs = regs,
		.max = MAX_DEPTH,
	};
	uint64_t ra;

	maps_read(space, modules);
	sample_take(stepper, &sample);
	walk_rules(&walk, rules);
	stepper->nr_calls = 0;
	while (walk.complete && --walk.nr > 0) {
		assert_int_equal(target_read(stepper, entries[walk.nr].slot, &ra, 8), 8);
		shadow_push(stepper, BELIEVED_SLOT(entries[walk.nr].slot), ra, false);
	}
	stepper->nr_believed = stepper->nr_calls;
	rule_cache_free(rules);
	space_put(space);
	module_table_free(modules);
	return walk.complete;
}

/* -- walks ------------------------------------------------------------------------------------ */

static inline bool frames_equal(const uint64_t *a, const uint64_t *b, unsigned nr)
{
	return !memcmp(a, b, nr * sizeof(a[0]));
}

/* The dynamic linker's first function says that nobody called it, although its start did. */
static inline bool chain_equal(const struct stepper *stepper, const uint64_t *walked, unsigned nr,
                               const uint64_t *shadow, unsigned nr_shadow)
{
	const struct module *root =
		module_table_get(stepper->ours.modules, frame_module(shadow[nr_shadow - 1]));

	if (nr + 1 == nr_shadow && strstr(root->path, "/ld-linux"))
		nr_shadow--;
	return nr == nr_shadow && frames_equal(walked, shadow, nr);
}

/*
 * longjmp on aarch64 says that all is in the jump buffer, which is not in the sample, and its walk
 * ends at once. On x86-64, with its registers loaded already, it says that its caller is where it
 * is about to go: the second frame called setjmp, and what was to be left is gone.
 */
static inline bool chain_jumps(struct stepper *stepper, const uint64_t *walked, unsigned nr,
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

/*
 * The unwinder of exceptions ends in a jump, on the stack of the function that catches, which has
 * not called it. A walk that names that function is right if the jump leads there.
 */
static inline bool chain_lands(struct stepper *stepper, const uint64_t *walked, unsigned nr,
                               const uint64_t *shadow, unsigned nr_shadow)
{
	if (nr != nr_shadow + 1 || walked[0] != shadow[0] ||
	    !frames_equal(walked + 2, shadow + 1, nr - 2))
		return false;
	stepper->landing = walked[1];
	return true;
}

static inline void landing_settle(struct stepper *stepper)
{
	if (stepper->landing)
		stepper->wrong += stepper->landing !=
		                  space_frame(stepper->ours.space, regs_pc(&stepper->regs) - 1);
	stepper->landing = 0;
}

static inline void chain_print(const struct stepper *stepper, const uint64_t *frames, unsigned nr)
{
	unsigned i;

	for (i = 0; i < nr && i < 40; i++)
		print_message(
			"  %s+%#x\n",
			module_table_get(stepper->ours.modules, frame_module(frames[i]))->path,
			frame_offset(frames[i]));
}

/*
 * The unwinder of exceptions leaves by a frame that it has rewritten: it copies the registers of
 * the function that catches over its own saved ones, the return address among them. While it does,
 * no memory tells its caller, and the wrong chain is not held against a walk. The proof is in the
 * program: a return address that a call had left is another one, before the call has returned.
 */
static inline void doubt_settle(struct stepper *stepper)
{
	unsigned i, n = stepper->nr_calls;
	uint64_t ra;

	for (i = n < 2 ? 0 : n - 2; i < n; i++) {
		if (!RETURN_ADDRESS_ON_STACK || stepper->calls[i].interrupted ||
		    target_read(stepper, stepper->calls[i].slot, &ra, 8) < 8 ||
		    ra == stepper->calls[i].ip)
			continue;
		stepper->overwritten += stepper->doubts;
		stepper->doubts = 0;
	}
	if (RETURN_ADDRESS_ON_STACK && n + 1 >= stepper->nr_doubted)
		return;
	stepper->wrong += stepper->doubts;
	stepper->doubts = 0;
}

static inline void chain_is_wrong(struct stepper *stepper, const uint64_t *walked, unsigned nr,
                                  const uint64_t *shadow, unsigned nr_shadow, enum unwind_end end)
{
	if (!stepper->doubts)
		stepper->nr_doubted = stepper->nr_calls;
	stepper->doubts++;
	doubt_settle(stepper);
	if (!stepper->doubts || stepper->wrong + stepper->doubts > 1)
		return;
	print_message("walked, end %d:\n", end);
	chain_print(stepper, walked, nr);
	print_message("truth:\n");
	chain_print(stepper, shadow, nr_shadow);
}

static inline void chain_check(struct stepper *stepper)
{
	uint64_t walked[MAX_DEPTH], shadow[MAX_DEPTH + 1];
	unsigned n, nr_shadow = shadow_chain(stepper, shadow);
	struct unwind_sample sample;
	enum unwind_end end;

	sample_take(stepper, &sample);
	stepper->checks++;
	n = unwinder_walk(stepper->ours.unwinder, stepper->ours.space, &sample, walked, MAX_DEPTH,
	                  &end);
	if ((end != UNWIND_COMPLETE || !chain_equal(stepper, walked, n, shadow, nr_shadow)) &&
	    ((end != UNWIND_COMPLETE) != JUMPS_END ||
	     !chain_jumps(stepper, walked, n, shadow, nr_shadow)) &&
	    !(end == UNWIND_COMPLETE && chain_lands(stepper, walked, n, shadow, nr_shadow)))
		chain_is_wrong(stepper, walked, n, shadow, nr_shadow, end);
	if (!stepper->theirs.unwinder)
		return;
	n = unwinder_walk(stepper->theirs.unwinder, stepper->theirs.space, &sample, walked,
	                  MAX_DEPTH, &end);
	stepper->other_wrong += !chain_equal(stepper, walked, n, shadow, nr_shadow);
}

static inline void maps_refresh(struct stepper *stepper)
{
	maps_read(stepper->ours.space, stepper->ours.modules);
	if (stepper->theirs.unwinder)
		maps_read(stepper->theirs.space, stepper->theirs.modules);
}

/* -- steps ------------------------------------------------------------------------------------ */

static inline void regs_read(struct stepper *stepper)
{
	struct iovec regs = {&stepper->regs, sizeof(stepper->regs)};

	assert_int_equal(ptrace(PTRACE_GETREGSET, stepper->pid, NT_PRSTATUS, &regs), 0);
}

static inline void regs_write(struct stepper *stepper)
{
	struct iovec regs = {&stepper->regs, sizeof(stepper->regs)};

	assert_int_equal(ptrace(PTRACE_SETREGSET, stepper->pid, NT_PRSTATUS, &regs), 0);
}

/* Whether the program has stopped; else it has ended, and well. signal: what it has got. */
static inline bool stop_wait(struct stepper *stepper, int *signal)
{
	int status;

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

/* Lets one instruction run, or a signal arrive. False: the program has ended. */
static inline bool step(struct stepper *stepper, int *signal)
{
	stepper->before = stepper->regs;
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, stepper->pid, NULL, *signal), 0);
	return stop_wait(stepper, signal);
}

/*
 * To the next mark or the end of the program, or as far as max steps lead, and a little further
 * where the last of them leaves chains that doubt_settle() cannot judge yet.
 */
static inline void step_all(struct stepper *stepper, unsigned long max)
{
	unsigned long end = stepper->steps + max, limit = end + MAX_SETTLING;
	int signal = 0, delivered;
	struct insn *insn;

	for (; stepper->steps < (stepper->doubts ? limit : end); stepper->steps++) {
		if (stepper->doubts)
			doubt_settle(stepper);
		insn = insn_at(stepper, regs_pc(&stepper->regs));
		if (insn->is_mark)
			break;
		if (insn->checks < CHECKS_PER_PC && ++insn->checks)
			chain_check(stepper);
		delivered = signal;
		if (!step(stepper, &signal))
			return;
		landing_settle(stepper);
		if (delivered)
			shadow_signal(stepper);
		else
			shadow_update(stepper, insn);
		if (insn->is_syscall && syscall_maps(regs_syscall(&stepper->before)))
			maps_refresh(stepper);
	}
	stepper->wrong += stepper->doubts;
	stepper->doubts = stepper->landing = 0;
}

/* Lets the program run for some milliseconds. False: it has ended. */
static inline bool run_on(struct stepper *stepper, unsigned ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000L};
	int signal;

	assert_int_equal(ptrace(PTRACE_CONT, stepper->pid, NULL, 0), 0);
	nanosleep(&time, NULL);
	kill(stepper->pid, SIGSTOP);
	if (!stop_wait(stepper, &signal))
		return false;
	assert_int_equal(signal, SIGSTOP);
	maps_refresh(stepper);
	return true;
}

/* To the program's own mark, and past it, where it would else stop for ever. */
static inline void run_to_mark(struct stepper *stepper)
{
	int signal;

	assert_int_equal(ptrace(PTRACE_CONT, stepper->pid, NULL, 0), 0);
	assert_true(stop_wait(stepper, &signal) && signal == 0);
	regs_skip(&stepper->regs, MARK_SIZE);
	regs_write(stepper);
	maps_refresh(stepper);
}

/* -- start and end ---------------------------------------------------------------------------- */

/* Program and tracer take turns: on one CPU that is five times as fast as on two. */
static inline void stay_on_one_cpu(void)
{
	int cpu = sched_getcpu();
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu < 0 ? 0 : cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline void target_start(struct stepper *stepper, char *const *command)
{
	int status;

	stay_on_one_cpu();
	stepper->pid = fork();
	assert_true(stepper->pid >= 0);
	if (stepper->pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(100);
		if (!freopen("/dev/null", "w", stdout))
			_exit(101);
		execv(command[0], command);
		_exit(101);
	}
	assert_int_equal(waitpid(stepper->pid, &status, 0), stepper->pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 100)
		skip();
	if (!WIFSTOPPED(status))
		fail_msg("cannot run %s", command[0]);
	regs_read(stepper);
}

static inline void walker_init(struct walker *walker, pid_t pid, enum unwind_engine engine)
{
	walker->modules = module_table_new();
	walker->unwinder = unwinder_new(walker->modules, engine);
	walker->space = space_new(pid);
	assert_true(walker->modules && walker->unwinder && walker->space);
}

static inline void walker_fini(struct walker *walker)
{
	unwinder_free(walker->unwinder);
	module_table_free(walker->modules);
	space_put(walker->space);
}

/* At the first instruction of the program. compare: with libunwind, too. */
static inline struct stepper *stepper_new(char *const *command, bool compare)
{
	struct stepper *stepper = calloc(1, sizeof(*stepper));

	assert_non_null(stepper);
	stepper->insns = calloc(PC_SLOTS, sizeof(stepper->insns[0]));
	assert_non_null(stepper->insns);
	target_start(stepper, command);
	walker_init(&stepper->ours, stepper->pid, UNWIND_RULES);
	if (compare)
		walker_init(&stepper->theirs, stepper->pid, UNWIND_LIBUNWIND);
	maps_refresh(stepper);
	return stepper;
}

static inline void stepper_free(struct stepper *stepper)
{
	if (stepper->pid) {
		kill(stepper->pid, SIGKILL);
		waitpid(stepper->pid, NULL, __WALL);
	}
	walker_fini(&stepper->ours);
	walker_fini(&stepper->theirs);
	free(stepper->insns);
	free(stepper);
}

#endif
