/* Walks as a recorder does them: cut stacks, limits, and samples and files that lie. */
#include "maps.h"
#include "symbolize/unwind.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MAX_STACK  (64 * 1024)
#define MAX_FRAMES 300
#define NR_REGS    64

struct fixture {
	struct module_table *modules;
	struct unwinder *unwinder;
	struct space *space;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->modules = module_table_new();
	fixture->unwinder = unwinder_new(fixture->modules, UNWIND_RULES);
	fixture->space = space_new(getpid());
	assert_true(fixture->modules && fixture->unwinder && fixture->space);
	maps_read(fixture->space, fixture->modules);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	unwinder_free(fixture->unwinder);
	space_put(fixture->space);
	module_table_free(fixture->modules);
	free(fixture);
	return 0;
}

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
	bool cut = size < dump->size;

	return (struct unwind_sample){dump->regs, dump->stack, cut ? size : dump->size, cut, tid};
}

struct chain {
	uint64_t frames[MAX_FRAMES];
	unsigned nr;
	enum unwind_end end;
};

static void walk(struct fixture *fixture, const struct unwind_sample *sample, struct chain *chain)
{
	chain->nr = unwinder_walk(fixture->unwinder, fixture->space, sample, chain->frames,
	                          MAX_FRAMES, &chain->end);
	assert_in_range(chain->nr, 1, MAX_FRAMES);
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
	struct unwind_sample cut = dump_sample(&two->deep, 4096, 7);
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
	/* A stack that just ends there was not cut. */
	walk(fixture, &whole, &chain);
	cut.stack_cut = false;
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
	struct unwind_sample cut = dump_sample(&two->deep, 4096, 0);
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

static void engines_agree(void **state)
{
	struct fixture *fixture = *state;
	struct deepest *two = two_dumps();
	struct unwind_sample sample = dump_sample(&two->deep, MAX_STACK, 1);
	struct fixture other;
	struct chain ours, theirs;

	walk(fixture, &sample, &ours);
	other.modules = module_table_new();
	other.unwinder = unwinder_new(other.modules, UNWIND_LIBUNWIND);
	other.space = space_new(getpid());
	maps_read(other.space, other.modules);
	walk(&other, &sample, &theirs);
	assert_int_equal(ours.end, UNWIND_COMPLETE);
	assert_int_equal(theirs.end, UNWIND_COMPLETE);
	assert_int_equal(ours.nr, theirs.nr);
	assert_memory_equal(ours.frames, theirs.frames, ours.nr * sizeof(uint64_t));
	unwinder_free(other.unwinder);
	space_put(other.space);
	module_table_free(other.modules);
	free(two);
}

/* -- lies ------------------------------------------------------------------------------------- */

static uint64_t random_word(void)
{
	return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

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
		sample = (struct unwind_sample){dump.regs, stack, size, rand() % 2, 1 + rand() % 3};
		walk(fixture, &sample, &chain);
		free(stack);
	}
	free(two);
}

/* -- files that lie --------------------------------------------------------------------------- */

struct image {
	char path[64];
	unsigned char *bytes;
	size_t size;
};

static struct image image_of_the_linker(const struct fixture *fixture)
{
	struct image image = {.path = "/tmp/adaptrace-unwind-XXXXXX"};
	struct module *module = NULL;
	struct stat st;
	size_t i;
	int fd;

	for (i = 1; i < module_table_count(fixture->modules); i++) {
		module = module_table_get(fixture->modules, (uint16_t)i);
		if (strstr(module->path, "/ld-linux"))
			break;
	}
	fd = module_fd(fixture->modules, module);
	assert_int_equal(fstat(fd, &st), 0);
	image.size = (size_t)st.st_size;
	image.bytes = malloc(image.size);
	assert_int_equal(pread(fd, image.bytes, image.size, 0), st.st_size);
	fd = mkstemp(image.path);
	assert_true(fd >= 0);
	close(fd);
	return image;
}

