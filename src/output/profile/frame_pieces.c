#include "output/profile/frame_pieces.h"

#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>

/* --- cutting ---------------------------------------------------------------------------------- */

static void add_start(struct frame_pieces *pieces, uint64_t start)
{
	if (!pieces->nr || pieces->pieces[pieces->nr - 1].start != start)
		pieces->pieces[pieces->nr++].start = start;
}

/*
 * Adds the start of a function. Where it follows the previous function without a gap, the entry for
 * the gap between them is removed.
 */
static void add_function(struct frame_pieces *pieces, const struct trace_symbol *symbol)
{
	uint64_t start = (uint64_t)symbol->module << 33 | (uint64_t)symbol->lo << 1;

	if (pieces->nr && pieces->pieces[pieces->nr - 1].start == (start | 1))
		pieces->nr--;
	add_start(pieces, start);
}

static bool line_before(const struct trace_line *line, uint32_t module, uint32_t offset)
{
	return line->module < module || (line->module == module && line->offset < offset);
}

static void cut(struct frame_pieces *pieces, const struct trace *trace)
{
	const struct trace_symbol *symbol;
	const struct trace_line *line = trace_line(trace, 0);
	uint32_t next = 0;

	for (uint32_t i = 0; (symbol = trace_symbol(trace, i)); i++) {
		if (symbol->module >= FRAME_MAX_MODULES)
			break;
		add_function(pieces, symbol);
		while (line && line_before(line, symbol->module, symbol->lo))
			line = trace_line(trace, ++next);
		while (line && line_before(line, symbol->module, symbol->hi)) {
			add_start(pieces,
			          (uint64_t)line->module << 33 | (uint64_t)line->offset << 1);
			line = trace_line(trace, ++next);
		}
		add_start(pieces, (uint64_t)symbol->module << 33 | (uint64_t)symbol->hi << 1 | 1);
	}
}

/* --- finding ---------------------------------------------------------------------------------- */

static uint32_t module_of(const struct frame_pieces *pieces, uint32_t piece)
{
	return (uint32_t)(pieces->pieces[piece].start >> 33);
}

static uint32_t offset_of(const struct frame_pieces *pieces, uint32_t piece)
{
	return (uint32_t)(pieces->pieces[piece].start >> 1);
}

/*
 * Cuts a module's pieces [first, last], the latter of which is in no function, into less stretches.
 * Returns where in pieces->first those of the next module begin.
 */
static uint32_t stretch_out(struct frame_pieces *pieces, uint32_t at, uint32_t first, uint32_t last)
{
	struct frame_stretches *stretches = &pieces->modules[module_of(pieces, first)];
	uint64_t span = offset_of(pieces, last) - offset_of(pieces, first) - 1;
	uint32_t piece = first;

	stretches->base = offset_of(pieces, first);
	stretches->at = at;
	while (span >> stretches->shift >= last - first)
		stretches->shift++;
	stretches->nr = (uint32_t)(span >> stretches->shift) + 1;
	for (uint32_t i = 0; i < stretches->nr; i++) {
		uint64_t start = stretches->base + ((uint64_t)i << stretches->shift);

		while (piece < last && offset_of(pieces, piece + 1) <= start)
			piece++;
		pieces->first[at + i] = piece;
	}
	pieces->first[at + stretches->nr] = last;
	return at + stretches->nr + 1;
}

static int index_pieces(struct frame_pieces *pieces)
{
	uint32_t at = 0, end;

	pieces->nr_modules = pieces->nr ? module_of(pieces, pieces->nr - 1) + 1 : 0;
	pieces->modules = calloc(pieces->nr_modules + 1UL, sizeof(*pieces->modules));
	pieces->first = calloc(pieces->nr + 1UL, sizeof(*pieces->first));
	if (!pieces->modules || !pieces->first)
		return -ENOMEM;
	for (uint32_t first = 0; first < pieces->nr; first = end) {
		end = first + 1;
		while (end < pieces->nr && module_of(pieces, end) == module_of(pieces, first))
			end++;
		at = stretch_out(pieces, at, first, end - 1);
	}
	return 0;
}

int frame_pieces_init(struct frame_pieces *pieces, const struct trace *trace)
{
	size_t most = 2 * (size_t)trace_nr(trace, TRACE_SYMBOLS) + trace_nr(trace, TRACE_LINES);
	int err;

	*pieces = (struct frame_pieces){0};
	if (most >= UINT32_MAX)
		return -ENOMEM;
	pieces->pieces = calloc(most + 1, sizeof(*pieces->pieces));
	if (!pieces->pieces)
		return -ENOMEM;
	cut(pieces, trace);
	err = index_pieces(pieces);
	if (err)
		frame_pieces_fini(pieces);
	return err;
}

void frame_pieces_fini(struct frame_pieces *pieces)
{
	free(pieces->pieces);
	free(pieces->modules);
	free(pieces->first);
	*pieces = (struct frame_pieces){0};
}
