#include "output/views/call_sums.h"
#include "output/views/call_text.h"
#include "trace/call_sources.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* --- between ranks ---------------------------------------------------------------------------- */

static int add_link(struct call_sums *sums, int32_t from, int32_t to, uint64_t bytes)
{
	uint64_t key = (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
	uint32_t number = map64_number(&sums->link_by_ranks, key);

	if (number == UINT32_MAX)
		return -ENOMEM;
	if (number >= sums->nr_links &&
	    ARRAY_ADD(sums->links, sums->nr_links, (struct call_link){from, to, 0, 0}))
		return -ENOMEM;
	sums->links[number].messages++;
	sums->links[number].bytes += bytes;
	return 0;
}

static int add_message(struct call_sums *sums, int32_t rank, const struct call_part *part)
{
	int32_t peer = trace_peer(sums->trace, part->comm, part->peer);

	if (rank < 0 || peer < 0) {
		sums->messages_elsewhere++;
		sums->bytes_elsewhere += part->bytes;
		return 0;
	}
	return part->kind == CALL_GET ? add_link(sums, peer, rank, part->bytes)
	                              : add_link(sums, rank, peer, part->bytes);
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
	switch (part->kind) {
	case CALL_SEND:
	case CALL_SEND_POSTED:
	case CALL_PUT:
	case CALL_ATOMIC:
		sum->sent++;
		sum->bytes += part->bytes;
		break;
	case CALL_WRITE:
	case CALL_FILE_WRITE:
	case CALL_WRITE_DONE:
		sum->bytes += part->bytes;
		break;
	case CALL_RECEIVE:
	case CALL_RECEIVE_DONE:
	case CALL_GET:
		sum->received++;
		sum->bytes_in += part->bytes;
		break;
	case CALL_READ:
	case CALL_FILE_READ:
	case CALL_READ_DONE:
		sum->bytes_in += part->bytes;
		break;
	case CALL_COLLECTIVE:
	case CALL_COLLECTIVE_DONE:
		sum->bytes += part->bytes;
		sum->bytes_in += part->bytes_in;
		break;
	case CALL_VALUE:
		add_value(&sum->values, call_part_value(part), time);
		break;
	default:
		break;
	}
}

static void add_call(struct call_sum *sum, const struct call *call)
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

static bool is_message(unsigned kind)
{
	return kind == CALL_SEND || kind == CALL_SEND_POSTED || kind == CALL_PUT ||
	       kind == CALL_GET || kind == CALL_ATOMIC;
}

static int add(struct call_sums *sums, const struct rank_rows *rows, const struct call *call)
{
	const struct trace_region *region = trace_region(sums->trace, call->region);
	uint32_t row = rank_row(rows, call->thread);
	int err = 0;

	if (!region || !selection_has_call(sums->selection, call))
		return 0;
	add_call(&sums->regions[call->region], call);
	if (!trace_region_is_mpi(region->region_class))
		return 0;
	if (row != RANK_NONE)
		add_call(&sums->ranks[row], call);
	for (uint32_t i = 0; i < call->nr_parts && !err; i++)
		if (is_message(call->parts[i].kind))
			err = add_message(sums, row == RANK_NONE ? -1 : rows->rows[row].rank,
			                  &call->parts[i]);
	return err;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int compare_links(const void *a, const void *b)
{
	const struct call_link *x = a, *y = b;

	return ORDER(x->from, y->from) ?: ORDER(x->to, y->to);
}

int call_sums_init(struct call_sums *sums, const struct trace *trace, const struct rank_rows *rows,
                   const struct selection *selection)
{
	struct call_walk *walk;
	struct trace_call call;
	int got = 0;

	*sums = (struct call_sums){.trace = trace, .selection = selection};
	sums->nr_regions = trace_nr(trace, TRACE_REGIONS);
	sums->regions = calloc(sums->nr_regions + 1UL, sizeof(*sums->regions));
	sums->ranks = calloc(rows->nr + 1UL, sizeof(*sums->ranks));
	if (!sums->regions || !sums->ranks)
		return -ENOMEM;
	walk = call_walk_new(trace);
	if (!walk)
		return -errno;
	while ((got = call_walk_next(walk, &call)) == 1) {
		int err = add(sums, rows, &call.call);

		if (err) {
			got = err;
			break;
		}
	}
	call_walk_free(walk);
	ARRAY_SORT(sums->links, sums->nr_links, compare_links);
	return got;
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
