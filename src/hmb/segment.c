#include "hmb/segment.h"
#include "hmb/period.h"

#include <string.h>

enum {
	ANCHORS = 16,
	GRAM = 8,          /* events of the longest anchor */
	GRAM_PERIOD = 512, /* longest period in which anchors of several events are looked for */
	WORDS = SEGMENT_IDS / 64,
	UPPER_HISTORY = 512, /* of levels above the lowest one */
	UPPER_DELAYS = 128,
	LEAST_RUN = 32,
	UPPER_LEAST_RUN = 6,
	ENOUGH_KNOWN =
		64, /* iterations of known patterns in a row: there is nothing to search for */
	FIRST_ROUND = 16384,
	SHORT_ROUND = 3, /* the first one in which few delays are compared again */
	PAUSE = 7 * 4 * 512,
	LONG = 1024, /* events without an anchor that end no phase */
	UPPER_LONG = 64,
	MIN_LOOP = 8, /* iterations */
	APART = 8,    /* iterations that another anchor ends: the anchor has no loop of its own */
	FIRST_REVIEW =
		32, /* iterations of a phase; then each time that there are 4 times as many */
	CANDIDATES = 16,
	MOST_QUIET = 1024, /* events in a row that need no look */
};

struct anchor {
	uint64_t count, seen; /* event of the latest occurrence */
	uint64_t longest;     /* events between two occurrences */
	uint32_t unknown; /* a bit for each of its last 32 iterations: of a pattern not seen before
	                   */
	uint8_t apart;    /* iterations in a row that another anchor ended */
	bool is_loose;    /* see add_anchor() */
	uint8_t nr;       /* events */
	uint16_t events[GRAM]; /* the last one begins the iteration */
};

struct pattern {
	uint64_t hash;
	uint32_t used;              /* by the level's clock; 0: never */
	uint32_t in_phase, in_rows; /* iterations of this phase; behind one of the same pattern */
	uint32_t length;            /* in events of the lowest level; of the latest one */
	uint16_t begin;             /* its first event */
	bool wide;
	uint32_t first; /* the number of that, modulo 2^32 */
};

struct level {
	struct segmenter *of;
	uint8_t number;
	struct period period;
	uint32_t left;  /* events until the search pauses or goes on with other delays */
	uint32_t pause; /* events until it begins again */
	uint32_t round;
	bool searching;     /* the detector has seen the events before this one */
	uint16_t *events;   /* a ring */
	uint64_t *begins;   /* their numbers at the lowest level; NULL: this is the lowest */
	uint32_t *counts;   /* by event */
	uint64_t nr, mask;  /* events so far; of the ring */
	uint64_t counted;   /* counts has the events before this one, */
	uint32_t repeated;  /* but not those of so many iterations like the last one */
	uint64_t undivided; /* the first event behind the last phase */
	struct anchor anchors[ANCHORS];
	uint32_t nr_anchors, phase;
	uint64_t phase_first;   /* event */
	uint32_t nr_iterations; /* of the phase */
	uint32_t next_review;   /* when there are so many */
	struct pattern patterns[SEGMENT_PATTERNS];
	uint32_t clock; /* iterations of all phases, modulo 2^32 */
	/* the iteration that is open */
	bool open, wide;
	uint8_t anchor; /* that began it */
	uint64_t first; /* its first event */
	uint64_t hash;  /* of its events before `hashed` */
	uint64_t hashed;
	uint64_t longest;       /* events of the phase's longest iteration; */
	uint64_t longest_calls; /* in those of the lowest level */
	uint32_t nr_known;      /* iterations of known patterns in a row */
	uint16_t last;          /* pattern of the last iteration, + 1; 0: none of this phase */
	uint64_t last_first;    /* its first event; */
	uint64_t last_nr;       /* events; 0: it is not that pattern's any more */
	uint32_t row;           /* iterations of that pattern in a row */
	uint16_t repeats;       /* see repeat_last(); 0: none */
};

struct segmenter {
	struct segment_queue queue; /* of the lowest level */
	struct level levels[SEGMENT_LEVELS];
	segment_fn *fn;
	void *arg;
	bool pausing;
	uint64_t wide[WORDS];
	uint64_t once[WORDS], again[WORDS]; /* of choose_event() */
	uint32_t counts[SEGMENT_IDS], upper_counts[SEGMENT_LEVELS - 1][SEGMENT_PATTERNS + 1];
	uint16_t upper_events[SEGMENT_LEVELS - 1][UPPER_HISTORY];
	uint64_t upper_begins[SEGMENT_LEVELS - 1][UPPER_HISTORY];
	uint16_t upper_period[SEGMENT_LEVELS - 1][3 * UPPER_DELAYS + 64];
	_Alignas(16) uint16_t detector[]; /* of the lowest level */
};

