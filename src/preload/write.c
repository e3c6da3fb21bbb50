#include "preload/sites.h"
#include "preload/write.h"

#include <string.h>

/*
 * Calls that found nothing may fill half of a ring: a program that waits by asking again and again
 * must not lose a message.
 */
static bool ring_room(struct thread *thread, uint64_t head)
{
	uint64_t tail = __atomic_load_n(&thread->ring->tail, __ATOMIC_ACQUIRE);

	thread->look = tail + (thread->mask + 1) / 2;
	return head - tail <= (thread->mask + 1) >> thread->idle;
}

static uint64_t ring_tail(const struct thread *thread)
{
	return __atomic_load_n(&thread->ring->tail, __ATOMIC_RELAXED);
}

/*
 * Waits for the recorder where the user prefers that to a loss. One that has taken nothing in since
 * the last time that this was in vain may be gone.
 */
static bool wait_for_room(struct thread *thread, uint64_t head)
{
	uint64_t patience = thread->idle ? 0 : process.shared->patience;
	uint64_t until = patience ? ring_ticks(RING_CLOCK_MONOTONIC) + patience : 0;

	if (!patience || thread->in_vain == ring_tail(thread) + 1)
		return false;
	while (!ring_room(thread, head)) {
		if (ring_ticks(RING_CLOCK_MONOTONIC) > until) {
			thread->in_vain = ring_tail(thread) + 1;
			return false;
		}
		process_wait(50000);
	}
	return true;
}

/* Counts a lost call. A call that is written in several records is counted once. */
static void count_loss(struct thread *thread)
{
	thread->ring->lost += !thread->loss_counted;
	thread->loss_counted = ring_head_flags(thread->made) & RING_CONTINUED;
}

/*
 * Looks at the recorder's side, so that the next half of a ring is written without. The end of the
 * ring is left out where a record does not fit in there.
 */
__attribute__((noinline)) static uint64_t *reserve_slowly(struct thread *thread, size_t nr)
{
	size_t at = thread->head & thread->mask;
	size_t pad = at + nr > thread->mask + 1 ? thread->mask + 1 - at : 0;

	if (!ring_room(thread, thread->head + pad + nr) &&
	    !wait_for_room(thread, thread->head + pad + nr)) {
		count_loss(thread);
		return NULL;
	}
	if (pad)
		thread->words[at] = ring_head(RING_PAD, 0, 0, 0, 0);
	thread->head += pad;
	return &thread->words[thread->head & thread->mask];
}

/* Room for a record of so many words; NULL: there is none, and the call is lost. */
static inline uint64_t *reserve(struct thread *thread, size_t nr)
{
	size_t at = thread->head & thread->mask;

	if (likely(thread->head + nr <= thread->look && at + nr <= thread->mask + 1))
		return &thread->words[at];
	return reserve_slowly(thread, nr);
}

static bool write_again(struct thread *thread, unsigned slot, uint64_t enter, uint64_t leave)
{
	uint64_t gap = enter - thread->last, duration = leave - enter, *words;
	bool fits = ring_fits_again(gap, duration);

	words = reserve(thread, fits ? 1 : 3);
	if (!words)
		return false;
	words[0] = fits ? ring_again(1, slot, gap, duration) : ring_again(3, slot, 0, 0);
	if (!fits) {
		words[1] = enter;
		words[2] = leave;
	}
	publish(thread, fits ? 1 : 3, leave);
	return true;
}

static bool write_whole(struct thread *thread, unsigned slot, uint64_t enter, uint64_t leave)
{
	uint32_t site = site_number(thread->site);
	size_t nr = thread_part_words(thread), first = site ? 4 : 3;
	uint64_t *words = reserve(thread, first + nr);

	if (unlikely(!words))
		return false;
	words[0] = thread->made + slot * (UINT64_C(1) << RING_SLOT_SHIFT);
	if (site)
		words[0] += ring_head(RING_CALL_AT - RING_CALL, 1, 0, 0, 0);
	words[1] = enter;
	words[2] = leave;
	words[3] = site;
	memcpy(&words[first], thread->parts, nr * sizeof(*words));
	publish(thread, first + nr, leave);
	return true;
}

struct call_requests thread_requests_before(const struct thread *thread)
{
	struct call_requests requests = thread->requests;

	for (size_t at = 0; at < thread_part_words(thread);) {
		unsigned type = thread->parts[at] & 0xff, fields = call_part_fields(type);

		at += ring_part_words(type);
		if (fields & PART_REQUEST && !(fields & PART_ASKS))
			*call_last_request(&requests, fields) -= thread->parts[at - 1] + 1;
	}
	return requests;
}

/* --- what was written before ------------------------------------------------------------------ */

static void become_known(const struct thread *thread, struct known_call *known)
{
	known->head = thread->made;
	known->site = thread->site;
	known->told = false;
	known->event = known->wide_event = 0;
	memset(known->parts, 0, FEW_WORDS * sizeof(*known->parts));
	memcpy(known->parts, thread->parts, thread_part_words(thread) * sizeof(*known->parts));
	known->nr_steps = thread_has_value(thread) ? 0 : (uint8_t)sums_find(thread, known->steps);
}

