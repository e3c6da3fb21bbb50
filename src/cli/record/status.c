#include "cli/record/status.h"

#include "record/period.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "record/session.h"
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

/* A recording, its state, and one of its events: as asked for, and as it is. */
struct subject {
	const struct record_config *config;
	const struct session_state *state;
	const struct event *asked;
	const struct event_state *is;
};

static struct subject subject_of(const struct record_config *config,
                                 const struct session_state *state, unsigned event)
{
	return (struct subject){config, state, &config->events[event], &state->events[event]};
}

static void print_rate(char text[TEXT_SIZE], const struct subject *s, unsigned shift)
{
	uint64_t period = s->is->base_period * s->asked->scale << shift;

	text_rate(text, period, s->asked->unit == EVENT_NS ? TRACE_NS : TRACE_COUNT);
}

/* Editors, shells and the like take the terminal's lines over, and draw on it themselves. */
static bool terminal_taken(void)
{
	struct termios settings;

	return !tcgetattr(STDERR_FILENO, &settings) && !(settings.c_lflag & ICANON);
}

/* A recorder in the background writes none: it would be in the way, or stop us (stty tostop). */
static bool wanted(struct record_status *s)
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
static void put_line(struct record_status *s, char *line, bool while_recording)
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
	        s->row == size.ws_row ? "" : MAKE_ROOM, region, size.ws_row, line);
	s->row = size.ws_row;
}

static void remove_line(struct record_status *s)
{
	if (s->row)
		fprintf(stderr, NOTE_PLACE ALL_SCROLL "\033[%u;1H" ERASE_LINE GO_BACK, s->row);
	s->row = 0;
}

/* "adaptrace: 12.5 s, 1250 Hz, 61.2 MiB of 100 MiB" */
static void print_line(char *line, size_t size, const struct record_config *config,
                       const struct session_state *state)
{
	char rate[TEXT_SIZE], used[TEXT_SIZE], budget[TEXT_SIZE], time[TEXT_SIZE];
	const struct subject first = subject_of(config, state, 0);

	print_rate(rate, &first, first.is->floor);
	text_bytes(used, state->used);
	text_bytes(budget, state->limit);
	text_quantity(time, (double)(state->started ? state->wall : state->starts_in), TRACE_NS);
	if (state->started)
		snprintf(line, size, "adaptrace: %s, %s, %s of %s", time, rate, used, budget);
	else
		snprintf(line, size, "adaptrace: sampling starts in %s", time);
}

void status_show(void *arg, const struct session *session)
{
	struct record_status *s = arg;
	struct session_state state;
	char line[5 * TEXT_SIZE];

	if (s->row && terminal_taken())
		remove_line(s);
	if (s->ticks++ % SHOW_EVERY_TICKS || !wanted(s))
		return;
	session_state_read(session, &state);
	print_line(line, sizeof(line), s->config, &state);
	put_line(s, line, true);
}

