#include "output/otf2/otf2_plan.h"
#include "output/profile/processes.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_RANKS   (1 << 20) /* a file may know of more */
#define MAX_MISSING 1024      /* each has files of its own */

/* --- ranks ------------------------------------------------------------------------------------ */

static void widen_world(struct otf2_plan *plan, int64_t rank)
{
	if (rank >= plan->nr_ranks && rank < MAX_RANKS)
		plan->nr_ranks = (uint32_t)rank + 1;
}

/*
 * Finds the number of ranks in the world: enough for all ranks of processes, all world sizes that
 * processes report, and all members of communicators.
 */
static void find_world(struct otf2_plan *plan, const struct trace *trace)
{
	const struct trace_process *process;
	const struct trace_comm *comm;
	bool any = false;

	for (uint32_t i = 0; (process = trace_process(trace, i)); i++) {
		any = any || process->rank >= 0;
		widen_world(plan, process->rank);
		if (process->rank >= 0)
			widen_world(plan, (int64_t)process->world_size - 1);
	}
	for (uint32_t i = 0; any && (comm = trace_comm(trace, i)); i++) {
		for (uint32_t m = 0; m < comm->nr_members; m++)
			widen_world(plan, trace_member(trace, i, (int32_t)m, false));
		for (uint32_t m = 0; m < comm->nr_remote; m++)
			widen_world(plan, trace_member(trace, i, (int32_t)m, true));
	}
}

/* A part of a job so large, or a file that makes one up, is told without its ranks. */
static void bound_world(struct otf2_plan *plan, const struct trace *trace)
{
	if (plan->nr_ranks > MAX_MISSING &&
	    plan->nr_ranks - MAX_MISSING > trace_nr(trace, TRACE_PROCESSES))
		plan->nr_ranks = 0;
}

static uint32_t find_host(struct otf2_plan *plan, uint32_t name)
{
	for (uint32_t i = 0; i < plan->nr_hosts; i++)
		if (plan->hosts[i] == name)
			return i;
	plan->hosts[plan->nr_hosts] = name;
	return plan->nr_hosts++;
}

static int add_ranks(struct otf2_plan *plan, const struct trace *trace)
{
	const struct trace_process *process;

	plan->hosts = calloc(trace_nr(trace, TRACE_PROCESSES) + 1UL, sizeof(*plan->hosts));
	plan->thread_of_location = malloc((plan->nr_ranks + plan->nr_threads + 1UL) *
	                                  sizeof(*plan->thread_of_location));
	plan->location_of_thread =
		calloc(plan->nr_threads + 1UL, sizeof(*plan->location_of_thread));
	if (!plan->hosts || !plan->thread_of_location || !plan->location_of_thread)
		return -ENOMEM;
	find_host(plan, trace_run(trace)->host);
	for (uint32_t i = 0; i < plan->nr_ranks; i++) {
		plan->groups[i] = (struct otf2_group){.rank = (int32_t)i};
		plan->thread_of_location[i] = PLAN_NONE;
	}
	plan->nr_groups = plan->nr_ranks;
	for (uint32_t i = 0; (process = trace_process(trace, i)); i++)
		if (process->rank >= 0 && (uint32_t)process->rank < plan->nr_ranks)
			plan->groups[process->rank].host =
				find_host(plan, trace_host(trace, process));
	return 0;
}

static bool is_first(const struct trace *trace, uint32_t thread)
{
	const struct trace_thread *entry = thread == PLAN_NONE ? NULL : trace_thread(trace, thread);

	return entry && entry->pid == entry->tid;
}

/*
 * Places a thread at its rank's location if it is better than the one there. A thread that calls
 * MPI is preferred, and among these the first thread of the process. A process that executed
 * another program has several first threads: the one with the most calls is taken.
 */
static void place_rank(struct otf2_plan *plan, const struct trace *trace,
                       const struct call_index *calls, uint32_t thread)
{
	uint32_t *best = &plan->thread_of_location[plan->group_of_thread[thread]];
	uint64_t now = thread < calls->nr_threads ? calls->nr[thread] : 0;
	uint64_t before = *best < calls->nr_threads ? calls->nr[*best] : 0;
	bool better = now && !before;

	if (is_first(trace, thread))
		better = is_first(trace, *best) ? now > before : now || !before;
	if (*best == PLAN_NONE || better)
		*best = thread;
}

