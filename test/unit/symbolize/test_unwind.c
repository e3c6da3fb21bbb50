/* Walks as a recorder does them: cut stacks, limits, and samples that lie. */
#include "unwinding.h"

#include "symbolize/unwind/arch.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>

#define MAX_STACK (128 * 1024)
/* Of a stack, so much that all from dump_take(), with its ucontext, to some calls of descend() is
 * in it. */
#define PIECE (sizeof(ucontext_t) + 6144)

/* -- samples of this process ------------------------------------------------------------------ */

struct dump {
	uint64_t regs[NR_REGS];
	uint64_t sp;
	size_t size;
	unsigned char stack[MAX_STACK];
};

#if defined(__x86_64__)

static void context_regs(const ucontext_t *context, struct dump *dump)
{
	static const int order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
	                            REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
	                            REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
	size_t i;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		dump->regs[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	dump->sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

#elif defined(__aarch64__)

static void context_regs(const ucontext_t *context, struct dump *dump)
{
	memcpy(dump->regs, context->uc_mcontext.regs, sizeof(context->uc_mcontext.regs));
	dump->regs[31] = context->uc_mcontext.sp;
	dump->regs[32] = context->uc_mcontext.pc;
	dump->sp = context->uc_mcontext.sp;
}

#elif defined(__riscv)

static void context_regs(const ucontext_t *context, struct dump *dump)
{
	/* pc first in both */
	memcpy(dump->regs, context->uc_mcontext.__gregs, sizeof(context->uc_mcontext.__gregs));
	dump->sp = context->uc_mcontext.__gregs[REG_SP];
}

#endif

/* By way of the kernel: a sanitizer has its own view of what is on the stack. */
__attribute__((noinline)) static void dump_take(struct dump *dump)
{
	struct iovec local, remote;
	ucontext_t context;
	size_t size;

	getcontext(&context);
	context_regs(&context, dump);
	dump->size = 0;
	for (size = MAX_STACK; size >= 1024 && !dump->size; size -= 1024) {
		local = (struct iovec){dump->stack, size};
		remote = (struct iovec){(void *)(uintptr_t)dump->sp, size};
		ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

		dump->size = n > 0 ? (size_t)n : 0;
	}
	assert_true(dump->size > 0);
}

static struct unwind_sample dump_sample(const struct dump *dump, size_t size, pid_t tid)
{
	return (struct unwind_sample){dump->regs, dump->stack,
	                              size < dump->size ? size : dump->size, tid, 0};
}

/* -- a stack that grows and shrinks ----------------------------------------------------------- */

typedef void visit_fn(void *arg, unsigned depth);

__attribute__((noinline)) static void descend(visit_fn *visit, void *arg, unsigned depth,
                                              unsigned max);

__attribute__((noinline)) static void descend_far(visit_fn *visit, void *arg, unsigned depth,
                                                  unsigned max)
{
	volatile char room[700];

	room[depth] = 1;
	descend(visit, arg, depth + 1, max);
	room[depth + 1] = room[depth];
}

static void descend(visit_fn *visit, void *arg, unsigned depth, unsigned max)
{
	volatile char room[100];

	room[depth % 100] = 1;
	visit(arg, depth);
	if (depth < max) {
		if (depth % 3)
			descend(visit, arg, depth + 1, max);
		else
			descend_far(visit, arg, depth, max);
		visit(arg, depth);
	}
	room[1] = room[depth % 100];
}

struct stitching {
	struct fixture *fixture;
	struct chain truth, cut;
	size_t size;
	unsigned stitched, truncated, complete;
	struct dump dump;
};

static void check_cut(void *arg, unsigned depth)
{
	struct stitching *st = arg;
	struct unwind_sample sample;

	(void)depth;
	dump_take(&st->dump);
	sample = dump_sample(&st->dump, MAX_STACK, 2);
	walk(st->fixture, &sample, &st->truth);
	assert_int_equal(st->truth.end, UNWIND_COMPLETE);
	sample = dump_sample(&st->dump, st->size, 1);
	walk(st->fixture, &sample, &st->cut);
	st->stitched += st->cut.end == UNWIND_STITCHED;
	st->truncated += st->cut.end == UNWIND_TRUNCATED;
	st->complete += st->cut.end == UNWIND_COMPLETE;
	if (st->cut.end == UNWIND_TRUNCATED)
		assert_true(st->cut.nr < st->truth.nr);
	else
		assert_int_equal(st->cut.nr, st->truth.nr);
	assert_memory_equal(st->cut.frames, st->truth.frames, st->cut.nr * sizeof(uint64_t));
}

static void cut_stacks_are_stitched_as_they_were(void **state)
{
	struct stitching *st = calloc(1, sizeof(*st));
	struct unwind_stats stats;

	st->fixture = *state;
	for (st->size = 6144; st->size <= 24576; st->size *= 2)
		descend(check_cut, st, 0, 90);
	print_message("%u stitched, %u truncated, %u complete\n", st->stitched, st->truncated,
	              st->complete);
	assert_true(st->stitched > 100);
	assert_true(st->complete > 10);
	unwinder_stats(st->fixture->unwinder, &stats);
	assert_int_equal(stats.stitched, st->stitched);
	assert_int_equal(stats.truncated, st->truncated);
	assert_int_equal(stats.walks, 2 * (st->stitched + st->truncated + st->complete));
	assert_true(stats.rules_asked < 1000);
	free(st);
}

struct deepest {
	struct dump shallow, deep;
	unsigned shallow_depth, deep_depth;
};

static void take_two(void *arg, unsigned depth)
{
	struct deepest *deepest = arg;

	if (depth == deepest->shallow_depth)
		dump_take(&deepest->shallow);
	if (depth == deepest->deep_depth)
		dump_take(&deepest->deep);
}

static struct deepest *two_dumps(void)
{
	struct deepest *deepest = calloc(1, sizeof(*deepest));

	deepest->shallow_depth = 39;
	deepest->deep_depth = 40;
	descend(take_two, deepest, 0, 40);
	return deepest;
}

/* The shallow stack is seen whole; of the deep one, a piece that ends within what both have. */
static void chains_belong_to_threads(void **state)
{
	struct fixture *fixture = *state;
	struct deepest *two = two_dumps();
	struct unwind_sample whole = dump_sample(&two->shallow, MAX_STACK, 7);
	struct unwind_sample cut = dump_sample(&two->deep, PIECE, 7);
	struct chain chain;

	walk(fixture, &whole, &chain);
	assert_int_equal(chain.end, UNWIND_COMPLETE);
	cut.tid = 8;
	walk(fixture, &cut, &chain);
	assert_int_equal(chain.end, UNWIND_TRUNCATED);
	cut.tid = 7;
	walk(fixture, &cut, &chain);
	assert_int_equal(chain.end, UNWIND_STITCHED);
	unwinder_forget(fixture->unwinder, 7);
	walk(fixture, &cut, &chain);
	assert_int_equal(chain.end, UNWIND_TRUNCATED);
	free(two);
}

/* More threads than the table has room for: the latest still find their chain. */
static void threads_are_bounded(void **state)
{
	struct fixture *fixture = *state;
	struct deepest *two = two_dumps();
	struct unwind_sample whole = dump_sample(&two->shallow, MAX_STACK, 0);
	struct unwind_sample cut = dump_sample(&two->deep, PIECE, 0);
	struct chain chain;

	for (whole.tid = 1; whole.tid < 5000; whole.tid++) {
		walk(fixture, &whole, &chain);
		cut.tid = whole.tid;
		walk(fixture, &cut, &chain);
		assert_int_equal(chain.end, UNWIND_STITCHED);
	}
	cut.tid = 1;
	walk(fixture, &cut, &chain);
	assert_int_equal(chain.end, UNWIND_TRUNCATED);
	free(two);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* No stack of the thread was ever seen whole: the process itself says how it goes on. */
static void look_beyond(void *arg, unsigned depth)
{
	struct stitching *st = arg;
	struct unwind_sample sample;

	if (depth != 60 || st->stitched)
		return;
	dump_take(&st->dump);
	sample = dump_sample(&st->dump, MAX_STACK, 0);
	walk(st->fixture, &sample, &st->truth);
	sample = dump_sample(&st->dump, 8192, 9);
	walk(st->fixture, &sample, &st->cut);
	assert_int_equal(st->cut.end, UNWIND_TRUNCATED);
	walk(st->fixture, &sample, &st->cut);
	assert_int_equal(st->cut.end, UNWIND_TRUNCATED); /* it may not be asked */
	unwinder_forget(st->fixture->unwinder, 9);
	sample.time = now_ns();
	walk(st->fixture, &sample, &st->cut);
	assert_int_equal(st->cut.end, UNWIND_TRUNCATED);
	walk(st->fixture, &sample, &st->cut);
	assert_int_equal(st->cut.end, UNWIND_TRUNCATED); /* older than the answer */
	sample.time = now_ns();
	walk(st->fixture, &sample, &st->cut);
	assert_int_equal(st->cut.end, UNWIND_STITCHED);
	assert_int_equal(st->cut.nr, st->truth.nr);
	assert_memory_equal(st->cut.frames, st->truth.frames, st->cut.nr * sizeof(uint64_t));
	st->stitched++;
}

static void look_here(void *arg, unsigned depth)
{
	struct stitching *st = arg;

	if (depth == 60)
		dump_take(&st->dump);
}

/* Where it was copied the process has other frames now. After 5 ms they would be believed. */
static void look_elsewhere(void *arg, unsigned depth)
{
	struct stitching *st = arg;
	uint64_t start = now_ns();
	struct unwind_sample sample;
	unsigned i;

	if (depth != 60)
		return;
	sample = dump_sample(&st->dump, 8192, 9);
	for (i = 0; i < 5; i++) {
		sample.time = now_ns();
		walk(st->fixture, &sample, &st->cut);
		if (now_ns() - start < 5000000)
			assert_int_equal(st->cut.end, UNWIND_TRUNCATED);
	}
}

/* Behind a frame larger than any copy. */
static void look_far(void *arg, unsigned depth)
{
	struct stitching *st = arg;
	struct unwind_sample sample;

	if (depth != 60)
		return;
	dump_take(&st->dump);
	sample = dump_sample(&st->dump, MAX_STACK, 10);
	sample.time = now_ns();
	walk(st->fixture, &sample, &st->cut);
	assert_int_equal(st->cut.end, UNWIND_TRUNCATED);
	sample.time = now_ns();
	walk(st->fixture, &sample, &st->cut);
	assert_int_equal(st->cut.end, UNWIND_STITCHED);
	assert_int_equal(st->cut.nr, st->truth.nr + 1);
	assert_int_equal(st->cut.frames[st->cut.nr - 1], st->truth.frames[st->truth.nr - 1]);
	st->stitched++;
}

__attribute__((noinline)) static void descend_behind(visit_fn *visit, void *arg)
{
	volatile char room[512 << 10];

	room[0] = 1;
	descend(visit, arg, 0, 60);
	room[1] = room[0];
}

__attribute__((noinline)) static void descend_lower(visit_fn *visit, void *arg)
{
	volatile char room[40];

	room[0] = 1;
	descend(visit, arg, 0, 60);
	room[1] = room[0];
}

static void a_process_tells_how_a_stack_goes_on(void **state)
{
	struct stitching *st = calloc(1, sizeof(*st));

	st->fixture = *state;
	descend(look_here, st, 0, 60);
	descend_lower(look_elsewhere, st);
	descend(look_beyond, st, 0, 60);
	assert_int_equal(st->stitched, 1);
	descend_behind(look_far, st);
	assert_int_equal(st->stitched, 2);
	free(st);
}

/* Overwrites a word of a copied stack: by another of its words, or nothing. */
static void dump_spoil(struct dump *dump)
{
	size_t nr = dump->size / 2 / 8, to = (size_t)rand() % nr, from = (size_t)rand() % nr;
	static const uint64_t nothing;

	if (rand() % 4 == 0)
		memcpy(dump->stack + to * 8, &nothing, 8);
	else
		memmove(dump->stack + to * 8, dump->stack + from * 8, 8);
}

/* What a thread's last walk saves the next one must not show in what it finds. */
static void a_past_changes_no_walk(void **state)
{
	struct fixture *fixture = *state;
	struct deepest *two = two_dumps();
	struct dump *spoilt = malloc(sizeof(*spoilt));
	struct unwind_sample sample;
	struct chain with, without;
	unsigned i, j, changed = 0;

	srand(1);
	for (i = 0; i < 20000; i++) {
		*spoilt = two->deep;
		for (j = 0; j < i % 8; j++)
			dump_spoil(spoilt);
		sample = dump_sample(i % 2 ? spoilt : &two->deep, MAX_STACK, 5);
		walk(fixture, &sample, &with);
		sample.tid = 0;
		walk(fixture, &sample, &without);
		assert_int_equal(with.end, without.end);
		assert_int_equal(with.nr, without.nr);
		assert_memory_equal(with.frames, without.frames, with.nr * sizeof(uint64_t));
		changed += with.end != UNWIND_COMPLETE;
	}
	print_message("%u of %u were changed\n", changed, i);
	free(spoilt);
	free(two);
}

static void room_for_frames_is_a_limit(void **state)
{
	struct fixture *fixture = *state;
	struct deepest *two = two_dumps();
	struct unwind_sample sample = dump_sample(&two->deep, MAX_STACK, 1);
	struct chain whole;
	uint64_t frames[MAX_FRAMES];
	enum unwind_end end;
	unsigned max, nr;

	walk(fixture, &sample, &whole);
	assert_int_equal(whole.end, UNWIND_COMPLETE);
	for (max = 1; max <= whole.nr; max++) {
		frames[max] = 42;
		nr = unwinder_walk(fixture->unwinder, fixture->space, &sample, frames, max, &end);
		assert_int_equal(nr, max);
		assert_int_equal(frames[max], 42);
		assert_int_equal(end, max < whole.nr ? UNWIND_TRUNCATED : UNWIND_COMPLETE);
		assert_memory_equal(frames, whole.frames, nr * sizeof(frames[0]));
	}
	free(two);
}

static void unknown_code_is_one_unknown_frame(void **state)
{
	struct fixture *fixture = *state;
	struct deepest *two = two_dumps();
	struct unwind_sample sample = dump_sample(&two->deep, MAX_STACK, 1);
	struct chain chain;

	space_clear(fixture->space);
	walk(fixture, &sample, &chain);
	assert_int_equal(chain.nr, 1);
	assert_int_equal(chain.frames[0], FRAME_UNKNOWN);
	assert_int_equal(chain.end, UNWIND_TRUNCATED);
	sample.stack_size = 0;
	walk(fixture, &sample, &chain);
	assert_int_equal(chain.nr, 1);
	free(two);
}

/* -- a thread's first instruction ------------------------------------------------------------- */

/*
 * Behind the system call in clone(), which has a small stack here; top is on its top. A new thread
 * has the link register of the one that made it.
 */
static void return_from_clone(struct dump *dump, uint64_t result, uint64_t top, uint64_t link)
{
	const uint8_t *code = dlsym(RTLD_DEFAULT, "clone");
	size_t n = 0;

	assert_non_null(code);
	while (!arch_is_clone(code + n)) {
		n += ARCH_CODE_STEP;
		assert_in_range(n, 1, 256);
	}
	memset(dump, 0, sizeof(*dump));
	dump->sp = 0x10000;
	dump->size = 256;
	memcpy(dump->stack, &top, sizeof(top));
	dump->regs[arch_sample_index[ARCH_SP]] = dump->sp;
	dump->regs[arch_sample_index[ARCH_RESULT]] = result;
	dump->regs[arch_sample_index[ARCH_PC]] = (uintptr_t)code + n + ARCH_CLONE_BEFORE;
	if (ARCH_RA == ARCH_EXTRA)
		dump->regs[arch_sample_index[ARCH_RA]] = link;
}

static void nobody_called_a_new_thread(void **state)
{
	struct dump *dump = calloc(1, sizeof(*dump));
	uint64_t ra = (uintptr_t)__builtin_return_address(0);
	struct unwind_sample sample;
	struct chain chain;

	return_from_clone(dump, 0, 0, ra);
	sample = dump_sample(dump, MAX_STACK, 1);
	walk(*state, &sample, &chain);
	assert_int_equal(chain.end, UNWIND_COMPLETE);
	assert_int_equal(chain.nr, 1);
	return_from_clone(dump, 1234, ra, ra); /* the thread that made it */
	walk(*state, &sample, &chain);
	assert_in_range(chain.nr, 2, MAX_FRAMES);
	free(dump);
}

/* -- contexts of makecontext() ---------------------------------------------------------------- */

#if defined(__x86_64__)

static struct {
	ucontext_t here, there;
	struct dump dump;
} contexts;

static void in_a_context(void)
{
	dump_take(&contexts.dump);
	__asm__ volatile(""); /* no tail call */
}

/* Where its first function would return to was put there, and is no call. */
static void nobody_called_a_context(void **state)
{
	unsigned char *stack = calloc(1, MAX_STACK);
	struct unwind_sample sample;
	struct chain chain;

	getcontext(&contexts.there);
	contexts.there.uc_stack.ss_sp = stack;
	contexts.there.uc_stack.ss_size = MAX_STACK;
	contexts.there.uc_link = &contexts.here;
	makecontext(&contexts.there, in_a_context, 0);
	assert_int_equal(swapcontext(&contexts.here, &contexts.there), 0);
	sample = dump_sample(&contexts.dump, MAX_STACK, 1);
	walk(*state, &sample, &chain);
	assert_int_equal(chain.end, UNWIND_COMPLETE);
	assert_int_equal(chain.nr, 3); /* dump_take(), in_a_context(), what called that */
	free(stack);
}

#endif

struct engines {
	struct fixture *ours, theirs;
};

/* A copy that ends somewhere, of a thread that was never seen before. */
static void compare_engines(const struct engines *engines, const struct unwind_sample *sample,
                            const struct chain *whole, size_t size)
{
	struct fixture theirs = engines->theirs;
	struct unwind_sample cut = *sample;
	struct chain chain, other;

	cut.stack_size = size < cut.stack_size ? size : cut.stack_size;
	unwinder_forget(engines->ours->unwinder, cut.tid);
	unwinder_forget(theirs.unwinder, cut.tid);
	walk(engines->ours, &cut, &chain);
	walk(&theirs, &cut, &other);
	assert_int_equal(other.end, chain.end);
	assert_int_equal(other.nr, chain.nr);
	assert_memory_equal(other.frames, whole->frames, other.nr * sizeof(uint64_t));
	assert_int_equal(other.end == UNWIND_COMPLETE, other.nr == whole->nr);
}

/* libunwind takes a frame pointer of 0 for an end wherever it knows no better. */
static void check_unknown_code(struct fixture *fixture, const struct dump *dump)
{
	struct dump unknown = *dump;
	struct unwind_sample sample = dump_sample(&unknown, MAX_STACK, 1);
	struct chain chain;

	unknown.regs[arch_sample_index[ARCH_FP]] = 0;
	space_clear(fixture->space);
	walk(fixture, &sample, &chain);
	assert_int_equal(chain.frames[0], FRAME_UNKNOWN);
	assert_int_equal(chain.end, UNWIND_TRUNCATED);
}

/* In what they find, and in whether it is all. */
static void engines_agree(void **state)
{
	struct deepest *two = two_dumps();
	struct unwind_sample sample = dump_sample(&two->deep, MAX_STACK, 1);
	struct engines engines = {.ours = *state};
	struct fixture *theirs = &engines.theirs;
	struct chain whole;
	uint64_t frames[3];
	enum unwind_end end;

	walk(engines.ours, &sample, &whole);
	assert_int_equal(whole.end, UNWIND_COMPLETE);
	theirs->modules = module_table_new();
	theirs->unwinder = unwinder_new(theirs->modules, UNWIND_LIBUNWIND);
	theirs->space = space_new(getpid());
	maps_read(theirs->space, theirs->modules);
	for (size_t size = 256; size < MAX_STACK; size += 256)
		compare_engines(&engines, &sample, &whole, size);
	assert_int_equal(unwinder_walk(theirs->unwinder, theirs->space, &sample, frames, 3, &end),
	                 3);
	assert_int_equal(end, UNWIND_TRUNCATED);
	check_unknown_code(theirs, &two->deep);
	unwinder_free(theirs->unwinder);
	space_put(theirs->space);
	module_table_free(theirs->modules);
	free(two);
}

/* -- lies ------------------------------------------------------------------------------------- */

/* A value that might have been meant: code, somewhere on the stack, small, or anything. */
static uint64_t plausible_word(const struct dump *dump)
{
	static const uint64_t spread = 1 << 16;

	switch (rand() % 4) {
	case 0:
		return dump->sp + random_word() % spread;
	case 1:
		return (uint64_t)(uintptr_t)(rand() % 2 ? (void *)(uintptr_t)getpid
		                                        : (void *)(uintptr_t)walk) +
		       random_word() % spread;
	case 2:
		return random_word() % 256;
	default:
		return random_word();
	}
}

static void random_samples_end(void **state)
{
	struct fixture *fixture = *state;
	struct deepest *two = two_dumps();
	struct unwind_sample sample;
	struct chain chain;
	unsigned i, j;

	srand(3);
	for (i = 0; i < 30000; i++) {
		size_t size = (size_t)rand() % 1024;
		unsigned char *stack = malloc(size); /* exact: for the sanitizer */
		struct dump dump;

		memcpy(dump.regs, two->deep.regs, sizeof(dump.regs));
		dump.sp = two->deep.sp;
		memcpy(stack, two->deep.stack, size);
		for (j = 0; j + 8 < size; j += 8 << rand() % 6) {
			uint64_t word = plausible_word(&dump);

			memcpy(stack + j, &word, sizeof(word));
		}
		for (j = 0; j < 3; j++)
			dump.regs[rand() % __builtin_popcountll(unwind_regs_mask())] =
				plausible_word(&dump);
		sample = (struct unwind_sample){dump.regs, stack, size, 1 + rand() % 3};
		walk(fixture, &sample, &chain);
		free(stack);
	}
	free(two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(cut_stacks_are_stitched_as_they_were),
		TEST(a_process_tells_how_a_stack_goes_on),
		TEST(chains_belong_to_threads),
		TEST(threads_are_bounded),
		TEST(a_past_changes_no_walk),
		TEST(room_for_frames_is_a_limit),
		TEST(unknown_code_is_one_unknown_frame),
		TEST(nobody_called_a_new_thread),
#if defined(__x86_64__)
		TEST(nobody_called_a_context),
#endif
		TEST(engines_agree),
		TEST(random_samples_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
