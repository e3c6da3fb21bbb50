/* At the end of a recording: what is missing in it, and how to have that the next time. */
#include "cli/record/words.h"
#include "cli/say.h"
#include "output/profile/counter_columns.h"
#include "output/text/text.h"
#include "output/profile/warnings.h"
#include "perf/machine/permission.h"

#include <stdio.h>
#include <string.h>

static void warn_of_delay(const struct record_config *config, const struct notice *n)
{
	char waited[TEXT_SIZE], delay[TEXT_SIZE];

	text_quantity(waited, (double)n->nr, TRACE_NS);
	text_quantity(delay, (double)config->delay, TRACE_NS);
	say("nothing was sampled: the end came after %s, and --delay is %s", waited, delay);
}

static void warn_of_silence(const struct notice *n)
{
	char text[WARNING_SIZE];

	warning_of_silence(text, n->text, n->event, n->nr);
	say("%s", text);
}

/*
 * Warns of counters that could not be read. Sharing of the hardware by counters is reported with
 * their counts.
 */
static void warn_of_counter(const struct notice *n)
{
	char text[WHY_SIZE];

	if (trace_counter_trouble(n->counter, n->text, text, sizeof(text)) &&
	    (!n->nr || trace_counter_state(n->counter) == COUNTER_NEVER))
		say("%s", text);
}

/* The kernel may drop inherited events from a process. Events of a cgroup stay. */
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

static void warn_of_unobserved(const struct record_config *config, const struct notice *n)
{
	char text[WARNING_SIZE], missed[64] = "";

	if (n->total)
		snprintf(missed, sizeof(missed), "; up to %llu ms of their time are missing",
		         (unsigned long long)n->total / 1000000 + 1);
	warning_of_unobserved(text, n->nr);
	say("%s%s%s", text, way_to_observe(config), missed);
}

static void warn_of_memory(const struct notice *n)
{
	char size[TEXT_SIZE];

	text_bytes(size, n->nr);
	say("/dev/shm became full: the buffer could not grow beyond %s", size);
}

/* Warns of calls that were removed because their share of the memory was full. */
static void warn_of_dropped_calls(const struct record_config *config, const struct notice *n)
{
	char kept[64] = "none";

	if (n->nr)
		snprintf(kept, sizeof(kept), "%llu", (unsigned long long)n->nr);
	if (config->calls.keep) {
		say("%s of %llu calls seen are stored: those of some iterations of each loop "
		    "(--scale-trace); sums are of all",
		    kept, (unsigned long long)n->total);
		return;
	}
	say("%s of %llu calls seen were kept: the memory was full; a larger -m "
	    "holds more%s",
	    kept, (unsigned long long)n->total,
	    config->calls.policy == TRACE_POLICY_ALL
	            ? ", --events-policy duration keeps the longest"
	            : "");
}

static void warn_of_lost_calls(const struct notice *n)
{
	char text[WARNING_SIZE];

	warning_of_lost_calls(text, n->nr);
	say("%s", text);
}

static void warn_of_refused_calls(const struct notice *n)
{
	say("the calls of %llu process%s are missing: no memory could be shared with %s (%s)",
	    (unsigned long long)n->nr, n->nr == 1 ? "" : "es", n->nr == 1 ? "it" : "them",
	    n->err ? strerror(-n->err) : "too many lived at once");
}

static void warn_of_unheard_calls(const struct notice *n)
{
	say("the calls of %llu process%s are missing, for want of memory or because of a "
	    "network of %s own, as in a container: then start adaptrace in there",
	    (unsigned long long)n->nr, n->nr == 1 ? "" : "es", n->nr == 1 ? "its" : "their");
}

static void warn_of_left_behind(const struct notice *n)
{
	bool one = n->nr == 1;

	say("the command left %llu process%s that run%s on unrecorded; adaptrace record "
	    "-p %d attaches to %s",
	    (unsigned long long)n->nr, one ? "" : "es", one ? "s" : "", (int)n->pid,
	    one ? "it" : "the oldest of them");
}

static void warn_of_flags(const struct notice *n)
{
	say_flags((uint32_t)n->nr);
}

static void warn_of_expense(const struct notice *n)
{
	say("samples of %s were more than --max-overhead allows, and its period could not become "
	    "longer: a longer one from the start (-c) costs less",
	    n->text);
}

static void warn_of_cut_stacks(const struct notice *n)
{
	say_cut_stacks(n->run);
}

static void warn_of_no_calls(const struct record_config *config, const struct notice *n)
{
	const char *option = config->calls.mpi ? "--mpi" : "--openmp";

	if (n->text) {
		say("%s recorded no call: '%s' is statically linked, so that no library can see "
		    "its calls; link it with shared libraries",
		    option, n->text);
		return;
	}
	say("%s recorded no call: the program uses neither %s nor adaptrace.h or has it linked "
	    "statically, is "
	    "setuid, or has a network of its own, as in a container: then start adaptrace in "
	    "there",
	    option,
	    !config->calls.openmp ? "MPI"
	    : config->calls.mpi   ? "MPI, OpenMP"
	                          : "OpenMP");
}

const struct notice_words *record_warning(enum notice_topic topic)
{
	static const struct notice_words words[NR_NOTICES] = {
		[NOTICE_FLAGS] = {.say = warn_of_flags},
		[NOTICE_BUFFER_LIMIT] = {.say = warn_of_memory},
		[NOTICE_CALLS_REFUSED] = {.say = warn_of_refused_calls},
		[NOTICE_CALLS_UNHEARD] = {.say = warn_of_unheard_calls},
		[NOTICE_CALLS_DROPPED] = {.say_for = warn_of_dropped_calls},
		[NOTICE_CALLS_LOST] = {.say = warn_of_lost_calls},
		[NOTICE_COMMS_REFUSED] =
			{"a trace has room for 65535 communicators, with 4 "
	                 "million members together: messages in others are between "
	                 "unknown ranks, and missing in OTF2"},
		[NOTICE_NO_CALLS] = {.say_for = warn_of_no_calls},
		[NOTICE_COUNTER] = {.say = warn_of_counter},
		[NOTICE_DELAYED] = {.say_for = warn_of_delay},
		[NOTICE_SILENT] = {.say = warn_of_silence},
		[NOTICE_EXPENSIVE] = {.say = warn_of_expense},
		[NOTICE_UNOBSERVED] = {.say_for = warn_of_unobserved},
		[NOTICE_RUNNING_ON] = {.say = warn_of_left_behind},
		[NOTICE_CUT_STACKS] = {.say = warn_of_cut_stacks},
	};

	return &words[topic];
}