static void place_ranks(struct otf2_plan *plan, const struct trace *trace,
                        const struct call_index *calls)
{
	for (uint32_t i = 0; i < plan->nr_threads; i++)
		if (plan->group_of_thread[i] < plan->nr_ranks)
			place_rank(plan, trace, calls, i);
	plan->nr_locations = plan->nr_ranks;
	for (uint32_t i = 0; i < plan->nr_threads; i++) {
		uint32_t group = plan->group_of_thread[i];
		bool stands = group < plan->nr_ranks && plan->thread_of_location[group] == i;

		plan->location_of_thread[i] = stands ? group : plan->nr_locations++;
		plan->thread_of_location[plan->location_of_thread[i]] = i;
	}
}

/* --- groups ----------------------------------------------------------------------------------- */

static int find_group(struct otf2_plan *plan, struct map64 *by_key, uint64_t key,
                      const struct otf2_group *group, uint32_t *number)
{
	uint32_t other = map64_number(by_key, key);

	*number = plan->nr_ranks + other;
	if (other == UINT32_MAX)
		return -ENOMEM;
	if (*number == plan->nr_groups)
		plan->groups[plan->nr_groups++] = *group;
	return 0;
}

/*
 * Threads of a rank's process are in the rank's group, with those of processes that it started.
 * comm: of the thread's process.
 */
static bool join_rank(struct otf2_plan *plan, const struct trace *trace, uint32_t number,
                      uint32_t comm)
{
	const struct trace_process *process = trace_process(trace, trace_owner(trace, number));
	struct otf2_group *group;

	if (!process || process->rank < 0 || (uint32_t)process->rank >= plan->nr_ranks)
		return false;
	plan->group_of_thread[number] = (uint32_t)process->rank;
	group = &plan->groups[process->rank];
	group->pid = process->pid;
	if (!group->comm || trace_thread(trace, number)->pid == process->pid)
		group->comm = comm;
	return true;
}

static int find_groups(struct otf2_plan *plan, const struct trace *trace)
{
	uint32_t *process_of = processes_find(trace);
	struct map64 by_key = {0};
	int err = process_of ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < plan->nr_threads && !err; i++) {
		const struct trace_thread *thread = trace_thread(trace, i);
		struct otf2_group group = {.rank = -1};
		uint64_t key = UINT64_MAX; /* threads that the file makes up */

		if (thread) {
			group.comm = trace_thread(trace, process_of[i])->comm;
			group.pid = thread->pid;
			key = thread->pid ? (uint32_t)thread->pid : (uint64_t)thread->comm << 32;
		}
		if (!thread || !join_rank(plan, trace, i, group.comm))
			err = find_group(plan, &by_key, key, &group, &plan->group_of_thread[i]);
	}
	map64_fini(&by_key);
	free(process_of);
	return err;
}

/* --- communicators ---------------------------------------------------------------------------- */

static bool members_known(const struct otf2_plan *plan, const struct trace *trace, uint32_t number,
                          uint32_t nr, bool remote)
{
	for (uint32_t i = 0; i < nr; i++) {
		int32_t rank = trace_member(trace, number, (int32_t)i, remote);

		if (rank < 0 || (uint32_t)rank >= plan->nr_ranks)
			return false;
	}
	return nr;
}

/*
 * A trace has one for each side of an intercommunicator, with its groups the other way round; for
 * OTF2 they are one, whose other group each side's peers are of.
 */
static int join_sides(struct otf2_plan *plan, struct map64 *by_id, const struct trace_comm *comm,
                      uint32_t i)
{
	uint32_t first = comm->id ? map64_get(by_id, comm->id) : UINT32_MAX;

	if (first != UINT32_MAX) {
		plan->comms[i] = plan->comms[first];
		return 0;
	}
	plan->comms[i] = (struct otf2_comm){plan->nr_comms++, plan->nr_comm_groups};
	plan->nr_comm_groups += 2;
	return comm->id ? map64_add(by_id, comm->id, i) : 0;
}

