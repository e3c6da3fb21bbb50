/*
 * An access class: the properties of a sampled memory access in 24 bits. There are few distinct
 * classes, so that storing them costs next to nothing. A class is stored as a frame of module 0
 * right above the leaf, and is separated from the stack again when a trace is read.
 *
 *     bits  0 …  3   level that answered, enum access_level
 *           4        at another node
 *           5 …  6   1: hit, 2: miss
 *           7 …  8   1: load, 2: store, 3: prefetch
 *           9 … 11   TLB: 1: first level hit, 2: second, 3: either, 4: the page table was walked,
 *                    5: a fault
 *          12 … 14   other caches: 1: not asked, 2: hit, 3: missed, 4: hit a modified line,
 *                    5: forwarded, 6: by a peer
 *          15        locked
 *          16 … 18   latency in cycles, 1: below 16, and so on by factors of 4; 5: from 1024
 *          19 … 21   what the address belongs to, enum access_origin
 */
#ifndef BASE_ACCESS_CLASS_H
#define BASE_ACCESS_CLASS_H

#include "base/frame.h"

#include <stdbool.h>

enum access_level {
	ACCESS_NO_LEVEL,
	ACCESS_L1,
	ACCESS_FILL_BUFFER,
	ACCESS_L2,
	ACCESS_L3,
	ACCESS_L4,
	ACCESS_CACHE, /* some cache */
	ACCESS_RAM,
	ACCESS_PERSISTENT,
	ACCESS_CXL,
	ACCESS_IO,
	ACCESS_UNCACHED,
};

enum access_origin {
	ACCESS_UNKNOWN, /* the address is unknown */
	ACCESS_KERNEL,
	ACCESS_STACK, /* of the thread */
	ACCESS_CODE,
	ACCESS_DATA,
};

/* Makes a class from the kernel's perf_mem_data_src and a latency in cycles (0: unknown). */
uint32_t access_class_make(uint64_t data_src, uint64_t latency, enum access_origin place);

/* The fields of a class, as a bit mask. */
enum access_field {
	ACCESS_BY_LEVEL = 1, /* with hit or miss; without a level, the place of the address */
	ACCESS_BY_TLB = 2,
	ACCESS_BY_SNOOP = 4,
	ACCESS_BY_LATENCY = 8,
	ACCESS_BY_OPERATION = 16,
};

/*
 * The part of a class that the given fields depend on. Classes with equal parts have equal texts.
 */
uint32_t access_class_part(uint32_t class, unsigned fields);

#define ACCESS_TEXT_SIZE 64
/*
 * Formats one field of a class: "L3 hit", "remote RAM hit", "walk", or "-" if it is unknown. The
 * result may be the buffer `text`.
 */
const char *access_class_text(uint32_t class, enum access_field field, char text[ACCESS_TEXT_SIZE]);

#define FRAME_ACCESS ((uint64_t)1 << 24)

static inline uint64_t frame_of_access(uint32_t class)
{
	return FRAME_ACCESS | class;
}

static inline bool frame_is_access(uint64_t frame)
{
	return frame >> 24 == 1;
}

static inline uint32_t frame_access(uint64_t frame)
{
	return (uint32_t)(frame & (FRAME_ACCESS - 1));
}

#endif
