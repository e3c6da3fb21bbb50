#include "output/views/call_sums.h"
#include "output/views/call_text.h"
#include "output/views/call_times.h"
#include "trace/call_sources.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* --- between ranks ---------------------------------------------------------------------------- */

static int add_link(struct call_sums *sums, int32_t from, int32_t to, uint64_t messages,
                    uint64_t bytes)
{
	uint64_t key = (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
	uint32_t number = map64_number(&sums->link_by_ranks, key);

	if (number == UINT32_MAX)
		return -ENOMEM;
	if (number >= sums->nr_links &&
	    ARRAY_ADD(sums->links, sums->nr_links, (struct call_link){from, to, 0, 0}))
		return -ENOMEM;
	sums->links[number].messages += messages;
	sums->links[number].bytes += bytes;
	return 0;
}

/* reads: the peer's memory was read, so that the bytes came from there. */
static int add_messages(struct call_sums *sums, int32_t rank, int32_t peer, bool reads,
                        uint64_t messages, uint64_t bytes)
{
	if (rank < 0 || peer < 0) {
		sums->messages_elsewhere += messages;
		sums->bytes_elsewhere += bytes;
		return 0;
	}
	return add_link(sums, reads ? peer : rank, reads ? rank : peer, messages, bytes);
}

/* --- one call --------------------------------------------------------------------------------- */

/* Calls come thread by thread, so that the last is not the latest. */
static void add_value(struct value_sum *sum, double value, uint64_t time)
{
	if (!isfinite(value))
		return;
	if (!sum->nr || value < sum->least)
		sum->least = value;
	if (!sum->nr || value > sum->most)
		sum->most = value;
	if (!sum->nr || time >= sum->last_time) {
		sum->last = value;
		sum->last_time = time;
	}
	sum->sum += value;
	sum->nr++;
}

static void add_part(struct call_sum *sum, const struct call_part *part, uint64_t time)
{
	unsigned moves = call_part_moves(part->type);

	if (part->type == CALL_VALUE)
		add_value(&sum->values, call_part_value(part), time);
	if (moves & PART_OUT) {
		sum->sent += !!(moves & PART_COUNTED);
		sum->bytes += part->bytes;
	}
	if (moves & PART_IN) {
		sum->received += !!(moves & PART_COUNTED);
		sum->bytes_in += moves & PART_OUT ? part->bytes_in : part->bytes;
	}
}

void call_sum_add(struct call_sum *sum, const struct call *call)
{
	uint64_t time = call->leave - call->enter;

	sum->calls++;
	sum->unfinished += (call->flags & CALL_UNFINISHED) != 0;
	sum->time += time;
	if (time > sum->longest)
		sum->longest = time;
	for (uint32_t i = 0; i < call->nr_parts; i++)
		add_part(sum, &call->parts[i], call->enter);
}

static bool is_message(unsigned type)
{
	return type == CALL_GET ||
	       (call_part_moves(type) & (PART_OUT | PART_COUNTED)) == (PART_OUT | PART_COUNTED);
}

static int32_t rank_of(const struct rank_rows *rows, uint32_t row)
{
	return row == RANK_NONE ? -1 : rows->rows[row].rank;
}

static int add_call_links(struct call_sums *sums, int32_t rank, const struct call *call)
{
	int err = 0;

	for (uint32_t i = 0; i < call->nr_parts && !err; i++) {
		const struct call_part *part = &call->parts[i];

		if (is_message(part->type))
			err = add_messages(sums, rank,
			                   trace_peer(sums->trace, part->comm, part->peer),
			                   part->type == CALL_GET, 1, part->bytes);
	}
	return err;
}

struct adding {
	struct call_sums *sums;
	const struct rank_rows *rows;
};

static int add(void *arg, const struct trace_call *added)
{
	const struct adding *to = arg;
	struct call_sums *sums = to->sums;
	const struct call *call = &added->call;
	const struct trace_region *region = trace_region(sums->trace, call->region);
	uint32_t row = rank_row(to->rows, call->thread);
	bool mpi;

	if (!region || !selection_has_call(sums->selection, call))
		return 0;
	mpi = trace_region_is_mpi(region->region_class);
	if (!sums->exact) {
		call_sum_add(&sums->regions[call->region], call);
		if (mpi && row != RANK_NONE)
			call_sum_add(&sums->ranks[row], call);
	}
	return mpi ? add_call_links(sums, rank_of(to->rows, row), call) : 0;
}

static int add_stored(struct call_sums *sums, const struct rank_rows *rows)
{
	struct adding to = {sums, rows};

	return trace_each_call(call_walk_new(sums->trace), add, &to);
}

/* --- exact sums ------------------------------------------------------------------------------- */

static void join_values(struct value_sum *to, const struct trace_value_sum *from)
{
	if (!from->nr)
		return;
	if (!to->nr || from->least < to->least)
		to->least = from->least;
	if (!to->nr || from->most > to->most)
		to->most = from->most;
	if (!to->nr || from->last_time >= to->last_time) {
		to->last = from->last;
		to->last_time = from->last_time;
	}
	to->sum += from->sum;
	to->nr += from->nr;
}

void call_sum_join(struct call_sum *to, const struct trace_call_sum *from, bool values)
{
	to->calls += from->calls;
	to->unfinished += from->unfinished;
	if (values) {
		join_values(&to->values, &from->values);
		return;
	}
	to->polls += from->polls;
	if (from->longest > to->longest)
		to->longest = from->longest;
	to->sent += from->sent;
	to->bytes += from->bytes;
	to->received += from->received;
	to->bytes_in += from->bytes_in;
}

static void add_time(struct call_sum *to, const struct call_time *time)
{
	to->time += call_time(time);
	to->variance += call_time_variance(time);
	to->thinned |= call_time_thinned(time);
}

static void join_time(struct call_sums *sums, const struct rank_rows *rows,
                      const struct call_time *time)
{
	uint32_t row = rank_row(rows, time->thread);

	add_time(&sums->regions[time->region], time);
	if (row != RANK_NONE &&
	    trace_region_is_mpi(trace_region(sums->trace, time->region)->region_class))
		add_time(&sums->ranks[row], time);
	sums->thinned |= call_time_thinned(time);
}

static int join_links(struct call_sums *sums, const struct trace_call_sum *sum, int32_t rank,
                      bool one_sided)
{
	int32_t peer = trace_peer(sums->trace, sum->comm, sum->peer);
	int err = 0;

	if (sum->sent)
		err = add_messages(sums, rank, peer, false, sum->sent, sum->bytes);
	if (!err && one_sided && sum->received)
		err = add_messages(sums, rank, peer, true, sum->received, sum->bytes_in);
	return err;
}

static bool is_chosen(const struct call_sums *sums, const struct trace_call_sum *sum)
{
	return trace_region(sums->trace, sum->region) &&
	       (!sums->selection || thread_filter_has(sums->selection->filter, sum->thread));
}

static int join(struct call_sums *sums, const struct rank_rows *rows,
                const struct trace_call_sum *sum)
{
	const struct trace_region *region = trace_region(sums->trace, sum->region);
	uint32_t row = rank_row(rows, sum->thread);

	call_sum_join(&sums->regions[sum->region], sum, region->region_class == TRACE_VALUE);
	if (!trace_region_is_mpi(region->region_class))
		return 0;
	if (row != RANK_NONE)
		call_sum_join(&sums->ranks[row], sum, false);
	return join_links(sums, sum, rank_of(rows, row),
	                  region->region_class == TRACE_MPI_ONE_SIDED);
}

/* Values have no times. */
static int add_times(const struct call_sums *sums, struct call_times *times,
                     const struct trace_call_sum *sum)
{
	bool value = trace_region(sums->trace, sum->region)->region_class == TRACE_VALUE;

	return value ? 0 : call_times_add(times, call_times_key(sum), sum);
}

static int join_all(struct call_sums *sums, const struct rank_rows *rows)
{
	const struct trace_call_sum *sum;
	struct call_times times = {0};
	int err = 0;

	for (uint32_t i = 0; !err && (sum = trace_call_sum(sums->trace, i)); i++)
		if (is_chosen(sums, sum))
			err = join(sums, rows, sum) ?: add_times(sums, &times, sum);
	for (uint32_t i = 0; i < times.nr; i++)
		join_time(sums, rows, &times.of[i]);
	call_times_fini(&times);
	return err;
}

/* Adds up the messages anew, of the stored calls, which know more peers than there are rows for. */
static int replace_links(struct call_sums *sums, const struct rank_rows *rows)
{
	map64_fini(&sums->link_by_ranks);
	sums->link_by_ranks = (struct map64){0};
	sums->nr_links = 0;
	sums->messages_elsewhere = sums->bytes_elsewhere = 0;
	return add_stored(sums, rows);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int compare_links(const void *a, const void *b)
{
	const struct call_link *x = a, *y = b;

	return ORDER(x->from, y->from) ?: ORDER(x->to, y->to);
}

/*
 * Few long calls among many short ones make an estimate skewed, so that 1.96 standard deviations
 * would cover 93.4 % in the simulation of test/unit/preload/test_thinning.c.
 */
double call_sum_error(const struct call_sum *sum)
{
	return CALL_ERROR_DEVIATIONS * sqrt(sum->variance);
}

bool call_sums_are_exact(const struct trace *trace, const struct selection *selection)
{
	return trace_nr(trace, TRACE_CALL_SUMS) &&
	       (!selection || (!selection->from && selection->to == UINT64_MAX));
}

int call_sums_init(struct call_sums *sums, const struct trace *trace, const struct rank_rows *rows,
                   const struct selection *selection)
{
	int err;

	*sums = (struct call_sums){.trace = trace, .selection = selection};
	sums->nr_regions = trace_nr(trace, TRACE_REGIONS);
	sums->regions = calloc(sums->nr_regions + 1UL, sizeof(*sums->regions));
	sums->ranks = calloc(rows->nr + 1UL, sizeof(*sums->ranks));
	if (!sums->regions || !sums->ranks)
		return -ENOMEM;
	sums->exact = call_sums_are_exact(trace, selection);
	err = sums->exact ? join_all(sums, rows) : add_stored(sums, rows);
	if (!err && sums->exact && sums->messages_elsewhere && trace_calls_complete(trace))
		err = replace_links(sums, rows);
	ARRAY_SORT(sums->links, sums->nr_links, compare_links);
	return err;
}

void call_sums_fini(struct call_sums *sums)
{
	map64_fini(&sums->link_by_ranks);
	free(sums->regions);
	free(sums->ranks);
	free(sums->links);
	*sums = (struct call_sums){0};
}

const struct call_link *call_sums_link(const struct call_sums *sums, int32_t from, int32_t to)
{
	const struct call_link wanted = {.from = from, .to = to};

	return ARRAY_FIND(sums->links, sums->nr_links, &wanted, compare_links);
}

static int compare_regions(const void *a, const void *b, void *arg)
{
	const struct call_sum *x = (const struct call_sum *)arg + *(const uint32_t *)a;
	const struct call_sum *y = (const struct call_sum *)arg + *(const uint32_t *)b;

	return ORDER(y->time, x->time) ?: ORDER(y->calls, x->calls) ?: ORDER(x, y);
}

uint32_t *call_sums_order(const struct call_sums *sums, uint32_t *nr)
{
	uint32_t *order = calloc(sums->nr_regions + 1UL, sizeof(*order));

	*nr = 0;
	for (uint32_t i = 0; order && i < sums->nr_regions; i++)
		if (sums->regions[i].calls)
			order[(*nr)++] = i;
	if (order)
		ARRAY_SORT_WITH(order, *nr, compare_regions, sums->regions);
	return order;
}
