#include "preload/scale.h"

#include "preload/comms.h"
#include "hmb/lambda.h"
#include "hmb/segment.h"

#include <string.h>
#include <sys/mman.h>

enum {
	MOST_UNIT = 1 << 14, /* calls of an iteration that is dropped as a whole */
	LEAST_UPPER = 8,     /* iterations of a level before those of the level below are parts */
	PROBES = 8,          /* places that an event may have */
	MOST_TAGS = SEGMENT_IDS / 2,
	ORDINAL_LEVELS = 32,
	FIRST = 10, /* iterations of a pattern that have higher levels */
	MOST_HIGHER = 8,
	RECORD_WORDS = 9,   /* of an iteration, at most */
	OUTLIER = 8,        /* times as long as usual */
	OUTLIER_COST = 128, /* iterations for each of these: so many more may be kept */
	MOST_CREDIT = 4 * OUTLIER_COST,
};

#define NOWHERE UINT64_MAX

/* Where an iteration began in the ring. */
struct mark {
	uint64_t event, head, last, lost;
	uint64_t nr_wide, balance;     /* before the event */
	struct call_requests requests; /* before its call */
	bool skipped;
};

/* The record before the iteration at hand, which will tell the level of its calls. */
struct told_before {
	uint64_t event; /* of the iteration's begin; NOWHERE: there is no such record */
	uint64_t head;  /* where the record begins */
};

struct scale_pattern {
	uint64_t limit;  /* ticks: about 1 in 256 take longer; 0: not known yet */
	uint64_t usual;  /* ticks: about every other one takes longer */
	uint32_t credit; /* for outliers: iterations since there were many */
	uint32_t seen;
	/* of the last one that the recorder was told of: */
	uint32_t calls;
	struct call_requests requests;              /* in it */
	uint32_t spread[ORDINAL_LEVELS], nr_spread; /* kept by their ordinals, from floor on */
	unsigned floor;
};

struct scale_level {
	uint32_t phase, nr; /* iterations of this phase */
	uint64_t longest;   /* events */
	struct mark mark;
	struct scale_pattern patterns[SEGMENT_PATTERNS];
};

struct scale {
	struct thread *thread;
	struct segmenter *segmenter;
	size_t size;
	uint32_t keep;                        /* iterations of each pattern at least; 0: all */
	uint32_t first;                       /* iterations of a pattern that are its first ones */
	bool by_level;                        /* iterations have levels of the buffer */
	uint32_t nr_ended, nr_first, nr_slow; /* iterations */
	struct told_before before;
	unsigned unit;                 /* level of the iterations that are kept or dropped */
	unsigned next_unit, nr_agree;  /* the level that it may be soon, and for how many looks */
	uint64_t nr;                   /* of the event at hand */
	uint64_t nr_wide;              /* collectives of all ranks before it */
	bool has_no_balance;           /* a message had a channel without a hash */
	struct call_requests requests; /* before its call */
	unsigned ended;   /* a bit for each level of which an iteration ends before it */
	uint64_t told;    /* the first event behind the last iteration that was told of */
	uint64_t dropped; /* the first event behind the last one that was dropped */
	struct segment_iteration last; /* that the recorder was told of; phase 0: none */
	uint64_t last_end;             /* ticks */
	uint32_t nr_keys;
	struct scale_level levels[SEGMENT_LEVELS];
	struct scale_events events;
	/* Events by the hash of their keys. They are numbered as they come, on all ranks alike. */
	uint64_t keys[SEGMENT_IDS];
	uint16_t numbers[SEGMENT_IDS];
	_Alignas(16) char memory[];
};

/* --- events ----------------------------------------------------------------------------------- */

/* These complete any of several requests: it is chance which. */
static bool has_any_order(uint32_t region)
{
	switch (region) {
	case CALL_Waitany:
	case CALL_Waitsome:
	case CALL_Testany:
	case CALL_Testsome:
	case CALL_Request_get_status_any:
	case CALL_Request_get_status_some:
		return true;
	default:
		return false;
	}
}

