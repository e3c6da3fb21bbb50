#include "symbolize/modules/moved_code.h"
#include "symbolize/modules/peer_memory.h"

#include <string.h>
#include <unistd.h>

#define NR_PIECES  12
#define LEAST      6 /* of them, that are more than zeroes */
#define PIECE_SIZE 64

/* The first of the file's segments that the range of addresses has a part of. */
static const struct segment *find_segment(const struct mapping *map, uint64_t start, uint64_t end)
{
	for (unsigned i = 0; i < map->module->nr_segments; i++) {
		const struct segment *segment = &map->module->segments[i];
		uint64_t first = map->bias + segment->vaddr;

		if (first < end && start < first + segment->size)
			return segment;
	}
	return NULL;
}

static bool same_bytes(struct module_table *modules, pid_t pid, const struct mapping *part,
                       const struct segment *segment)
{
	struct peer_memory *memory = module_table_memory(modules);
	static const unsigned char zeroes[PIECE_SIZE];
	uint64_t step = (part->end - part->start - PIECE_SIZE) / (NR_PIECES - 1);
	unsigned char pieces[NR_PIECES][PIECE_SIZE], piece[PIECE_SIZE];
	struct iovec remote[NR_PIECES];
	unsigned nr = 0;

	for (unsigned i = 0; i < NR_PIECES; i++)
		remote[i] = (struct iovec){(void *)(uintptr_t)(part->start + i * step), PIECE_SIZE};
	if (peer_memory_read(memory, pid, remote, NR_PIECES, pieces) != (ssize_t)sizeof(pieces))
		return false;
	for (unsigned i = 0; i < NR_PIECES; i++) {
		uint64_t vaddr = part->start + i * step - part->bias;

		if (module_read(modules, part->module, piece, PIECE_SIZE,
		                (off_t)(segment->offset + (vaddr - segment->vaddr))) !=
		            PIECE_SIZE ||
		    memcmp(piece, pieces[i], PIECE_SIZE) != 0)
			return false;
		nr += memcmp(piece, zeroes, PIECE_SIZE) != 0;
	}
	return nr >= LEAST;
}

static bool is_part(struct module_table *modules, const struct space *space, uint64_t start,
                    uint64_t end, struct mapping *part)
{
	const struct segment *segment = find_segment(part, start, end);

	if (!segment)
		return false;
	part->start = part->bias + segment->vaddr;
	part->end = part->start + segment->size;
	if (part->start < start)
		part->start = start;
	if (part->end > end)
		part->end = end;
	if (part->end - part->start < (uint64_t)NR_PIECES * PIECE_SIZE)
		return false;
	return same_bytes(modules, space_pid(space), part, segment);
}

bool moved_code_find(struct module_table *modules, const struct space *space, uint64_t start,
                     uint64_t end, struct mapping *part)
{
	/* Places beside it count, too: memory is often mapped before its code is reported. */
	const uint64_t at[] = {start, end - 1, start - 1, end};

	for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		const struct mapping *map = space_find(space, at[i]);

		if (!map || map->module->type != MODULE_FILE)
			continue;
		*part = *map;
		if (is_part(modules, space, start, end, part))
			return true;
	}
	return false;
}
