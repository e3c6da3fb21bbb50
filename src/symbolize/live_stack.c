#include "symbolize/live_stack.h"
#include "symbolize/arch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define CHECK_MAX  6    /* return addresses */
#define PIECE      4096 /* no larger than a page, so that a piece is there or is not */
#define MAX_PIECES 64   /* for one sample: 256 KiB */
#define REACH      ((uint64_t)1 << 30)

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

/*
 * Whether the outermost return addresses are still in memory. The bytes around them are not asked:
 * where a frame is larger than the copy they are the variables of a function that is at work.
 */
static bool is_there(pid_t pid, const struct unwind_sample *sample, const struct link *links,
                     unsigned nr)
{
	uint64_t base = arch_sample_reg(sample->regs, ARCH_SP), now[CHECK_MAX];
	struct iovec local[CHECK_MAX], remote[CHECK_MAX];
	unsigned n = 0;

	while (nr-- > 0 && n < CHECK_MAX) {
		uint64_t slot = links[nr].slot, at = slot - base;

		if (at >= sample->stack_size || sample->stack_size - at < sizeof(*now))
			continue;
		local[n] = (struct iovec){&now[n], sizeof(*now)};
		remote[n++] = (struct iovec){(void *)(uintptr_t)slot, sizeof(*now)};
	}
	if (!n || process_vm_readv(pid, local, n, remote, n, 0) != (ssize_t)(n * sizeof(*now)))
		return false;
	while (n-- > 0)
		if (memcmp(&now[n], sample->stack + ((uintptr_t)remote[n].iov_base - base),
		           sizeof(*now)) != 0)
			return false;
	return true;
}

void live_stack_move(struct live_stack *live, uint64_t addr)
{
	live->base = addr;
	live->end = addr + REACH;
}

bool live_stack_begin(struct live_stack *live, pid_t pid, const struct unwind_sample *sample,
                      const struct link *links, unsigned nr)
{
	live->pid = pid;
	live->nr = 0;
	live_stack_move(live, arch_sample_reg(sample->regs, ARCH_SP));
	return live->end > live->base && (!nr || is_there(pid, sample, links, nr));
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