static void level_put(struct level *level, uint16_t event, uint64_t begin);

static bool bit_is_set(const uint64_t *bits, unsigned bit)
{
	return bits[bit / 64] >> bit % 64 & 1;
}

static void set_bit(uint64_t *bits, unsigned bit)
{
	bits[bit / 64] |= 1UL << bit % 64;
}

static uint16_t event_at(const struct level *level, uint64_t at)
{
	return level->events[at & level->mask];
}

static uint64_t begin_of(const struct level *level, uint64_t at)
{
	return level->begins ? level->begins[at & level->mask] : at;
}

static bool event_is_wide(const struct level *level, uint16_t event)
{
	return level->begins ? level[-1].patterns[event - 1].wide
	                     : bit_is_set(level->of->wide, event);
}

/* --- when to search -----------------------------------------------------------------------------
 */

/*
 * Rounds of a search for longer periods are rare: of 512 rounds are 32 of the middle delays, which
 * take about as much time as those of the shortest, and one of the longest, which takes half of
 * that.
 */
static uint32_t delays_of_round(uint32_t nr)
{
	if (nr == 2 || nr % 512 == 511)
		return PERIOD_MAX_DELAYS;
	return nr == 1 || nr % 16 == 15 ? 2048 : 512;
}

/* Three iterations are three times the delay. Before a pause no more are looked at. */
static uint32_t events_of_round(const struct level *level, uint32_t nr, uint32_t delays)
{
	if (!nr)
		return FIRST_ROUND;
	return level->of->pausing && !level->begins && nr > SHORT_ROUND
	               ? 3 * delays + 8 * PERIOD_BATCH
	               : 4 * delays;
}

static void begin_round(struct level *level, uint32_t nr)
{
	uint32_t delays = level->begins ? UPPER_DELAYS : delays_of_round(nr);

	level->round = nr;
	level->left = events_of_round(level, nr, delays);
	if (level->searching && delays == level->period.delays)
		return;
	period_init(&level->period, delays, level->begins ? UPPER_LEAST_RUN : LEAST_RUN,
	            level->begins ? level->of->upper_period[level->number - 1]
	                          : level->of->detector);
	level->searching = true;
}

/* Loops that are known are looked at with short delays only: another one in them is short. */
static void end_round(struct level *level)
{
	uint32_t nr = level->nr_anchors ? SHORT_ROUND : level->round + 1;

	if (level->of->pausing && !level->begins && nr > SHORT_ROUND) {
		level->pause = PAUSE;
		level->searching = false;
	}
	begin_round(level, nr);
}

static void restart_search(struct level *level)
{
	level->searching = false;
	level->pause = 0;
	begin_round(level, level->nr_anchors ? SHORT_ROUND : 0);
}

/* --- anchors ------------------------------------------------------------------------------------
 */

static bool ends_with(const struct level *level, uint64_t at, const uint16_t *events, unsigned nr)
{
	if (at + 1 < nr)
		return false;
	for (unsigned i = 0; i < nr; i++)
		if (event_at(level, at - i) != events[nr - 1 - i])
			return false;
	return true;
}

/* Brings the counts up to date, before any decision. */
static void count_events(struct level *level)
{
	for (uint64_t i = 0; level->repeated && i < level->last_nr; i++)
		level->counts[event_at(level, level->last_first + i)] += level->repeated;
	level->repeated = 0;
	for (; level->counted != level->nr; level->counted++)
		level->counts[event_at(level, level->counted)]++;
}

/* The last event of an anchor needs a look when it comes. Called when an anchor has changed. */
static void note_anchors(struct level *level)
{
	uint64_t *needs_look = level->of->queue.needs_look;

	if (level->begins)
		return;
	memset(needs_look, 0, sizeof(level->of->queue.needs_look));
	set_bit(needs_look, 0);
	for (unsigned i = 0; i < level->nr_anchors; i++)
		set_bit(needs_look, level->anchors[i].events[level->anchors[i].nr - 1]);
}

/* Returns the number of the anchor that an event completes, or ANCHORS. */
static unsigned anchor_at(const struct level *level, uint64_t at)
{
	for (unsigned i = 0; i < level->nr_anchors; i++)
		if (ends_with(level, at, level->anchors[i].events, level->anchors[i].nr))
			return i;
	return ANCHORS;
}

/*
 * At the lowest level rare events are better, which no other loop has; at upper levels
 * usual ones, which variations of the loop have as well. Counts may differ by one with the
 * moment at which the period is found. Then the one that was seen first is better, so that all
 * processes choose the same collective.
 */
static bool is_better(const struct level *level, uint16_t event, uint16_t than)
{
	bool wide = event_is_wide(level, event), other = than && event_is_wide(level, than);
	int64_t more;

	if (!than)
		return true;
	if (wide != other && !level->begins)
		return wide;
	more = (int64_t)level->counts[event] - (int64_t)level->counts[than];
	if (more > 1 || more < -1)
		return level->begins ? more > 0 : more < 0;
	return event < than;
}

