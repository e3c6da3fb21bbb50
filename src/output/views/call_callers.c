/*
 * Looks for the samples in each call, thread by thread: a walk over the calls of all threads has
 * the order of each level alone.
 */
#include "output/views/call_callers.h"

#include "output/views/mpi_paths.h"
#include "trace/call_sources.h"
#include "trace/trace_calls.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

/* Times of a thread's samples in MPI. */
struct queue {
	uint64_t last; /* behind which no call was left yet; 0: none */
	uint64_t *times;
	size_t at, nr, room;
};

struct finder {
	struct call_callers *callers;
	struct rank_sums *samples;
	unsigned char *mpi;
	struct queue *queues; /* by thread, and a last one for numbers made up */
	uint32_t nr_threads;
};

static struct queue *queue_of(struct finder *finder, uint32_t thread)
{
	return &finder->queues[thread < finder->nr_threads ? thread : finder->nr_threads];
}

static int queue_add(struct queue *queue, uint64_t time)
{
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

/* Only samples that the sums have, too: others may be in functions that were never asked about. */
static int take_sample(void *arg, const struct trace_sample *sample)
{
	struct finder *finder = arg;
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

static int add_call(void *arg, const struct trace_call *added)
{
	struct finder *finder = arg;
	struct call_callers *callers = finder->callers;
	const struct call *call = &added->call;
	const struct trace_region *region = trace_region(finder->samples->trace, call->region);

	if (!region || !trace_region_is_mpi(region->region_class) ||
	    !selection_has_call(finder->samples->selection, call))
		return 0;
	callers->calls++;
	callers->time += call->leave - call->enter;
	if (queue_last(queue_of(finder, call->thread), call->leave) < call->enter)
		return 0;
	callers->known++;
	callers->known_time += call->leave - call->enter;
	return 0;
}

static int add_calls(struct finder *finder)
{
	static const struct scratch nowhere = {.fd = -1};
	struct call_index *index = call_index_new(finder->samples->trace, &nowhere);
	int err = 0;

	if (!index)
		return -errno;
	for (uint32_t i = 0; !err && i < index->nr_threads; i++)
		if (index->nr[i])
			err = trace_each_call(call_walk_thread(index, i), add_call, finder);
	call_index_free(index);
	return err;
}

static int find(struct finder *finder)
{
	int err;

	finder->nr_threads = trace_nr(finder->samples->trace, TRACE_THREADS);
	finder->queues = calloc(finder->nr_threads + 1UL, sizeof(*finder->queues));
	finder->mpi = mpi_paths_functions(&finder->samples->paths);
	if (!finder->queues || !finder->mpi)
		return -ENOMEM;
	err = trace_each_sample(trace_walk_new(finder->samples->trace, finder->samples->event),
	                        take_sample, finder);
	return err ? err : add_calls(finder);
}

int call_callers_find(struct call_callers *callers, struct rank_sums *samples)
{
	struct finder finder = {.callers = callers, .samples = samples};
	int err;

	*callers = (struct call_callers){0};
	err = find(&finder);
	for (uint32_t i = 0; finder.queues && i <= finder.nr_threads; i++)
		free(finder.queues[i].times);
	free(finder.queues);
	free(finder.mpi);
	return err;
}
