/* The options of record that name events: -e, and --counters. */
#ifndef CLI_EVENT_OPTIONS_H
#define CLI_EVENT_OPTIONS_H

#include "cli/session_options.h"

/* Each says what is wrong, if not 0. An alias may stand for several events. */
int event_options_sample(struct options *options, const char *name);
/* A list with commas. */
int event_options_count(struct options *options, const char *list);

#endif
