#include "record/calls/calls_sums.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t calls_sums_thread(struct calls_process *process, unsigned thread, uint64_t now,
                           const struct calls_sink *sink)
{
	struct calls_sums *sums = &process->sums[thread];

	if (!sums->thread && sink->thread)
		sums->thread = sink->thread(sink->arg, process,
		                            (pid_t)process->shared->threads[thread].tid, now) +
		               1;
	return sums->thread;
}

static uint32_t count_rows(const struct calls_process *process, unsigned thread)
{
	uint32_t nr = __atomic_load_n(&process->shared->threads[thread].nr_sums, __ATOMIC_ACQUIRE);

	return nr < ring_max_sums(thread) ? nr : ring_max_sums(thread);
}

/* --- adding ----------------------------------------------------------------------------------- */

static void add_longest(struct trace_call_sum *to, uint64_t time)
{
	if (time > to->longest)
		to->longest = time;
}

static void add_moved(struct trace_call_sum *to, const struct ring_sum *now,
                      const struct ring_sum *seen)
{
	to->sent += now->moved[RING_SENT] - seen->moved[RING_SENT];
	to->bytes += now->moved[RING_BYTES] - seen->moved[RING_BYTES];
	to->received += now->moved[RING_RECEIVED] - seen->moved[RING_RECEIVED];
	to->bytes_in += now->moved[RING_BYTES_IN] - seen->moved[RING_BYTES_IN];
}

static void add_times(struct trace_call_sum *to, const struct ring_sum *now,
                      const struct ring_sum *seen, double rate)
{
	to->polls += now->polls - seen->polls;
	to->time += calls_clock_duration(rate, now->ticks - seen->ticks);
	add_longest(to, calls_clock_duration(rate, now->longest));
	to->untimed += now->untimed - seen->untimed;
	if (!isfinite(now->extra) || !isfinite(now->extra_ticks) || !isfinite(now->extra_squares))
		return;
	to->extra += now->extra - seen->extra;
	to->extra_time += rate * (now->extra_ticks - seen->extra_ticks);
	to->extra_squares += rate * rate * (now->extra_squares - seen->extra_squares);
}

static void add_values(struct trace_value_sum *to, const struct ring_values *now,
                       const struct ring_values *seen, const struct calls_clock *clock)
{
	uint64_t time;

	if (now->nr == seen->nr || !isfinite(now->sum))
		return;
	time = calls_clock_ns(clock, now->last_ticks);
	if (!to->nr || now->least < to->least)
		to->least = now->least;
	if (!to->nr || now->most > to->most)
		to->most = now->most;
	if (!to->nr || time >= to->last_time) {
		to->last = now->last;
		to->last_time = time;
	}
	to->sum += now->sum - seen->sum;
	to->nr += now->nr - seen->nr;
}

static bool is_value(const struct calls_process *process, uint32_t region)
{
	return tables_region(process->names->tables, region)->region_class == TRACE_VALUE;
}

/*
 * Finds the trace's numbers for a row. Returns false if a definition was not read yet; the last
 * time that a row is read, its communicator and its site may stay unknown.
 */
static bool find_entries(const struct calls_process *process, const struct ring_sum *row, bool last,
                         struct trace_call_sum *key)
{
	key->region = calls_process_region(process, row->region);
	key->comm = calls_process_comm(process, row->comm);
	key->site = calls_process_site(process, row->site);
	key->peer = row->peer;
	return key->region != NO_ENTRY &&
	       (last || ((key->comm || !row->comm) && (key->site || !row->site)));
}

