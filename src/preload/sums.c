#include "preload/sums.h"

#include "preload/sites.h"
#include "preload/write.h"

#include <math.h>

/* --- rows ------------------------------------------------------------------------------------- */

static size_t first_place(const struct ring_sum *key)
{
	uint64_t hash = ((uint64_t)key->region << 40 ^ (uint64_t)key->comm << 20 ^
	                 (uint64_t)key->site << 50 ^ (uint32_t)key->peer) *
	                0x9e3779b97f4a7c15;

	return hash >> (64 - __builtin_ctzll(SUM_PLACES));
}

static bool is_row_of(const struct ring_sum *row, const struct ring_sum *key)
{
	return row->region == key->region && row->site == key->site && row->comm == key->comm &&
	       row->peer == key->peer;
}

/* The index is twice as large as the sums, so that it always has a free place. */
static uint16_t *find_place(const struct thread *thread, const struct ring_sum *key)
{
	uint16_t *places = thread->known->sum_places;

	for (size_t i = first_place(key);; i++) {
		uint16_t *place = &places[i % SUM_PLACES];

		if (!*place || is_row_of(&thread->sums[*place], key))
			return place;
	}
}

/* Rows of a peer and a site may fill half of them, and the less a row says, the more it may fill.
 */
static bool has_room(const struct thread *thread, const struct ring_sum *key)
{
	bool peer = key->peer != CALL_NO_PEER;
	uint32_t eighths = peer ? (key->site ? 4 : 6) : (key->site ? 7 : 8);

	return thread->ring->nr_sums < thread->max_sums / 8 * eighths;
}

/* Returns the number of a row, or 0, the row for what finds no room. */
static uint32_t find_row(const struct thread *thread, const struct ring_sum *key)
{
	uint16_t *place = find_place(thread, key);
	uint32_t nr = thread->ring->nr_sums;

	if (*place)
		return *place;
	if (!has_room(thread, key))
		return 0;
	thread->sums[nr] = *key;
	*place = (uint16_t)nr;
	/* Pairs with the recorder's acquire: it sees the key. */
	__atomic_store_n(&thread->ring->nr_sums, nr + 1, __ATOMIC_RELEASE);
	return nr;
}

/* Returns the row that says most of those that there is room for. */
static struct ring_sum *row_of(const struct thread *thread, uint32_t site, uint32_t region,
                               uint32_t comm, int32_t peer)
{
	struct ring_sum keys[] = {
		{.region = region, .site = site, .comm = comm, .peer = peer},
		{.region = region, .comm = comm, .peer = peer},
		{.region = region, .site = site, .peer = CALL_NO_PEER},
		{.region = region, .peer = CALL_NO_PEER},
	};
	uint32_t row = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && !row; i++)
		row = find_row(thread, &keys[i]);
	return &thread->sums[row];
}

struct ring_sum *sums_region(const struct thread *thread, uint32_t region)
{
	return row_of(thread, 0, region, 0, CALL_NO_PEER);
}

/* --- steps ------------------------------------------------------------------------------------ */

static bool is_counted(uint64_t part)
{
	return call_part_moves(part & 0xff) & PART_COUNTED;
}

/* Returns the row that a message adds to. */
static struct ring_sum *row_of_part(const struct thread *thread, uint32_t site, uint64_t part)
{
	return row_of(thread, site, ring_head_number(thread->made), part >> 8 & 0xffffff,
	              (int32_t)(part >> 32));
}

static void add_move(uint64_t *moved, const uint64_t *part)
{
	unsigned type = *part & 0xff, moves = call_part_moves(type);
	const uint64_t *bytes = part + 1 + !!(ring_part_fields(type) & PART_TAG);

	if (moves & PART_OUT) {
		moved[RING_SENT] += !!(moves & PART_COUNTED);
		moved[RING_BYTES] += *bytes;
	}
	if (moves & PART_IN) {
		moved[RING_RECEIVED] += !!(moves & PART_COUNTED);
		moved[RING_BYTES_IN] += moves & PART_OUT ? bytes[1] : *bytes;
	}
}

static struct sum_step *find_step(struct sum_step *steps, unsigned *nr, struct ring_sum *row)
{
	for (unsigned i = 0; i < *nr; i++)
		if (steps[i].row == row)
			return &steps[i];
	steps[*nr] = (struct sum_step){.row = row};
	return &steps[(*nr)++];
}

/* The row of the first message, or of none where the call has none. */
static struct ring_sum *row_of_call(const struct thread *thread, uint32_t site)
{
	for (size_t at = 0; at < thread_part_words(thread);
	     at += ring_part_words(thread->parts[at] & 0xff)) {
		if (is_counted(thread->parts[at]))
			return row_of_part(thread, site, thread->parts[at]);
	}
	return row_of(thread, site, ring_head_number(thread->made), 0, CALL_NO_PEER);
}

unsigned sums_find(const struct thread *thread, struct sum_step *steps)
{
	uint32_t site = site_number(thread->site);
	unsigned nr = 1;

	steps[0] = (struct sum_step){.row = row_of_call(thread, site)};
	for (size_t at = 0; at < thread_part_words(thread);
	     at += ring_part_words(thread->parts[at] & 0xff)) {
		const uint64_t *part = &thread->parts[at];
		struct sum_step *step = steps;

		if (is_counted(*part))
			step = find_step(steps, &nr, row_of_part(thread, site, *part));
		add_move(step->moved, part);
	}
	return nr;
}

void sums_add_weighted(const struct thread *thread, struct ring_sum *row, uint64_t duration)
{
	uint64_t weight = thread->weight;
	double extra = (double)weight * (double)(weight - 1), ticks = (double)duration;

	row->untimed -= (int64_t)(weight - 1);
	row->ticks += weight * duration;
	row->extra += extra;
	row->extra_ticks += extra * ticks;
	row->extra_squares += extra * ticks * ticks;
	if (duration > row->longest)
		row->longest = duration;
}

/* --- values ----------------------------------------------------------------------------------- */

static void add_value(struct ring_values *values, double value, uint64_t ticks)
{
	if (!isfinite(value))
		return;
	if (!values->nr || value < values->least)
		values->least = value;
	if (!values->nr || value > values->most)
		values->most = value;
	values->last = value;
	values->last_ticks = ticks;
	values->sum += value;
	values->nr++;
}

static void add_valued(const struct thread *thread, uint64_t ticks)
{
	struct ring_sum *row = sums_region(thread, ring_head_number(thread->made));
	double value;

	row->calls++;
	if (row == thread->sums)
		return;
	memcpy(&value, &thread->parts[1], sizeof(value));
	add_value(&row->values, value, ticks);
}

void sums_add(struct thread *thread, uint64_t enter, uint64_t leave)
{
	struct sum_step steps[RING_MAX_PARTS + 1];
	unsigned nr;

	if (thread_has_value(thread)) {
		add_valued(thread, enter);
		return;
	}
	nr = sums_find(thread, steps);
	if (!(ring_head_flags(thread->made) & RING_CONTINUED))
		sums_add_time(thread, steps[0].row, leave - enter);
	for (unsigned i = 0; i < nr; i++)
		sums_add_moved(&steps[i]);
}