/* All MPI_COMM_SELF are one, of which each process sees its own: number `self`, once it has one. */
static int place_comm(struct otf2_plan *plan, const struct trace *trace, uint32_t i,
                      struct map64 *by_id, uint32_t *self)
{
	const struct trace_comm *comm = trace_comm(trace, i);
	const bool inter = comm->flags & TRACE_COMM_INTER;

	plan->comms[i].number = PLAN_NONE;
	if (!plan->nr_ranks)
		return 0;
	if (comm->flags & TRACE_COMM_SELF) {
		*self = *self == PLAN_NONE ? plan->nr_comms++ : *self;
		plan->comms[i] = (struct otf2_comm){*self, 1};
		return 0;
	}
	if (!members_known(plan, trace, i, comm->nr_members, false) ||
	    (inter && !members_known(plan, trace, i, comm->nr_remote, true)))
		return 0;
	if (inter)
		return join_sides(plan, by_id, comm, i);
	plan->comms[i] = (struct otf2_comm){plan->nr_comms++, plan->nr_comm_groups++};
	return 0;
}

static int find_comms(struct otf2_plan *plan, const struct trace *trace)
{
	const struct trace_comm *comm;
	struct map64 by_id = {0};
	uint32_t self = PLAN_NONE;
	int err = 0;

	plan->comms = calloc(trace_nr(trace, TRACE_COMMS) + 1UL, sizeof(*plan->comms));
	if (!plan->comms)
		return -ENOMEM;
	for (uint32_t i = 0; (comm = trace_comm(trace, i)); i++)
		plan->has_self = plan->has_self || comm->flags & TRACE_COMM_SELF;
	/* The ranks' locations, and the one of every MPI_COMM_SELF if there is one. */
	plan->nr_comm_groups = plan->nr_ranks ? 1U + plan->has_self : 0;
	for (uint32_t i = 0; trace_comm(trace, i) && !err; i++)
		err = place_comm(plan, trace, i, &by_id, &self);
	map64_fini(&by_id);
	return err;
}

/* --- periods ---------------------------------------------------------------------------------- */

static int find_generators(struct otf2_plan *plan, const struct spool *spool)
{
	struct map64 by_key = {0}; /* of an event and a weight, whose top bits are 0 */
	int err = 0;

	for (uint32_t i = 0; i < spool->nr_rates && !err; i++) {
		const struct spool_rate *rate = &spool->rates[i];
		uint64_t key = (uint64_t)rate->event << 56 ^ rate->weight;
		uint32_t number = map64_number(&by_key, key);

		if (number == UINT32_MAX)
			err = -ENOMEM;
		else if (number == plan->nr_generators)
			plan->generators[plan->nr_generators++] =
				(struct otf2_generator){rate->event, rate->weight};
		plan->generator_of_rate[i] = number;
	}
	map64_fini(&by_key);
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

int otf2_plan_init(struct otf2_plan *plan, const struct spool *spool)
{
	const struct trace *trace = spool->paths.trace;
	int err;

	*plan = (struct otf2_plan){0};
	find_world(plan, trace);
	bound_world(plan, trace);
	plan->nr_threads = spool->nr_threads - !spool->threads[spool->nr_threads - 1].nr;
	plan->generators = calloc((size_t)spool->nr_rates + 1, sizeof(*plan->generators));
	plan->generator_of_rate =
		calloc((size_t)spool->nr_rates + 1, sizeof(*plan->generator_of_rate));
	plan->group_of_thread = calloc(spool->nr_threads, sizeof(*plan->group_of_thread));
	plan->groups = calloc((size_t)spool->nr_threads + plan->nr_ranks, sizeof(*plan->groups));
	if (!plan->generators || !plan->generator_of_rate || !plan->group_of_thread ||
	    !plan->groups)
		return -ENOMEM;
	err = add_ranks(plan, trace);
	if (!err)
		err = find_generators(plan, spool);
	if (!err)
		err = find_groups(plan, trace);
	if (err)
		return err;
	place_ranks(plan, trace, spool->calls);
	return find_comms(plan, trace);
}

void otf2_plan_fini(struct otf2_plan *plan)
{
	free(plan->generators);
	free(plan->generator_of_rate);
	free(plan->group_of_thread);
	free(plan->groups);
	free(plan->hosts);
	free(plan->thread_of_location);
	free(plan->location_of_thread);
	free(plan->comms);
	*plan = (struct otf2_plan){0};
}
