/*
 * A *frame* is a code address in a form that outlives its process: the module's number and an
 * offset within it, 48 bits in one integer. All code is numbered in areas of 4 GiB: the offset is
 * the low half of the address, and the module knows the high half. For a file that is the ELF
 * virtual address, what addr2line takes: a file with code in several areas is several modules.
 *
 *     63      48 47          32 31                    0
 *    |    0     |   module     |       offset          |
 *
 * In a stack, frame 0 (the leaf) is the interrupted instruction; every other frame is the last
 * byte of a call instruction (return address - 1), so that a lookup never lands in the function
 * behind a call that does not return.
 */
#ifndef BASE_FRAME_H
#define BASE_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/* Frames of module 0 are not addresses; they give the reason why there is none. */
enum frame_special {
	FRAME_UNKNOWN = 0,    /* an address outside every known mapping */
	FRAME_TRUNCATED = 1,  /* callers (or callees, in the tree) that could not be kept */
	FRAME_UNOBSERVED = 2, /* a task that the kernel stopped observing: setuid or unreadable */
	NR_FRAME_SPECIAL
};

#define FRAME_MAX_MODULES (1 << 16) /* modules that frames can name, with 0 */

static inline uint64_t frame_make(uint16_t module, uint32_t offset)
{
	return (uint64_t)module << 32 | offset;
}

static inline uint16_t frame_module(uint64_t frame)
{
	return (uint16_t)(frame >> 32);
}

static inline uint32_t frame_offset(uint64_t frame)
{
	return (uint32_t)frame;
}

/* The offsets of the part of [lo, hi) that lies in an area; false: there is none. */
static inline bool frame_area(uint64_t area, uint64_t lo, uint64_t hi, uint32_t *from, uint32_t *to)
{
	const uint64_t base = area << 32, last = base + UINT32_MAX;

	if (lo < base)
		lo = base;
	if (hi > last)
		hi = last;
	*from = (uint32_t)lo;
	*to = (uint32_t)hi;
	return lo < hi;
}

enum module_type {
	MODULE_SPECIAL, /* number 0 only */
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_KERNEL, /* one area of the kernel's half, its loadable modules included */
	MODULE_ANON,   /* one area of one process: JIT code and the like */
};

#endif
