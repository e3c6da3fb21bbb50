#include "symbolize/live_stack.h"
#include "symbolize/arch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define CHECK_MAX  1024
#define PIECE      4096 /* no larger than a page, so that a piece is there or is not */
#define MAX_PIECES 64   /* for one sample: 256 KiB */
#define REACH      ((uint64_t)8 << 20)

struct live_stack {
	pid_t pid;
	uint64_t base, end; /* of what may be asked for */
	unsigned nr;
	uint64_t addrs[MAX_PIECES]; /* of the pieces read, as they were asked for */
	unsigned char pieces[MAX_PIECES][PIECE];
};

struct live_stack *live_stack_new(void)
{
	return malloc(sizeof(struct live_stack));
}

void live_stack_free(struct live_stack *live)
{
	free(live);
}

static bool read_all(pid_t pid, uint64_t addr, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)addr, size};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool live_stack_begin(struct live_stack *live, pid_t pid, const struct unwind_sample *sample)
{
	size_t size = sample->stack_size, check = size < CHECK_MAX ? size : CHECK_MAX;
	uint64_t base = arch_sample_reg(sample->regs, ARCH_SP);
	unsigned char now[CHECK_MAX];

	live->pid = pid;
	live->nr = 0;
	live->base = base;
	live->end = base + REACH;
	return size && live->end > base && read_all(pid, base + size - check, now, check) &&
	       !memcmp(now, sample->stack + size - check, check);
}

static const unsigned char *piece_get(struct live_stack *live, uint64_t addr)
{
	/* Mostly the one asked for last. */
	for (unsigned i = live->nr; i-- > 0;)
		if (live->addrs[i] == addr)
			return live->pieces[i];
	if (live->nr == MAX_PIECES || !read_all(live->pid, addr, live->pieces[live->nr], PIECE))
		return NULL;
	live->addrs[live->nr] = addr;
	return live->pieces[live->nr++];
}

bool live_stack_word(struct live_stack *live, uint64_t addr, uint64_t *value)
{
	const uint64_t offset = addr % PIECE;
	const unsigned char *piece;

	if (addr < live->base || addr >= live->end)
		return false;
	if (offset > PIECE - sizeof(*value)) /* no compiler puts it there */
		return false;
	piece = piece_get(live, addr - offset);
	if (!piece)
		return false;
	memcpy(value, piece + offset, sizeof(*value));
	return true;
}