/* Parts are added up: requests may be completed in any order. */
static uint64_t event_key(const struct thread *thread, bool with_tag)
{
	uint32_t region = ring_head_number(thread->made);
	uint64_t key = lambda_mix(thread->site ^ (uint64_t)region << 47);

	if (has_any_order(region))
		return key | 1;
	for (size_t at = 0; at < thread_part_words(thread);
	     at += ring_part_words(thread->parts[at] & 0xff)) {
		uint64_t part = lambda_mix(thread->parts[at]);
		unsigned type = thread->parts[at] & 0xff;

		if (type == CALL_TEST_FAILED || type == CALL_VALUE)
			continue;
		if (with_tag && ring_part_fields(type) & PART_TAG)
			part = lambda_mix(part ^ thread->parts[at + 1]);
		key += part;
	}
	return key | 1;
}

/* Where all places of an event are taken, it shares the first one. */
static uint16_t find_event(struct scale *scale, uint64_t key)
{
	const unsigned first = (unsigned)(key % (SEGMENT_IDS - PROBES));

	for (unsigned i = first; i < first + PROBES; i++) {
		if (!scale->keys[i] && scale->nr_keys < SEGMENT_IDS - 1) {
			scale->keys[i] = key;
			scale->numbers[i] = (uint16_t)++scale->nr_keys;
		}
		if (scale->keys[i] == key)
			return scale->numbers[i];
	}
	return scale->numbers[first];
}

static uint16_t event_of(struct scale *scale)
{
	return find_event(scale, event_key(scale->thread, scale->nr_keys < MOST_TAGS));
}

static bool is_wide(const struct thread *thread)
{
	for (size_t at = 0; at < thread_part_words(thread);
	     at += ring_part_words(thread->parts[at] & 0xff)) {
		unsigned type = thread->parts[at] & 0xff;

		if ((type == CALL_COLLECTIVE || type == CALL_COLLECTIVE_DONE) &&
		    comm_is_wide(thread->parts[at] >> 8 & 0xffffff))
			return true;
	}
	return false;
}

static uint64_t balance_of(struct scale *scale)
{
	const struct thread *thread = scale->thread;
	uint64_t balance = 0;

	for (size_t at = 0; at < thread_part_words(thread);
	     at += ring_part_words(thread->parts[at] & 0xff)) {
		uint64_t part = thread->parts[at];
		unsigned type = part & 0xff, comm = part >> 8 & 0xffffff;
		bool sends = type == CALL_SEND || type == CALL_SEND_POSTED;
		bool receives = type == CALL_RECEIVE || type == CALL_RECEIVE_DONE;
		uint64_t channel;

		if ((!sends && !receives) || (int32_t)(part >> 32) < 0)
			continue;
		if (!comm_has_channels(comm)) {
			scale->has_no_balance = true;
			continue;
		}
		channel = comm_channel(comm, (int32_t)(part >> 32), (int32_t)thread->parts[at + 1],
		                       receives);
		balance += sends ? channel : -channel;
	}
	return balance;
}

/* --- where iterations begin ------------------------------------------------------------------- */

/* Sets a mark to where the event at hand begins: member by member, to wait for no copy. */
static inline void set_mark(struct mark *mark, const struct scale *scale)
{
	const struct thread *thread = scale->thread;

	mark->event = scale->nr;
	mark->head = thread->head;
	mark->last = thread->last;
	mark->lost = thread->ring->lost;
	mark->nr_wide = scale->nr_wide;
	mark->balance = scale->events.balance;
	mark->requests.posted = scale->requests.posted;
	mark->requests.done = scale->requests.done;
	mark->skipped = thread->skipped;
}

/*
 * Returns where an iteration has ended: now, or where the last iteration of the level below began,
 * of which it is only known now that it is the first of the next one. Its event is another one if
 * the place is not known.
 */
static struct mark end_of(const struct scale *scale, unsigned level)
{
	struct mark now;

