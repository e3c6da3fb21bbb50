/* The options of record that name events: -e, --spare and --counters. */
#ifndef CLI_RECORD_EVENTS_H
#define CLI_RECORD_EVENTS_H

#include "record/config.h"

/* Each takes a list with commas, and says what is wrong, if not 0. A name may stand for several. */
int record_add_events(struct record_config *config, const char *list);
int record_add_spares(struct record_config *config, const char *list);
int record_add_counters(struct record_config *config, const char *list);

#endif
