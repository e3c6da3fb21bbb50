/*
 * What gets a number when it first comes up in the events: definitions are written behind these, in
 * the order of the numbers.
 */
#ifndef OUTPUT_OTF2_OTF2_NUMBERS_H
#define OUTPUT_OTF2_OTF2_NUMBERS_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct otf2_numbers {
	uint32_t *of;       /* by entry: its number + 1; 0: it did not come up */
	uint32_t *in_order; /* entries by number */
	uint32_t nr;        /* numbers that were given */
};

/* For a table with so many entries. 0 or -ENOMEM; to be ended by otf2_numbers_fini() in any case.
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

/* The entry's number; the entry is one of the table's. */
static inline uint32_t otf2_number(struct otf2_numbers *numbers, uint32_t entry)
{
	if (!numbers->of[entry]) {
		numbers->in_order[numbers->nr] = entry;
		numbers->of[entry] = ++numbers->nr;
	}
	return numbers->of[entry] - 1;
}

#endif
