/* The state of the process, its clock, and definitions for the recorder. */
#include "preload/preload.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* All zeros, which the lock's are, too: what no file has can be taken from children. */
struct process process;

uint64_t process_slow_ticks(void)
{
	return ring_ticks(RING_CLOCK_MONOTONIC) - process.ahead;
}

/* Recorders convert times a little later, and a little differently. */
#define MOMENT_MARGIN_NS 100000

static uint64_t ticks_ns(const struct ring_instant *at, uint64_t ticks)
{
	return at->ns + (uint64_t)(int64_t)((double)(int64_t)(ticks - at->ticks) * at->rate);
}

bool process_wants_moment(uint64_t enter, uint64_t leave, uint32_t floor)
{
	const struct ring_process *shared = process.shared;
	/* Pairs with the recorder's release. */
	uint32_t number = __atomic_load_n(&shared->instant, __ATOMIC_ACQUIRE);
	const struct ring_instant *at = &shared->instants[number % 2];

	return ring_moment_level(ticks_ns(at, enter) - MOMENT_MARGIN_NS,
	                         ticks_ns(at, leave) + MOMENT_MARGIN_NS) >= floor;
}

void process_wait(long ns)
{
	const struct timespec moment = {.tv_nsec = ns};
	int errnum = errno;

	syscall(SYS_nanosleep, &moment, NULL);
	errno = errnum;
}

/* --- definitions ------------------------------------------------------------------------------ */

static bool definition_room(const struct ring_ends *ring, size_t nr)
{
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);

	return ring->head + nr - tail <= RING_DEFINITION_WORDS;
}

/* A recorder that has taken nothing in since the last time that this was in vain may be gone. */
static bool wait_for_definitions(const struct ring_ends *ring, size_t nr)
{
	for (unsigned tries = 0; !definition_room(ring, nr); tries++) {
		uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_RELAXED);

		if (process.in_vain == tail + 1)
			return false;
		if (tries >= 200)
			process.in_vain = tail + 1;
		else
			process_wait(500000);
	}
	return true;
}

bool process_define(const uint64_t *words, size_t nr)
{
	struct ring_process *shared = process.shared;
	uint64_t *base = (uint64_t *)(void *)((char *)shared + RING_DEFINITIONS_OFFSET);
	struct ring_ends *ring = &shared->definitions;
	size_t at = ring->head % RING_DEFINITION_WORDS;
	size_t pad = at + nr > RING_DEFINITION_WORDS ? RING_DEFINITION_WORDS - at : 0;

	if (!wait_for_definitions(ring, pad + nr))
		return false;
	if (pad)
		base[at] = ring_head(RING_PAD, 0, 0, 0, 0);
	memcpy(&base[(at + pad) % RING_DEFINITION_WORDS], words, nr * sizeof(*words));
	/* Pairs with the recorder's acquire: it sees the words. */
	__atomic_store_n(&ring->head, ring->head + pad + nr, __ATOMIC_RELEASE);
	return true;
}

bool process_define_name(enum ring_record record, uint32_t number, const uint64_t *more,
                         size_t nr_more, const char *name)
{
	uint64_t words[3 + (RING_MAX_NAME + 8) / 8] = {0};
	size_t length = strnlen(name, RING_MAX_NAME), nr = 1 + nr_more + length / 8 + 1;

	words[0] = ring_head(record, nr, 0, 0, number);
	memcpy(&words[1], more, nr_more * sizeof(*more));
	memcpy(&words[1 + nr_more], name, length);
	return process_define(words, nr);
}
