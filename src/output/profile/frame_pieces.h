/*
 * The pieces that the tables of functions and lines of a trace cut its code into: all frames of a
 * piece are in one function and at one place of the source.
 *
 *     symbols      [ main           )   [ f     )
 *     lines          12   13             7
 *     pieces       |0|1  |2         | - |3      | -
 */
#ifndef OUTPUT_PROFILE_FRAME_PIECES_H
#define OUTPUT_PROFILE_FRAME_PIECES_H

#include "base/array.h"
#include "trace/trace.h"

struct frame_piece {
	uint64_t start; /* frame · 2, ascending; bit 0: the piece is in no function */
	uint32_t chain; /* place in chains of names, + 1; 0: not there yet */
};

struct frame_pieces {
	struct frame_piece *pieces;
	uint32_t nr;
	/*
	 * Each module's code is divided into stretches of equal length: `first` has the piece in
	 * which each stretch begins.
	 */
	struct frame_stretches *modules;
	uint32_t *first;
	uint32_t nr_modules;
};

struct frame_stretches {
	uint32_t base; /* offset of the first */
	uint32_t at;   /* place in first, which has one more entry than there are stretches */
	uint32_t nr;   /* 0: the module has no functions */
	unsigned shift;
};

/* Builds the pieces of a trace. Returns 0 or -ENOMEM. */
int frame_pieces_init(struct frame_pieces *pieces, const struct trace *trace);
void frame_pieces_fini(struct frame_pieces *pieces);

/* Returns the piece of a frame; NULL: the frame is in no function. */
static inline struct frame_piece *frame_pieces_find(const struct frame_pieces *pieces,
                                                    uint64_t frame)
{
	const struct frame_stretches *stretches;
	struct frame_piece *piece;
	uint32_t low, high;
	uint64_t stretch;

	if (frame >> 32 >= pieces->nr_modules)
		return NULL;
	stretches = &pieces->modules[frame >> 32];
	stretch = ((frame & UINT32_MAX) - stretches->base) >> stretches->shift;
	if (stretch >= stretches->nr)
		return NULL;
	low = pieces->first[stretches->at + stretch];
	high = pieces->first[stretches->at + stretch + 1];
	piece = &pieces->pieces[low];
	piece += ARRAY_PARTITION(piece + 1, high - low, later, later->start <= (frame << 1 | 1));
	return piece->start & 1 ? NULL : piece;
}

#endif