/* Notes which of the events from `first` on occur once, and which again. */
static void note_repeated(struct level *level, uint64_t first, uint64_t nr)
{
	struct segmenter *of = level->of;

	memset(of->once, 0, sizeof(of->once));
	memset(of->again, 0, sizeof(of->again));
	for (uint64_t at = first; at != first + nr; at++) {
		uint16_t event = event_at(level, at);

		set_bit(bit_is_set(of->once, event) ? of->again : of->once, event);
	}
}

/* Returns the best event that occurs once among the last m, or 0. */
static uint16_t choose_event(struct level *level, uint32_t m)
{
	uint16_t best = 0;

	note_repeated(level, level->nr - m, m);
	for (uint32_t i = 1; i <= m; i++) {
		uint16_t event = event_at(level, level->nr - i);

		if (!bit_is_set(level->of->again, event) && is_better(level, event, best))
			best = event;
	}
	return best;
}

static bool gram_is_unique(const struct level *level, uint32_t m, uint32_t at, unsigned nr)
{
	uint16_t gram[GRAM];
	unsigned found = 0;

	for (unsigned i = 0; i < nr; i++)
		gram[nr - 1 - i] = event_at(level, level->nr - at - i);
	for (uint32_t i = 1; i <= m && found < 2; i++)
		found += ends_with(level, level->nr - i, gram, nr);
	return found == 1;
}

/* Finds the shortest sequence that occurs once in a period of m. */
static bool choose_gram(const struct level *level, uint32_t m, struct anchor *anchor)
{
	if (m > GRAM_PERIOD)
		return false;
	for (unsigned nr = 2; nr <= GRAM && nr <= m; nr++) {
		for (uint32_t at = 1; at <= m; at++) {
			if (!gram_is_unique(level, m, at, nr))
				continue;
			anchor->nr = (uint8_t)nr;
			for (unsigned i = 0; i < nr; i++)
				anchor->events[nr - 1 - i] = event_at(level, level->nr - at - i);
			return true;
		}
	}
	return false;
}

static bool choose_anchor(struct level *level, uint32_t m, struct anchor *anchor)
{
	*anchor = (struct anchor){.nr = 1, .events = {choose_event(level, m)}};
	return anchor->events[0] || choose_gram(level, m, anchor);
}

/* Returns how many events may go by without an anchor. */
static uint64_t longest_gap(const struct level *level)
{
	uint64_t least = level->begins ? UPPER_LONG : LONG;

	return 4 * level->longest > least ? 4 * level->longest : least;
}

/* --- phases -------------------------------------------------------------------------------------
 */

static void end_phase(struct level *level)
{
	level->undivided = level->open ? level->first : level->nr;
	level->nr_anchors = level->nr_known = level->last = 0;
	level->last_nr = 0;
	level->open = false;
	level->longest = level->longest_calls = 0;
	note_anchors(level);
	restart_search(level);
	if (level->number + 1 < SEGMENT_LEVELS && level[1].nr_anchors)
		end_phase(&level[1]);
}

static void forget_counts(struct level *level)
{
	for (unsigned i = 0; i < SEGMENT_PATTERNS; i++)
		level->patterns[i].in_phase = level->patterns[i].in_rows = 0;
}

static bool has_loose(const struct level *level, bool is_loose)
{
	for (unsigned i = 0; i < level->nr_anchors; i++)
		if (level->anchors[i].is_loose == is_loose)
			return true;
	return false;
}

static void fasten_anchors(struct level *level)
{
	for (unsigned i = 0; i < level->nr_anchors; i++)
		level->anchors[i].is_loose = false;
}

static void number_phase(struct level *level, uint64_t first)
{
	level->phase++;
	level->phase_first = first;
	level->nr_iterations = 0;
	level->next_review = FIRST_REVIEW;
	forget_counts(level);
}

/* The loop of the phase is over, and that of the loose anchors has taken its place. */
static void renew_phase(struct level *level)
{
	fasten_anchors(level);
	number_phase(level, level->first);
	level->longest = level->longest_calls = 0;
	for (unsigned i = 0; i < level->nr_anchors; i++)
		if (level->anchors[i].longest > level->longest)
			level->longest = level->anchors[i].longest;
}

static void drop_anchor(struct level *level, unsigned number)
{
	level->anchors[number] = level->anchors[--level->nr_anchors];
	note_anchors(level);
	if (!level->nr_anchors)
		end_phase(level);
	else if (!has_loose(level, false))
		renew_phase(level);
}

/*
 * Drops an anchor that does not belong to a loop of its own: its iterations are mostly new, or each
 * is ended by another anchor. The latter is that of a call which only some steps have.
 */
