/*
 * Calls of a thread come in the order in which they were left, but those of different threads in
 * turns of the recorder's. So samples are read up to where a call was left, and those of other
 * threads wait in queues for the calls of theirs.
 */
#include "output/views/call_callers.h"

#include "output/views/mpi_paths.h"
#include "trace/call_sources.h"
#include "trace/trace_calls.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Times of a thread's samples in MPI. */
struct queue {
	uint64_t last; /* behind which no call was left yet; 0: none */
	uint64_t *times;
	size_t at, nr, room;
};

struct finder {
	struct rank_sums *samples;
	unsigned char *mpi;
	struct trace_walk *walk;
	struct trace_sample sample; /* the next one */
	bool more;
	struct queue *queues; /* by thread, and a last one for numbers made up */
	uint32_t nr_threads;
};

static struct queue *queue_of(struct finder *finder, uint32_t thread)
{
	return &finder->queues[thread < finder->nr_threads ? thread : finder->nr_threads];
}

static int queue_add(struct queue *queue, uint64_t time)
{
	if (queue->nr == queue->room && queue->at > queue->room / 2) {
		queue->nr -= queue->at;
		memmove(queue->times, queue->times + queue->at, queue->nr * sizeof(*queue->times));
		queue->at = 0;
	}
	if (ARRAY_RESERVE(queue->times, queue->room, queue->nr + 1))
		return -ENOMEM;
	queue->times[queue->nr++] = time;
	return 0;
}

/* The last sample before this time; the earlier ones are not asked for any more. */
static uint64_t queue_last(struct queue *queue, uint64_t time)
{
	for (; queue->at < queue->nr && queue->times[queue->at] < time; queue->at++)
		if (queue->times[queue->at] > queue->last)
			queue->last = queue->times[queue->at];
	return queue->last;
}

static int next_sample(struct finder *finder)
{
	int got = trace_walk_next(finder->walk, &finder->sample);

	finder->more = got == 1;
	return got < 0 ? got : 0;
}

/* Only samples that the sums have, too: others may be in functions that were never asked about. */
static int take_sample(struct finder *finder)
{
	const struct trace_sample *sample = &finder->sample;
	struct paths *paths = &finder->samples->paths;
	uint32_t path;

	if (!selection_has(finder->samples->selection, sample))
		return 0;
	path = paths_find(paths, sample);
	if (path == PATH_NONE)
		return -ENOMEM;
	if (mpi_paths_outermost(paths, finder->mpi, path) == PATH_NONE)
		return 0;
	return queue_add(queue_of(finder, sample->thread), sample->time);
}

static int read_samples(struct finder *finder, uint64_t until)
{
	int err = 0;

	while (!err && finder->more && finder->sample.time < until) {
		err = take_sample(finder);
		if (!err)
			err = next_sample(finder);
	}
	return err;
}

static int add_call(struct finder *finder, struct call_callers *callers, const struct call *call)
{
	const struct trace_region *region = trace_region(finder->samples->trace, call->region);
	int err = read_samples(finder, call->leave);

	if (err || !region || !trace_region_is_mpi(region->region_class) ||
	    !selection_has_call(finder->samples->selection, call))
		return err;
	callers->calls++;
	callers->time += call->leave - call->enter;
	if (queue_last(queue_of(finder, call->thread), call->leave) < call->enter)
		return 0;
	callers->known++;
	callers->known_time += call->leave - call->enter;
	return 0;
}

static int add_calls(struct finder *finder, struct call_callers *callers)
{
	struct call_walk *walk = call_walk_new(finder->samples->trace);
	struct trace_call call;
	int got, err = 0;

	if (!walk)
		return -errno;
	while (!err && (got = call_walk_next(walk, &call)) == 1)
		err = add_call(finder, callers, &call.call);
	call_walk_free(walk);
	return err ? err : got;
}

static int find(struct finder *finder, struct call_callers *callers)
{
	int err;

	finder->nr_threads = trace_nr(finder->samples->trace, TRACE_THREADS);
	finder->queues = calloc(finder->nr_threads + 1UL, sizeof(*finder->queues));
	finder->mpi = mpi_paths_functions(&finder->samples->paths);
	if (!finder->queues || !finder->mpi)
		return -ENOMEM;
	finder->walk = trace_walk_new(finder->samples->trace, finder->samples->event);
	if (!finder->walk)
		return -errno;
	err = next_sample(finder);
	return err ? err : add_calls(finder, callers);
}

int call_callers_find(struct call_callers *callers, struct rank_sums *samples)
{
	struct finder finder = {.samples = samples};
	int err;

	*callers = (struct call_callers){0};
	err = find(&finder, callers);
	for (uint32_t i = 0; finder.queues && i <= finder.nr_threads; i++)
		free(finder.queues[i].times);
	free(finder.queues);
	free(finder.mpi);
	trace_walk_free(finder.walk);
	return err;
}
