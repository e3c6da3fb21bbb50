/*
 * Records on their way into the ring of a thread. A call that has a slot, and where there is room,
 * is written here, as one word; all else in write.c.
 */
#ifndef PRELOAD_WRITE_H
#define PRELOAD_WRITE_H

#include "preload/preload.h"
#include "hmb/segment.h"
#include "preload/sums.h"
#include "preload/thinning.h"

/* A call that the recorder knows by its slot. */
struct known_call {
	uint64_t head; /* 0: none */
	uintptr_t site;
	uint32_t used;       /* calls of the thread when it came last, modulo 2^32 */
	uint32_t candidate;  /* who takes a slot nearby, by hash, when it comes again */
	bool told;           /* the recorder knows it, too */
	uint16_t event;      /* of scale.h; 0: not known, or one that always needs a look: */
	uint16_t wide_event; /* a collective of all ranks */
	/* valid with either: */
	uint64_t balance;              /* what its messages add, see channel.h */
	struct call_requests requests; /* that it posts, and that it does */
	uint64_t told_head;            /* head after the record that told of it */
	uint8_t nr_steps;              /* 0: its sums need sums_add() */
	uint64_t parts[RING_SLOT_WORDS];
	struct sum_step steps[RING_SLOT_PARTS + 1];
};

/* A call may have any of so many slots in a row: those that come often find one. */
#define KNOWN_NEARBY 5
static_assert((RING_SLOTS - 1) % KNOWN_NEARBY == 0, "slots from 1 on are such rows");

#define KNOWN_HASH_BITS 12

struct known_calls {
	struct known_call slots[RING_SLOTS];
	uint8_t places[1 << KNOWN_HASH_BITS]; /* the slot that a call with this hash has */
	uint16_t sum_places[SUM_PLACES];      /* rows of the sums by hash; 0: free */
	struct thin_cell cells[THIN_CELLS];   /* by region */
};

/*
 * So many words of parts are looked at in any case, without a question to be guessed wrong: few
 * calls have more, and what one does not have is 0.
 */
enum { FEW_WORDS = 4 };

static inline void thread_begin_record(struct thread *thread, uint32_t region, unsigned flags,
                                       uintptr_t site)
{
	thread->site = site;
	thread->made = ring_head(RING_CALL, 3, 0, flags, region);
	for (size_t i = 0; i < FEW_WORDS; i++)
		thread->parts[i] = 0;
}

/* Tells whether the record is a value that the program gave. */
static inline bool thread_has_value(const struct thread *thread)
{
	return thread_part_words(thread) && (thread->parts[0] & 0xff) == CALL_VALUE;
}

static inline bool is_known(const struct known_call *known, const struct thread *thread)
{
	uint64_t differ = (known->head ^ thread->made) | (known->site ^ thread->site);

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

/* Products that do not wait for each other. */
static inline uint64_t hash_few(uint64_t made, const uint64_t *parts)
{
	static_assert(FEW_WORDS == 4, "each word has a factor");
	uint64_t hash = made * 0x9e3779b97f4a7c15 + parts[0] * 0xbf58476d1ce4e5b9 +
	                parts[1] * 0x94d049bb133111eb + parts[2] * 0xd6e8feb86659fd93 +
	                parts[3] * 0xa0761d6478bd642f;

	return (hash ^ hash >> 32) * 0xe7037ed1a0b428db;
}

static inline uint64_t thread_hash_record(const struct thread *thread)
{
	uint64_t hash = hash_few(thread->made ^ thread->site, thread->parts);

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
	__atomic_store_n(thread->published, head, __ATOMIC_RELEASE);
}

/*
 * Handles the rare cases of thread_write(): the first of equal calls, large times, and a ring that
 * may be full.
 */
RARE void thread_write_slowly(struct thread *thread, bool wanted, uint64_t hash, uint64_t enter,
                              uint64_t leave);

/* Writes the record of a call that was left by a jump or an exception. It contains no parts. */
RARE void thread_write_left(struct thread *thread, bool wanted, uint32_t region, uint64_t enter,
                            uint64_t seen);

/* Returns the last requests before the record that is being made. */
struct call_requests thread_requests_before(const struct thread *thread);

/* Tells the recorder the last requests before that record. Returns false if it has no room. */
bool thread_write_requests(struct thread *thread);

/* Writes a record as it is. Returns false if it was lost, which is counted. */
bool thread_write_words(struct thread *thread, const uint64_t *words, size_t nr);

/* The calls of a thread as events of a loop: see scale.h. */
struct scale_events {
	struct segment_queue *queue;
	uint64_t balance;                /* of the messages of all events, see channel.h */
	uint64_t times[SEGMENT_HISTORY]; /* ticks at entry, by the number of the event */
};

/* Takes a call as an event that needs no look. Returns false if it needs one. */
static inline bool scale_put_event(struct scale_events *events, const struct known_call *known,
                                   uint64_t enter)
{
	events->times[events->queue->nr % SEGMENT_HISTORY] = enter;
	if (!segment_queue_put(events->queue, known->event))
		return false;
	events->balance += known->balance;
	return true;
}

/*
 * Takes the call whose record is being made as an event that needs a look, after which the records
 * of the last iteration may be dropped. known: the slot that the call has; NULL: it has none.
 */
__attribute__((noinline)) void scale_call(struct thread *thread, struct known_call *known,
                                          uint64_t enter);

/*
 * Adds the record that was prepared to the sums and, where it is wanted, writes it or counts it as
 * lost. One whose time was not read, as the thread's weight says, is never wanted.
 */
static inline void thread_write(struct thread *thread, bool wanted, uint64_t enter, uint64_t leave)
{
	uint64_t hash = thread_hash_record(thread);
	size_t slot = thread->known->places[hash >> (64 - KNOWN_HASH_BITS)];
	struct known_call *known = &thread->known->slots[slot];
	bool has_slot = is_known(known, thread);
	uint64_t gap, duration = leave - enter;

	if (thread->events && !thread->idle &&
	    !(has_slot && scale_put_event(thread->events, known, enter)))
		scale_call(thread, has_slot ? known : NULL, enter);
	gap = enter - thread->last;
	if (unlikely(!known->nr_steps || !has_slot) ||
	    (wanted && unlikely(thread->skipped || !ring_fits_again(gap, duration) ||
	                        thread->head >= thread->look || !known->told))) {
		thread_write_slowly(thread, wanted, hash, enter, leave);
		return;
	}
	known->used = (uint32_t)thread->ring->calls++;
	sums_add_steps(thread, known->steps, known->nr_steps, duration);
	if (!wanted) {
		thread->skipped |= thread_part_words(thread) > 0;
		return;
	}
	thread->words[thread->head & thread->mask] = ring_again(1, (unsigned)slot, gap, duration);
	publish(thread, 1, leave);
}

/* Tells whether a call of this class, whose weight the thread has, is to be written. */
static inline bool thread_wants(struct thread *thread, enum call_class class, uint64_t enter,
                                uint64_t leave)
{
	return thread->weight && thread_wants_times(thread, enter, leave) &&
	       process_wants(class, false);
}

/* Makes and writes the record of a region without parts, whose weight the thread has. */
static inline void thread_write_region(struct thread *thread, uint32_t region,
                                       enum call_class class, uint64_t enter, uint64_t leave)
{
	enter = process_clip(enter, leave);
	thread_begin_record(thread, region, thread_depth(thread), 0);
	thread->idle = false;
	thread_write(thread, thread_wants(thread, class, enter, leave), enter, leave);
}

#endif
