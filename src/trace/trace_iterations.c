#include "trace/trace_iterations.h"

#include "base/array.h"
#include "hmb/lambda.h"

#include <errno.h>
#include <stdlib.h>

static int compare_entries(const void *a, const void *b)
{
	const struct trace_iterations *x = *(const struct trace_iterations *const *)a;
	const struct trace_iterations *y = *(const struct trace_iterations *const *)b;

	return ORDER(x->thread, y->thread) ?: ORDER(x->begin, y->begin) ?: ORDER(x->phase, y->phase);
}

unsigned trace_iteration_level(const struct trace_iterations *entry, unsigned at)
{
	for (unsigned i = 0; i < TRACE_ITERATIONS_LEVELS; i++)
		if (entry->levels[i].at == at)
			return entry->levels[i].level;
	return lambda_random((uint64_t)entry->ordinal + at);
}

unsigned trace_calls_floor(const struct trace *trace)
{
	const struct trace_event *kind;
	unsigned floor = 0;

	for (uint32_t i = 0; (kind = trace_kind(trace, i)); i++)
		if (kind->unit == TRACE_CALLS && kind->floor > floor)
			floor = kind->floor;
	return floor;
}

static unsigned level_of(const struct trace_iterations *entry)
{
	return entry->level & TRACE_ITERATIONS_LEVEL;
}

static bool is_loose(const struct trace_iterations *entry)
{
	return entry->level & TRACE_ITERATIONS_LOOSE;
}

/*
 * Loose iterations belong to the phase that those behind them have. Entries are looked at from the
 * last one on; `next` has the phases of the thread's later ones, by level.
 */
static void find_phase(struct iteration_index *index, uint32_t at, uint32_t *next)
{
	const struct trace_iterations *entry = index->entries[at];
	unsigned level = level_of(entry);

	if (at + 1 < index->nr && index->entries[at + 1]->thread != entry->thread)
		for (unsigned i = 0; i <= TRACE_ITERATIONS_LEVEL; i++)
			next[i] = 0;
	if (!is_loose(entry) || !next[level])
		next[level] = entry->phase;
	index->phases[at] = next[level];
}

int iteration_index_init(struct iteration_index *index, const struct trace *trace)
{
	uint32_t nr = trace_nr(trace, TRACE_ITERATIONS), next[TRACE_ITERATIONS_LEVEL + 1] = {0};

	*index = (struct iteration_index){
		.trace = trace,
		.entries = calloc(nr + 1UL, sizeof(const struct trace_iterations *)),
		.phases = calloc(nr + 1UL, sizeof(uint32_t)),
		.floor = trace_calls_floor(trace),
	};
	if (!index->entries || !index->phases)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct trace_iterations *entry = trace_iterations(trace, i);

		if (entry->nr && entry->nr <= trace_iterations_room(entry))
			index->entries[index->nr++] = entry;
	}
	ARRAY_SORT(index->entries, index->nr, compare_entries);
	for (uint32_t i = index->nr; i-- > 0;)
		find_phase(index, i, next);
	return 0;
}

void iteration_index_fini(struct iteration_index *index)
{
	free(index->entries);
	free(index->phases);
	*index = (struct iteration_index){0};
}

/* Returns the number of entries of the threads before this one. */
static uint32_t entries_before(const struct iteration_index *index, uint64_t thread)
{
	return (uint32_t)ARRAY_PARTITION(index->entries, index->nr, entry,
	                                 (*entry)->thread < thread);
}

void iteration_cursor_init(struct iteration_cursor *cursor, const struct iteration_index *index,
                           uint32_t thread)
{
	uint32_t first = entries_before(index, thread);

	*cursor = (struct iteration_cursor){
		.index = index,
		.entry = first,
		.end = entries_before(index, thread + UINT64_C(1)),
	};
	if (cursor->entry < cursor->end)
		cursor->begin = index->entries[first]->begin;
}

bool iteration_cursor_next(struct iteration_cursor *cursor, struct trace_iteration *iteration)
{
	const struct trace_iterations *entry;
	unsigned flags;

	if (cursor->entry >= cursor->end)
		return false;
	entry = cursor->index->entries[cursor->entry];
	flags = trace_iteration_pattern(entry, cursor->at);
	*iteration = (struct trace_iteration){
		.begin = cursor->begin,
		.end = cursor->begin + trace_iteration_ns(entry, cursor->at),
		.thread = entry->thread,
		.phase = cursor->index->phases[cursor->entry],
		.ordinal = entry->ordinal + cursor->at,
		.calls = (entry->calls + entry->nr / 2U) / entry->nr,
		.level = (uint8_t)level_of(entry),
		.pattern = flags & TRACE_ITERATION_PATTERN,
		.stored = flags & TRACE_ITERATION_STORED &&
	                  trace_iteration_level(entry, cursor->at) >= cursor->index->floor,
		.slow = flags & TRACE_ITERATION_SLOW,
		.has_point = !cursor->at && entry->collectives != TRACE_NO_POINT,
		.collectives = entry->collectives,
		.balance = entry->balance,
	};
	cursor->begin = iteration->end;
	if (++cursor->at < entry->nr)
		return true;
	cursor->at = 0;
	if (++cursor->entry < cursor->end)
		cursor->begin = cursor->index->entries[cursor->entry]->begin;
	return true;
}

