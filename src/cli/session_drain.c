#include "cli/session.h"
#include "cli/summary.h"

static void count_trouble(struct session *s, const struct record *record,
                          const struct sampler_source *source)
{
	/* Lost mappings and tasks do not come back by slower sampling. */
	if (source->event < 0)
		return;
	if (record->type == RECORD_LOST)
		s->guard.lost += record->lost.count;
	if (record->type == RECORD_THROTTLE) {
		s->guard.throttled++;
		s->throttled[(unsigned)source->event * sampler_nr_cpus(s->sampler) + source->cpu]++;
	}
}

/* The guard is told how long all but samples took: slower sampling would not save that. */
static void end_others(struct session *s, uint64_t *since)
{
	if (*since)
		s->guard.others_ns += sampler_now() - *since;
	*since = 0;
}

static void take_in(struct session *s, const struct record *record,
                    const struct sampler_source *source, uint64_t *others_since)
{
	if (record->type == RECORD_SAMPLE) {
		end_others(s, others_since);
		session_sample(s, record, source);
		return;
	}
	if (!*others_since)
		*others_since = sampler_now();
	tasks_record(&s->tasks, record);
}

void session_drain(struct session *s, bool all)
{
	uint64_t others_since = 0;
	struct record record;
	struct sampler_source source;
	int result;

	sampler_drain(s->sampler, all);
	if (sampler_is_crowded(s->sampler))
		session_wake(s);
	while ((result = sampler_next(s->sampler, &record, &source))) {
		if (result < 0) {
			s->malformed++;
			continue;
		}
		take_in(s, &record, &source, &others_since);
		count_trouble(s, &record, &source);
	}
	end_others(s, &others_since);
	summary_modules(s);
}
