#include "symbolize/unwind/cfi_table.h"

#include "base/array.h"

#include <stdlib.h>

#define PIECE 64
#define MAX_TOPS \
	16384 /* 64 KiB; larger tables have larger pieces, which are searched in the file */
#define NOT_READ INT32_MIN

/* An entry of the linker's table. Both values are relative to the table's address. */
struct pair {
	int32_t start, entry;
};

static uint64_t loaded_at(const struct cfi_section *section, int32_t relative)
{
	return section->table_vaddr + (uint64_t)relative;
}

/* Reads up to `nr` entries from number i on and returns how many there are. */
static uint32_t read_pairs(const struct cfi_input *input, uint32_t i, struct pair *pairs,
                           uint32_t nr)
{
	return (uint32_t)(file_blocks_read(input->blocks, input->module,
	                                   input->section->table + i * (uint64_t)sizeof(*pairs),
	                                   pairs, nr * sizeof(*pairs)) /
	                  sizeof(*pairs));
}

/* Returns the number of entries from one top to the next. */
static uint32_t top_step(const struct cfi_section *section)
{
	uint32_t step = PIECE;

	while (section->nr / step >= MAX_TOPS)
		step *= 2;
	return step;
}

static bool tops_make(struct cfi_section *section, uint32_t nr)
{
	if (section->tops)
		return true;
	section->tops = malloc(nr * sizeof(*section->tops));
	for (uint32_t i = 0; section->tops && i < nr; i++)
		section->tops[i] = NOT_READ;
	return section->tops;
}

static bool top_get(const struct cfi_input *input, uint32_t top, uint32_t step, int32_t *start)
{
	int32_t *known = &input->section->tops[top];
	struct pair pair;

	if (*known == NOT_READ) {
		if (!read_pairs(input, top * step, &pair, 1))
			return false;
		*known = pair.start;
	}
	*start = *known;
	return true;
}

/* Narrows [low, high) down to the last piece that starts at or before an address. */
static bool search_tops(const struct cfi_input *input, uint64_t vaddr, uint32_t *low,
                        uint32_t *high)
{
	struct cfi_section *section = input->section;
	uint32_t step = top_step(section), from = 0, to;
	uint32_t nr = section->nr / step + (section->nr % step != 0);
	int32_t start;

	to = nr;
	if (!tops_make(section, nr))
		return false;
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (!top_get(input, middle, step, &start))
			return false;
		if (loaded_at(section, start) <= vaddr)
			from = middle + 1;
		else
			to = middle;
	}
	*low = from ? (from - 1) * step : 0;
	*high = from < nr ? from * step : section->nr;
	return from > 0;
}

/* Does the same by reading single entries, until at most a piece is left. */
static bool search_file(const struct cfi_input *input, uint64_t vaddr, uint32_t *low,
                        uint32_t *high)
{
	struct pair pair;

	while (*high - *low > PIECE) {
		uint32_t middle = *low + (*high - *low) / 2;

		if (!read_pairs(input, middle, &pair, 1))
			return false;
		if (loaded_at(input->section, pair.start) <= vaddr)
			*low = middle;
		else
			*high = middle;
	}
	return true;
}

static bool search_linkers(const struct cfi_input *input, uint64_t vaddr, uint64_t *offset,
                           uint64_t *next)
{
	const struct cfi_section *section = input->section;
	struct pair pairs[PIECE + 1];
	uint32_t low, high, nr, i, n = 0;

	if (!search_tops(input, vaddr, &low, &high) || !search_file(input, vaddr, &low, &high))
		return false;
	nr = read_pairs(input, low, pairs, high - low + (high < section->nr));
	for (i = nr; i; i /= 2)
		while (n + i <= nr && loaded_at(section, pairs[n + i - 1].start) <= vaddr)
			n += i;
	if (n)
		*offset = loaded_at(section, pairs[n - 1].entry) - section->vaddr;
	*next = n < nr ? loaded_at(section, pairs[n].start) : UINT64_MAX;
	return n > 0;
}

static bool search_own(const struct cfi_input *input, uint64_t vaddr, uint64_t *offset,
                       uint64_t *next)
{
	const struct cfi_section *section = input->section;
	const struct module *module = input->module;
	size_t n = ARRAY_PARTITION(section->index, section->nr, entry,
	                           module_address(module, entry->start) <= vaddr);

	if (n)
		*offset = section->index[n - 1].offset;
	*next = n < section->nr ? module_address(module, section->index[n].start) : UINT64_MAX;
	return n > 0;
}

bool cfi_table_search(const struct cfi_input *input, uint64_t vaddr, uint64_t *offset,
                      uint64_t *next)
{
	if (input->section->index)
		return search_own(input, vaddr, offset, next);
	return input->section->nr && search_linkers(input, vaddr, offset, next);
}
