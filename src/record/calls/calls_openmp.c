#include "record/calls/calls_openmp.h"

#include "record/calls/calls_sums.h"
#include "base/array.h"
#include "base/frame.h"

#define ALL_THREADS UINT32_MAX

static struct ring_team_sum *rows_of(const struct calls_process *process)
{
	return (struct ring_team_sum *)(void *)((char *)process->shared + ring_team_sums_offset());
}

static uint32_t count_rows(const struct calls_process *process)
{
	/* Pairs with the target's release: the keys of the rows are there. */
	uint32_t nr = __atomic_load_n(&process->shared->nr_team_sums, __ATOMIC_ACQUIRE);

	return nr < RING_MAX_TEAM_SUMS ? nr : RING_MAX_TEAM_SUMS;
}

static void find_frame(struct calls_process *process, uint32_t number, struct trace_openmp *to,
                       const struct calls_sink *sink)
{
	uint64_t address = process->openmp.addresses[number - RING_PARALLELS], frame;

	if (to->module || !sink->frame)
		return;
	frame = sink->frame(sink->arg, process, address);
	to->module = frame_module(frame);
	to->offset = to->module ? frame_offset(frame) : 0;
}

static void add_row(struct trace_openmp *to, const struct ring_team_sum *now,
                    const struct ring_team_sum *seen, double rate)
{
	to->time += calls_clock_duration(rate, now->ticks - seen->ticks);
	to->covered += calls_clock_duration(rate, now->covered - seen->covered);
	to->threads += now->threads - seen->threads;
	if (now->most_threads > to->most_threads)
		to->most_threads = now->most_threads;
	to->idle += calls_clock_duration(rate, now->idle - seen->idle);
	to->barrier_wait += calls_clock_duration(rate, now->barrier - seen->barrier);
	to->critical_wait += calls_clock_duration(rate, now->critical - seen->critical);
	to->work += calls_clock_duration(rate, now->work - seen->work);
	to->longest_work += calls_clock_duration(rate, now->longest - seen->longest);
	to->mean_work += calls_clock_duration(rate, now->mean - seen->mean);
	to->count += now->count - seen->count;
}

/* Returns the number + 1 of the trace's sum for a row; 0: its region or thread is not known yet. */
static uint32_t find_sum(struct calls_process *process, uint64_t now, const struct calls_sink *sink,
                         const struct ring_team_sum *row)
{
	uint32_t region, thread;

	if (row->region - RING_PARALLELS >= RING_MAX_PARALLELS || row->thread >= RING_MAX_THREADS)
		return 0;
	region = calls_process_region(process, row->region);
	thread = region == NO_ENTRY ? 0 : calls_sums_thread(process, row->thread, now, sink);
	return thread ? calls_names_openmp(process->names, thread - 1, region) + 1 : 0;
}

/* The process lives from when it loaded the library until now. */
static void note_life(const struct calls_process *process, struct trace_openmp *to, uint64_t now)
{
	uint64_t from = process->shared->loaded - process->shared->ahead;

	to->from = from && from < process->since ? from : process->since;
	if (to->from < process->restarted)
		to->from = process->restarted;
	if (now > to->to)
		to->to = now;
}

static void read_row(struct calls_process *process, uint64_t now, const struct calls_sink *sink,
                     const struct ring_team_sum *row, struct calls_team *team)
{
	struct trace_openmp *to;

	if (row->count != team->seen.count)
		team->to = find_sum(process, now, sink, row);
	to = team->to ? tables_openmp(process->names->tables, team->to - 1) : NULL;
	if (!to)
		return;
	find_frame(process, row->region, to, sink);
	note_life(process, to, now);
	if (row->count == team->seen.count)
		return;
	add_row(to, row, &team->seen, calls_clock_rate(process->clock));
	team->seen = *row;
}

static void read_rows(struct calls_process *process, uint32_t thread, uint64_t now,
                      const struct calls_sink *sink)
{
	uint32_t nr = count_rows(process);
	struct calls_openmp *openmp = &process->openmp;

	if (!nr || calls_clock_rate(process->clock) <= 0 ||
	    ARRAY_RESERVE_ZEROED(openmp->teams, openmp->nr, nr))
		return;
	for (uint32_t i = 0; i < nr; i++) {
		struct ring_team_sum row;

		calls_copy_words(&row, &rows_of(process)[i], sizeof(row));
		if (thread == ALL_THREADS || row.thread == thread)
			read_row(process, now, sink, &row, &openmp->teams[i]);
	}
}

void calls_openmp_read(struct calls_process *process, uint64_t now, const struct calls_sink *sink)
{
	read_rows(process, ALL_THREADS, now, sink);
}

void calls_openmp_end(struct calls_process *process, unsigned thread, uint64_t now,
                      const struct calls_sink *sink)
{
	read_rows(process, thread, now, sink);
}

int calls_openmp_prepare_restart(struct calls_process *process)
{
	struct calls_openmp *openmp = &process->openmp;

	return ARRAY_RESERVE_ZEROED(openmp->teams, openmp->nr, count_rows(process));
}

void calls_openmp_restart(struct calls_process *process)
{
	uint32_t nr = count_rows(process);

	for (uint32_t i = 0; i < nr && i < process->openmp.nr; i++) {
		struct ring_team_sum *row = &rows_of(process)[i];

		__atomic_store_n(&row->most_threads, 0, __ATOMIC_RELAXED);
		process->openmp.teams[i] = (struct calls_team){0};
		calls_copy_words(&process->openmp.teams[i].seen, row, sizeof(*row));
	}
}
