#include "cli/status.h"

#include "cli/say.h"
#include "cli/terminal.h"
#include "output/counter_columns.h"
#include "output/text.h"
#include "output/warnings.h"
#include "perf/permission.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define SHOW_EVERY_TICKS 5
#define LEAST_ROWS       3 /* that a terminal must have to spare one */

/* What terminals understand: all of them from the VT100 on. */
#define MAKE_ROOM  "\033D\033[A" /* below the cursor */
#define NOTE_PLACE "\0337"
#define GO_BACK    "\0338"
#define ALL_SCROLL "\033[r"
#define ERASE_LINE "\033[K"

static void print_rate(char text[TEXT_SIZE], const struct session *s, unsigned event)
{
	uint64_t period =
		sampler_base_period(s->sampler, event, 0) * s->options->events[event].scale
		<< hmb_floor(s->hmb, event);

	text_rate(text, period,
	          s->options->events[event].unit == EVENT_NS ? TRACE_NS : TRACE_COUNT);
}

/* Editors, shells and the like take the terminal's lines over, and draw on it themselves. */
static bool terminal_taken(void)
{
	struct termios settings;

	return !tcgetattr(STDERR_FILENO, &settings) && !(settings.c_lflag & ICANON);
}

/* Not from the background, where it would be in the way, or stop us (stty tostop). */
static bool wanted(const struct session *s)
{
	pid_t foreground;

	if (s->options->quiet || !terminal_obeys(STDERR_FILENO) || terminal_taken())
		return false;
	foreground = tcgetpgrp(STDERR_FILENO);
	return foreground < 0 || foreground == getpgrp();
}

/*
 * The line stands in the terminal's last row, and the rows above scroll without it: what the
 * program writes, lines that it has not finished as well, stays as it is. That takes a region that
 * lasts: with one for the moment of writing alone, the program's next lines would go on in that row
 * and carry the line along among them. Who is killed by SIGKILL leaves the region behind.
 *
 * Cut to the width: what is broken into two would scroll.
 */
static void put_line(struct session *s, char *line, bool while_recording)
{
	char region[16] = "";
	struct winsize size = terminal_size(STDERR_FILENO);

	if (size.ws_row < LEAST_ROWS)
		return;
	if (size.ws_col && strlen(line) >= size.ws_col)
		line[size.ws_col - 1] = '\0';
	if (while_recording)
		snprintf(region, sizeof(region), "\033[1;%ur", size.ws_row - 1U);
	fprintf(stderr, "%s" NOTE_PLACE "%s\033[%u;1H" ERASE_LINE "%s" GO_BACK,
	        s->status_row == size.ws_row ? "" : MAKE_ROOM, region, size.ws_row, line);
	s->status_row = size.ws_row;
}

static void remove_line(struct session *s)
{
	if (s->status_row)
		fprintf(stderr, NOTE_PLACE ALL_SCROLL "\033[%u;1H" ERASE_LINE GO_BACK,
		        s->status_row);
	s->status_row = 0;
}

void status_show(struct session *s)
{
	char rate[TEXT_SIZE], used[TEXT_SIZE], budget[TEXT_SIZE], time[TEXT_SIZE],
		line[5 * TEXT_SIZE];

	if (s->status_row && terminal_taken())
		remove_line(s);
	if (!wanted(s) || s->ticks % SHOW_EVERY_TICKS)
		return;
	print_rate(rate, s, 0);
	text_bytes(used, hmb_used(s->hmb));
	text_bytes(budget, s->options->budget);
	text_quantity(
		time,
		(double)(s->sampling ? sampler_now() - s->start : wakers_starts_in(&s->wakers)),
		TRACE_NS);
	if (s->sampling)
		snprintf(line, sizeof(line), "adaptrace: %s, %s, %s of %s", time, rate, used,
		         budget);
	else
		snprintf(line, sizeof(line), "adaptrace: sampling starts in %s", time);
	put_line(s, line, true);
}

void status_show_file(struct session *s, const char *path)
{
	char line[512], name[256] = "";
	FILE *safe;

	if (!wanted(s) || s->ticks < SHOW_EVERY_TICKS)
		return;
	safe = fmemopen(name, sizeof(name), "w");
	if (safe) {
		text_put(safe, text_file_name(path), 0);
		fclose(safe);
	}
	snprintf(line, sizeof(line), "adaptrace: looking up names in %s; Ctrl-C skips the rest",
	         name);
	put_line(s, line, false);
}

/* Blanks as wide as the terminal end in the next line only where a line is begun already. */
void status_clear(struct session *s)
{
	unsigned width = terminal_size(STDERR_FILENO).ws_col;

	if (s->status_row && width)
		fprintf(stderr, "%*s\r" ERASE_LINE, (int)width - 1, "");
	remove_line(s);
}

static uint64_t throttled(const struct session *s)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < (size_t)s->options->nr_events * sampler_nr_cpus(s->sampler); i++)
		sum += s->sources[i].throttled;
	return sum;
}

/* How many levels of an event were closed since the start. */
static unsigned levels_closed(const struct session *s, unsigned event)
{
	return hmb_floor(s->hmb, event) - tables_event(s->tables, event)->initial_shift;
}

/* The event that speaks for all; the line has room for one. */
static unsigned most_thinned(const struct session *s)
{
	unsigned most = 0;

	for (unsigned e = 1; e < s->options->nr_events; e++)
		if (levels_closed(s, e) > levels_closed(s, most))
			most = e;
	return most;
}

