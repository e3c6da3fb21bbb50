/* What a reader of a profile must know before believing it. */
#ifndef OUTPUT_WARNINGS_H
#define OUTPUT_WARNINGS_H

#include "output/profile.h"

#define WARNING_SIZE 512

/* Called for each, most serious first; text is one line, and may hold names as they are. */
typedef void warning_fn(void *arg, const char *text);

/* Of the whole recording. */
void warnings_of_run(const struct trace *trace, warning_fn *fn, void *arg);
/* Of one event's samples. */
void warnings_of_profile(const struct profile *profile, warning_fn *fn, void *arg);

#endif