void status_show_file(void *arg, const char *path)
{
	struct record_status *s = arg;
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
void status_clear(struct record_status *s)
{
	unsigned width = terminal_size(STDERR_FILENO).ws_col;

	if (s->row && width)
		fprintf(stderr, "%*s\r" ERASE_LINE, (int)width - 1, "");
	remove_line(s);
}

/* How many levels of an event were closed since the start. */
static unsigned levels_closed(const struct event_state *event)
{
	return event->floor - event->initial_shift;
}

/* The event that speaks for all; the line has room for one. */
static unsigned most_thinned(const struct record_config *config, const struct session_state *state)
{
	unsigned most = 0;

	for (unsigned e = 1; e < config->nr_events; e++)
		if (levels_closed(&state->events[e]) > levels_closed(&state->events[most]))
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
static void put_start(FILE *to, const struct subject *s)
{
	char rate[TEXT_SIZE], price[TEXT_SIZE];

	text_rate(rate, s->is->base_period, TRACE_NS);
	text_quantity(price, (double)s->state->price, TRACE_NS);
	if (s->is->is_costly)
		fprintf(to,
		        "%s would cost the program more than %g %% (--max-overhead), as a sample "
		        "takes %s of its time",
		        rate, 100 * s->config->max_overhead, price);
	else
		fprintf(to,
		        "%s is more than the kernel permits (kernel.perf_event_max_sample_rate)",
		        rate);
}

/* Why the base period is what it is; nothing is put where the user chose exactly that. */
static void put_base(FILE *to, const struct subject *s)
{
	struct period_choice choice =
		period_choice(s->asked, s->config->frequency, s->config->period);

	if (choice.is_exact)
		return;
	if (s->asked->unit == EVENT_COUNT)
		fputs("the default; -c sets another", to);
	else
		fprintf(to,
		        "close to %s %g Hz%s; round periods are avoided, as programs may run in "
		        "step "
		        "with them",
		        choice.is_default ? "the default of" : "the", choice.frequency,
		        choice.is_default ? "" : " asked for");
}

static void put_reductions(FILE *to, const struct subject *s)
{
	const struct {
		unsigned nr;
		const char *text;
	} causes[] = {
		{s->is->for_memory, "the buffer was full (-m)"},
		{s->is->for_overhead, "sampling cost too much (--max-overhead)"},
	};
	char rate[TEXT_SIZE], times[TEXT_SIZE];

	print_rate(rate, s, s->is->initial_shift);
	fprintf(to, "%s at first", rate);
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (causes[i].nr)
			fprintf(to, ", halved %s, as %s", times_text(times, causes[i].nr),
			        causes[i].text);
}

/* Why the event was sampled at the rate that was reached; "": as the user wanted. NULL: no memory.
 */
static char *rate_reason(const struct subject *s)
{
	bool slowed = levels_closed(s->is) > 0;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	if (s->is->initial_shift) {
		put_start(to, s);
		fputs(slowed ? "; " : "", to);
	} else if (!slowed) {
		put_base(to, s);
	}
	if (slowed)
		put_reductions(to, s);
	if (!fclose(to))
		return text;
	free(text);
	return NULL;
}

/* "322 Hz: 10301 Hz would cost …", of several events "cpu-clock, 322 Hz: …" */
static void say_rate(const struct subject *s)
{
	bool several = s->config->nr_events > 1;
	char *reason = rate_reason(s), rate[TEXT_SIZE];

	print_rate(rate, s, s->is->floor);
	if (reason && *reason)
		say("%s%s%s: %s", several ? s->asked->name : "", several ? ", " : "", rate, reason);
	free(reason);
}

/*
 * ", cost 1.2 % (coupled CPUs 9.8 %)": what each CPU of the program lost, and what a program loses
 * whose CPUs wait for each other; "": not known.
 */
static void cost_text(char text[3 * TEXT_SIZE], const struct session_state *state)
{
	char one[TEXT_SIZE], coupled[TEXT_SIZE];

	if (state->one_cpu_cost)
		snprintf(text, 3 * TEXT_SIZE, ", cost %s (coupled CPUs %s)",
		         text_share(one, state->one_cpu_cost, 1000000),
		         text_share(coupled, state->coupled_cost, 1000000));
}

static void say_result(const struct subject *s, const char *path, uint64_t bytes)
{
	char rate[TEXT_SIZE], used[TEXT_SIZE], budget[TEXT_SIZE], size[TEXT_SIZE], wall[TEXT_SIZE],
		more[64] = "", cost[3 * TEXT_SIZE] = "";
	bool several = s->config->nr_events > 1;
	const struct session_state *state = s->state;

	print_rate(rate, s, s->is->floor);
	text_bytes(used, state->used);
	text_bytes(budget, state->limit);
	text_bytes(size, bytes);
	text_quantity(wall, (double)state->wall, TRACE_NS);
	cost_text(cost, state);
	if (state->throttled)
		snprintf(more, sizeof(more), ", throttled %llu time%s",
		         (unsigned long long)state->throttled, plural(state->throttled));
	say("%llu sample%s in %s, %s of %s, %s%skept 1 of %llu, %s now%s, %llu lost%s \u2192 %s "
	    "(%s)",
	    (unsigned long long)state->stored, plural(state->stored), wall, used, budget,
	    several ? s->asked->name : "", several ? " " : "", 1ULL << levels_closed(s->is), rate,
	    cost, (unsigned long long)state->lost, more, path, size);
}

void status_final(void *arg, const struct session_state *state, const char *path, uint64_t bytes)
{
	const struct record_config *config = ((struct record_status *)arg)->config;
	const struct subject s = subject_of(config, state, most_thinned(config, state));

	if (config->quiet)
		return;
	if (state->stored)
		say_rate(&s);
	say_result(&s, path, bytes);
}
