#include "cli/say.h"
#include "cli/plain_text.h"
#include "output/text/text.h"
#include "output/profile/cut_stacks.h"
#include "output/profile/warnings.h"
#include "perf/events/event.h"

#include <argp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Names in it are other people's: nothing in them may act on the terminal. */
static void put(FILE *to, const char *message)
{
	fputs("adaptrace: ", to);
	text_put(to, message, 0);
	fputc('\n', to);
}

/* One write: not torn by the target's output. False: no memory. */
static bool put_at_once(const char *line, size_t size, bool plain)
{
	char *text = NULL;
	size_t text_size = 0;
	FILE *memory = plain ? open_memstream(&text, &text_size) : NULL;
	bool whole = !plain || (memory && plain_text_put(memory, line, size));

	if (memory && fclose(memory))
		whole = false;
	if (whole)
		fwrite(plain ? text : line, 1, plain ? text_size : size, stderr);
	free(text);
	return whole;
}

static void put_line(const char *message)
{
	char *line = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&line, &size);

	if (memory)
		put(memory, message);
	if (!memory || fclose(memory) || !line || !put_at_once(line, size, plain_text_wanted()))
		put(stderr, message); /* what is said then is said of memory */
	free(line);
}

/* However long the names in it are: what is said of them comes behind them. */
static void say_line(const char *format, va_list args)
{
	char brief[1024], *message;
	va_list again;

	va_copy(again, args);
	if (vasprintf(&message, format, args) >= 0) {
		put_line(message);
		free(message);
	} else {
		vsnprintf(brief, sizeof(brief), format, again);
		put_line(brief);
	}
	va_end(again);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

bool say_advice(const char *begin, const struct advice *advice)
{
	char line[WHY_SIZE];

	if (advice->topic == ADVICE_NONE)
		return false;
	advice_line(advice, line, sizeof(line));
	say("%s%s", begin, line);
	return true;
}

static void say_warning(void *arg, const char *text)
{
	(void)arg;
	say("%s", text);
}

void say_flags(uint32_t flags)
{
	warnings_of_flags(flags, say_warning, NULL);
}

void say_callers(const struct trace *trace)
{
	warnings_of_callers(trace, say_warning, NULL);
}

/* Fewer are the report's to tell. */
#define MANY_CUT 0.05

void say_cut_stacks(const struct trace_run *run)
{
	warnings_of_cut_stacks(run, 0, MANY_CUT, say_warning, NULL);
}

void say_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
	exit(argp_err_exit_status);
}
