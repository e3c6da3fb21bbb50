/* The options of record that name events: -e, and --counters. */
#ifndef CLI_EVENT_OPTIONS_H
#define CLI_EVENT_OPTIONS_H

#include "cli/session_options.h"

/* Each takes a list with commas, and says what is wrong, if not 0. A name may stand for several. */
int event_options_sample(struct options *options, const char *list);
int event_options_count(struct options *options, const char *list);

#endif
