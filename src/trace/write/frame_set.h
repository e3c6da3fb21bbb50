/* Distinct frames out of very many: collected in any order, then sorted. */
#ifndef TRACE_WRITE_FRAME_SET_H
#define TRACE_WRITE_FRAME_SET_H

#include <stddef.h>
#include <stdint.h>

#define FRAME_SET_RECENT (1 << 14)

struct frame_set {
	uint64_t *frames;
	size_t nr, room;
	int err;                           /* -ENOMEM: some are missing */
	uint64_t recent[FRAME_SET_RECENT]; /* frame + 1: most that come again end here */
};

/* Returns NULL if there is no memory. */
struct frame_set *frame_set_new(void);
void frame_set_free(struct frame_set *set);
/* Used by frame_set_add() for a frame that was not added recently. */
void frame_set_add_new(struct frame_set *set, uint64_t frame);
/* Sorts the frames and removes duplicates. Returns 0 or -ENOMEM. */
int frame_set_finish(struct frame_set *set);

/* If memory runs out, frame_set_finish() reports it. */
static inline void frame_set_add(struct frame_set *set, uint64_t frame)
{
	uint64_t *recent = &set->recent[(frame * 0x9e3779b97f4a7c15) >> 50];

	if (*recent == frame + 1)
		return;
	*recent = frame + 1;
	frame_set_add_new(set, frame);
}

#endif