static void judge_anchor(struct level *level, unsigned number, bool is_new, unsigned next)
{
	struct anchor *anchor = &level->anchors[number];

	anchor->unknown = anchor->unknown << 1 | is_new;
	anchor->apart = next == number ? 0 : (uint8_t)(anchor->apart + 1);
	if ((anchor->unknown && __builtin_popcount(anchor->unknown) > 16) || anchor->apart >= APART)
		drop_anchor(level, number);
}

/* Drops anchors that have not occurred for long, while others have. */
static void drop_stale(struct level *level, uint64_t at)
{
	uint64_t least = level->begins ? UPPER_LONG : LONG;

	for (unsigned i = level->nr_anchors; i-- > 0 && level->nr_anchors > 1;) {
		const struct anchor *anchor = &level->anchors[i];
		uint64_t gap = 4 * anchor->longest > least ? 4 * anchor->longest : least;

		if (at > anchor->seen + gap)
			drop_anchor(level, i);
	}
}

/* --- reviews ------------------------------------------------------------------------------------
 * When the period is found, its variations are not known. Some have not the anchor, although they
 * have other events of the period, so that an iteration with such a variation looks like a part of
 * the one before. So the choice is reviewed, and the anchor that divides most evenly takes its
 * place.
 */

static uint64_t hash_event(uint64_t hash, uint16_t event)
{
	hash = (hash + event) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 32;
}

static struct pattern *main_pattern(const struct level *level)
{
	const struct pattern *most = level->patterns;

	for (unsigned i = 1; i < SEGMENT_PATTERNS; i++)
		if (level->patterns[i].in_phase > most->in_phase)
			most = &level->patterns[i];
	return (struct pattern *)most;
}

/* The events of a pattern are a ring: iterations follow each other. */
static uint16_t event_of_pattern(const struct level *level, const struct pattern *pattern,
                                 uint64_t at)
{
	return event_at(level, pattern->first + at % pattern->length); /* mask < 2^32 */
}

/* Returns events that lie between occurrences of the anchor and are more or less than `length`. */
static uint64_t unevenness(const struct level *level, const struct anchor *anchor, uint64_t length)
{
	uint64_t at = level->nr > level->mask ? level->nr - level->mask : 0, last = 0, sum = 0;

	for (at = at > level->phase_first ? at : level->phase_first; at != level->nr; at++) {
		if (!ends_with(level, at, anchor->events, anchor->nr))
			continue;
		if (last)
			sum += at - last > length ? at - last - length : length - (at - last);
		last = at;
	}
	return last ? sum : UINT64_MAX;
}

/* Whether an anchor of the events that end with one of a pattern occurs once in it. */
static bool take_gram(const struct level *level, const struct pattern *pattern, uint64_t end,
                      unsigned nr, struct anchor *anchor)
{
	uint64_t length = pattern->length;
	unsigned found = 0;

	*anchor = (struct anchor){.nr = (uint8_t)nr};
	for (unsigned i = 0; i < nr; i++)
		anchor->events[i] = event_of_pattern(level, pattern, end + length + 1 - nr + i);
	for (uint64_t at = 0; at < length && found < 2; at++) {
		unsigned same = 0;

		while (same < nr &&
		       event_of_pattern(level, pattern, at + same) == anchor->events[same])
			same++;
		found += same == nr;
	}
	return found == 1;
}

/* Whether an event of a pattern may be an anchor in place of one of `nr` events. */
static bool take_candidate(const struct level *level, const struct pattern *pattern, uint64_t at,
                           const struct anchor *old, struct anchor *anchor)
{
	uint16_t event = event_of_pattern(level, pattern, at);

	if (old->nr > 1)
		return pattern->length <= GRAM_PERIOD &&
		       take_gram(level, pattern, at, old->nr, anchor);
	*anchor = (struct anchor){.nr = 1, .events = {event}};
	return !bit_is_set(level->of->again, event) &&
	       event_is_wide(level, event) == event_is_wide(level, old->events[0]);
}

/* The main pattern keeps its number: the same iterations now begin with another event. */
static void move_anchor(struct level *level, struct pattern *pattern, uint64_t at,
                        const struct anchor *anchor)
{
	struct anchor *old = &level->anchors[0];
	uint64_t count = old->count;

	level->first = level->nr;
	level->last_nr = 0;
	if (anchor->nr == 1)
		count = level->counts[anchor->events[0]];
	pattern->hash = 0;
	for (uint64_t i = 0; i < pattern->length; i++)
		pattern->hash = hash_event(pattern->hash, event_of_pattern(level, pattern, at + i));
	*old = (struct anchor){
		.count = count,
		.seen = old->seen,
		.longest = old->longest,
		.nr = anchor->nr,
	};
	memcpy(old->events, anchor->events, sizeof(old->events));
	note_anchors(level);
}

