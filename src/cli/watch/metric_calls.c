/*
 * Metrics of calls: time in MPI, visits of regions, and values. Each stored call is seen once. The
 * exact sums add what is not stored: longest visits, and means where no call of a look is stored.
 */
#include "cli/watch/metric_state.h"

#include "base/array.h"
#include "cli/live/watched.h"
#include "output/views/mpi_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void metric_calls_fini(struct metric_calls *calls)
{
	new_calls_fini(&calls->seen);
	free(calls->rows);
	*calls = (struct metric_calls){0};
}

static void forget_rows(struct metric_calls *calls, uint64_t start)
{
	calls->start = start;
	calls->nr_rows = 0;
	calls->from = 0;
}

static bool is_of_region(const struct metrics *metrics, const struct condition_term *term,
                         uint32_t region)
{
	const struct trace_region *entry = trace_region(metrics->trace, region);

	if (!entry)
		return false;
	switch (entry->region_class) {
	case TRACE_MARKER:
		return false;
	case TRACE_VALUE:
		if (term->metric != METRIC_VALUE)
			return false;
		break;
	default:
		if (term->metric != METRIC_TIME)
			return false;
	}
	return !strcmp(trace_region_name(metrics->trace, region), term->name);
}

/* --- stored calls ----------------------------------------------------------------------------- */

/* Values that were there before the first look count for the median alone. */
static void add_value(struct metrics *metrics, struct metric_term *term, double value)
{
	if (metrics->calls.from)
		metric_add(term, value, false);
	else if (term->median)
		median_add(term->median, value);
}

static void add_call(void *arg, const struct call *call)
{
	struct metrics *metrics = arg;
	double value = (double)(call->leave - call->enter) / 1e9;

	for (unsigned i = 0; i < metrics->nr_terms; i++) {
		struct metric_term *term = &metrics->terms[i];

		if (!is_of_region(metrics, term->term, call->region))
			continue;
		if (term->term->metric == METRIC_TIME || call_value(call, &value))
			add_value(metrics, term, value);
	}
}

static int walk_calls(struct metrics *metrics)
{
	watched_choose(metrics->watched, metrics->calls.from, UINT64_MAX);
	return new_calls_each(&metrics->calls.seen, metrics->trace, add_call, metrics);
}

/* --- sums ------------------------------------------------------------------------------------- */

static void add_times(struct metric_term *term, const struct trace_call_sum *sum,
                      const struct metric_row *row, bool stored)
{
	if (sum->longest > row->longest)
		metric_add(term, (double)sum->longest / 1e9, true);
	if (!stored && sum->calls > row->calls && sum->time >= row->time)
		metric_add(term,
		           (double)(sum->time - row->time) / (double)(sum->calls - row->calls) /
		                   1e9,
		           false);
}

static void add_values(struct metric_term *term, const struct trace_value_sum *sum,
                       const struct trace_value_sum *row, bool stored)
{
	if (sum->nr <= row->nr)
		return;
	if (!row->nr || sum->most > row->most)
		metric_add(term, sum->most, true);
	if (!row->nr || sum->least < row->least)
		metric_add(term, sum->least, true);
	if (!stored)
		metric_add(term, sum->last, false);
}

static void see_row(struct metrics *metrics, const struct trace_call_sum *sum,
                    const struct metric_row *row, const bool *stored)
{
	for (unsigned i = 0; i < metrics->nr_terms; i++) {
		struct metric_term *term = &metrics->terms[i];

		if (!is_of_region(metrics, term->term, sum->region))
			continue;
		if (term->term->metric == METRIC_TIME)
			add_times(term, sum, row, stored[i]);
		else
			add_values(term, &sum->values, &row->values, stored[i]);
	}
}

static struct metric_row row_of(const struct metrics *metrics, const struct trace_call_sum *sum)
{
	struct metric_row row = {.calls = sum->calls};

	if (trace_region_traits(metrics->trace, sum->region)->type == REGION_VALUE) {
		row.values = sum->values;
	} else {
		row.time = sum->time;
		row.longest = sum->longest;
	}
	return row;
}

/* Returns the nanoseconds in MPI so far. */
static double walk_rows(struct metrics *metrics, const bool *stored)
{
	struct metric_calls *calls = &metrics->calls;
	const struct trace_call_sum *sum;
	double mpi = 0;

	for (uint32_t i = 0; (sum = trace_call_sum(metrics->trace, i)); i++) {
		if (calls->from)
			see_row(metrics, sum, &calls->rows[i], stored);
		calls->rows[i] = row_of(metrics, sum);
		mpi += region_is_mpi(metrics->trace, sum->region) ? (double)sum->time : 0;
	}
	return mpi;
}

/* A call counts when it ends, so that the share may seem to be more than all. */
static void set_mpi(struct metrics *metrics, double total)
{
	const unsigned ranks = mpi_ranks_at_work(metrics->trace);
	double rate;

	if (!metric_history_rate(&metrics->calls.mpi, trace_run(metrics->trace)->end, total,
	                         &rate) ||
	    !ranks)
		return;
	rate /= 1e9 * ranks;
	for (unsigned i = 0; i < metrics->nr_terms; i++)
		if (metrics->terms[i].term->metric == METRIC_MPI)
			metric_set(&metrics->terms[i], rate > 1 ? 1 : rate);
}

static int read_rows(struct metrics *metrics)
{
	bool *stored = calloc(metrics->nr_terms + 1, sizeof(*stored));

	if (!stored)
		return -ENOMEM;
	for (unsigned i = 0; i < metrics->nr_terms; i++)
		stored[i] = metrics->terms[i].reading->state == READING_NEW;
	set_mpi(metrics, walk_rows(metrics, stored));
	free(stored);
	return 0;
}

int metric_calls_read(struct metrics *metrics)
{
	struct metric_calls *calls = &metrics->calls;
	const struct trace *trace = metrics->trace;
	const uint64_t end = trace_run(trace)->end;
	int err;

	if (calls->start != trace_run(trace)->start)
		forget_rows(calls, trace_run(trace)->start);
	err = ARRAY_RESERVE_ZEROED(calls->rows, calls->nr_rows, trace_nr(trace, TRACE_CALL_SUMS));
	if (!err && (metrics->has[METRIC_TIME] || metrics->has[METRIC_VALUE]))
		err = walk_calls(metrics);
	if (!err)
		err = read_rows(metrics);
	/* Calls may reach the recorder a while after their end. */
	calls->from = end > METRIC_WINDOW_NS ? end - METRIC_WINDOW_NS : 1;
	return err;
}
