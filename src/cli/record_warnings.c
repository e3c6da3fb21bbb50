/* At the end of a recording: what is missing in it, and how to have that the next time. */
#include "cli/say.h"
#include "record/session.h"
#include "output/profile/counter_columns.h"
#include "output/text/text.h"
#include "output/profile/warnings.h"
#include "perf/machine/permission.h"

#include <stdio.h>
#include <string.h>

static void warn_of_delay(const struct session *s)
{
	char waited[TEXT_SIZE], delay[TEXT_SIZE];

	text_quantity(waited, (double)s->waited, TRACE_NS);
	text_quantity(delay, (double)s->config->delay, TRACE_NS);
	say("nothing was sampled: the end came after %s, and --delay is %s", waited, delay);
}

/* Warns of events without samples. A program that was too short to be sampled gets no warning. */
static void warn_of_silence(const struct session *s)
{
	const struct trace_event *event;
	char text[WARNING_SIZE];

	if (!s->started) {
		warn_of_delay(s);
		return;
	}
	for (uint32_t e = 0; e < s->config->nr_events; e++) {
		event = tables_event(s->tables, e);
		if (!event || event->taken || event->exact)
			continue;
		warning_of_silence(text, s->config->events[e].name, event,
		                   s->sampling.way != SAMPLER_LADDER);
		say("%s", text);
	}
}

/*
 * Warns of counters that could not be read. Sharing of the hardware by counters is reported with
 * their counts.
 */
static void warn_of_counters(const struct session *s)
{
	const struct trace_counter *counter;
	char text[WHY_SIZE];

	for (uint32_t i = 0; (counter = tables_counter(s->tables, i)); i++) {
		if (trace_counter_trouble(counter, tables_string_at(s->tables, counter->name), text,
		                          sizeof(text)) &&
		    (!i || trace_counter_state(counter) == COUNTER_NEVER))
			say("%s", text);
	}
}

/* Events of a cgroup see what the kernel takes inherited ones away from. */
static const char *way_to_observe(const struct record_config *config)
{
	struct permission permission;

	if (!config->command)
		return "";
	permission_read(&permission);
	if (!permission_has(&permission, PERMISSION_CPU, 0))
		return "; recorded as root they are";
	return config->inherit ? "; recorded without --inherit they are" : "";
}

static void warn_of_unobserved(const struct session *s)
{
	const struct tasks *tasks = &s->tasks;
	char text[WARNING_SIZE], missed[64] = "";

	if (!tasks->unobserved)
		return;
	if (tasks->unobserved_list.missed)
		snprintf(missed, sizeof(missed), "; up to %llu ms of their time are missing",
		         (unsigned long long)tasks->unobserved_list.missed / 1000000 + 1);
	warning_of_unobserved(text, tasks->unobserved);
	say("%s%s%s", text, way_to_observe(s->config), missed);
}

/* The same samples are there, at a lower rate. */
static void warn_of_memory(const struct session *s)
{
	char size[TEXT_SIZE];

	if (hmb_size(s->hmb) == s->buffer_size)
		return;
	text_bytes(size, hmb_size(s->hmb));
	say("/dev/shm became full: the buffer could not grow beyond %s", size);
}

/* Warns of calls that were removed because their share of the memory was full. */
static void warn_of_dropped_calls(const struct session *s)
{
	const struct trace_event *calls = tables_event(s->tables, s->config->nr_events);
	char kept[64] = "none";

	if (!calls || calls->stored == calls->taken)
		return;
	if (calls->stored)
		snprintf(kept, sizeof(kept), "%llu", (unsigned long long)calls->stored);
	say("%s of %llu calls seen were kept: their share of the memory was full; a larger -m "
	    "holds more%s",
	    kept, (unsigned long long)calls->taken,
	    s->config->calls.policy == TRACE_POLICY_ALL
	            ? ", --events-policy duration keeps the longest"
	            : "");
}

static void warn_of_lost_calls(const struct session *s)
{
	const struct trace_instrument *instrument = tables_instrument(s->tables, 0);
	char text[WARNING_SIZE];

	if (!instrument || !instrument->lost)
		return;
	warning_of_lost_calls(text, instrument->lost);
	say("%s", text);
}

static void warn_of_calls(const struct session *s)
{
	uint64_t refused, unheard;
	int err;

	if (!s->calls)
		return;
	refused = calls_refused(s->calls, &err);
	if (refused)
		say("the calls of %llu process%s are missing: no memory could be shared with %s "
		    "(%s)",
		    (unsigned long long)refused, refused == 1 ? "" : "es",
		    refused == 1 ? "it" : "them", err ? strerror(-err) : "too many lived at once");
	unheard = calls_unheard(s->calls);
	if (unheard)
		say("the calls of %llu process%s are missing, for want of memory or because of a "
		    "network of %s own, as in a container: then start adaptrace in there",
		    (unsigned long long)unheard, unheard == 1 ? "" : "es",
		    unheard == 1 ? "its" : "their");
	warn_of_dropped_calls(s);
	warn_of_lost_calls(s);
	if (calls_refused_comms(s->calls))
		say("a trace has room for 65535 communicators, with 4 million members together: "
		    "messages in others are between unknown ranks, and missing in OTF2");
	if (!refused && !unheard && !calls_nr_processes(s->calls))
		say("--mpi recorded no call: the program uses neither MPI nor adaptrace.h, is "
		    "statically linked or setuid, or has a network of its own, as in a container: "
		    "then start adaptrace in there");
}

/* Daemons, mostly. */
static void warn_of_left_behind(const struct session *s)
{
	unsigned nr;
	pid_t oldest;

	if (!s->config->command || s->config->wide)
		return;
	nr = tasks_running_on(&s->tasks, &oldest);
	if (nr)
		say("the command left %u process%s that run%s on unrecorded; adaptrace record "
		    "-p %d attaches to %s",
		    nr, nr == 1 ? "" : "es", nr == 1 ? "s" : "", (int)oldest,
		    nr == 1 ? "it" : "the oldest of them");
}

void session_warn(const struct session *s)
{
	const uint32_t meanwhile = TRACE_RUN_LEFT_CGROUP | TRACE_RUN_MISSED_CPU;

	warn_of_memory(s);
	warn_of_calls(s);
	warn_of_counters(s);
	warn_of_silence(s);
	say_flags(tables_run(s->tables)->flags & meanwhile);
	if (s->sampling.too_expensive)
		say("samples of %s were more than --max-overhead allows, and its period could not "
		    "become longer: a longer one from the start (-c) costs less",
		    s->sampling.too_expensive);
	warn_of_unobserved(s);
	warn_of_left_behind(s);
	say_cut_stacks(tables_run(s->tables));
}
