#include "cli/command_stack.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#define STACK_SIZE ((size_t)8 << 20)
#define GUARD_SIZE ((size_t)1 << 20) /* below; a large variable jumps over less */

struct call {
	int (*run)(int argc, char **argv);
	int argc, status;
	char **argv;
};

/* Contexts are started with numbers for arguments, not with addresses. */
static void call_there(unsigned high, unsigned low)
{
	struct call *call = (struct call *)(uintptr_t)((uint64_t)high << 32 | low); // NOLINT

	call->status = call->run(call->argc, call->argv);
}

static bool is_small(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < STACK_SIZE;
}

/* Makes a stack with a guard below it, as the kernel's have. */
static void *stack_new(void)
{
	void *stack = mmap(NULL, STACK_SIZE + GUARD_SIZE, PROT_READ | PROT_WRITE,
	                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return NULL;
	mprotect(stack, GUARD_SIZE, PROT_NONE);
	return stack;
}

int stack_call(int (*run)(int argc, char **argv), int argc, char **argv)
{
	struct call call = {.run = run, .argc = argc, .argv = argv};
	const uint64_t at = (uintptr_t)&call;
	void *stack = is_small() ? stack_new() : NULL;
	ucontext_t here, there;

	if (!stack || getcontext(&there))
		return run(argc, argv);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_SIZE + GUARD_SIZE;
	there.uc_link = &here;
	makecontext(&there, (void (*)(void))call_there, 2, (unsigned)(at >> 32), (unsigned)at);
	swapcontext(&here, &there);
	munmap(stack, STACK_SIZE + GUARD_SIZE);
	return call.status;
}
