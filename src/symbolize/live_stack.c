#include "symbolize/live_stack.h"
#include "symbolize/arch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define COPY_MAX  (64 << 10) /* the kernel copies no more with a sample */
#define LIVE_MAX  (256 << 10)
#define CHECK_MAX 1024

/* The copied stack, what follows it, and once more its end. */
struct live_stack {
	unsigned char stack[COPY_MAX + LIVE_MAX];
	unsigned char check[CHECK_MAX];
};

struct live_stack *live_stack_new(void)
{
	return malloc(sizeof(struct live_stack));
}

void live_stack_free(struct live_stack *live)
{
	free(live);
}

bool live_stack_extend(struct live_stack *live, pid_t pid, const struct unwind_sample *sample,
                       struct unwind_sample *whole)
{
	size_t size = sample->stack_size, check = size < CHECK_MAX ? size : CHECK_MAX;
	uint64_t end = arch_sample_reg(sample->regs, ARCH_SP) + size;
	struct iovec remote = {(void *)(uintptr_t)(end - check), check + LIVE_MAX};
	struct iovec local[2] = {{live->check, check}, {live->stack + size, LIVE_MAX}};
	ssize_t n;

	if (size == 0 || size > COPY_MAX)
		return false;
	/* Less where the stack's mapping ends. */
	n = process_vm_readv(pid, local, 2, &remote, 1, 0);
	if (n <= (ssize_t)check || memcmp(live->check, sample->stack + size - check, check))
		return false;
	memcpy(live->stack, sample->stack, size);
	*whole = *sample;
	whole->stack = live->stack;
	whole->stack_size = size + (size_t)n - check;
	whole->stack_cut = false;
	return true;
}
