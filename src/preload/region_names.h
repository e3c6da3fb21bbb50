/* The names of regions, markers and values, by which the recorder gets their numbers. */
#ifndef PRELOAD_REGION_NAMES_H
#define PRELOAD_REGION_NAMES_H

#include "preload/preload.h"

#include "adaptrace.h"

/* It grows with each fork, after which all names have to be defined again. */
extern uint32_t region_generation;

/* Returns the site of a name, which is valid for ever. The uses of surplus names are lost. */
struct adaptrace_site *region_site(const char *text, unsigned length, unsigned type);

/* Defines a site's name. Returns the region's number; 0: it cannot be had. */
RARE uint32_t region_define(struct adaptrace_site *site);

/*
 * Returns the region's number. A site has it in the lower half of a word, and the generation above
 * it.
 */
static inline uint32_t region_number(struct adaptrace_site *site)
{
	uint32_t number = __atomic_load_n(&site->number, __ATOMIC_RELAXED);

	if (likely(number && number >> 16 == (region_generation & 0xffff)))
		return number & 0xffff;
	return region_define(site);
}

/* Must be called in the child of a fork, which has to define all names again. */
void regions_forked(void);

#endif
