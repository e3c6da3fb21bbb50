/*
 * A ring: memory that the kernel fills with records and that we empty.
 *
 * The reader works on any memory of that form, so it can be tested without the kernel. The kernel
 * is trusted to follow the protocol, not to be free of errors: a record's size is checked against
 * the bytes that are there before anything in it is read. Sizes are multiples of 8, but for samples
 * whose stack ends where the address space does, if a target's stack pointer is no such multiple;
 * then the records behind them lie badly, too.
 */
#ifndef PERF_SAMPLER_KERNEL_RING_H
#define PERF_SAMPLER_KERNEL_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_WRAPPED_SIZE ((size_t)64 << 10) /* a size in a header has 16 bits */

struct ring {
	struct perf_event_mmap_page *page; /* NULL: closed */
	unsigned char *data;
	size_t size;            /* of data, a power of two */
	uint64_t tail;          /* consumed up to here */
	uint64_t head;          /* the kernel's, as of ring_refresh() */
	unsigned char *wrapped; /* room for a record that lies badly */
	bool broken;            /* a size made no sense: what was there is skipped */
};

/*
 * Maps the ring of a perf event, of `size` bytes (a power of two, at least a page). wrapped: room
 * for RING_WRAPPED_SIZE bytes, 8-byte aligned, which stays the caller's: one for all rings of which
 * records are looked at in turns, as large machines have hundreds. 0 or -errno: -EPERM where that
 * is more than may be locked.
 */
int ring_map(struct ring *ring, int fd, size_t size, unsigned char *wrapped);
void ring_unmap(struct ring *ring);

/* Over memory that is already there, for tests. */
void ring_attach(struct ring *ring, struct perf_event_mmap_page *page, unsigned char *data,
                 size_t size, unsigned char *wrapped);

/* Looks how far the kernel has written. */
void ring_refresh(struct ring *ring);

/*
 * The oldest record that is there, in one piece, 8-byte aligned, and its size. NULL: none up to the
 * last refresh. Valid until ring_consume() and until another record is looked at with the same
 * room.
 */
const void *ring_peek(struct ring *ring, size_t *size);

/* Gives the peeked record's room back, at the latest at ring_release(). */
void ring_consume(struct ring *ring, size_t size);
void ring_release(struct ring *ring);

/* How full the ring is, in bytes, as of ring_refresh(). */
static inline size_t ring_fill(const struct ring *ring)
{
	return (size_t)(ring->head - ring->tail);
}

#endif
