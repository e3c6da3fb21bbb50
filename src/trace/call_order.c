#include "trace/call_order.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct kept {
	struct trace_call call;
	struct call_part *parts; /* NULL: none */
	uint64_t number;         /* in the walk */
};

struct call_order {
	struct call_walk *walk;
	int got;         /* from the walk: 1 until its end, or until an error */
	uint64_t late;   /* ns by which calls come later than others that were left after them */
	uint64_t newest; /* leave that was read */
	uint64_t nr_read;
	struct kept *heap; /* the call that was left first is first */
	uint32_t nr, room, allocated;
	uint64_t nr_parts; /* of all that are kept */
	struct call_part *given;
};

/* --- the heap --------------------------------------------------------------------------------- */

static bool before(const struct kept *a, const struct kept *b)
{
	const uint64_t x = a->call.call.leave, y = b->call.call.leave;

	return x != y ? x < y : a->number < b->number;
}

static void heap_rise(struct call_order *order, struct kept kept)
{
	uint32_t at = order->nr++;

	for (; at && before(&kept, &order->heap[(at - 1) / 2]); at = (at - 1) / 2)
		order->heap[at] = order->heap[(at - 1) / 2];
	order->heap[at] = kept;
}

static struct kept heap_take(struct call_order *order)
{
	const struct kept first = order->heap[0], last = order->heap[--order->nr];
	uint32_t at = 0;

	for (uint32_t child = 1; child < order->nr; child = 2 * at + 1) {
		if (child + 1 < order->nr && before(&order->heap[child + 1], &order->heap[child]))
			child++;
		if (!before(&order->heap[child], &last))
			break;
		order->heap[at] = order->heap[child];
		at = child;
	}
	if (order->nr)
		order->heap[at] = last;
	return first;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A trace that is damaged somewhere is shown up to there. */
static int measure(struct call_order *order, const struct trace *trace)
{
	struct call_walk *walk = call_walk_new(trace);
	struct trace_call call;
	uint64_t newest = 0;
	int got;

	if (!walk)
		return -errno;
	while ((got = call_walk_next(walk, &call)) == 1)
		if (call.call.leave > newest)
			newest = call.call.leave;
		else if (newest - call.call.leave > order->late)
			order->late = newest - call.call.leave;
	call_walk_free(walk);
	return got == -ENOMEM ? got : 0;
}

static int keep(struct call_order *order, const struct trace_call *call)
{
	struct kept kept = {.call = *call, .number = order->nr_read++};
	const uint32_t nr_parts = call->call.nr_parts;

	if (ARRAY_RESERVE(order->heap, order->allocated, order->nr + 1UL))
		return -ENOMEM;
	if (nr_parts) {
		kept.parts = malloc(nr_parts * sizeof(*kept.parts));
		if (!kept.parts)
			return -ENOMEM;
		memcpy(kept.parts, call->call.parts, nr_parts * sizeof(*kept.parts));
	}
	order->nr_parts += nr_parts;
	if (call->call.leave > order->newest)
		order->newest = call->call.leave;
	heap_rise(order, kept);
	return 0;
}

/* Whether the first of those that are kept may be given: none that was left before it follows. */
static bool is_due(const struct call_order *order)
{
	if (!order->nr || order->got != 1)
		return order->nr;
	return order->nr >= order->room || order->nr_parts >= CALL_ORDER_PARTS ||
	       order->newest - order->heap[0].call.call.leave >= order->late;
}

static int read_call(struct call_order *order)
{
	struct trace_call call;

	order->got = call_walk_next(order->walk, &call);
	return order->got == 1 ? keep(order, &call) : 0;
}

int call_order_next(struct call_order *order, struct trace_call *call)
{
	struct kept kept;
	int err = 0;

	while (!err && !is_due(order) && order->got == 1)
		err = read_call(order);
	if (err || !order->nr)
		return err ? err : order->got;
	kept = heap_take(order);
	free(order->given);
	order->given = kept.parts;
	order->nr_parts -= kept.call.call.nr_parts;
	*call = kept.call;
	call->call.parts = kept.parts;
	return 1;
}

/* --- the whole -------------------------------------------------------------------------------- */

struct call_order *call_order_new(const struct trace *trace, uint32_t room)
{
	struct call_order *order = calloc(1, sizeof(*order));
	int err;

	if (!order)
		return NULL;
	order->got = 1;
	order->room = room;
	err = measure(order, trace);
	if (!err) {
		order->walk = call_walk_new(trace);
		err = order->walk ? 0 : -errno;
	}
	if (!err)
		return order;
	call_order_free(order);
	errno = -err;
	return NULL;
}

void call_order_free(struct call_order *order)
{
	if (!order)
		return;
	for (uint32_t i = 0; i < order->nr; i++)
		free(order->heap[i].parts);
	free(order->heap);
	free(order->given);
	call_walk_free(order->walk);
	free(order);
}
