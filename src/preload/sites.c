#include "preload/sites.h"

#include "preload/preload.h"

#include <string.h>

#define SITES      ((size_t)1 << RING_SITE_BITS) /* places of the table */
#define MOST_SITES (SITES / 2)

/* A hash table of addresses. The number of a site is its place + 1. */
static uintptr_t sites[SITES];
static size_t nr_sites;

static size_t first_place(uintptr_t address)
{
	return (address * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RING_SITE_BITS);
}

/* Returns the place of an address, or the free one where it belongs. Half of the table is free. */
static size_t find_place(uintptr_t address)
{
	for (size_t i = first_place(address);; i++) {
		uintptr_t found = __atomic_load_n(&sites[i % SITES], __ATOMIC_ACQUIRE);

		if (!found || found == address)
			return i % SITES;
	}
}

/* The recorder must know a site before a call that uses it. */
RARE static uint32_t add_site(uintptr_t address)
{
	uint64_t words[2] = {0, address};
	uint32_t number = 0;
	size_t place;

	pthread_mutex_lock(&process.lock);
	place = find_place(address);
	words[0] = ring_head(RING_SITE, 2, 0, 0, (uint32_t)place + 1);
	if (sites[place] || (nr_sites < MOST_SITES && process_define(words, 2))) {
		nr_sites += !sites[place];
		__atomic_store_n(&sites[place], address, __ATOMIC_RELEASE);
		number = (uint32_t)place + 1;
	}
	pthread_mutex_unlock(&process.lock);
	return number;
}

uint32_t site_number(uintptr_t address)
{
	size_t place;

	if (!address)
		return 0;
	place = find_place(address);
	if (sites[place] == address)
		return (uint32_t)place + 1;
	if (__atomic_load_n(&nr_sites, __ATOMIC_RELAXED) >= MOST_SITES)
		return 0;
	return add_site(address);
}

void sites_forked(void)
{
	memset(sites, 0, sizeof(sites));
	nr_sites = 0;
}
