#include "trace/new_calls.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

void new_calls_fini(struct new_calls *calls)
{
	free(calls->left);
	*calls = (struct new_calls){0};
}

/* Calls of one thread come in the order of their ends. */
static bool is_new(struct new_calls *calls, const struct call *call)
{
	uint64_t *left = call->thread < calls->nr_threads ? &calls->left[call->thread] : NULL;

	if (!left || call->leave <= *left || call->leave < call->enter)
		return false;
	*left = call->leave;
	return true;
}

int new_calls_each(struct new_calls *calls, const struct trace *trace, new_call_fn *fn, void *arg)
{
	const uint32_t nr = trace_nr(trace, TRACE_THREADS);
	struct call_walk *walk;
	struct trace_call call;
	int got;

	if (ARRAY_RESERVE_ZEROED(calls->left, calls->room, nr))
		return -ENOMEM;
	calls->nr_threads = nr;
	walk = call_walk_new(trace);
	if (!walk)
		return -errno;
	while ((got = call_walk_next(walk, &call)) == 1)
		if (is_new(calls, &call.call))
			fn(arg, &call.call);
	call_walk_free(walk);
	return got;
}