static void add_row(struct calls_process *process, struct trace_call_sum *to,
                    const struct ring_sum *now, const struct ring_sum *seen)
{
	to->calls += now->calls - seen->calls;
	to->unfinished += now->unfinished - seen->unfinished;
	if (is_value(process, to->region)) {
		add_values(&to->values, &now->values, &seen->values, process->clock);
		return;
	}
	add_times(to, now, seen, calls_clock_rate(process->clock));
	add_moved(to, now, seen);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* A row that finds no place in the trace is not seen, so that it is counted at the end. */
static void read_row(struct calls_process *process, uint32_t thread, bool last,
                     const struct ring_sum *row, struct ring_sum *seen)
{
	struct trace_call_sum key = {.thread = thread}, *to;

	if (!find_entries(process, row, last, &key))
		return;
	to = calls_names_sum(process->names, &key);
	if (!to)
		return;
	add_row(process, to, row, seen);
	*seen = *row;
}

/* Sums of values are in the same words as times and messages. */
static bool has_changed(const struct ring_sum *now, const struct ring_sum *seen)
{
	return now->calls != seen->calls || now->ticks != seen->ticks ||
	       memcmp(now->moved, seen->moved, sizeof(now->moved)) != 0;
}

static struct ring_sum *rows_of(const struct calls_process *process, unsigned thread)
{
	return (struct ring_sum *)(void *)((char *)process->shared + ring_sums_offset(thread));
}

static void read_rows(struct calls_process *process, unsigned thread, uint64_t now, bool last,
                      const struct calls_sink *sink)
{
	struct calls_sums *sums = &process->sums[thread];
	uint32_t nr = count_rows(process, thread);

	if (calls_clock_rate(process->clock) <= 0 || ARRAY_RESERVE_ZEROED(sums->seen, sums->nr, nr))
		return;
	for (uint32_t i = 0; i < nr; i++) {
		struct ring_sum row;

		calls_copy_words(&row, &rows_of(process, thread)[i], sizeof(row));
		if (has_changed(&row, &sums->seen[i]) &&
		    calls_sums_thread(process, thread, now, sink))
			read_row(process, sums->thread - 1, last, &row, &sums->seen[i]);
	}
}

void calls_sums_read(struct calls_process *process, unsigned thread, uint64_t now,
                     const struct calls_sink *sink)
{
	read_rows(process, thread, now, false, sink);
}

void calls_sums_add_unfinished(struct calls_process *process, unsigned thread, uint32_t region,
                               uint64_t duration, const struct calls_sink *sink)
{
	uint32_t found = calls_sums_thread(process, thread, process->since, sink);
	const struct trace_call_sum key = {
		.thread = found - 1, .region = region, .peer = CALL_NO_PEER};
	struct trace_call_sum *to = found ? calls_names_sum(process->names, &key) : NULL;

	if (!to) {
		tables_run(process->names->tables)->unsummed_calls++;
		return;
	}
	to->calls++;
	to->unfinished++;
	if (is_value(process, region))
		return;
	to->time += duration;
	add_longest(to, duration);
}

int calls_sums_prepare_restart(struct calls_process *process, unsigned thread)
{
	struct calls_sums *sums = &process->sums[thread];

	return ARRAY_RESERVE_ZEROED(sums->seen, sums->nr, count_rows(process, thread));
}

/* The target keeps these extremes, and may replace them at the same time. */
static void restart_extremes(const struct calls_process *process, struct ring_sum *row)
{
	double least = INFINITY, most = -INFINITY;
	const uint32_t region = calls_process_region(process, row->region);

	if (region == NO_ENTRY)
		return;
	if (!is_value(process, region)) {
		__atomic_store_n(&row->longest, 0, __ATOMIC_RELAXED);
		return;
	}
	__atomic_store(&row->values.least, &least, __ATOMIC_RELAXED);
	__atomic_store(&row->values.most, &most, __ATOMIC_RELAXED);
}

void calls_sums_restart(struct calls_process *process, unsigned thread)
{
	struct calls_sums *sums = &process->sums[thread];
	uint32_t nr = count_rows(process, thread);

	sums->thread = 0;
	for (uint32_t i = 0; i < nr && i < sums->nr; i++) {
		struct ring_sum *row = &rows_of(process, thread)[i];

		restart_extremes(process, row);
		calls_copy_words(&sums->seen[i], row, sizeof(*row));
	}
}

static uint64_t count_unsummed(const struct calls_process *process, unsigned thread)
{
	const struct calls_sums *sums = &process->sums[thread];
	uint32_t nr = count_rows(process, thread);
	uint64_t calls = 0;

	for (uint32_t i = 0; i < nr; i++)
		calls += rows_of(process, thread)[i].calls -
		         (i < sums->nr ? sums->seen[i].calls : 0);
	return calls;
}

void calls_sums_end(struct calls_process *process, unsigned thread, uint64_t now,
                    const struct calls_sink *sink)
{
	read_rows(process, thread, now, true, sink);
	tables_run(process->names->tables)->unsummed_calls += count_unsummed(process, thread);
	free(process->sums[thread].seen);
	process->sums[thread] = (struct calls_sums){0};
}
