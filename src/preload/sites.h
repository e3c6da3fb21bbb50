/* Numbers of the places that make calls, for the recorder. */
#ifndef PRELOAD_SITES_H
#define PRELOAD_SITES_H

#include <stdint.h>

/*
 * Returns the number of a return address, which the first call for it tells the recorder. 0: there
 * is no room, or the address is 0. The caller holds no lock.
 */
uint32_t site_number(uintptr_t address);

/* Forgets all sites in a child of fork(). */
void sites_forked(void);

#endif
