#include "cli/record_status.h"

#include "record/period.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "output/text/text.h"
#include "trace/trace.h"

#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define SHOW_EVERY_TICKS 5
#define LEAST_ROWS       3 /* that a terminal must have to spare one */

/* Control sequences that all terminals from the VT100 on understand. */
#define MAKE_ROOM  "\033D\033[A" /* below the cursor */
#define NOTE_PLACE "\0337"
#define GO_BACK    "\0338"
#define ALL_SCROLL "\033[r"
#define ERASE_LINE "\033[K"

static void print_rate(char text[TEXT_SIZE], const struct session *s, unsigned event,
                       unsigned shift)
{
	uint64_t period = sampler_base_period(s->sampler, event, 0) * s->config->events[event].scale
	                  << shift;

	text_rate(text, period, s->config->events[event].unit == EVENT_NS ? TRACE_NS : TRACE_COUNT);
}

/* Editors, shells and the like take the terminal's lines over, and draw on it themselves. */
static bool terminal_taken(void)
{
	struct termios settings;

	return !tcgetattr(STDERR_FILENO, &settings) && !(settings.c_lflag & ICANON);
}

/* Not from the background, where it would be in the way, or stop us (stty tostop). */
static bool wanted(struct session *s)
{
	pid_t foreground;

	if (s->config->quiet || !terminal_obeys(STDERR_FILENO) || terminal_taken() ||
	    stderr_writer_is_behind(&s->messages))
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
	print_rate(rate, s, 0, hmb_floor(s->hmb, 0));
	text_bytes(used, hmb_used(s->hmb));
	text_bytes(budget, s->config->budget);
	text_quantity(
		time,
		(double)(s->started ? sampler_now() - s->start : wakers_starts_in(&s->wakers)),
		TRACE_NS);
	if (s->started)
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

	for (size_t i = 0; i < (size_t)s->config->nr_events * sampler_nr_cpus(s->sampler); i++)
		sum += s->sources[i].throttled;
	return sum;
}

static unsigned initial_shift(const struct session *s, unsigned event)
{
	return tables_event(s->tables, event)->initial_shift;
}

/* How many levels of an event were closed since the start. */
static unsigned levels_closed(const struct session *s, unsigned event)
{
	return hmb_floor(s->hmb, event) - initial_shift(s, event);
}

/* The event that speaks for all; the line has room for one. */
static unsigned most_thinned(const struct session *s)
{
	unsigned most = 0;

	for (unsigned e = 1; e < s->config->nr_events; e++)
		if (levels_closed(s, e) > levels_closed(s, most))
			most = e;
	return most;
}

/* "once", "3 times" */
static const char *times_text(char text[TEXT_SIZE], unsigned nr)
{
	snprintf(text, TEXT_SIZE, nr == 1 ? "once" : "%u times", nr);
	return text;
}

/* Why a clock starts slower than its base period, which its own price or the kernel forbids. */
static void put_start(FILE *to, const struct session *s, unsigned event)
{
	uint64_t period = sampler_base_period(s->sampler, event, 0);
	char rate[TEXT_SIZE], price[TEXT_SIZE];

	text_rate(rate, period, TRACE_NS);
	if (!guard_affords(&s->guard, (double)(period << (initial_shift(s, event) - 1)))) {
		text_quantity(price, (double)s->guard.price, TRACE_NS);
		fprintf(to,
		        "%s would cost the program more than %g %% (--max-overhead), as a sample "
		        "takes %s of its time",
		        rate, 100 * s->guard.max_overhead, price);
		return;
	}
	fprintf(to, "%s is more than the kernel permits (kernel.perf_event_max_sample_rate)", rate);
}

/* Why the base period is what it is; nothing is put where the user chose exactly that. */
static void put_base(FILE *to, const struct session *s, unsigned event)
{
	const struct record_config *config = s->config;
	const struct event *of = &config->events[event];
	struct period_choice choice = period_choice(of, config->frequency, config->period);

	if (choice.is_exact)
		return;
	if (of->unit == EVENT_COUNT)
		fputs("the default; -c sets another", to);
	else
		fprintf(to,
		        "close to %s %g Hz%s; round periods are avoided, as programs may run in "
		        "step "
		        "with them",
		        choice.is_default ? "the default of" : "the", choice.frequency,
		        choice.is_default ? "" : " asked for");
}

