#include "cli/watch/trigger.h"

void trigger_init(struct trigger *trigger, const struct condition *condition)
{
	*trigger = (struct trigger){.condition = condition};
}

/* Returns false if there is nothing to compare with. */
static bool find_bound(const struct condition_term *term, const struct reading *reading,
                       double *bound)
{
	*bound = term->bound;
	switch (term->bound_type) {
	case BOUND_NUMBER:
		return true;
	case BOUND_MEDIAN:
		*bound *= reading->median;
		return reading->nr >= TRIGGER_LEAST_NR;
	case BOUND_LIMIT:
		*bound *= reading->limit;
		return reading->limit > 0;
	}
	return false;
}

static bool is_beyond(const struct condition_term *term, const struct reading *reading)
{
	double bound;

	if (reading->state != READING_NEW || !find_bound(term, reading, &bound))
		return false;
	return term->below ? reading->least < bound : reading->most > bound;
}

/* Returns whether the term has held for as long as it must. */
static bool step_term(struct trigger *trigger, unsigned number, uint64_t now,
                      const struct reading *reading)
{
	const struct condition_term *term = &trigger->condition->terms[number];
	bool held = trigger->terms[number].holds;
	bool holds = reading->state == READING_SAME ? held : is_beyond(term, reading);

	if (holds && !held)
		trigger->terms[number].since = now;
	if (reading->state == READING_NEW)
		trigger->terms[number].value = term->below ? reading->least : reading->most;
	trigger->terms[number].holds = holds;
	return holds && now - trigger->terms[number].since >= term->for_ns;
}

static bool is_allowed(const struct trigger *trigger, uint64_t now)
{
	return trigger->nr < TRIGGER_MOST &&
	       (!trigger->nr || now - trigger->last >= TRIGGER_PAUSE_NS);
}

bool trigger_step(struct trigger *trigger, uint64_t now, const struct reading *readings,
                  bool may_fire)
{
	bool all = true;

	for (unsigned i = 0; i < trigger->condition->nr_terms; i++)
		all &= step_term(trigger, i, now, &readings[i]);
	if (!all)
		trigger->met = false;
	if (!all || trigger->met || !may_fire || !is_allowed(trigger, now))
		return false;
	trigger->met = true;
	trigger->last = now;
	trigger->nr++;
	return true;
}

double trigger_value(const struct trigger *trigger)
{
	return trigger->terms[0].value;
}
