/* The options of record that name events: -e, and --counters. */
#ifndef CLI_RECORD_EVENTS_H
#define CLI_RECORD_EVENTS_H

#include "record/config.h"

/* Each takes a list with commas, and says what is wrong, if not 0. A name may stand for several. */
int event_options_sample(struct options *options, const char *list);
int event_options_count(struct options *options, const char *list);

#endif
