#include "output/otf2_plan.h"

#include <errno.h>
#include <stdlib.h>

static int find_group(struct otf2_plan *plan, struct map64 *by_key, uint64_t key,
                      const struct otf2_group *group, uint32_t *number)
{
	*number = map64_get(by_key, key);
	if (*number != UINT32_MAX)
		return 0;
	*number = plan->nr_groups++;
	plan->groups[*number] = *group;
	return map64_add(by_key, key, *number);
}

static int find_groups(struct otf2_plan *plan, const struct trace *trace)
{
	struct map64 by_key = {0};
	int err = 0;

	for (uint32_t i = 0; i < plan->nr_threads && !err; i++) {
		const struct trace_thread *thread = trace_thread(trace, i);
		struct otf2_group group = {0};
		uint64_t key = UINT64_MAX; /* threads that the file makes up */

		if (thread) {
			group = (struct otf2_group){.comm = thread->comm, .pid = thread->pid};
			key = thread->pid ? (uint32_t)thread->pid : (uint64_t)thread->comm << 32;
		}
		err = find_group(plan, &by_key, key, &group, &plan->group_of_thread[i]);
		if (thread && thread->pid == thread->tid) /* it names the process */
			plan->groups[plan->group_of_thread[i]].comm = thread->comm;
	}
	map64_fini(&by_key);
	return err;
}

static int find_generators(struct otf2_plan *plan, const struct spool *spool)
{
	struct map64 by_key = {0}; /* of an event and a weight, whose top bits are 0 */
	int err = 0;

	for (uint32_t i = 0; i < spool->nr_sources && !err; i++) {
		const struct spool_source *source = &spool->sources[i];
		uint64_t key = (uint64_t)source->event << 56 ^ source->weight;
		uint32_t number = map64_get(&by_key, key);

		if (number == UINT32_MAX) {
			number = plan->nr_generators++;
			plan->generators[number] =
				(struct otf2_generator){source->event, source->weight};
			err = map64_add(&by_key, key, number);
		}
		plan->generator_of_source[i] = number;
	}
	map64_fini(&by_key);
	return err;
}

int otf2_plan_init(struct otf2_plan *plan, const struct trace *trace, const struct spool *spool)
{
	int err;

	*plan = (struct otf2_plan){0};
	plan->nr_threads = spool->nr_threads - !spool->threads[spool->nr_threads - 1].nr;
	plan->generators = calloc((size_t)spool->nr_sources + 1, sizeof(*plan->generators));
	plan->generator_of_source =
		calloc((size_t)spool->nr_sources + 1, sizeof(*plan->generator_of_source));
	plan->group_of_thread = calloc(spool->nr_threads, sizeof(*plan->group_of_thread));
	plan->groups = calloc(spool->nr_threads, sizeof(*plan->groups));
	if (!plan->generators || !plan->generator_of_source || !plan->group_of_thread ||
	    !plan->groups)
		return -ENOMEM;
	err = find_generators(plan, spool);
	return err ? err : find_groups(plan, trace);
}

void otf2_plan_fini(struct otf2_plan *plan)
{
	free(plan->generators);
	free(plan->generator_of_source);
	free(plan->group_of_thread);
	free(plan->groups);
	*plan = (struct otf2_plan){0};
}