/* The call's slot in the row that begins here, or, where it has none, the one that rests longest.
 */
static unsigned find_slot(const struct thread *thread, unsigned first, bool *found)
{
	const struct known_call *slots = thread->known->slots;
	uint32_t now = (uint32_t)thread->ring->calls;
	unsigned oldest = first;

	*found = true;
	for (unsigned i = first; i < first + KNOWN_NEARBY; i++) {
		if (is_known(&slots[i], thread))
			return i;
		if (now - slots[i].used > now - slots[oldest].used)
			oldest = i;
	}
	*found = false;
	return oldest;
}

/*
 * Whether a call becomes the candidate in place of another one. At random, for two calls that come
 * in turns would push each other away for ever.
 */
static bool takes_candidacy(const struct thread *thread, uint32_t candidate)
{
	return !candidate || thread->ring->calls * LAMBDA_GAMMA >> 63;
}

/*
 * Returns the slot of a call that is not the last one of its hash; 0: it has none. It takes one
 * when it comes the second time, so that those which never come again leave the others alone.
 */
static unsigned slot_of_other(struct thread *thread, uint64_t hash)
{
	uint32_t name = (uint32_t)(hash >> 20) | 1, *candidate; /* never 0: that means nobody */
	unsigned first = 1 + (name >> 1) % ((RING_SLOTS - 1) / KNOWN_NEARBY) * KNOWN_NEARBY, slot;
	bool found;

	if (ring_head_parts(thread->made) > RING_SLOT_PARTS ||
	    thread_part_words(thread) > RING_SLOT_WORDS ||
	    ring_head_flags(thread->made) & RING_CONTINUED)
		return 0;
	slot = find_slot(thread, first, &found);
	candidate = &thread->known->slots[first + (name >> 16) % KNOWN_NEARBY].candidate;
	if (!found && *candidate != name) {
		if (takes_candidacy(thread, *candidate))
			*candidate = name;
		return 0;
	}
	thread->known->places[hash >> (64 - KNOWN_HASH_BITS)] = (uint8_t)slot;
	if (!found)
		become_known(thread, &thread->known->slots[slot]);
	return slot;
}

static unsigned slot_of(struct thread *thread, uint64_t hash)
{
	unsigned slot = thread->known->places[hash >> (64 - KNOWN_HASH_BITS)];

	return is_known(&thread->known->slots[slot], thread) ? slot : slot_of_other(thread, hash);
}

bool thread_write_requests(struct thread *thread)
{
	struct call_requests before = thread_requests_before(thread);
	uint64_t *words = reserve(thread, 3);

	if (!words)
		return false;
	words[0] = ring_head(RING_REQUESTS, 3, 0, 0, 0);
	words[1] = before.posted;
	words[2] = before.done;
	publish(thread, 3, thread->last);
	thread->skipped = false;
	return true;
}

static bool write_in_slot(struct thread *thread, unsigned slot, uint64_t enter, uint64_t leave)
{
	struct known_call *known = &thread->known->slots[slot];

	if (slot && known->told)
		return write_again(thread, slot, enter, leave);
	if (!write_whole(thread, slot, enter, leave))
		return false;
	known->told = slot;
	known->told_head = thread->told_head = thread->head;
	return true;
}

bool thread_write_words(struct thread *thread, const uint64_t *words, size_t nr)
{
	uint64_t *to = reserve(thread, nr);

	if (!to)
		return false;
	memcpy(to, words, nr * sizeof(*words));
	publish(thread, nr, thread->last);
	return true;
}

/*
 * Requests of records that are not wanted stay the last ones, so that such calls go on to be known.
 * Those of records that are lost do not.
 */
void thread_write_slowly(struct thread *thread, bool wanted, uint64_t hash, uint64_t enter,
                         uint64_t leave)
{
	unsigned slot = slot_of(thread, hash);
	struct known_call *known = &thread->known->slots[slot];

	known->used = (uint32_t)thread->ring->calls++;
	if (slot && known->nr_steps)
		sums_add_steps(thread, known->steps, known->nr_steps, leave - enter);
	else
		sums_add(thread, enter, leave);
	if (!wanted)
		thread->skipped |= thread_part_words(thread) > 0;
	else if ((thread->skipped && !thread_write_requests(thread)) ||
	         !write_in_slot(thread, slot, enter, leave))
		thread->requests = thread_requests_before(thread);
}

void thread_write_left(struct thread *thread, bool wanted, uint32_t region, uint64_t enter,
                       uint64_t seen)
{
	struct ring_sum *row = sums_region(thread, region);

	row->unfinished++;
	sums_add_time(thread, row, seen - enter);
	thread->made = ring_head(RING_LEFT, 3, 0, thread_depth(thread), region);
	thread->site = 0;
	if (wanted)
		write_whole(thread, 0, enter, seen);
}
