#include "trace/write/frame_set.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_ROOM ((size_t)1 << 16)

static_assert(FRAME_SET_RECENT == 1 << (64 - 50), "the hash gives 14 bits");

struct frame_set *frame_set_new(void)
{
	return calloc(1, sizeof(struct frame_set));
}

void frame_set_free(struct frame_set *set)
{
	if (set)
		free(set->frames);
	free(set);
}

static int compare_frames(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return ORDER(x, y);
}

static void compact(struct frame_set *set)
{
	size_t kept = 0;

	if (!set->nr)
		return;
	ARRAY_SORT(set->frames, set->nr, compare_frames);
	for (size_t i = 1; i < set->nr; i++)
		if (set->frames[i] != set->frames[kept])
			set->frames[++kept] = set->frames[i];
	set->nr = kept + 1;
}

/* Makes room: drops duplicates first, and grows the array if that is not enough. */
static int make_room(struct frame_set *set)
{
	compact(set);
	if (set->room && set->nr < set->room / 2)
		return 0;
	return ARRAY_RESERVE(set->frames, set->room, set->room ? set->room + 1 : FIRST_ROOM);
}

void frame_set_add_new(struct frame_set *set, uint64_t frame)
{
	if (set->nr == set->room && !set->err)
		set->err = make_room(set);
	if (!set->err)
		set->frames[set->nr++] = frame;
}

int frame_set_finish(struct frame_set *set)
{
	compact(set);
	return set->err;
}
