/*
 * Numbers that entries of a table get when an event first mentions them. The definitions of the
 * entries are written after the events, in the order of these numbers.
 */
#ifndef OUTPUT_OTF2_OTF2_NUMBERS_H
#define OUTPUT_OTF2_OTF2_NUMBERS_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct otf2_numbers {
	uint32_t *of;       /* by entry: its number + 1; 0: no event mentioned it */
	uint32_t *in_order; /* entries by number */
	uint32_t nr;        /* numbers that were given */
};

/*
 * Prepares numbers for a table of nr_entries. Returns 0 or -ENOMEM; call otf2_numbers_fini() in
 * either case.
 */
static inline int otf2_numbers_init(struct otf2_numbers *numbers, uint32_t nr_entries)
{
	*numbers = (struct otf2_numbers){
		.of = calloc(nr_entries + 1UL, sizeof(*numbers->of)),
		.in_order = calloc(nr_entries + 1UL, sizeof(*numbers->in_order)),
	};
	return numbers->of && numbers->in_order ? 0 : -ENOMEM;
}

static inline void otf2_numbers_fini(struct otf2_numbers *numbers)
{
	free(numbers->of);
	free(numbers->in_order);
}

/*
 * Returns the number of an entry, a new one at its first use. The entry must be one of the table's.
 */
static inline uint32_t otf2_number(struct otf2_numbers *numbers, uint32_t entry)
{
	if (!numbers->of[entry]) {
		numbers->in_order[numbers->nr] = entry;
		numbers->of[entry] = ++numbers->nr;
	}
	return numbers->of[entry] - 1;
}

#endif
