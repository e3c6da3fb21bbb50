#include "perf/sampler/ring_merge.h"

#include <errno.h>
#include <stdlib.h>

int ring_merge_init(struct ring_merge *merge, struct merged_ring *rings, unsigned nr)
{
	*merge = (struct ring_merge){.rings = rings, .nr_rings = nr};
	merge->heap = calloc(nr, sizeof(*merge->heap));
	return merge->heap ? 0 : -ENOMEM;
}

void ring_merge_fini(struct ring_merge *merge)
{
	free(merge->heap);
	merge->heap = NULL;
}

static void sift_down(struct ring_merge *merge, unsigned at)
{
	struct ring_merge_head moving = merge->heap[at];

	for (;;) {
		unsigned child = 2 * at + 1;

		if (child >= merge->nr_heads)
			break;
		if (child + 1 < merge->nr_heads &&
		    merge->heap[child + 1].time < merge->heap[child].time)
			child++;
		if (merge->heap[child].time >= moving.time)
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = moving;
}

/*
 * Releases invalid records that were skipped at once: the kernel writes no records to a full ring.
 */
static void note_broken(struct ring_merge *merge, struct ring *ring)
{
	if (!ring->broken)
		return;
	ring->broken = false;
	merge->broken++;
	ring_release(ring);
}

/* The time of the ring's oldest record; false where it has none before the horizon. */
static bool oldest(struct ring_merge *merge, struct merged_ring *ring, uint64_t *time)
{
	size_t size;
	const void *raw = ring_peek(&ring->ring, &size);

	note_broken(merge, &ring->ring);
	if (!raw)
		return false;
	*time = record_time(raw, size, ring->format);
	return *time < merge->horizon;
}

void ring_merge_begin(struct ring_merge *merge, uint64_t horizon)
{
	merge->horizon = horizon;
	merge->nr_heads = 0;
	for (unsigned i = 0; i < merge->nr_rings; i++) {
		uint64_t time;

		ring_refresh(&merge->rings[i].ring);
		if (oldest(merge, &merge->rings[i], &time))
			merge->heap[merge->nr_heads++] = (struct ring_merge_head){time, i};
	}
	for (unsigned at = merge->nr_heads / 2; at-- > 0;)
		sift_down(merge, at);
}

/* Takes back the record that was handed out and puts its ring's next one into the heap. */
static void advance(struct ring_merge *merge)
{
	struct merged_ring *ring = merge->current;

	if (!ring)
		return;
	merge->current = NULL;
	ring_consume(&ring->ring, ring->peeked);
	ring->unreleased += ring->peeked;
	if (ring->unreleased > ring->ring.size / 8) {
		ring_release(&ring->ring);
		ring->unreleased = 0;
	}
	if (!oldest(merge, ring, &merge->heap[0].time)) {
		ring_release(&ring->ring);
		ring->unreleased = 0;
		merge->heap[0] = merge->heap[--merge->nr_heads];
	}
	sift_down(merge, 0);
}

const void *ring_merge_next(struct ring_merge *merge, size_t *size, const struct merged_ring **from)
{
	struct merged_ring *ring;
	const void *raw;

	advance(merge);
	if (!merge->nr_heads)
		return NULL;
	ring = &merge->rings[merge->heap[0].ring];
	merge->late += merge->heap[0].time < merge->front;
	if (merge->heap[0].time > merge->front)
		merge->front = merge->heap[0].time;
	merge->current = ring;
	*from = ring;
	raw = ring_peek(&ring->ring, size);
	ring->peeked = *size;
	return raw;
}