struct choice {
	struct anchor anchor;
	uint64_t place, sum; /* in the pattern; see unevenness() */
};

/* Looks at the first candidate of a part of the pattern. */
static void try_part(struct level *level, const struct pattern *pattern, uint64_t first,
                     uint64_t end, struct choice *best)
{
	struct choice choice = {.place = first};

	while (choice.place < end &&
	       !take_candidate(level, pattern, choice.place, &level->anchors[0], &choice.anchor))
		choice.place++;
	if (choice.place == end)
		return;
	choice.sum = unevenness(level, &choice.anchor, pattern->length);
	if (choice.sum < best->sum)
		*best = choice;
}

static void review_anchor(struct level *level)
{
	struct pattern *pattern = main_pattern(level);
	struct choice best = {.sum = UINT64_MAX};
	uint64_t length = pattern->length;

	level->next_review *= 4;
	if (level->begins || level->nr_anchors != 1 || !length ||
	    (uint32_t)level->nr - pattern->first > level->mask)
		return;
	note_repeated(level, pattern->first, length);
	for (unsigned i = 0; i < CANDIDATES; i++)
		try_part(level, pattern, i * length / CANDIDATES, (i + 1) * length / CANDIDATES,
		         &best);
	if (best.sum < unevenness(level, &level->anchors[0], length) * 3 / 4)
		move_anchor(level, pattern, best.place, &best.anchor);
}

/* --- iterations ---------------------------------------------------------------------------------
 */

static uint32_t age_of(const struct level *level, const struct pattern *pattern)
{
	return pattern->used ? level->clock - pattern->used : UINT32_MAX;
}

static struct pattern *find_pattern(struct level *level, bool *is_new)
{
	struct pattern *oldest = level->patterns;

	*is_new = false;
	for (unsigned i = 0; i < SEGMENT_PATTERNS; i++) {
		struct pattern *pattern = &level->patterns[i];

		if (pattern->used && pattern->hash == level->hash)
			return pattern;
		if (age_of(level, pattern) > age_of(level, oldest))
			oldest = pattern;
	}
	*is_new = true;
	*oldest = (struct pattern){.hash = level->hash};
	return oldest;
}

/* Takes the events before `end` into the hash of the open iteration. */
static void hash_events(struct level *level, uint64_t end)
{
	for (; level->hashed != end; level->hashed++) {
		uint16_t event = event_at(level, level->hashed);

		level->hash = hash_event(level->hash, event);
		level->wide |= event_is_wide(level, event);
	}
}

/* Whether these events lie in the ring one behind the other. */
static bool are_in_one_piece(const struct level *level, uint64_t first, uint64_t nr)
{
	return (first & level->mask) + nr <= level->mask + 1;
}

/* Whether the open iteration has the events of the last one, as far as that is easily seen. */
static bool is_like_last(const struct level *level, uint64_t end)
{
	uint64_t nr = end - level->first;

	return level->last_nr == nr && level->hashed == level->first &&
	       end - level->last_first <= level->mask / 2 &&
	       are_in_one_piece(level, level->first, nr) &&
	       are_in_one_piece(level, level->last_first, nr) &&
	       !memcmp(&level->events[level->first & level->mask],
	               &level->events[level->last_first & level->mask],
	               nr * sizeof(*level->events));
}

static struct pattern *pattern_of(struct level *level, uint64_t end, bool *is_new)
{
	*is_new = false;
	if (is_like_last(level, end)) {
		struct pattern *last = &level->patterns[level->last - 1];

		level->wide = last->wide;
		return last;
	}
	hash_events(level, end);
	return find_pattern(level, is_new);
}

static struct pattern *note_pattern(struct level *level, uint64_t end, bool *is_new)
{
	struct pattern *pattern = pattern_of(level, end, is_new);

	pattern->used = ++level->clock ? level->clock : ++level->clock;
	level->row = pattern + 1 == level->patterns + level->last ? level->row + 1 : 1;
	pattern->in_phase++;
	pattern->in_rows += level->row > 1;
	pattern->length = (uint32_t)(begin_of(level, end) - begin_of(level, level->first));
	pattern->first = (uint32_t)level->first;
	pattern->begin = event_at(level, level->first);
	pattern->wide = level->wide;
	level->nr_known = *is_new ? 0 : level->nr_known + 1;
	return pattern;
}

/* The loop around this level's is over when there is none of its anchors for very long. */
static void end_upper(struct level *level, uint64_t now)
{
	struct level *upper = level + 1;

	if (level->number + 1 == SEGMENT_LEVELS || !upper->open)
		return;
	if (now - begin_of(upper, upper->first) > 8 * upper->longest_calls + LONG)
		end_phase(upper);
}

