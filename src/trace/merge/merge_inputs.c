#include "trace/merge/merge_match.h"
#include "trace/merge/merge_state.h"
#include "base/scratch.h"
#include "trace/message_pairs.h"
#include "base/time_heap.h"
#include "base/array.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_RANK (1 << 24)

__attribute__((format(printf, 3, 4))) int merge_complain(struct merge *merge, int err,
                                                         const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(merge->why, MERGE_WHY_SIZE, format, args);
	va_end(args);
	return err;
}

/* --- who is who ------------------------------------------------------------------------------- */

/* Returns the number before the suffix, as in 12.atr or adaptrace.12.atr, or -1. */
static int32_t rank_of_name(const char *path)
{
	const char *end = path + strlen(path), *start;

	if (end - path > 4 && !strcmp(end - 4, ".atr"))
		end -= 4;
	for (start = end; start > path && isdigit((unsigned char)start[-1]);)
		start--;
	if (start == end || end - start > 7 ||
	    (start > path && start[-1] != '.' && start[-1] != '/'))
		return -1;
	return atoi(start) < MAX_RANK ? atoi(start) : -1;
}

static int32_t lowest_rank(const struct trace *trace)
{
	const struct trace_process *process;
	int32_t rank = -1;

	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		if (process->rank >= 0 && (rank < 0 || process->rank < rank))
			rank = process->rank;
	return rank;
}

static int find_owners(struct merge_input *input)
{
	input->nr_threads = trace_nr(input->trace, TRACE_THREADS);
	input->owners = calloc(input->nr_threads + 1UL, sizeof(*input->owners));
	if (!input->owners)
		return -ENOMEM;
	for (uint32_t i = 0; i < input->nr_threads; i++)
		input->owners[i] = trace_owner(input->trace, i);
	return 0;
}

static int compare_inputs(const void *a, const void *b)
{
	const struct merge_input *x = a, *y = b;

	return ORDER((uint32_t)x->rank, (uint32_t)y->rank) ?: strcmp(x->path, y->path);
}

static int open_inputs(struct merge *merge)
{
	char why[TRACE_WHY_SIZE];

	merge->inputs = calloc(merge->config->nr + 1, sizeof(*merge->inputs));
	if (!merge->inputs)
		return -ENOMEM;
	for (size_t i = 0; i < merge->config->nr; i++) {
		struct merge_input *input = &merge->inputs[merge->nr];

		input->path = merge->config->paths[i];
		input->trace = trace_open(input->path, why);
		if (!input->trace)
			return merge_complain(merge, -EBADMSG, "%s", why);
		merge->nr++;
		input->rank = lowest_rank(input->trace);
		if (input->rank < 0)
			input->rank = rank_of_name(input->path);
		if (find_owners(input))
			return -ENOMEM;
	}
	ARRAY_SORT(merge->inputs, merge->nr, compare_inputs);
	return 0;
}

/* Where its name alone tells a rank, or there is none, nothing else tells that a trace counts
 * twice. */
static int check_twice(struct merge *merge)
{
	struct map64 seen = {0};
	int err = 0;

	for (uint32_t i = 0; i < merge->nr && !err; i++) {
		const struct merge_input *input = &merge->inputs[i];
		const struct trace_run *run = trace_run(input->trace);
		uint64_t key = run->real_start ^ run->seed ^ (uint64_t)run->pid << 32;
		uint32_t other = map64_get(&seen, key);

		if (other == UINT32_MAX)
			err = map64_add(&seen, key, i);
		else
			err = merge_complain(merge, -EEXIST,
			                     "'%s' and '%s' are the same recording; leave one of "
			                     "them out",
			                     merge->inputs[other].path, input->path);
	}
	map64_fini(&seen);
	return err;
}

/* A rank is in one trace only. */
static int check_ranks(struct merge *merge)
{
	struct map64 ranks = {0};
	const struct trace_process *process;
	int err = 0;

	for (uint32_t i = 0; i < merge->nr && !err; i++) {
		const struct merge_input *input = &merge->inputs[i];
		bool told = trace_process(input->trace, 0);

		for (uint32_t p = 0;
		     !err && ((process = trace_process(input->trace, p)) || (!told && !p)); p++) {
			int32_t rank = told ? process->rank : input->rank;
			uint32_t other;

			if (rank < 0)
				continue;
			other = map64_get(&ranks, (uint32_t)rank);
			if (other == UINT32_MAX)
				err = map64_add(&ranks, (uint32_t)rank, i);
			else if (other != i)
				err = merge_complain(
					merge, -EEXIST,
					"both '%s' and '%s' have rank %d; leave one of them out",
					merge->inputs[other].path, input->path, rank);
			merge->result->nr_ranks += other == UINT32_MAX;
		}
	}
	map64_fini(&ranks);
	return err;
}

