#include "trace/new_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void new_calls_fini(struct new_calls *calls)
{
	free(calls->left);
	*calls = (struct new_calls){0};
}

static int grow(struct new_calls *calls, uint32_t nr)
{
	uint64_t *left;

	if (nr <= calls->nr_threads)
		return 0;
	left = reallocarray(calls->left, nr, sizeof(*left));
	if (!left)
		return -ENOMEM;
	memset(left + calls->nr_threads, 0, (nr - calls->nr_threads) * sizeof(*left));
	calls->left = left;
	calls->nr_threads = nr;
	return 0;
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
	int got = grow(calls, trace_nr(trace, TRACE_THREADS));
	struct call_walk *walk = got ? NULL : call_walk_new(trace);
	struct trace_call call;

	if (!walk)
		return got ? got : -errno;
	while ((got = call_walk_next(walk, &call)) == 1)
		if (is_new(calls, &call.call))
			fn(arg, &call.call);
	call_walk_free(walk);
	return got;
}
