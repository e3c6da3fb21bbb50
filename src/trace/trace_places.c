#include "trace/trace_places.h"

#include "base/array.h"

#include <stdlib.h>

struct search {
	struct places *places;
	const struct trace *trace;
	enum bin_use use;
	uint32_t kind;
};

static int add_place(struct places *places, const struct bin *bin)
{
	struct bin_place place = {
		.list = (uint32_t)bin->kind << 8 | bin->level,
		.sequence = bin->sequence,
		.bin = bin,
	};

	return ARRAY_ADD(places->places, places->nr, place);
}

static int add_bin(const struct search *search, const struct bin *bin)
{
	if (bin->use != search->use || !trace_bin_live(search->trace, bin) ||
	    (search->kind != TRACE_ALL_EVENTS && search->kind != bin->kind))
		return 0;
	return add_place(search->places, bin);
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

static int compare_places(const void *a, const void *b)
{
	const struct bin_place *x = a, *y = b;

	return ORDER(x->list, y->list) ?: ORDER(x->sequence, y->sequence);
}

int places_find(struct places *places, const struct trace *trace, enum bin_use use, uint32_t kind)
{
	const struct section *bins = &trace->sections[TRACE_BINS];
	const struct search search = {places, trace, use, kind};
	int err = 0;

	*places = (struct places){0};
	for (uint32_t i = 0; i < bins->nr && !err; i++)
		err = add_granule(&search, section_entry(bins, i));
	ARRAY_SORT(places->places, places->nr, compare_places);
	return err;
}

void places_fini(struct places *places)
{
	free(places->places);
	*places = (struct places){0};
}

uint32_t places_lists(const struct places *places)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < places->nr; i++)
		nr += !i || places->places[i].list != places->places[i - 1].list;
	return nr;
}

const struct bin_place *places_list_end(const struct places *places, const struct bin_place *first)
{
	const struct bin_place *end = places->places + places->nr, *next = first + 1;

	while (next < end && next->list == first->list)
		next++;
	return next;
}
