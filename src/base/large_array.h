/* Large growing arrays with random access: they may become as large as a trace. */
#ifndef BASE_LARGE_ARRAY_H
#define BASE_LARGE_ARRAY_H

#include <stddef.h>
#include <stdint.h>

/* Allocates a zeroed array for random access, which the caller frees. NULL: no memory. */
void *large_array_new(size_t nr, size_t size);
/*
 * Adds a zeroed entry, after doubling the array if it is full. Returns the number of the entry, or
 * UINT32_MAX.
 */
uint32_t large_array_add(void **entries, uint32_t *nr, uint32_t *room, size_t size);

#define LARGE_ARRAY_MAX 0x3fffffff

#endif
