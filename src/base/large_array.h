/*
 * Arrays that grow, and that every sample looks into somewhere: they may be as large as a trace.
 */
#ifndef BASE_LARGE_ARRAY_H
#define BASE_LARGE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed, and made for look-ups here and there; to be freed. NULL: no memory. */
void *memory_new(size_t nr, size_t size);
/* Doubles an array that is full; returns the number of a new zeroed entry, or UINT32_MAX. */
uint32_t memory_add(void **entries, uint32_t *nr, uint32_t *room, size_t size);

#define MEMORY_MAX_NR 0x3fffffff

#endif