	if (level)
		return scale->levels[level - 1].mark;
	set_mark(&now, scale);
	return now;
}

/* --- what is kept ----------------------------------------------------------------------------- */

/* Moves by little steps to where as many take longer as not. */
static void note_usual(struct scale_pattern *pattern, uint64_t duration)
{
	uint64_t step = pattern->usual / (pattern->seen < 64 ? 8 : 64) + 1;

	if (!pattern->usual) {
		pattern->usual = duration;
		pattern->credit = MOST_CREDIT;
	} else if (duration > pattern->usual) {
		pattern->usual += step;
	} else if (pattern->usual > step) {
		pattern->usual -= step;
	}
}

/*
 * Whether an iteration takes so much longer than usual that it is slow although it is not beyond
 * the limit: that is high where a first one took long, and where others are interrupted.
 */
static bool is_outlier(struct scale_pattern *pattern, uint64_t duration)
{
	if (duration <= OUTLIER * pattern->usual || pattern->credit < OUTLIER_COST)
		return false;
	pattern->credit -= OUTLIER_COST;
	return true;
}

/*
 * The limit moves by little steps, up 255 times as far as down, so that it comes to rest where one
 * of 256 is above it.
 */
static bool note_duration(struct scale_pattern *pattern, uint64_t duration, uint32_t first)
{
	bool is_slow = pattern->limit && duration > pattern->limit;

	if (pattern->seen <= first)
		pattern->limit = pattern->limit > 2 * duration ? pattern->limit : 2 * duration;
	else if (is_slow)
		pattern->limit += pattern->limit / 2 + 1;
	else
		pattern->limit -= pattern->limit / (2 * 255);
	is_slow = is_slow || is_outlier(pattern, duration);
	note_usual(pattern, duration);
	pattern->credit += pattern->credit < MOST_CREDIT;
	return is_slow;
}

/* The more iterations of a pattern there were, the rarer are those whose ordinals are kept. */
static bool note_ordinal(struct scale_pattern *pattern, unsigned level, uint32_t keep)
{
	uint32_t most = keep / 4 > 2 ? keep / 4 : 2;

	if (level >= ORDINAL_LEVELS)
		level = ORDINAL_LEVELS - 1;
	if (level < pattern->floor)
		return false;
	pattern->spread[level]++;
	pattern->nr_spread++;
	while (pattern->nr_spread >= most && pattern->floor < ORDINAL_LEVELS - 1)
		pattern->nr_spread -= pattern->spread[pattern->floor++];
	return true;
}

/*
 * Ranks that found a loop around others at different times count its iterations differently, but
 * not the collectives of all of them.
 */
static uint32_t common_ordinal(const struct scale *scale, const struct segment_iteration *iteration)
{
	const struct mark *begun = &scale->levels[iteration->level].mark;

	if (!iteration->level || begun->event != iteration->begin ||
	    begun->nr_wide == end_of(scale, iteration->level).nr_wide)
		return (uint32_t)iteration->ordinal;
	return (uint32_t)begun->nr_wide;
}

/*
 * Returns the level of the n-th of some iterations that are to outlive the others. Where there are
 * many of them they share the buffer with the others.
 */
