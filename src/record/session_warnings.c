/* At the end of a recording: what is missing in it. */
#include "record/session.h"

static void warn_of_silence(const struct session *s)
{
	const struct trace_event *event;

	if (!s->started)
		session_notice(s, (struct notice){NOTICE_DELAYED, .nr = s->waited});
	for (uint32_t e = 0; s->started && e < s->config->nr_events; e++) {
		event = session_has_kind(s, e) ? tables_event(s->tables, s->events[e].kind) : NULL;
		if (event && s->events[e].on && !event->taken && !event->exact)
			session_notice(s, (struct notice){NOTICE_SILENT,
			                                  .text = s->config->events[e].name,
			                                  .event = event,
			                                  .nr = s->sampling.way != SAMPLER_LADDER});
	}
}

static void warn_of_counters(const struct session *s)
{
	const struct trace_counter *counter;

	for (uint32_t i = 0; (counter = tables_counter(s->tables, i)); i++)
		session_notice(s,
		               (struct notice){NOTICE_COUNTER, .nr = i,
		                               .text = tables_string_at(s->tables, counter->name),
		                               .counter = counter});
}

static void warn_of_missing_calls(const struct session *s)
{
	const struct trace_event *calls = tables_event(s->tables, s->calls_kind);
	const struct trace_instrument *instrument = tables_instrument(s->tables, 0);

	if (calls && calls->stored != calls->taken)
		session_notice(s, (struct notice){NOTICE_CALLS_DROPPED, .nr = calls->stored,
		                                  .total = calls->taken});
	if (instrument && instrument->lost)
		session_notice(s, (struct notice){NOTICE_CALLS_LOST, .nr = instrument->lost});
}

/* Returns the path of a program into which nothing can be preloaded; NULL: there is none. */
static const char *static_program(const struct module_table *modules)
{
	for (size_t i = 1; i < module_table_count(modules); i++) {
		const struct module *module = module_table_get(modules, (uint16_t)i);

		if (module && module->type == MODULE_FILE && module->is_static)
			return module->path;
	}
	return NULL;
}

static void warn_of_calls(const struct session *s)
{
	int err;
	uint64_t refused = calls_refused(s->calls, &err), unheard = calls_unheard(s->calls);

	if (refused)
		session_notice(s, (struct notice){NOTICE_CALLS_REFUSED, err, .nr = refused});
	if (unheard)
		session_notice(s, (struct notice){NOTICE_CALLS_UNHEARD, .nr = unheard});
	warn_of_missing_calls(s);
	if (calls_refused_comms(s->calls))
		session_notice(s, (struct notice){NOTICE_COMMS_REFUSED});
	if (!refused && !unheard && !calls_nr_processes(s->calls))
		session_notice(
			s, (struct notice){NOTICE_NO_CALLS, .text = static_program(s->modules)});
}

/* Daemons, mostly. */
static void warn_of_left_behind(const struct session *s)
{
	unsigned nr = 0;
	pid_t oldest;

	if (s->config->command && !s->config->wide && !s->stopped)
		nr = tasks_running_on(&s->tasks, &oldest);
	if (nr)
		session_notice(s, (struct notice){NOTICE_RUNNING_ON, .nr = nr, .pid = oldest});
}

void session_warn(const struct session *s)
{
	const uint32_t meanwhile = TRACE_RUN_LEFT_CGROUP | TRACE_RUN_MISSED_CPU;
	const struct trace_run *run = tables_run(s->tables);

	if (hmb_size(s->hmb) != s->buffer_size)
		session_notice(s, (struct notice){NOTICE_BUFFER_LIMIT, .nr = hmb_size(s->hmb)});
	if (s->calls)
		warn_of_calls(s);
	warn_of_counters(s);
	warn_of_silence(s);
	session_notice(s, (struct notice){NOTICE_FLAGS, .nr = run->flags & meanwhile});
	if (s->sampling.too_expensive)
		session_notice(
			s, (struct notice){NOTICE_EXPENSIVE, .text = s->sampling.too_expensive});
	history_warn(s);
	if (s->tasks.unobserved)
		session_notice(s, (struct notice){NOTICE_UNOBSERVED, .nr = s->tasks.unobserved,
		                                  .total = s->tasks.unobserved_list.missed});
	warn_of_left_behind(s);
	session_notice(s, (struct notice){NOTICE_CUT_STACKS, .run = run});
}