static int find_hosts(struct merge *merge)
{
	for (uint32_t i = 0; i < merge->nr; i++) {
		struct merge_input *input = &merge->inputs[i];
		const struct trace_run *run = trace_run(input->trace);
		int host = clocks_host(&merge->clocks, trace_string(input->trace, run->host),
		                       run->start, run->real_start);

		if (host == -E2BIG)
			return merge_complain(merge, host, "more than %d hosts; merge fewer traces",
			                      CLOCK_MAX_HOSTS);
		if (host < 0)
			return host;
		input->host = (uint32_t)host;
	}
	for (uint32_t i = 0; i < merge->nr; i++)
		clocks_span(&merge->clocks, merge->inputs[i].host,
		            trace_run(merge->inputs[i].trace)->start,
		            trace_run(merge->inputs[i].trace)->end);
	return 0;
}

/* --- clocks ----------------------------------------------------------------------------------- */

static uint32_t *hosts_of_ranks(const struct merge *merge, uint32_t *nr)
{
	const struct trace_process *process;
	uint32_t *hosts, limit = 0;

	for (uint32_t i = 0; i < merge->nr; i++)
		for (uint32_t p = 0; (process = trace_process(merge->inputs[i].trace, p)); p++)
			if (process->rank >= (int32_t)limit && process->rank < MAX_RANK)
				limit = (uint32_t)process->rank + 1;
	hosts = malloc((limit + 1UL) * sizeof(*hosts));
	if (!hosts)
		return NULL;
	memset(hosts, 0xff, (limit + 1UL) * sizeof(*hosts));
	for (uint32_t i = 0; i < merge->nr; i++)
		for (uint32_t p = 0; (process = trace_process(merge->inputs[i].trace, p)); p++)
			if (process->rank >= 0 && (uint32_t)process->rank < limit)
				hosts[process->rank] = merge->inputs[i].host;
	*nr = limit;
	return hosts;
}

static uint64_t guessed(const struct merge *merge, uint32_t input, uint64_t time)
{
	return clocks_guess(&merge->clocks, merge->inputs[input].host, time);
}

/* The calls of one thread. It stands at the next call. */
struct caller {
	struct call_walk *walk;
	struct message_reader *messages;
	struct trace_call next;
	uint32_t input;
};

/*
 * Calls of all threads of all inputs by their guessed times. Those of one trace are stored as its
 * recorder found them, thread after thread.
 */
struct call_merge {
	struct call_index **indexes; /* of the inputs */
	struct iteration_index *iterations;
	struct message_source *sources;
	struct message_pairs *pairs;
	struct call_part *parts; /* of a call, whose other ends are there */
	uint32_t parts_room;
	struct caller *callers;
	uint32_t nr_callers;
	struct time_heap heap;
};

static void call_merge_fini(struct call_merge *all, uint32_t nr)
{
	for (uint32_t i = 0; i < all->nr_callers; i++) {
		call_walk_free(all->callers[i].walk);
		message_reader_free(all->callers[i].messages);
	}
	message_pairs_free(all->pairs);
	for (uint32_t i = 0; all->iterations && i < nr; i++)
		iteration_index_fini(&all->iterations[i]);
	for (uint32_t i = 0; all->indexes && i < nr; i++)
		call_index_free(all->indexes[i]);
	free(all->indexes);
	free(all->iterations);
	free(all->sources);
	free(all->parts);
	free(all->callers);
	free(all->heap.entries);
}

static int add_caller(struct call_merge *all, const struct merge *merge, uint32_t input,
                      uint32_t thread)
{
	struct caller *caller = &all->callers[all->nr_callers];
	int got;

	caller->input = input;
	caller->walk = call_walk_thread(all->indexes[input], thread);
	if (!caller->walk)
		return -errno;
	caller->messages = message_reader_new(all->pairs, input, thread);
	if (!caller->messages) {
		call_walk_free(caller->walk);
		return -ENOMEM;
	}
	got = call_walk_next(caller->walk, &caller->next);
	if (got == 1)
		all->heap.entries[all->heap.nr++] = (struct heap_entry){
			guessed(merge, input, caller->next.call.leave), all->nr_callers};
	all->nr_callers++;
	return got < 0 ? got : 0;
}

static uint32_t threads_with_calls(const struct call_index *index)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < index->nr_threads; i++)
		nr += index->nr[i] != 0;
	return nr;
}

