#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>

void say(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "adaptrace: %s\n", line); /* one write: not torn by the target's output */
}
