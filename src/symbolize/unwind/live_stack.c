#include "symbolize/unwind/live_stack.h"
#include "symbolize/unwind/arch.h"

#include <stdlib.h>
#include <string.h>

#define CHECK_MAX  6    /* return addresses */
#define PIECE      4096 /* at most a page, so that a piece is readable as a whole or not at all */
#define MAX_AHEAD  16   /* pieces */
#define MAX_PIECES 64   /* for one sample: 256 KiB */
#define REACH      ((uint64_t)1 << 30)

struct live_stack {
	struct peer_memory *memory;
	pid_t pid;
	uint64_t base, end;         /* of the addresses that may be read */
	unsigned nr, last;          /* number of pieces; index of the piece that was used last */
	unsigned ahead;             /* pieces that the last read asked for */
	uint64_t addrs[MAX_PIECES]; /* of the pieces, in the order of reading */
	unsigned char pieces[MAX_PIECES][PIECE];
};

struct live_stack *live_stack_new(struct peer_memory *memory)
{
	struct live_stack *live = malloc(sizeof(*live));

	if (live)
		live->memory = memory;
	return live;
}

void live_stack_free(struct live_stack *live)
{
	free(live);
}

/*
 * Reads pieces from an address on and returns their number. A read wakes another thread, so each
 * read that continues the last one asks for twice as many pieces.
 */
static unsigned read_pieces(struct live_stack *live, uint64_t addr)
{
	bool next = live->nr && addr == live->addrs[live->nr - 1] + PIECE;
	struct iovec pieces[MAX_AHEAD];
	unsigned nr = next ? 2 * live->ahead : 1;
	ssize_t got;

	if (nr > MAX_AHEAD)
		nr = MAX_AHEAD;
	if (nr > MAX_PIECES - live->nr)
		nr = MAX_PIECES - live->nr;
	for (unsigned i = 0; i < nr; i++) {
		pieces[i] = (struct iovec){(void *)(uintptr_t)(addr + i * PIECE), PIECE};
		live->addrs[live->nr + i] = addr + i * PIECE;
	}
	live->ahead = nr;
	got = nr ? peer_memory_read(live->memory, live->pid, pieces, nr, live->pieces[live->nr])
	         : 0;
	return got > 0 ? (unsigned)(got / PIECE) : 0;
}

/*
 * Tells whether the outermost return addresses are still in memory. The bytes around them are not
 * compared: if a frame is larger than the copy, they are variables of a running function.
 */
static bool is_there(const struct live_stack *live, const struct unwind_sample *sample,
                     const struct stack_entry *entries, unsigned nr)
{
	uint64_t base = arch_sample_reg(sample->regs, ARCH_SP), now[CHECK_MAX];
	struct iovec remote[CHECK_MAX];
	unsigned n = 0;

	while (nr-- > 0 && n < CHECK_MAX) {
		uint64_t slot = entries[nr].slot, at = slot - base;

		if (at >= sample->stack_size || sample->stack_size - at < sizeof(*now))
			continue;
		remote[n++] = (struct iovec){(void *)(uintptr_t)slot, sizeof(*now)};
	}
	if (!n || peer_memory_read(live->memory, live->pid, remote, n, now) !=
	                  (ssize_t)(n * sizeof(*now)))
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
                      const struct stack_entry *entries, unsigned nr)
{
	live->pid = pid;
	live->nr = live->last = 0;
	live_stack_move(live, arch_sample_reg(sample->regs, ARCH_SP));
	return live->end > live->base && (!nr || is_there(live, sample, entries, nr));
}

static const unsigned char *piece_get(struct live_stack *live, uint64_t addr)
{
	unsigned i = live->last;

	if (live->nr && live->addrs[i] == addr)
		return live->pieces[i];
	for (i = live->nr; i-- > 0;)
		if (live->addrs[i] == addr)
			return live->pieces[live->last = i];
	live->last = live->nr;
	live->nr += read_pieces(live, addr);
	if (live->nr > live->last)
		return live->pieces[live->last];
	live->last = 0;
	return NULL;
}

bool live_stack_word(struct live_stack *live, uint64_t addr, uint64_t *value)
{
	const uint64_t offset = addr % PIECE;
	const unsigned char *piece;

	if (addr < live->base || addr >= live->end)
		return false;
	if (offset > PIECE - sizeof(*value)) /* compilers align words */
		return false;
	piece = piece_get(live, addr - offset);
	if (!piece)
		return false;
	memcpy(value, piece + offset, sizeof(*value));
	return true;
}
