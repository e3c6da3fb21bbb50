/*
 * Records on their way into the ring of a thread. A call that has a slot, and where there is room,
 * is written here, as one word; all else in write.c.
 */
#ifndef PRELOAD_WRITE_H
#define PRELOAD_WRITE_H

#include "preload/preload.h"

/* A call that the recorder knows by its slot. */
struct known_call {
	uint64_t head;      /* 0: none */
	uint32_t used;      /* where the thread's head was when it came last */
	uint32_t candidate; /* who takes a slot nearby, by hash, when it comes again */
	uint64_t parts[RING_SLOT_WORDS];
};

/* A call may have any of so many slots in a row: those that come often find one. */
#define KNOWN_NEARBY 5
static_assert((RING_SLOTS - 1) % KNOWN_NEARBY == 0, "slots from 1 on are such rows");

#define KNOWN_HASH_BITS 12

struct known_calls {
	struct known_call slots[RING_SLOTS];
	uint8_t places[1 << KNOWN_HASH_BITS]; /* the slot that a call with this hash has */
};

/*
 * So many words of parts are looked at in any case, without a question to be guessed wrong: few
 * calls have more, and what one does not have is 0.
 */
enum { FEW_WORDS = 4 };

static inline void thread_begin_record(struct thread *thread, uint32_t region, unsigned flags)
{
	thread->made = ring_head(RING_CALL, 3, 0, flags, region);
	for (size_t i = 0; i < FEW_WORDS; i++)
		thread->parts[i] = 0;
}

static inline bool is_known(const struct known_call *known, const struct thread *thread)
{
	uint64_t differ = known->head ^ thread->made;

#pragma GCC unroll FEW_WORDS
	for (size_t i = 0; i < FEW_WORDS; i++)
		differ |= known->parts[i] ^ thread->parts[i];
	/* Where the heads are the same, known is as long. */
	for (size_t i = FEW_WORDS; !differ && i < thread_part_words(thread); i++)
		differ = known->parts[i] ^ thread->parts[i];
	return !differ;
}

static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
	return (hash + word) * 0x9e3779b97f4a7c15;
}

static inline uint64_t thread_hash_record(const struct thread *thread)
{
	uint64_t hash = hash_word(0, thread->made);

#pragma GCC unroll FEW_WORDS
	for (size_t i = 0; i < FEW_WORDS; i++)
		hash = hash_word(hash, thread->parts[i]);
	for (size_t i = FEW_WORDS; i < thread_part_words(thread); i++)
		hash = hash_word(hash, thread->parts[i]);
	return hash;
}

static inline void publish(struct thread *thread, size_t nr, uint64_t leave)
{
	uint64_t head = thread->head + nr;

	thread->last = leave;
	thread->head = head;
	/* Pairs with the recorder's acquire: it sees the words. */
	__atomic_store_n(&thread->ring->head, head, __ATOMIC_RELEASE);
}

/*
 * Handles the rare cases of thread_write(): the first call of a kind, large times, and a ring that
 * may be full.
 */
RARE void thread_write_slowly(struct thread *thread, uint64_t hash, uint64_t enter, uint64_t leave);

/* Writes the record of a call that was left by a jump or an exception. It contains no parts. */
RARE void thread_write_left(struct thread *thread, uint32_t region, uint64_t enter, uint64_t seen);

/* Writes the record that was prepared, or counts it as lost. */
static inline void thread_write(struct thread *thread, uint64_t enter, uint64_t leave)
{
	uint64_t hash = thread_hash_record(thread);
	size_t slot = thread->known->places[hash >> (64 - KNOWN_HASH_BITS)];
	struct known_call *known = &thread->known->slots[slot];
	uint64_t gap = enter - thread->last, duration = leave - enter;

	if (unlikely(!ring_fits_again(gap, duration) || thread->head >= thread->look ||
	             !is_known(known, thread))) {
		thread_write_slowly(thread, hash, enter, leave);
		return;
	}
	known->used = (uint32_t)thread->head;
	thread->words[thread->head & thread->mask] = ring_again(1, (unsigned)slot, gap, duration);
	publish(thread, 1, leave);
}

#endif