static int call_merge_init(struct call_merge *all, const struct merge *merge)
{
	const struct scratch no_scratch = {.fd = -1};
	struct message_pairs *pairs = NULL;
	size_t nr = 1;
	int err = 0;

	*all = (struct call_merge){
		.indexes = calloc(merge->nr + 1UL, sizeof(*all->indexes)),
		.iterations = calloc(merge->nr + 1UL, sizeof(*all->iterations)),
		.sources = calloc(merge->nr + 1UL, sizeof(*all->sources)),
	};
	if (!all->indexes || !all->iterations || !all->sources)
		return -ENOMEM;
	for (uint32_t i = 0; i < merge->nr && !err; i++) {
		all->indexes[i] = call_index_new(merge->inputs[i].trace, &no_scratch);
		if (!all->indexes[i])
			return -errno;
		nr += threads_with_calls(all->indexes[i]);
		err = iteration_index_init(&all->iterations[i], merge->inputs[i].trace);
		all->sources[i] = (struct message_source){all->indexes[i], &all->iterations[i]};
	}
	if (!err)
		err = message_pairs_new(&pairs, all->sources, merge->nr);
	all->pairs = pairs;
	if (err)
		return err;
	all->callers = calloc(nr, sizeof(*all->callers));
	all->heap.entries = calloc(nr, sizeof(*all->heap.entries));
	if (!all->callers || !all->heap.entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < merge->nr; i++)
		for (uint32_t t = 0; t < all->indexes[i]->nr_threads && !err; t++)
			if (all->indexes[i]->nr[t])
				err = add_caller(all, merge, i, t);
	time_heap_start(&all->heap);
	return err;
}

static int32_t rank_of_thread(const struct merge_input *input, uint32_t thread)
{
	const struct trace_process *process = NULL;

	if (thread < input->nr_threads)
		process = trace_process(input->trace, input->owners[thread]);
	return process ? process->rank : -1;
}

/* Leaves out parts whose other ends were dropped with their iterations. */
static int keep_paired(struct call_merge *all, struct message_reader *messages, struct call *call)
{
	const bool *told = message_reader_next(messages, call);
	uint32_t nr = 0;

	if (!told || ARRAY_RESERVE(all->parts, all->parts_room, call->nr_parts + 1))
		return -ENOMEM;
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (told[i])
			all->parts[nr++] = call->parts[i];
	call->parts = all->parts;
	call->nr_parts = nr;
	return 0;
}

static int match_next(struct merge *merge, struct call_merge *all, struct matcher *matcher)
{
	struct caller *caller = &all->callers[all->heap.entries[0].number];
	struct call call = caller->next.call;
	uint32_t i = caller->input;
	int got;

	got = keep_paired(all, caller->messages, &call);
	if (got)
		return got;
	call.enter = guessed(merge, i, call.enter);
	call.leave = guessed(merge, i, call.leave);
	got = matcher_call(matcher, merge->inputs[i].trace,
	                   rank_of_thread(&merge->inputs[i], call.thread), &call);
	if (got)
		return got;
	got = call_walk_next(caller->walk, &caller->next);
	time_heap_next(&all->heap, got == 1, guessed(merge, i, caller->next.call.leave));
	return got < 0 ? got : 0;
}

static int match_calls(struct merge *merge)
{
	uint32_t nr_ranks = 0, *hosts = hosts_of_ranks(merge, &nr_ranks);
	struct matcher *matcher = hosts ? matcher_new(&merge->clocks, hosts, nr_ranks) : NULL;
	struct call_merge all;
	int err = call_merge_init(&all, merge);

	if (!matcher)
		err = -ENOMEM;
	while (!err && all.heap.nr)
		err = match_next(merge, &all, matcher);
	call_merge_fini(&all, merge->nr);
	matcher_free(matcher);
	free(hosts);
	return err;
}

/* Where calls were dropped with their iterations, the partners of others may be known. */
static bool has_pairs(const struct trace *trace)
{
	return trace_calls_complete(trace) ||
	       (trace_has_calls(trace) && trace_nr(trace, TRACE_ITERATIONS));
}

static int set_clocks(struct merge *merge)
{
	bool paired = true;
	int err = 0;

	for (uint32_t i = 0; i < merge->nr; i++)
		paired = paired && has_pairs(merge->inputs[i].trace);
	if (merge->clocks.nr > 1 && paired)
		err = match_calls(merge);
	return err ? err : clocks_solve(&merge->clocks);
}

int merge_open(struct merge *merge)
{
	int err = open_inputs(merge);

	if (!err)
		err = check_ranks(merge);
	if (!err)
		err = check_twice(merge);
	if (!err)
		err = find_hosts(merge);
	return err ? err : set_clocks(merge);
}