static unsigned count_reductions(const struct session *s, unsigned event, enum hmb_cause cause)
{
	const struct hmb_ledger *ledger = tables_ledger(s->tables);
	unsigned nr = 0;

	for (uint32_t i = 0; i < ledger->nr_reductions; i++)
		nr += ledger->reductions[i].kind == event && ledger->reductions[i].cause == cause &&
		      ledger->reductions[i].floor > initial_shift(s, event);
	return nr;
}

static void put_reductions(FILE *to, const struct session *s, unsigned event)
{
	static const struct {
		enum hmb_cause cause;
		const char *text;
	} causes[] = {
		{HMB_CAUSE_MEMORY, "the buffer was full (-m)"},
		{HMB_CAUSE_OVERHEAD, "sampling cost too much (--max-overhead)"},
	};
	char rate[TEXT_SIZE], times[TEXT_SIZE];

	print_rate(rate, s, event, initial_shift(s, event));
	fprintf(to, "%s at first", rate);
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		unsigned nr = count_reductions(s, event, causes[i].cause);

		if (nr)
			fprintf(to, ", halved %s, as %s", times_text(times, nr), causes[i].text);
	}
}

/* Why the event was sampled at the rate that was reached; "": as the user wanted. NULL: no memory.
 */
static char *rate_reason(const struct session *s, unsigned event)
{
	bool slowed = levels_closed(s, event) > 0;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	if (initial_shift(s, event)) {
		put_start(to, s, event);
		fputs(slowed ? "; " : "", to);
	} else if (!slowed) {
		put_base(to, s, event);
	}
	if (slowed)
		put_reductions(to, s, event);
	if (!fclose(to))
		return text;
	free(text);
	return NULL;
}

/* "322 Hz: 10301 Hz would cost …", of several events "cpu-clock, 322 Hz: …" */
static void say_rate(const struct session *s, unsigned event)
{
	bool several = s->config->nr_events > 1;
	char *reason = rate_reason(s, event), rate[TEXT_SIZE];

	print_rate(rate, s, event, hmb_floor(s->hmb, event));
	if (reason && *reason)
		say("%s%s%s: %s", several ? s->config->events[event].name : "", several ? ", " : "",
		    rate, reason);
	free(reason);
}

static uint64_t all_stored(const struct session *s)
{
	uint64_t sum = 0;

	for (unsigned e = 0; e < s->config->nr_events; e++)
		sum += hmb_stored(s->hmb, e);
	return sum;
}

void status_final(const struct session *s, uint64_t bytes)
{
	char rate[TEXT_SIZE], used[TEXT_SIZE], budget[TEXT_SIZE], size[TEXT_SIZE], wall[TEXT_SIZE],
		more[64] = "";
	bool several = s->config->nr_events > 1;
	unsigned event = most_thinned(s);
	uint64_t times = throttled(s), stored = all_stored(s);

	if (stored)
		say_rate(s, event);
	print_rate(rate, s, event, hmb_floor(s->hmb, event));
	text_bytes(used, hmb_used(s->hmb));
	text_bytes(budget, s->config->budget);
	text_bytes(size, bytes);
	text_quantity(wall, (double)trace_wall(tables_run(s->tables)), TRACE_NS);
	if (times)
		snprintf(more, sizeof(more), ", throttled %llu time%s", (unsigned long long)times,
		         plural(times));
	say("%llu sample%s in %s, %s of %s, %s%skept 1 of %llu, %s now, %llu lost%s \u2192 %s (%s)",
	    (unsigned long long)stored, plural(stored), wall, used, budget,
	    several ? s->config->events[event].name : "", several ? " " : "",
	    1ULL << levels_closed(s, event), rate, (unsigned long long)sampler_all_lost(s->sampler),
	    more, s->beside ?: s->config->output, size);
}
