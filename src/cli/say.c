#include "cli/say.h"
#include "output/text.h"

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

static void say_line(const char *format, va_list args)
{
	char start[1024], *whole, *message, *line = NULL;
	size_t size = 0;
	va_list again;
	FILE *memory;

	va_copy(again, args);
	vsnprintf(start, sizeof(start), format, again);
	va_end(again);
	if (vasprintf(&whole, format, args) < 0)
		whole = NULL;
	message = whole ? whole : start;
	memory = open_memstream(&line, &size);
	if (memory)
		put(memory, message);
	if (memory && !fclose(memory) && line)
		fwrite(line, 1, size, stderr); /* one write: not torn by the target's output */
	else
		put(stderr, message); /* what is said then is said of memory */
	free(line);
	free(whole);
}

void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
}

void say_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say_line(format, args);
	va_end(args);
	exit(argp_err_exit_status);
}
