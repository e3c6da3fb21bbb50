/* Names of the keys of a report, on the command line, above columns and in JSON. */
#ifndef OUTPUT_VIEWS_REPORT_KEYS_H
#define OUTPUT_VIEWS_REPORT_KEYS_H

#include "output/profile/profile.h"

const char *report_key_name(enum profile_keys key);
/* Returns the key with this name, ours or perf's; 0: there is none. */
enum profile_keys report_key_named(const char *name);

#endif
