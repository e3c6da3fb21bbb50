/*
 * An access class: the properties of a sampled memory access in 24 bits. There are few distinct
 * classes, so that storing them costs next to nothing. A class is stored as a frame of module 0
 * right above the leaf, and is separated from the stack again when a trace is read.
 *
 *     bits  0 …  3   level that answered, enum memory_level
 *           4        at another node
 *           5 …  6   1: hit, 2: miss
 *           7 …  8   1: load, 2: store, 3: prefetch
 *           9 … 11   TLB: 1: first level hit, 2: second, 3: either, 4: the page table was walked,
 *                    5: a fault
 *          12 … 14   other caches: 1: not asked, 2: hit, 3: missed, 4: hit a modified line,
 *                    5: forwarded, 6: by a peer
 *          15        locked
 *          16 … 18   latency in cycles, 1: below 16, and so on by factors of 4; 5: from 1024
 *          19 … 21   what the address belongs to, enum memory_place
 */
#ifndef BASE_ACCESS_CLASS_H
#define BASE_ACCESS_CLASS_H

#include "base/frame.h"

#include <stdbool.h>

enum memory_level {
	MEMORY_NO_LEVEL,
	MEMORY_L1,
	MEMORY_FILL_BUFFER,
	MEMORY_L2,
	MEMORY_L3,
	MEMORY_L4,
	MEMORY_CACHE, /* some cache */
	MEMORY_RAM,
	MEMORY_PERSISTENT,
	MEMORY_CXL,
	MEMORY_IO,
	MEMORY_UNCACHED,
};

enum memory_place {
	MEMORY_NOWHERE, /* the address is unknown */
	MEMORY_KERNEL,
	MEMORY_STACK, /* of the thread */
	MEMORY_CODE,
	MEMORY_DATA,
};

/* Makes a class from the kernel's perf_mem_data_src and a latency in cycles (0: unknown). */
uint32_t memory_make(uint64_t data_src, uint64_t latency, enum memory_place place);

/* The fields of a class, as a bit mask. */
enum memory_field {
	MEMORY_BY_LEVEL = 1, /* with hit or miss; without a level, the place of the address */
	MEMORY_BY_TLB = 2,
	MEMORY_BY_SNOOP = 4,
	MEMORY_BY_LATENCY = 8,
	MEMORY_BY_OPERATION = 16,
};

/*
 * The part of a class that the given fields depend on. Classes with equal parts have equal texts.
 */
uint32_t memory_part(uint32_t class, unsigned fields);

#define MEMORY_TEXT_SIZE 64
/*
 * Formats one field of a class: "L3 hit", "remote RAM hit", "walk", or "-" if it is unknown. The
 * result may be the buffer `text`.
 */
const char *memory_text(uint32_t class, enum memory_field field, char text[MEMORY_TEXT_SIZE]);

#define FRAME_MEMORY ((uint64_t)1 << 24)

static inline uint64_t frame_of_memory(uint32_t class)
{
	return FRAME_MEMORY | class;
}

static inline bool frame_is_memory(uint64_t frame)
{
	return frame >> 24 == 1;
}

static inline uint32_t frame_memory(uint64_t frame)
{
	return (uint32_t)(frame & (FRAME_MEMORY - 1));
}

#endif
