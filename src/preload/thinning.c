#include "preload/thinning.h"

#include "preload/write.h"

/* Returns a number below 1 << shift. */
static uint32_t draw(struct thread *thread, unsigned shift)
{
	uint32_t x = thread->random ? thread->random : thread->ring->tid | 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	thread->random = x;
	return (uint32_t)((uint64_t)x << shift >> 32);
}

/* Blocks of half as many calls as there were before leave 32 timed calls for each doubling. */
static unsigned shift_of_next(const struct thin_cell *cell, unsigned shift)
{
	unsigned most = cell->calls < THIN_ALL ? 0 : 31 - (unsigned)__builtin_clz(cell->calls / 32);

	return shift < most ? shift : most;
}

uint32_t thin_next(struct thread *thread, struct thin_cell *cell, unsigned shift)
{
	uint32_t weight = cell->weight ? cell->weight : 1, at;

	shift = shift_of_next(cell, shift < RING_MAX_THIN ? shift : RING_MAX_THIN);
	at = draw(thread, shift);
	cell->left = cell->rest + at;
	cell->weight = 1U << shift;
	cell->rest = cell->weight - 1 - at;
	if (cell->calls < THIN_MANY)
		cell->calls += cell->weight;
	return weight;
}

uint32_t thread_weigh_thinned(struct thread *thread, uint32_t region, uint32_t thin)
{
	struct thin_cell *cell = &thread->known->cells[thin_cell_of(region)];

	if (thread->in_moment)
		return 1;
	if (likely(cell->left)) {
		cell->left--;
		return 0;
	}
	return thin_next(thread, cell, thin & ((1U << RING_THIN_SHIFT) - 1));
}

/* The calls of an iteration go together when it ends. */
static bool is_held_back(const struct thread *thread)
{
	return process.shared->levels && thread->published == &thread->ring->pending;
}

bool thin_wants_moment(struct thread *thread, uint64_t enter, uint64_t leave, uint32_t thin)
{
	uint32_t floor = __atomic_load_n(&process.shared->floor, __ATOMIC_RELAXED);
	uint32_t level = thin >> RING_THIN_SHIFT;

	if (!thin && is_held_back(thread))
		return true;
	thread->in_moment = process_wants_moment(enter, leave, level > floor ? level : floor);
	return thread->in_moment;
}