/* Ends the open iteration before the event `end`, which the anchor `next` completes. */
static void close_iteration(struct level *level, uint64_t end, unsigned next)
{
	bool is_new;
	uint16_t pattern = (uint16_t)(note_pattern(level, end, &is_new) - level->patterns);
	struct segment_iteration iteration = {
		.begin = begin_of(level, level->first),
		.end = begin_of(level, end),
		.ordinal = level->anchors[level->anchor].count,
		.phase = level->phase,
		.level = level->number,
		.pattern = (uint8_t)pattern,
		.is_new = is_new,
		.row = level->row,
		.is_loose = level->anchors[level->anchor].is_loose,
	};

	if (end - level->first > level->longest)
		level->longest = end - level->first;
	if (iteration.end - iteration.begin > level->longest_calls)
		level->longest_calls = iteration.end - iteration.begin;
	level->open = false;
	level->of->fn(level->of->arg, &iteration);
	if (level->row == 1 && level->number + 1 < SEGMENT_LEVELS)
		level_put(&level[1], (uint16_t)(pattern + 1), iteration.begin);
	level->last = (uint16_t)(pattern + 1);
	level->last_first = level->first;
	level->last_nr = end - level->first;
	end_upper(level, iteration.end);
	judge_anchor(level, level->anchor, is_new, next);
	drop_stale(level, end);
	if (++level->nr_iterations == level->next_review)
		review_anchor(level);
}

static void open_iteration(struct level *level, unsigned anchor, uint64_t at)
{
	struct anchor *of = &level->anchors[anchor];

	level->open = true;
	level->anchor = (uint8_t)anchor;
	of->count++;
	if (at > of->seen + of->longest)
		of->longest = at - of->seen;
	if (at > of->seen && !of->is_loose && has_loose(level, true))
		fasten_anchors(level);
	of->seen = at;
	level->first = level->hashed = at;
	level->hash = 0;
	level->wide = false;
}

/* The event belongs to the open iteration, or begins one. */
static void divide(struct level *level, uint64_t at)
{
	unsigned anchor = anchor_at(level, at);

	if (anchor < ANCHORS && level->open) {
		close_iteration(level, at, anchor);
		anchor = anchor_at(level, at);
	}
	if (anchor < ANCHORS)
		open_iteration(level, anchor, at);
	if (!level->open)
		return;
	if (at - level->hashed > level->mask / 2)
		hash_events(level, at + 1);
	if (at - level->first > longest_gap(level))
		end_phase(level);
}

/*
 * Returns the first event of a new phase: the anchor's first occurrence, as far back as there are
 * no long gaps between its occurrences.
 */
static uint64_t first_of_phase(struct level *level, struct anchor *anchor)
{
	uint64_t first = level->nr, least = level->undivided;

	if (level->nr > level->mask && least < level->nr - level->mask)
		least = level->nr - level->mask;
	for (uint64_t at = level->nr; at-- > least && first - at <= longest_gap(level);) {
		if (at + 1 - least < anchor->nr ||
		    !ends_with(level, at, anchor->events, anchor->nr))
			continue;
		first = at;
		anchor->count++;
	}
	return first;
}

/* Divides events of the history once more, or for the first time. */
static void divide_again(struct level *level, uint64_t first)
{
	for (uint64_t end = level->nr; first < end && level->nr_anchors; first++)
		divide(level, first);
}

static void begin_phase(struct level *level, uint32_t m, struct anchor *anchor)
{
	uint64_t first, occurrences = anchor->nr == 1 ? level->counts[anchor->events[0]] : 0;

	level->longest = m;
	if (level->begins)
		forget_counts(level - 1);
	first = first_of_phase(level, anchor);
	number_phase(level, first);
	anchor->count = occurrences > anchor->count ? occurrences - anchor->count : 0;
	anchor->seen = first;
	anchor->longest = m;
	level->anchors[0] = *anchor;
	level->nr_anchors = 1;
	note_anchors(level);
	divide_again(level, first);
}

static uint32_t count_event(const struct level *level, uint64_t first, uint16_t event)
{
	uint32_t nr = 0;

	for (; first < level->nr; first++)
		nr += event_at(level, first) == event;
	return nr;
}

/* Returns where to put another anchor: the place of the one that was seen longest ago, if all are
 * taken. */
static unsigned anchor_place(struct level *level)
{
	unsigned oldest = 0;

	if (level->nr_anchors < ANCHORS)
		return level->nr_anchors++;
	for (unsigned i = 1; i < ANCHORS; i++)
		if (level->anchors[i].seen < level->anchors[oldest].seen)
			oldest = i;
	return oldest;
}

/*
 * The open iteration contains another loop: it is several iterations. It may be a loop of the same
 * phase, or of the next one. So the anchor is loose until one of the phase occurs again, or none
 * has occurred for long.
 */