static unsigned higher_level(const struct scale *scale, uint32_t n)
{
	unsigned rarity = 31 - (unsigned)__builtin_clz(scale->nr_ended / n | 1);
	unsigned level = lambda_random(n) + (rarity < MOST_HIGHER ? rarity : MOST_HIGHER);

	return level < NR_LEVELS ? level : NR_LEVELS - 1;
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

struct judgement {
	bool kept, slow;
	unsigned level;
};

static struct judgement judge(struct scale *scale, const struct segment_iteration *iteration,
                              uint64_t duration)
{
	struct scale_pattern *pattern =
		&scale->levels[iteration->level].patterns[iteration->pattern];
	unsigned level = lambda_random(common_ordinal(scale, iteration));
	uint32_t floor = __atomic_load_n(&process.shared->floor, __ATOMIC_RELAXED);
	struct judgement judgement;
	bool is_first, is_spread;

	if (iteration->is_new)
		*pattern = (struct scale_pattern){0};
	is_first = pattern->seen++ < scale->first;
	is_spread = !scale->keep || note_ordinal(pattern, level, scale->keep);
	judgement.slow = note_duration(pattern, duration, scale->first);
	scale->nr_ended++;
	if (is_first)
		level = larger(level, higher_level(scale, ++scale->nr_first));
	if (judgement.slow)
		level = larger(level, higher_level(scale, ++scale->nr_slow));
	judgement.kept =
		(is_first || is_spread || judgement.slow) && (!scale->by_level || level >= floor);
	judgement.level = level;
	return judgement;
}

/* --- the ring --------------------------------------------------------------------------------- */

static uint64_t unpublished(const struct thread *thread)
{
	return thread->head - thread->ring->head;
}

static void publish_up_to(struct thread *thread, uint64_t head)
{
	/* Pairs with the recorder's acquire: it sees the words. */
	__atomic_store_n(&thread->ring->head, head, __ATOMIC_RELEASE);
	__atomic_store_n(&thread->ring->pending, thread->head, __ATOMIC_RELEASE);
}

static bool is_told_between(const struct known_call *known, uint64_t from, uint64_t to)
{
	return known->told && known->told_head > from && known->told_head <= to;
}

/*
 * Whether records from `to` on use slots that those before it tell of. A slot that was told of once
 * more behind its use may be such a one.
 */
static bool uses_slots(const struct thread *thread, uint64_t from, uint64_t to)
{
	uint64_t at = to;

	if (thread->told_head <= from)
		return false;
	while (at != thread->head) {
		uint64_t word = thread->words[at & thread->mask];
		const struct known_call *known = &thread->known->slots[ring_head_slot(word)];

		at += ring_head_words(word);
		if (ring_head_record(word) == RING_PAD || at - to > thread->head - to)
			return true;
		if (ring_head_record(word) == RING_AGAIN &&
		    (!known->told || known->told_head > at || is_told_between(known, from, to)))
			return true;
	}
	return false;
}

/* The recorder will not know these slots. */
static void forget_slots(struct thread *thread, uint64_t from, uint64_t to)
{
	if (thread->told_head <= from)
		return;
	for (unsigned i = 1; i < RING_SLOTS; i++)
		if (is_told_between(&thread->known->slots[i], from, to))
			thread->known->slots[i].told = false;
}

static bool are_in_one_lap(const struct thread *thread, uint64_t from, uint64_t to)
{
	return !((from ^ (to - 1)) & ~(uint64_t)thread->mask);
}

static void move_slots(struct thread *thread, uint64_t from, uint64_t by)
{
	if (thread->told_head <= from)
		return;
	for (unsigned i = 1; i < RING_SLOTS; i++)
		if (is_told_between(&thread->known->slots[i], from, thread->head))
			thread->known->slots[i].told_head += by;
	thread->told_head += by;
}

static void move_marks(struct scale *scale, uint64_t from, uint64_t by)
{
	for (unsigned i = 0; i < SEGMENT_LEVELS; i++)
		if (scale->levels[i].mark.head - from <= scale->thread->head - from)
			scale->levels[i].mark.head += by;
}

/*
 * Puts words in the place of the records from `from` to `to`, and moves those behind them, which
 * are the next iteration's. Returns false where the end of the ring is in the way.
 */
static bool replace(struct scale *scale, uint64_t from, uint64_t to, const uint64_t *words,
                    size_t nr)
{
	struct thread *thread = scale->thread;
	uint64_t by = from + nr - to, head = thread->head + by;

	if (!are_in_one_lap(thread, from, head) ||
	    !are_in_one_lap(thread, from, thread->head + 1) ||
	    ((int64_t)by > 0 && head > thread->look))
		return false;
	forget_slots(thread, from, to);
	memmove(&thread->words[(from + nr) & thread->mask], &thread->words[to & thread->mask],
	        (thread->head - to) * sizeof(*words));
	memcpy(&thread->words[from & thread->mask], words, nr * sizeof(*words));
	move_marks(scale, to, by);
	move_slots(thread, to, by);
	thread->head = head;
	return true;
}

/*
 * Publishes what is before the iteration that begins with this event. The record that ends here, at
 * `head`, is held back if it is to tell the level of that iteration's calls.
 */
static void publish_before(struct scale *scale, uint64_t event, uint64_t record, uint64_t head)
{
	if (scale->by_level)
		scale->before = (struct told_before){event, record};
	publish_up_to(scale->thread, scale->by_level ? record : head);
}

/* Lets the record before the iteration, if it can still be changed, tell the level of its calls. */
static void tell_level(struct scale *scale, const struct segment_iteration *iteration,
                       unsigned level)
{
	struct thread *thread = scale->thread;
	const struct told_before *before = &scale->before;

	if (before->event == iteration->begin &&
	    before->head - thread->ring->head < unpublished(thread))
		thread->words[before->head & thread->mask] |= (uint64_t)(level + 1)
		                                              << RING_SLOT_SHIFT;
}

/* --- iterations ------------------------------------------------------------------------------- */

static uint64_t time_of(const struct scale *scale, uint64_t event)
{
	if (scale->nr - event >= SEGMENT_HISTORY)
		return 0;
	return scale->events.times[event % SEGMENT_HISTORY];
}

static struct call_requests requests_between(const struct call_requests *from,
                                             const struct call_requests *to)
{
	return (struct call_requests){
		.posted = to->posted - from->posted,
		.done = to->done - from->done,
	};
}

static bool is_same(const struct call_requests *a, const struct call_requests *b)
{
	return a->posted == b->posted && a->done == b->done;
}

/* Tells of an iteration; `last` is the time at which the records behind it go on. */
static size_t make_record(const struct scale *scale, uint64_t *words,
                          const struct segment_iteration *iteration,
                          const struct call_requests *requests, unsigned flags, uint64_t begin,
                          uint64_t end, uint64_t last)
{
	const struct mark *begun = &scale->levels[iteration->level].mark;
	uint64_t calls = iteration->end - iteration->begin;
	bool has_point = flags & RING_ITERATION_STORED && begun->event == iteration->begin &&
	                 !scale->has_no_balance;
	size_t nr = has_point ? RECORD_WORDS : RECORD_WORDS - 2;

	words[0] =
		ring_head(RING_ITERATION, nr, iteration->pattern | (unsigned)iteration->level << 6,
	                  flags, calls < 1 << 24 ? (uint32_t)calls : (1U << 24) - 1);
	words[1] = begin;
	words[2] = end;
	words[3] = iteration->phase | iteration->ordinal << 32;
	words[4] = last;
	words[5] = requests->posted;
	words[6] = requests->done;
	words[7] = begun->nr_wide;
	words[8] = begun->balance;
	return nr;
}

static size_t make_requests(uint64_t *words, const struct call_requests *requests)
{
	words[0] = ring_head(RING_REQUESTS, 3, 0, 0, 0);
	words[1] = requests->posted;
	words[2] = requests->done;
	return 3;
}

/* The recorder knows this iteration: the next one may be told of in a short record. */
static void note_told(struct scale *scale, const struct segment_iteration *iteration,
                      const struct call_requests *requests, uint64_t end)
{
	struct scale_pattern *pattern =
		&scale->levels[iteration->level].patterns[iteration->pattern];
	uint64_t calls = iteration->end - iteration->begin;

	pattern->calls = calls < 1 << 24 ? (uint32_t)calls : 0;
	pattern->requests = *requests;
	scale->last = *iteration;
	scale->last_end = end;
}

static bool follows_last(const struct scale *scale, const struct segment_iteration *iteration,
                         uint64_t begin, uint64_t end)
{
	const struct segment_iteration *last = &scale->last;

	return last->phase == iteration->phase && last->level == iteration->level &&
	       last->ordinal + 1 == iteration->ordinal && scale->last_end == begin &&
	       ring_fits_dropped(end - begin);
}

static bool is_as_told(const struct scale_pattern *pattern,
                       const struct segment_iteration *iteration,
                       const struct call_requests *requests)
{
	return pattern->calls == iteration->end - iteration->begin &&
	       is_same(&pattern->requests, requests);
}

/*
 * Puts one word in the place of the records of an iteration that ends now and follows the last one,
 * which is the most frequent case. Returns false in others.
 */
static bool drop_in_short(struct scale *scale, const struct segment_iteration *iteration,
                          uint64_t begin, uint64_t end)
{
	struct thread *thread = scale->thread;
	const struct mark *from = &scale->levels[iteration->level].mark;
	struct call_requests requests = requests_between(&from->requests, &scale->requests);

	if (iteration->level || !follows_last(scale, iteration, begin, end) ||
	    !is_as_told(&scale->levels[0].patterns[iteration->pattern], iteration, &requests) ||
	    from->head == thread->head || thread->told_head > from->head)
		return false;
	thread->words[from->head & thread->mask] = ring_dropped(iteration->pattern, end - begin);
	thread->head = from->head + 1;
	publish_before(scale, scale->nr, from->head, thread->head);
	thread->skipped = from->skipped;
	thread->last = end;
	scale->last.ordinal++;
	scale->last_end = end;
	return true;
}

/* Writes the iteration where it ends, in place of its records if it is dropped. */
static bool put_iteration(struct scale *scale, const struct segment_iteration *iteration,
                          unsigned flags, uint64_t begin, uint64_t end)
{
	struct thread *thread = scale->thread;
	const struct mark begun = scale->levels[iteration->level].mark;
	const struct mark to = end_of(scale, iteration->level);
	struct call_requests requests = requests_between(&begun.requests, &to.requests);
	bool is_now = to.event == scale->nr, drops = flags & RING_ITERATION_DROPPED;
	const struct mark *from = drops ? &begun : &to;
	uint64_t words[RECORD_WORDS + 3];
	size_t nr;

	nr = make_record(scale, words, iteration, &requests, flags, begin, end,
	                 is_now ? end : to.last);
	if (drops && !is_now)
		nr += make_requests(words + nr, &to.requests);
	/* Records of the next iteration may use slots that those of this one tell of. */
	if (!is_now && drops &&
	    (to.head - from->head < nr || uses_slots(thread, from->head, to.head)))
		return false;
	if (to.event != iteration->end || to.head - thread->ring->head > unpublished(thread) ||
	    !replace(scale, from->head, to.head, words, nr))
		return false;
	publish_before(scale, to.event, from->head, from->head + nr);
	note_told(scale, iteration, &requests, end);
	if (drops && is_now)
		thread->skipped = from->skipped;
	if (drops && !is_now)
		scale->levels[iteration->level - 1].mark.skipped = false;
	if (is_now)
		thread->last = end;
	return true;
}

/* Writes it behind all records, which may be some of the next iteration. */
static void append_iteration(struct scale *scale, const struct segment_iteration *iteration,
                             unsigned flags, uint64_t begin, uint64_t end)
{
	struct thread *thread = scale->thread;
	const struct mark ended = end_of(scale, iteration->level);
	struct call_requests requests =
		requests_between(&scale->levels[iteration->level].mark.requests, &ended.requests);
	uint64_t words[RECORD_WORDS];
	size_t nr =
		make_record(scale, words, iteration, &requests, flags, begin, end, thread->last);
	bool written = thread_write_words(thread, words, nr);

	scale->last.phase = 0;
	if (written)
		note_told(scale, iteration, &requests, end);
	if (written && iteration->end == scale->nr)
		publish_before(scale, scale->nr, thread->head - nr, thread->head);
	else
		publish_up_to(thread, thread->head);
}

static bool can_go_back(const struct scale *scale, const struct segment_iteration *iteration)
{
	const struct mark *mark = &scale->levels[iteration->level].mark;

	return mark->event == iteration->begin &&
	       mark->head - scale->thread->ring->head <= unpublished(scale->thread);
}

/* Drops an iteration if it is possible to go back to its begin. */
static bool drop(struct scale *scale, const struct segment_iteration *iteration, unsigned flags,
                 uint64_t begin, uint64_t end)
{
	if (!can_go_back(scale, iteration))
		return false;
	if (likely(!flags) && likely(drop_in_short(scale, iteration, begin, end)))
		return true;
	return put_iteration(scale, iteration, flags | RING_ITERATION_DROPPED, begin, end);
}

static void keep(struct scale *scale, const struct segment_iteration *iteration, unsigned flags,
                 unsigned level, uint64_t begin, uint64_t end)
{
	bool lost = scale->levels[iteration->level].mark.lost != scale->thread->ring->lost;

	if (iteration->begin >= scale->dropped && !lost)
		flags |= RING_ITERATION_STORED;
	if (scale->by_level)
		tell_level(scale, iteration, level);
	if (!put_iteration(scale, iteration, flags, begin, end))
		append_iteration(scale, iteration, flags, begin, end);
}

static void end_iteration(struct scale *scale, const struct segment_iteration *iteration)
{
	uint64_t begin = time_of(scale, iteration->begin), end = time_of(scale, iteration->end);
	struct judgement judgement;
	unsigned flags;

	/* The unit has changed: a part of this one was told of at the other level. */
	if (unlikely(iteration->begin < scale->told))
		return;
	scale->told = iteration->end;
	if (!begin || end < begin)
		begin = end;
	judgement = judge(scale, iteration, end - begin);
	flags = (judgement.slow ? RING_ITERATION_SLOW : 0U) |
	        (iteration->is_loose ? RING_ITERATION_LOOSE : 0U);
	if (!judgement.kept && drop(scale, iteration, flags, begin, end))
		scale->dropped = iteration->end;
	else
		keep(scale, iteration, flags, judgement.level, begin, end);
}

/* Iterations of a level are parts of those of the next one if the loop around it is known well. */
static bool are_parts(const struct scale *scale, unsigned level)
{
	const struct scale_level *upper = &scale->levels[level + 1];

	return level + 1 < SEGMENT_LEVELS && upper->nr >= LEAST_UPPER &&
	       upper->longest <= MOST_UNIT && segmenter_is_inner(scale->segmenter, level);
}

/* Levels may seem to be parts for a while: the unit changes when that lasts. */
static void choose_unit(struct scale *scale)
{
	unsigned unit = 0, looks;

	while (are_parts(scale, unit))
		unit++;
	scale->nr_agree = unit == scale->next_unit ? scale->nr_agree + 1 : 1;
	scale->next_unit = unit;
	looks = unit == 1 && !scale->unit ? 3 : 32;
	if (scale->nr_agree >= looks)
		scale->unit = unit;
}

static void begin_phase(struct scale *scale, unsigned number, uint32_t phase)
{
	scale->levels[number].nr = 0;
	scale->levels[number].longest = 0;
	scale->levels[number].phase = phase;
}

static void take_iteration(void *arg, const struct segment_iteration *iteration)
{
	struct scale *scale = arg;
	struct scale_level *level = &scale->levels[iteration->level];
	uint64_t length = iteration->end - iteration->begin;

	if (level->phase != iteration->phase)
		begin_phase(scale, iteration->level, iteration->phase);
	level->nr++;
	level->longest = length > level->longest ? length : level->longest;
	if (iteration->level && level->nr % 2 == 0)
		choose_unit(scale);
	scale->ended |= 1U << iteration->level;
	if (iteration->level == scale->unit)
		end_iteration(scale, iteration);
}

/* --- calls ------------------------------------------------------------------------------------ */

/* The mark of an upper level becomes that of the level below, which then becomes this event. */
static void move_ended(struct scale *scale)
{
	for (unsigned i = SEGMENT_LEVELS - 1; i > 0; i--)
		if (unlikely(scale->ended >> i & 1))
			scale->levels[i].mark = scale->levels[i - 1].mark;
	if (scale->ended & 1)
		set_mark(&scale->levels[0].mark, scale);
}

/*
 * Where the recorder wants no more than the calls of some moments, the call at hand may be one that
 * is not written: the iteration that begins with it has no level.
 */
static void begin_holding(struct scale *scale)
{
	if (__atomic_load_n(&process.shared->floor, __ATOMIC_RELAXED))
		scale->before.event = NOWHERE;
}

/* Calls that no iteration takes up, or a very long one, are published as they are written. */
static void choose_end(struct scale *scale)
{
	struct thread *thread = scale->thread;
	bool holds = thread->published == &thread->ring->pending, held = holds;

	if (!scale->ended && !(holds && unpublished(thread) > thread->mask / 4))
		return;
	/* Before the mark, or it would have to be told again whenever records from there are
	 * dropped. */
	if (unlikely(thread->skipped && scale->ended & 1))
		thread_write_requests(thread);
	if (scale->ended)
		move_ended(scale);
	holds |= scale->ended >> scale->unit & 1;
	scale->ended = 0;
	if (holds && unpublished(thread) > thread->mask / 4) {
		publish_up_to(thread, thread->head);
		scale->unit = 0;
		holds = false;
	}
	if (holds && !held)
		begin_holding(scale);
	thread->published = holds ? &thread->ring->pending : &thread->ring->head;
}

static void look_at_call(struct scale *scale, struct known_call *call)
{
	const struct thread *thread = scale->thread;
	struct call_requests before = thread_requests_before(thread);
	uint16_t event = event_of(scale);
	bool wide = is_wide(thread);

	call->event = wide ? 0 : event;
	call->wide_event = wide ? event : 0;
	call->balance = balance_of(scale);
	call->requests.posted = thread->requests.posted - before.posted;
	call->requests.done = thread->requests.done - before.done;
}

void scale_call(struct thread *thread, struct known_call *known, uint64_t enter)
{
	struct scale *scale = thread->scale;
	struct known_call call;

	if (!known)
		known = &call;
	if (known == &call || !(known->event | known->wide_event))
		look_at_call(scale, known);
	scale->nr = scale->events.queue->nr;
	scale->requests.posted = thread->requests.posted - known->requests.posted;
	scale->requests.done = thread->requests.done - known->requests.done;
	scale->events.times[scale->nr % SEGMENT_HISTORY] = enter;
	segmenter_put(scale->segmenter, known->event | known->wide_event, known->wide_event);
	choose_end(scale);
	scale->nr_wide += known->wide_event != 0;
	scale->events.balance += known->balance;
}

void scale_start(struct thread *thread)
{
	size_t size = sizeof(struct scale) + segmenter_bytes();
	struct scale *scale;

	thread->scale = NULL;
	thread->events = NULL;
	thread->published = &thread->ring->head;
	if (!process.shared->keep && !process.shared->levels)
		return;
	scale = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (scale == MAP_FAILED)
		return;
	scale->thread = thread;
	scale->size = size;
	scale->keep = process.shared->keep;
	scale->first = scale->keep ? scale->keep : FIRST;
	scale->by_level = process.shared->levels;
	scale->before.event = NOWHERE;
	scale->segmenter = segmenter_init(scale->memory, true, take_iteration, scale);
	scale->events.queue = segmenter_queue(scale->segmenter);
	thread->scale = scale;
	thread->events = &scale->events;
}

void scale_stop(struct thread *thread)
{
	if (thread->scale)
		munmap(thread->scale, thread->scale->size);
	thread->scale = NULL;
	thread->events = NULL;
}

void scale_end(struct thread *thread)
{
	if (thread->scale)
		publish_up_to(thread, thread->head);
}
