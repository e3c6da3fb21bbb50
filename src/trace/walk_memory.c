#include "trace/walk_memory.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CURSORS 64 /* a few lists of two kinds; the one that was left first is replaced */

struct left_cursor {
	struct code_cursor *cursor; /* NULL: none */
	const struct bin *bin;
	uint32_t sequence;  /* of the bin */
	uint32_t nr, bytes; /* records that were read */
	uint64_t latest;    /* ns */
	uint64_t turn;      /* when it was left */
};

struct walk_memory {
	struct left_cursor cursors[MAX_CURSORS];
	uint64_t turn;
};

struct walk_memory *walk_memory_new(void)
{
	return calloc(1, sizeof(struct walk_memory));
}

void walk_memory_free(struct walk_memory *memory)
{
	for (unsigned i = 0; memory && i < MAX_CURSORS; i++)
		free(memory->cursors[i].cursor);
	free(memory);
}

static bool is_same(const struct left_cursor *left, const struct bin *bin)
{
	const struct code_cursor *cursor = left->cursor;

	return cursor && left->bin == bin && left->sequence == bin->sequence &&
	       cursor->time_shift == bin->time_shift &&
	       cursor->owner == (enum stream_owner)bin->stream_owner && !bin->nr_counters;
}

/* The bin may say anything: it is another process's. */
static bool has_grown(const struct left_cursor *left, const struct bin *bin)
{
	return code_bin_plausible(bin, bin_size(bin)) && left->nr <= bin->nr_records &&
	       left->bytes <= bin->record_bytes;
}

struct code_cursor *walk_memory_take(struct walk_memory *memory, const struct bin *bin,
                                     uint64_t from, uint64_t *latest)
{
	for (unsigned i = 0; i < MAX_CURSORS; i++) {
		struct left_cursor *left = &memory->cursors[i];
		struct code_cursor *cursor = left->cursor;

		if (!is_same(left, bin) || left->latest >= from || !has_grown(left, bin))
			continue;
		cursor->end = bin_records(bin) + bin->record_bytes;
		cursor->left = bin->nr_records - left->nr;
		*latest = left->latest;
		left->cursor = NULL;
		return cursor;
	}
	return NULL;
}

/* Returns the place of that bin, or a free one, or that of the cursor that was left first. */
static struct left_cursor *find_place(struct walk_memory *memory, const struct bin *bin)
{
	struct left_cursor *found = &memory->cursors[0];

	for (unsigned i = 0; i < MAX_CURSORS; i++) {
		struct left_cursor *left = &memory->cursors[i];

		if (left->cursor && left->bin == bin)
			return left;
		if (found->cursor && (!left->cursor || left->turn < found->turn))
			found = left;
	}
	return found;
}

void walk_memory_leave(struct walk_memory *memory, const struct bin *bin,
                       struct code_cursor *cursor, uint64_t latest)
{
	struct left_cursor *left = find_place(memory, bin);

	free(left->cursor);
	*left = (struct left_cursor){
		.cursor = cursor,
		.bin = bin,
		.sequence = bin->sequence,
		.nr = bin->nr_records - cursor->left,
		.bytes = (uint32_t)(cursor->at - bin_records(bin)),
		.latest = latest,
		.turn = ++memory->turn,
	};
}