void status_final(const struct session *s, uint64_t bytes)
{
	char rate[TEXT_SIZE], used[TEXT_SIZE], budget[TEXT_SIZE], size[TEXT_SIZE], more[64] = "";
	bool several = s->options->nr_events > 1;
	unsigned event = most_thinned(s);
	uint64_t times = throttled(s);

	print_rate(rate, s, event);
	text_bytes(used, hmb_used(s->hmb));
	text_bytes(budget, s->options->budget);
	text_bytes(size, bytes);
	if (times)
		snprintf(more, sizeof(more), ", throttled %llu time%s", (unsigned long long)times,
		         plural(times));
	say("%s of %s, %s%skept 1 of %llu, %s now, %llu lost%s \u2192 %s (%s)", used, budget,
	    several ? s->options->events[event].name : "", several ? " " : "",
	    1ULL << levels_closed(s, event), rate, (unsigned long long)sampler_all_lost(s->sampler),
	    more, s->options->output, size);
}

static void warn_of_delay(const struct session *s)
{
	char waited[TEXT_SIZE], delay[TEXT_SIZE];

	text_quantity(waited, (double)s->waited, TRACE_NS);
	text_quantity(delay, (double)s->options->delay, TRACE_NS);
	say("nothing was sampled: the end came after %s, and --delay is %s", waited, delay);
}

/* That a short program was not sampled needs no word here. */
static void warn_of_silence(const struct session *s)
{
	const struct trace_event *event;
	char text[WARNING_SIZE];

	if (!s->sampling) {
		warn_of_delay(s);
		return;
	}
	for (uint32_t e = 0; e < s->options->nr_events; e++) {
		event = tables_event(s->tables, e);
		if (!event || event->taken || event->exact)
			continue;
		warning_of_silence(text, s->options->events[e].name, event,
		                   s->way != SAMPLER_LADDER);
		say("%s", text);
	}
}

/* That they had to share the hardware is said with what they counted. */
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
static const char *way_to_observe(const struct options *options)
{
	struct permission permission;

	if (!options->command)
		return "";
	permission_read(&permission);
	if (!permission_has(&permission, PERMISSION_CPU, 0))
		return "; recorded as root they are";
	return options->inherit ? "; recorded without --inherit they are" : "";
}

static void warn_of_unobserved(const struct session *s)
{
	const struct tasks *tasks = &s->tasks;
	char missed[64] = "";

	if (tasks->unobserved_list.missed)
		snprintf(missed, sizeof(missed), "; up to %llu ms of their time are missing",
		         (unsigned long long)tasks->unobserved_list.missed / 1000000 + 1);
	if (tasks->unobserved)
		say("%llu process%s executed a setuid or unreadable program, which the kernel does "
		    "not let inherited events observe%s%s",
		    (unsigned long long)tasks->unobserved, tasks->unobserved == 1 ? "" : "es",
		    way_to_observe(s->options), missed);
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

/* Those that outgrew their share of the memory. */
static void warn_of_dropped_calls(const struct session *s)
{
	const struct trace_event *calls = tables_event(s->tables, s->options->nr_events);
	char kept[64] = "none";

	if (!calls || calls->stored == calls->taken)
		return;
	if (calls->stored)
		snprintf(kept, sizeof(kept), "%llu", (unsigned long long)calls->stored);
	say("%s of %llu calls were kept: their share of the memory was full; a larger -m holds "
	    "more%s",
	    kept, (unsigned long long)calls->taken,
	    s->options->calls_policy == TRACE_POLICY_ALL
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
	int error;

	if (!s->calls)
		return;
	refused = calls_refused(s->calls, &error);
	if (refused)
		say("the calls of %llu process%s are missing: no memory could be shared with %s "
		    "(%s)",
		    (unsigned long long)refused, refused == 1 ? "" : "es",
		    refused == 1 ? "it" : "them",
		    error ? strerror(-error) : "too many lived at once");
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

	if (!s->options->command || s->options->wide)
		return;
	nr = tasks_running_on(&s->tasks, &oldest);
	if (nr)
		say("the command left %u process%s that run%s on unrecorded; adaptrace record "
		    "-p %d attaches to %s",
		    nr, nr == 1 ? "" : "es", nr == 1 ? "s" : "", (int)oldest,
		    nr == 1 ? "it" : "the oldest of them");
}

void status_warnings(const struct session *s)
{
	const uint32_t flags = tables_run(s->tables)->flags;

	warn_of_memory(s);
	warn_of_calls(s);
	warn_of_counters(s);
	warn_of_silence(s);
	if (flags & TRACE_RUN_LEFT_CGROUP)
		say("a process moved itself to another cgroup: it was not sampled there; "
		    "--inherit follows it");
	if (flags & TRACE_RUN_MISSED_CPU)
		say("a CPU was switched off or on: what ran on it from then on was not sampled");
	if (s->too_dear)
		say("samples of %s were more than --max-overhead allows, and its period could not "
		    "become longer: a longer one from the start (-c) costs less",
		    s->too_dear);
	warn_of_unobserved(s);
	warn_of_left_behind(s);
	if (s->stack.unknown_abi)
		say("the callers in %llu sample%s of 32-bit programs are not known; -g fp finds "
		    "those with frame pointers",
		    (unsigned long long)s->stack.unknown_abi, plural(s->stack.unknown_abi));
}
