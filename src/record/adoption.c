#include "record/adoption.h"

#include "record/session.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

#define TICK_NS       100000000
#define BUSY_NS       (TICK_NS / 2) /* of a tick, by samples: it computes */
#define QUIET         2             /* looks without a new or ended thread */
#define MOST_THREADS  1024
#define MOST_FAILURES 6

bool adoption_wanted(const struct record_config *config)
{
	bool clocks = true;

	for (unsigned e = 0; e < config->nr_events; e++)
		clocks &= config->events[e].unit == EVENT_NS;
	return config->in_step && config->command && !config->inherit && !config->wide && clocks &&
	       !config->nr_counters;
}

void adoption_fini(struct adoption *adoption)
{
	free(adoption->own.tids);
	free(adoption->next.tids);
}

static int compare_tids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return ORDER(*x, *y);
}

static bool has(const struct adopted *adopted, const struct task *task)
{
	return adopted->nr &&
	       ARRAY_FIND(adopted->tids, adopted->nr, &task->tid, compare_tids) != NULL;
}

static bool lives(const struct task *task)
{
	return !task->ended && !task->process->awaits_exec;
}

/* Returns whether no task came or went for a while. */
static bool is_quiet(struct session *s)
{
	struct adoption *adoption = &s->adoption;
	uint64_t nr = HASH_COUNT(s->tasks.tasks) + s->tasks.nr_ended;

	adoption->quiet = nr == adoption->nr_tasks ? adoption->quiet + 1 : 0;
	adoption->nr_tasks = nr;
	return adoption->quiet >= QUIET;
}

/* Returns how much of the last tick a thread computed, ns, by its samples. */
static uint64_t computed(struct task *task)
{
	uint64_t before = task->usage.sampled_before;

	task->usage.sampled_before = task->usage.sampled;
	return task->usage.sampled > before ? task->usage.sampled - before : 0;
}

/*
 * Returns whether threads compute that may wait for each other, and cannot be steered yet. A rank
 * may wait for others that have recorders of their own.
 */
static bool are_busy(struct session *s)
{
	const unsigned least = s->config->rank >= 0 || s->config->calls.wanted ? 1 : 2;
	unsigned nr_new = 0, nr_busy = 0;

	for (struct task *task = s->tasks.tasks; task; task = task->hh.next) {
		if (computed(task) < BUSY_NS || !lives(task))
			continue;
		nr_busy++;
		nr_new += !has(&s->adoption.own, task);
	}
	return nr_new && nr_busy >= least;
}

/* Tries become less frequent. */
static void fail(struct adoption *adoption, bool for_good)
{
	adoption->opened = 0;
	adoption->over = for_good || ++adoption->failures == MOST_FAILURES;
	adoption->wait = 4U << adoption->failures;
}

/* Lists all threads that live. */
static int list(struct session *s)
{
	struct adopted *next = &s->adoption.next;
	int err = 0;

	next->nr = 0;
	for (struct task *task = s->tasks.tasks; task && !err; task = task->hh.next)
		if (lives(task))
			err = next->nr == MOST_THREADS ? -E2BIG
			                               : ARRAY_ADD(next->tids, next->nr, task->tid);
	ARRAY_SORT(next->tids, next->nr, compare_tids);
	return err;
}

static void open_events(struct session *s)
{
	int err = list(s);

	if (!err)
		err = sampler_adopt(s->sampler, s->adoption.next.tids, s->adoption.next.nr);
	if (err)
		fail(&s->adoption, err != -ESRCH);
	else
		s->adoption.opened = sampler_now();
}

/*
 * Returns whether all threads have the next events: those that were not listed may have been born
 * before their parents had them. Only what is known by records counts, so none may be missing.
 */
static bool are_complete(const struct session *s)
{
	bool complete = !sampler_lost_records(s->sampler);

	for (const struct task *task = s->tasks.tasks; task && complete; task = task->hh.next)
		complete = !lives(task) || has(&s->adoption.next, task);
	return complete;
}

/* The records of all threads that were born before the events were open have been read. */
static void use_events(struct session *s)
{
	struct adopted own = s->adoption.own;

	s->adoption.opened = 0;
	if (are_complete(s)) {
		sampler_use_adopted(s->sampler);
		s->adoption.own = s->adoption.next;
		s->adoption.next = own;
		return;
	}
	sampler_drop_adopted(s->sampler);
	fail(&s->adoption, false);
}

void adoption_tick(struct session *s)
{
	struct adoption *adoption = &s->adoption;
	bool busy, quiet;

	if (!s->started || adoption->over || s->sampling.way != SAMPLER_LADDER ||
	    !adoption_wanted(s->config))
		return;
	if (adoption->opened) {
		if (sampler_drained(s->sampler) > adoption->opened)
			use_events(s);
		return;
	}
	busy = are_busy(s);
	quiet = is_quiet(s);
	if (adoption->wait)
		adoption->wait--;
	else if (busy && quiet)
		open_events(s);
}