static void add_anchor(struct level *level, uint32_t m, struct anchor *anchor)
{
	uint64_t first = level->nr - level->first <= level->mask ? level->first : level->nr;

	if (anchor->nr == 1)
		anchor->count = level->counts[anchor->events[0]] -
		                count_event(level, first, anchor->events[0]);
	anchor->seen = first;
	anchor->longest = m;
	anchor->is_loose = true;
	if (level->open && first == level->first)
		level->anchors[level->anchor].count--;
	level->anchors[anchor_place(level)] = *anchor;
	note_anchors(level);
	if (!level->open)
		return;
	level->open = false;
	divide_again(level, first);
}

/* The stream has repeated itself with a period of m. */
static void lock(struct level *level, uint32_t m)
{
	struct anchor anchor;

	if (level->nr_anchors && level->nr - level->first <= m)
		return;
	if (!choose_anchor(level, m, &anchor))
		return;
	if (level->nr_anchors)
		add_anchor(level, m, &anchor);
	else
		begin_phase(level, m, &anchor);
}

/* --- one event ----------------------------------------------------------------------------------
 */

static void search(struct level *level, uint16_t event)
{
	uint32_t m;

	m = period_put(&level->period, event);
	if (m)
		lock(level, m);
	if (!--level->left)
		end_round(level);
}

/* Whether the loop is known so well that no other one is looked for. */
static bool is_settled(const struct level *level)
{
	return level->nr_anchors && level->nr_known >= ENOUGH_KNOWN &&
	       level->nr - level->first <= 2 * level->longest;
}

static void level_put(struct level *level, uint16_t event, uint64_t begin)
{
	uint64_t at = level->nr++;

	level->events[at & level->mask] = event;
	if (level->begins)
		level->begins[at & level->mask] = begin;
	count_events(level);
	if (level->nr_anchors)
		divide(level, at);
	if (level->pause) {
		level->pause--;
		return;
	}
	if (is_settled(level)) {
		level->searching = false;
		return;
	}
	if (!level->searching)
		restart_search(level);
	search(level, event);
}

/* --- events that need no look -------------------------------------------------------------------
 */

/* Takes the events before `end`, which needed no look: no decision depends on them. */
static void take_quiet(struct level *level, uint64_t end)
{
	uint32_t nr = (uint32_t)(end - level->nr);

	if (level->pause) {
		level->pause -= nr;
	} else if (level->searching) {
		for (uint64_t at = level->nr; at != end; at++)
			period_put(&level->period, event_at(level, at));
		level->left -= nr;
	}
	level->nr = end;
}

/* Returns the number of the next event at which the search has something to decide. */
static uint64_t next_search(const struct level *level)
{
	if (level->pause)
		return level->nr + level->pause;
	if (level->searching && level->left < PERIOD_BATCH)
		return level->nr;
	if (level->searching)
		return level->nr + PERIOD_BATCH - 1 - level->period.nr_next;
	return level->first + 2 * level->longest;
}

/* Events are taken before the hash or the counts of the level lack them. */
static uint64_t next_look(const struct level *level)
{
	uint64_t look = level->nr + MOST_QUIET, search = next_search(level);
	uint64_t gap = level->first + longest_gap(level) + 1;

	if (level->open && gap < look)
		look = gap;
	return search < look ? search : look;
}

/* Returns the event that ends an iteration and begins the next one, if nothing else may. */
static uint16_t repeating_event(const struct level *level)
{
	const struct anchor *anchor = &level->anchors[0];

	if (level->nr_anchors != 1 || anchor->nr != 1 || anchor->is_loose || !level->open ||
	    !level->last || level->searching || level->pause)
		return 0;
	return anchor->events[0];
}

/*
 * Takes an event that ends an iteration which is like the last one, and begins another one. Does
 * what close_iteration() and open_iteration() do, as far as anything changes then.
 */
static void repeat_last(struct level *level, uint64_t at, uint16_t event)
{
	struct pattern *pattern = &level->patterns[level->last - 1];
	struct anchor *anchor = &level->anchors[0];
	struct segment_iteration iteration = {
		.begin = level->first,
		.end = at,
		.ordinal = anchor->count,
		.phase = level->phase,
		.pattern = (uint8_t)(level->last - 1),
		.row = level->row + 1,
	};

	level->nr = at + 1;
	level->events[at & level->mask] = event;
	pattern->used = ++level->clock;
	pattern->first = (uint32_t)level->first;
	pattern->in_phase++;
	pattern->in_rows++;
	anchor->count++;
	anchor->seen = at;
	anchor->unknown <<= 1;
	anchor->apart = 0;
	level->row++;
	level->nr_known++;
	level->nr_iterations++;
	level->repeated++;
	level->counted = at + 1; /* in place of the first event, which is the same */
	level->last_first = level->first;
	level->first = level->hashed = at;
	level->of->fn(level->of->arg, &iteration);
	end_upper(level, at);
}

