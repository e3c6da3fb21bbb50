#include "record/calls/calls_iterations.h"

#include "base/array.h"

#include <stdlib.h>

void calls_iterations_fini(struct calls_iterations *iterations)
{
	map64_fini(&iterations->threads);
	free(iterations->ends);
	*iterations = (struct calls_iterations){0};
}

void calls_iterations_restart(struct calls_iterations *iterations)
{
	for (uint32_t i = 0; i < iterations->nr; i++)
		iterations->ends[i] = (struct iterations_end){.entry = UINT32_MAX};
	iterations->dropped = 0;
}

static struct iterations_end *find_end(struct calls_iterations *iterations, uint32_t thread)
{
	uint32_t number = map64_number(&iterations->threads, thread);
	const struct iterations_end none = {.entry = UINT32_MAX};

	if (number == UINT32_MAX ||
	    (number >= iterations->nr && ARRAY_ADD(iterations->ends, iterations->nr, none)))
		return NULL;
	return &iterations->ends[number];
}

static uint8_t level_of(const struct calls_iteration *iteration)
{
	return (uint8_t)((iteration->level & TRACE_ITERATIONS_LEVEL) |
	                 (iteration->flags & RING_ITERATION_LOOSE ? TRACE_ITERATIONS_LOOSE : 0));
}

/* Returns where an entry has room for the level of an iteration. */
static unsigned free_level(const struct trace_iterations *entry)
{
	unsigned i = 0;

	while (i < TRACE_ITERATIONS_LEVELS && entry->levels[i].at != TRACE_ITERATIONS_NONE)
		i++;
	return i;
}

static bool has_other_level(const struct calls_iteration *iteration, unsigned stored_level)
{
	return iteration->flags & RING_ITERATION_STORED &&
	       stored_level != lambda_random(iteration->ordinal);
}

/*
 * An entry says how far the thread was before it. Readers need that where stored calls go on behind
 * dropped ones. Where many iterations are stored, those of the lowest level, whose calls are those
 * of their pattern, do without it: an entry for each would be as large as their calls. Others have
 * such entries only where that leaves room for all iterations.
 */
static bool needs_point(const struct calls_iterations *iterations, const struct tables *tables,
                        const struct iterations_end *end, const struct calls_iteration *iteration)
{
	if (!(iteration->flags & RING_ITERATION_STORED) || end->stored)
		return false;
	return iterations->few || (iteration->level && tables_section(tables, TRACE_ITERATIONS).nr <
	                                                       TABLES_MAX_ITERATIONS / 4);
}

static bool follows(const struct trace_iterations *entry, const struct iterations_end *end,
                    const struct calls_iteration *iteration)
{
	return entry && entry->nr < trace_iterations_room(entry) &&
	       entry->phase == iteration->phase &&
	       (entry->level & ~TRACE_ITERATIONS_IS_ROUGH) == level_of(iteration) &&
	       iteration->begin_ticks == end->ticks && iteration->ordinal == end->ordinal + 1 &&
	       !(iteration->flags & RING_ITERATION_STORED && trace_iterations_are_rough(entry));
}

/* There is room for it. */
static void add_level(struct trace_iterations *entry, unsigned stored_level)
{
	unsigned i = free_level(entry);

	entry->levels[i].level = (uint8_t)stored_level;
	entry->levels[i].at = entry->nr;
}

/* The end is that of the sum of all durations, so that errors do not add up. */
static void add_duration(struct trace_iterations *entry, struct iterations_end *end,
                         const struct calls_iteration *iteration)
{
	uint64_t duration = iteration->end > end->time ? iteration->end - end->time : 0;
	unsigned flags = iteration->flags;

	trace_iteration_set(entry, entry->nr, duration,
	                    (iteration->pattern & TRACE_ITERATION_PATTERN) |
	                            (flags & RING_ITERATION_STORED ? TRACE_ITERATION_STORED : 0U) |
	                            (flags & RING_ITERATION_SLOW ? TRACE_ITERATION_SLOW : 0U));
	end->time += trace_iteration_ns(entry, entry->nr);
	entry->calls += iteration->calls;
	__atomic_store_n(&entry->nr, (uint8_t)(entry->nr + 1), __ATOMIC_RELEASE);
}

/* Where few iterations are stored, entries are long that begin with others. */
static struct trace_iterations *begin_entry(const struct calls_iterations *iterations,
                                            struct tables *tables, struct iterations_end *end,
                                            uint32_t thread,
                                            const struct calls_iteration *iteration)
{
	bool rough = iterations->few && !(iteration->flags & RING_ITERATION_STORED);
	struct trace_iterations fresh = {
		.begin = iteration->begin,
		.thread = thread,
		.phase = iteration->phase,
		.ordinal = iteration->ordinal,
		.collectives = iteration->has_point && iteration->collectives < TRACE_NO_POINT
	                               ? (uint32_t)iteration->collectives
	                               : TRACE_NO_POINT,
		.balance = iteration->balance,
		.level = (uint8_t)(level_of(iteration) | (rough ? TRACE_ITERATIONS_IS_ROUGH : 0)),
	};

	for (unsigned i = 0; i < TRACE_ITERATIONS_LEVELS; i++)
		fresh.levels[i].at = TRACE_ITERATIONS_NONE;
	end->entry = tables_add_iterations(tables, &fresh);
	end->time = iteration->begin;
	return tables_iterations(tables, end->entry);
}

void calls_iterations_add(struct calls_iterations *iterations, struct tables *tables,
                          uint32_t thread, const struct calls_iteration *iteration,
                          unsigned stored_level)
{
	const bool other = has_other_level(iteration, stored_level);
	struct iterations_end *end = find_end(iterations, thread);
	struct trace_iterations *entry = end ? tables_iterations(tables, end->entry) : NULL;

	if (end &&
	    (!follows(entry, end, iteration) || needs_point(iterations, tables, end, iteration) ||
	     (other && free_level(entry) == TRACE_ITERATIONS_LEVELS)))
		entry = begin_entry(iterations, tables, end, thread, iteration);
	if (!entry) {
		tables_run(tables)->left_iterations++;
		return;
	}
	if (other)
		add_level(entry, stored_level);
	add_duration(entry, end, iteration);
	end->ticks = iteration->end_ticks;
	end->ordinal = iteration->ordinal;
	end->stored = iteration->flags & RING_ITERATION_STORED;
}