static bool continues(const struct iteration_span *span, const struct trace_iteration *next)
{
	return !span->first.stored && !next->stored && next->phase == span->first.phase &&
	       next->level == span->first.level &&
	       next->ordinal == span->first.ordinal + (uint32_t)span->nr;
}

bool iteration_cursor_next_span(struct iteration_cursor *cursor, struct iteration_span *span)
{
	struct iteration_cursor ahead;
	struct trace_iteration next;

	if (!iteration_cursor_next(cursor, &span->first))
		return false;
	span->end = span->first.end;
	span->nr = 1;
	ahead = *cursor;
	while (iteration_cursor_next(&ahead, &next) && continues(span, &next)) {
		span->end = next.end;
		span->nr++;
		*cursor = ahead;
	}
	return true;
}

/* --- the iterations of calls ------------------------------------------------------------------ */

/* Two conversions of one time differ by up to 250 ns, mostly by less than 50, and by up to 2 us
 * where the recorder read them far apart. Calls are rarely nearer than 250 ns. */
#define CLOCK_ERROR  250
#define SAME_TIME    50
#define CLOCK_BEHIND 2000

static uint64_t key_of(const struct call *call)
{
	uint64_t key = lambda_mix((uint64_t)call->site << 32 | call->region);
	const struct call_part *part = call->parts;
	unsigned fields = call->nr_parts ? call_part_fields(part->type) : 0;

	if (fields & PART_COMM)
		key = lambda_mix(key ^ part->comm);
	if (fields & PART_PEER)
		key = lambda_mix(key ^ (uint32_t)part->peer);
	return fields & PART_TAG ? lambda_mix(key ^ (uint32_t)part->tag) : key;
}

static bool is_anchor(const struct iteration_follower *follower, uint64_t key)
{
	for (unsigned i = 0; i < follower->nr_anchors && i < ITERATION_ANCHORS; i++)
		if (follower->anchors[i] == key)
			return true;
	return false;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

bool iterations_adjoin(const struct trace_iteration *first, const struct trace_iteration *second)
{
	uint64_t rounding = (first->end - first->begin) >> (TRACE_ROUGH_BITS - 1);

	return distance(first->end, second->begin) <= rounding + CLOCK_BEHIND;
}

static void next_iteration(struct iteration_follower *follower)
{
	follower->open = false;
	follower->more = iteration_cursor_next(&follower->cursor, &follower->iteration);
	follower->boundary = follower->more ? follower->iteration.begin : UINT64_MAX;
}

void iteration_follower_init(struct iteration_follower *follower,
                             const struct iteration_index *index, uint32_t thread)
{
	*follower = (struct iteration_follower){0};
	iteration_cursor_init(&follower->cursor, index, thread);
	next_iteration(follower);
}

static bool next_is_stored(const struct iteration_follower *follower)
{
	struct iteration_cursor ahead = follower->cursor;
	struct trace_iteration next;

	return iteration_cursor_next(&ahead, &next) && next.stored;
}

static bool is_at(const struct iteration_follower *follower, const struct call *call)
{
	if (distance(call->enter, follower->boundary) > CLOCK_ERROR)
		return call->enter > follower->boundary;
	/* Calls of an iteration that is not stored are not there: it is passed. */
	if (!follower->iteration.stored)
		return true;
	if (follower->open && !next_is_stored(follower))
		return false;
	/* A little before the boundary a call may be the last one of the iteration before. */
	return !follower->nr_anchors || call->enter + SAME_TIME >= follower->boundary ||
	       is_anchor(follower, key_of(call));
}

bool iteration_is_due(const struct iteration_follower *follower, const struct call *call)
{
	return follower->more && is_at(follower, call);
}

/* The call at the time of a begin is one with which iterations begin. */
static void learn_anchor(struct iteration_follower *follower, const struct call *call)
{
	uint64_t most = follower->nr_anchors ? SAME_TIME : CLOCK_BEHIND;

	if (distance(call->enter, follower->boundary) <= most && !is_anchor(follower, key_of(call)))
		follower->anchors[follower->nr_anchors++ % ITERATION_ANCHORS] = key_of(call);
}

void iteration_pass(struct iteration_follower *follower, const struct call *call)
{
	if (call)
		learn_anchor(follower, call);
	if (follower->open) {
		next_iteration(follower);
	} else {
		follower->open = true;
		follower->boundary = follower->iteration.end;
	}
}
