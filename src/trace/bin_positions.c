#include "trace/bin_positions.h"

#include "base/array.h"

#include <stdlib.h>

struct search {
	struct bin_positions *positions;
	const struct trace *trace;
	enum bin_use use;
	uint32_t kind;
};

static int add_position(const struct search *search, uint32_t event, const struct bin *bin)
{
	struct bin_position position = {
		.list = event << 8 | bin->level,
		.sequence = bin->sequence,
		.bin = bin,
	};

	return ARRAY_ADD(search->positions->positions, search->positions->nr, position);
}

static int add_bin(const struct search *search, const struct bin *bin)
{
	const uint32_t event = trace_bin_event(search->trace, bin);

	if (bin->use != search->use || !trace_bin_live(search->trace, bin) ||
	    (search->kind != TRACE_ALL_EVENTS && search->kind != event))
		return 0;
	return add_position(search, event, bin);
}

static int add_granule(const struct search *search, const unsigned char *granule)
{
	const struct trace *trace = search->trace;
	const struct bin *bin = (const void *)granule;
	int err = 0;

	if (bin->size_shift == trace->bin_shift)
		return add_bin(search, bin);
	for (size_t at = 0; at < (size_t)1 << trace->bin_shift && !err;
	     at += (size_t)1 << trace->sub_shift) {
		bin = (const void *)(granule + at);
		err = bin->size_shift == trace->sub_shift ? add_bin(search, bin) : 0;
	}
	return err;
}

static int compare_positions(const void *a, const void *b)
{
	const struct bin_position *x = a, *y = b;

	return ORDER(x->list, y->list) ?: ORDER(x->sequence, y->sequence);
}

/* Returns whether all records of the first bin, which the second one follows, are too old. */
static bool is_older(const struct bin_position *position, const struct bin_position *next,
                     uint64_t from)
{
	const struct bin *bin = next->bin;

	return next->list == position->list && bin->nr_records && bin->time_shift < 64 &&
	       bin->base_time <= from >> bin->time_shift;
}

/* Counters are totals, so that the first sample in question needs the one before it. */
static void leave_out_old(struct bin_positions *positions, const struct trace *trace)
{
	size_t nr = positions->nr, kept = 0;
	struct bin_position *at = positions->positions;

	if (!trace->from || trace_nr(trace, TRACE_COUNTERS))
		return;
	for (size_t i = 0; i < nr; i++)
		if (i + 1 == nr || !is_older(&at[i], &at[i + 1], trace->from))
			at[kept++] = at[i];
	positions->nr = kept;
}

int bin_positions_find(struct bin_positions *positions, const struct trace *trace, enum bin_use use,
                       uint32_t kind)
{
	const struct section *bins = &trace->sections[TRACE_BINS];
	const struct search search = {positions, trace, use, kind};
	int err = 0;

	*positions = (struct bin_positions){0};
	for (uint32_t i = 0; i < bins->nr && !err; i++)
		err = add_granule(&search, section_entry(bins, i));
	ARRAY_SORT(positions->positions, positions->nr, compare_positions);
	leave_out_old(positions, trace);
	return err;
}

void bin_positions_fini(struct bin_positions *positions)
{
	free(positions->positions);
	*positions = (struct bin_positions){0};
}

uint32_t bin_positions_lists(const struct bin_positions *positions)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < positions->nr; i++)
		nr += !i || positions->positions[i].list != positions->positions[i - 1].list;
	return nr;
}

const struct bin_position *bin_positions_list_end(const struct bin_positions *positions,
                                                  const struct bin_position *first)
{
	const struct bin_position *end = positions->positions + positions->nr, *next = first + 1;

	while (next < end && next->list == first->list)
		next++;
	return next;
}
