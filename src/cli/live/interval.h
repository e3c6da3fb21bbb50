/* An interval of a command that looks at a recording again and again. */
#ifndef CLI_LIVE_INTERVAL_H
#define CLI_LIVE_INTERVAL_H

#include "cli/say.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns ns for seconds as text. Another text is reported and ends the program. */
static inline uint64_t interval_parse(const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (*end || end == text || !(seconds >= 0.1 && seconds <= 86400))
		say_usage("--interval takes seconds, from 0.1 to 86400");
	return (uint64_t)llround(seconds * 1e9);
}

#endif
