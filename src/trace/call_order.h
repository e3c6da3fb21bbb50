/*
 * The stored calls of a trace in order of leaving, those of different threads as well. The recorder
 * reads many calls of a thread before it reads the next thread, so that a walk has them by turns;
 * what it reads later is left until then.
 */
#ifndef TRACE_CALL_ORDER_H
#define TRACE_CALL_ORDER_H

#include "trace/trace_calls.h"

#define CALL_ORDER_CALLS (1 << 18) /* that are kept in memory; with more in between, order ends */
#define CALL_ORDER_PARTS (1 << 20)

struct call_order;

/*
 * Reads all calls once, to know how late they come; room: at most CALL_ORDER_CALLS, fewer for
 * tests. Returns NULL with errno on failure.
 */
struct call_order *call_order_new(const struct trace *trace, uint32_t room);
void call_order_free(struct call_order *order);

/*
 * Returns 1 with a call, whose parts are valid until the next step, 0 at the end, -EBADMSG or
 * -ENOMEM. Calls of one thread that were left at the same time come as in a walk.
 */
int call_order_next(struct call_order *order, struct trace_call *call);

#endif