/* Whether repeat_last() does all that has to be done. */
static bool is_repeated(const struct level *level, uint64_t at, uint16_t event)
{
	return event == level->repeats && at != level->of->queue.look && level->clock + 1 &&
	       level->counted == level->first + 1 &&
	       level->nr_iterations + 1 != level->next_review && is_like_last(level, at);
}

struct segment_queue *segmenter_queue(struct segmenter *segmenter)
{
	return &segmenter->queue;
}

void segmenter_put(struct segmenter *segmenter, uint16_t event, bool wide)
{
	struct segment_queue *queue = &segmenter->queue;
	struct level *level = &segmenter->levels[0];

	if (wide)
		set_bit(segmenter->wide, event);
	if (segment_queue_put(queue, event))
		return;
	if (is_repeated(level, queue->nr, event)) {
		repeat_last(level, queue->nr, event);
	} else {
		take_quiet(level, queue->nr);
		level_put(level, event, 0);
		level->repeats = repeating_event(level);
	}
	queue->nr = level->nr;
	queue->look = next_look(level);
}

/* --- what a level is ----------------------------------------------------------------------------
 */

/* A loop's iterations mostly follow each other. */
static bool is_loop(const struct pattern *pattern)
{
	return pattern->in_phase >= MIN_LOOP && 2 * pattern->in_rows >= pattern->in_phase;
}

/* Whether iterations that follow each other begin with different events: there are several loops.
 */
static bool has_loops(const struct level *level)
{
	uint16_t first = 0;

	for (unsigned i = 0; i < SEGMENT_PATTERNS; i++) {
		if (!is_loop(&level->patterns[i]))
			continue;
		if (first && first != level->patterns[i].begin)
			return true;
		first = level->patterns[i].begin;
	}
	return false;
}

/* Iterations of a level's loop: rows of such, and the others, which are between two rows. */
struct rows {
	uint64_t rows, in_rows, length; /* of all in rows */
	uint64_t between, more;         /* their number, and their length */
	uint64_t wide;
};

static struct rows count_rows(const struct level *level)
{
	const struct pattern *most = main_pattern(level);
	struct rows rows = {0};

	for (unsigned i = 0; i < SEGMENT_PATTERNS; i++) {
		const struct pattern *pattern = &level->patterns[i];
		uint64_t length = (uint64_t)pattern->in_phase * pattern->length;

		if (pattern == most || is_loop(pattern)) {
			rows.rows += pattern->in_phase - pattern->in_rows;
			rows.in_rows += pattern->in_phase;
			rows.length += length;
		} else {
			rows.between += pattern->in_phase;
			rows.more += length;
			rows.wide += pattern->wide && !most->wide ? pattern->in_phase : 0;
		}
	}
	return rows;
}

bool segmenter_is_inner(const struct segmenter *segmenter, unsigned number)
{
	const struct level *level = &segmenter->levels[number];
	struct rows rows = count_rows(level);
	double length, more;

	if (!rows.in_rows || !rows.rows || has_loops(level))
		return rows.in_rows && rows.rows;
	length = (double)rows.length / (double)rows.in_rows;
	more = ((double)rows.more - length * (double)rows.between) / (double)rows.rows;
	if (main_pattern(level)->wide)
		return more >= 1.4 * length;
	return more >= length || (2 * rows.wide >= rows.rows && 4 * more >= length);
}

/* --- memory -------------------------------------------------------------------------------------
 */

size_t segmenter_bytes(void)
{
	return sizeof(struct segmenter) + period_bytes(PERIOD_MAX_DELAYS);
}

static void init_upper(struct segmenter *segmenter, unsigned i)
{
	struct level *level = &segmenter->levels[i + 1];

	*level = (struct level){
		.events = segmenter->upper_events[i],
		.begins = segmenter->upper_begins[i],
		.counts = segmenter->upper_counts[i],
		.mask = UPPER_HISTORY - 1,
	};
}

struct segmenter *segmenter_init(void *memory, bool pausing, segment_fn *fn, void *arg)
{
	struct segmenter *segmenter = memory;

	memset(segmenter, 0, sizeof(*segmenter));
	segmenter->fn = fn;
	segmenter->arg = arg;
	segmenter->pausing = pausing;
	segmenter->levels[0] = (struct level){
		.events = segmenter->queue.events,
		.counts = segmenter->counts,
		.mask = SEGMENT_HISTORY - 1,
	};
	for (unsigned i = 0; i < SEGMENT_LEVELS - 1; i++)
		init_upper(segmenter, i);
	for (unsigned i = 0; i < SEGMENT_LEVELS; i++) {
		segmenter->levels[i].of = segmenter;
		segmenter->levels[i].number = (uint8_t)i;
		restart_search(&segmenter->levels[i]);
	}
	note_anchors(segmenter->levels);
	return segmenter;
}
