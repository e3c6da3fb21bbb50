/*
 * Records on their way into the ring of a thread. A call that was foretold, and where there is
 * room, is written here, as one word; all else in write.c.
 */
#ifndef PRELOAD_WRITE_H
#define PRELOAD_WRITE_H

#include "preload/preload.h"

/* A call that the recorder knows by its slot. */
struct known_call {
	uint64_t head;      /* 0: none */
	uint32_t used;      /* where the thread's head was when it came last */
	uint32_t candidate; /* who takes a slot nearby, by hash, when it comes again */
	uint64_t words[RING_SLOT_WORDS];
};

/* A call may have any of so many slots in a row: those that come often find one. */
#define KNOWN_NEARBY 5
static_assert((RING_SLOTS - 1) % KNOWN_NEARBY == 0, "slots from 1 on are such rows");

#define KNOWN_WAYS 4096

struct known_calls {
	struct known_call slots[RING_SLOTS];
	uint8_t next[KNOWN_WAYS]; /* the slot of the call that followed last time, by way */
};

static inline void thread_begin_record(struct thread *thread)
{
	thread->nr_parts = 0;
	thread->nr_words = 3;
}

static inline bool is_known(const struct known_call *known, const struct thread *thread,
                            uint64_t head)
{
	if (known->head != head)
		return false;
	/* Within words: known is as long. */
	for (size_t i = 3; i < thread->nr_words; i++)
		if (known->words[i - 3] != thread->record[i])
			return false;
	return true;
}

/* Calls come in turns of several, of which some are the same: the last three say which is next. */
static inline unsigned next_way(unsigned way, unsigned slot)
{
	return (way << 4 ^ slot * 37) % KNOWN_WAYS;
}

static inline void publish(struct thread *thread, size_t nr, uint64_t leave)
{
	thread->last = leave;
	thread->head += nr;
	/* Pairs with the recorder's acquire: it sees the words. */
	__atomic_store_n(&thread->ring->head, thread->head, __ATOMIC_RELEASE);
}

void thread_write_slowly(struct thread *thread, uint64_t head, uint64_t enter, uint64_t leave);

/* Writes the record that was made, or counts it as lost. */
static inline void thread_write(struct thread *thread, uint32_t region, unsigned flags,
                                uint64_t enter, uint64_t leave)
{
	uint64_t head = ring_head(RING_CALL, thread->nr_words, thread->nr_parts, flags, region);
	unsigned slot = thread->known->next[thread->way];
	struct known_call *known = &thread->known->slots[slot];
	uint64_t gap = enter - thread->last, duration = leave - enter;

	if (unlikely(!ring_fits_again(gap, duration) || thread->head >= thread->look ||
	             !is_known(known, thread, head))) {
		thread_write_slowly(thread, head, enter, leave);
		return;
	}
	known->used = (uint32_t)thread->head;
	thread->words[thread->head & thread->mask] = ring_again(1, slot, gap, duration);
	publish(thread, 1, leave);
	thread->way = next_way(thread->way, slot);
}

#endif