/* Damage is done where it hurts: in the headers, and to the tables and entries they lead to. */
static void image_damage(const struct image *image, unsigned char *bytes)
{
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr = {0};
	unsigned i, nr = 1 + (unsigned)rand() % 64;
	size_t from, span;

	memcpy(&ehdr, image->bytes, sizeof(ehdr));
	for (i = 0; i < ehdr.e_phnum && phdr.p_type != PT_GNU_EH_FRAME; i++)
		memcpy(&phdr, image->bytes + ehdr.e_phoff + i * sizeof(phdr), sizeof(phdr));
	if (rand() % 4 == 0) {
		from = 16;
		span = ehdr.e_phoff + ehdr.e_phnum * sizeof(phdr);
	} else {
		from = phdr.p_offset;
		span = phdr.p_filesz * (1 + (size_t)rand() % 4);
	}
	while (nr-- > 0)
		bytes[from + (size_t)rand() % span] = (unsigned char)(rand() % 2 ? rand() : 0xff);
}

static void image_write(const struct image *image, const unsigned char *bytes, size_t size)
{
	int fd = open(image->path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	close(fd);
}

static struct module *image_module(const struct image *image, struct module_table *modules)
{
	struct module_file file = {.path = image->path, .pid = getpid()};
	struct stat st;

	assert_int_equal(stat(image->path, &st), 0);
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	return module_table_file(modules, &file);
}

/* A space where nothing but the image is mapped; stack words lead into it. */
static void image_walk(struct fixture *fixture, const struct image *image, struct module *module)
{
	struct mapping mapping = {0x100000, 0x100000 + image->size, 0x100000, module};
	uint64_t regs[NR_REGS], stack[128];
	struct unwind_sample sample = {regs, (unsigned char *)stack, sizeof(stack), false, 1};
	struct chain chain;
	unsigned i, j;

	space_clear(fixture->space);
	assert_int_equal(space_map(fixture->space, &mapping), 0);
	for (i = 0; i < 40; i++) {
		for (j = 0; j < NR_REGS; j++)
			regs[j] = rand() % 2 ? 0x100000 + random_word() % image->size
			                     : 0x7000 + random_word() % sizeof(stack);
		for (j = 0; j < 128; j++)
			stack[j] = rand() % 2 ? 0x100000 + random_word() % image->size
			                      : 0x7000 + random_word() % sizeof(stack);
#if defined(__x86_64__)
		regs[7] = 0x7000;
#else
		regs[31] = 0x7000;
#endif
		walk(fixture, &sample, &chain);
	}
}

static void damaged_files_do_no_harm(void **state)
{
	struct image image = image_of_the_linker(*state);
	unsigned char *bytes = malloc(image.size);
	void *fresh;
	unsigned i;

	srand(4);
	for (i = 0; i < 300; i++) {
		memcpy(bytes, image.bytes, image.size);
		image_damage(&image, bytes);
		image_write(&image, bytes, rand() % 8 ? image.size : (size_t)rand() % image.size);
		setup(&fresh);
		image_walk(fresh, &image, image_module(&image, ((struct fixture *)fresh)->modules));
		teardown(&fresh);
	}
	unlink(image.path);
	free(image.bytes);
	free(bytes);
}

/* The owner of a file may cut it off while we read it. */
static void file_may_shrink_under_us(void **state)
{
	struct fixture *fixture = *state;
	struct image image = image_of_the_linker(fixture);
	struct module *module;
	int size;

	image_write(&image, image.bytes, image.size);
	module = image_module(&image, fixture->modules);
	assert_true(module && module->nr_segments > 0);
	for (size = (int)image.size; size > 0; size -= 5000) {
		image_walk(fixture, &image, module);
		assert_int_equal(truncate(image.path, size), 0);
	}
	image_walk(fixture, &image, module);
	unlink(image.path);
	free(image.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cut_stacks_are_stitched_as_they_were, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(chains_belong_to_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(room_for_frames_is_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(unknown_code_is_one_unknown_frame, setup, teardown),
		cmocka_unit_test_setup_teardown(engines_agree, setup, teardown),
		cmocka_unit_test_setup_teardown(random_samples_end, setup, teardown),
		cmocka_unit_test_setup_teardown(damaged_files_do_no_harm, setup, teardown),
		cmocka_unit_test_setup_teardown(file_may_shrink_under_us, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
