#include "perf/sampler/kernel_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CACHE_LINE 64
#define HEAD_SIZE  1024 /* of a record: the registers, and the top of the stack */

int ring_map(struct ring *ring, int fd, size_t size, unsigned char *wrapped)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	*ring = (struct ring){0};
	if (memory == MAP_FAILED)
		return -errno;
	ring_attach(ring, memory, (unsigned char *)memory + page, size, wrapped);
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
	*ring = (struct ring){0};
}

void ring_attach(struct ring *ring, struct perf_event_mmap_page *page, unsigned char *data,
                 size_t size, unsigned char *wrapped)
{
	*ring = (struct ring){
		.page = page,
		.data = data,
		.size = size,
		.tail = page->data_tail,
		.head = page->data_tail,
		.wrapped = wrapped,
	};
}

void ring_refresh(struct ring *ring)
{
	/* Pairs with the kernel's release in perf_output_put_handle(). */
	ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	/* More than fits: nothing that is there can be trusted. */
	if (ring_fill(ring) > ring->size) {
		ring->broken = true;
		ring->tail = ring->head;
	}
}

static void prefetch_at(const struct ring *ring, size_t skip)
{
	__builtin_prefetch(ring->data + ((ring->tail + skip) & (ring->size - 1)));
}

/*
 * Another CPU wrote the records, and to wait for the first lines of each takes a tenth of the time
 * that a sample takes: the next one's are asked for while this one is worked on. So is its last,
 * which says how much of a stack was copied, for it is mostly as long as this one.
 */
static void ring_prefetch(const struct ring *ring, size_t size)
{
	size_t at, left = ring_fill(ring) - size;

	for (at = 0; at < HEAD_SIZE && at < left; at += CACHE_LINE)
		prefetch_at(ring, size + at);
	if (left >= size)
		prefetch_at(ring, 2 * size - 1);
}

static void copy_out(const struct ring *ring, void *to, size_t size)
{
	size_t offset = (size_t)(ring->tail & (ring->size - 1)), to_end = ring->size - offset;

	if (to_end > size)
		to_end = size;
	memcpy(to, ring->data + offset, to_end);
	memcpy((unsigned char *)to + to_end, ring->data, size - to_end);
}

const void *ring_peek(struct ring *ring, size_t *size)
{
	size_t offset = (size_t)(ring->tail & (ring->size - 1)), fill = ring_fill(ring);
	struct perf_event_header header;

	if (fill < sizeof(header))
		return NULL;
	copy_out(ring, &header, sizeof(header));
	if (header.size < sizeof(header) || header.size > fill) {
		ring->broken = true;
		ring->tail = ring->head;
		return NULL;
	}
	*size = header.size;
	ring_prefetch(ring, header.size);
	if (header.size <= ring->size - offset && offset % 8 == 0)
		return ring->data + offset;
	copy_out(ring, ring->wrapped, header.size);
	return ring->wrapped;
}

void ring_consume(struct ring *ring, size_t size)
{
	ring->tail += size;
}

void ring_release(struct ring *ring)
{
	/* Pairs with the kernel's read of data_tail: our reads come before it may overwrite. */
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
