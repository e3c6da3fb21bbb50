/* The words of record for the notices of a recording. */
#ifndef CLI_RECORD_WORDS_H
#define CLI_RECORD_WORDS_H

#include "record/config.h"
#include "record/watcher.h"

/* Says what was noticed, in one line; nothing where there is nothing to say. */
void record_say(const struct record_config *config, const struct notice *notice);

/* The same for what is missing at the end. */
void record_warn(const struct record_config *config, const struct notice *notice);

#endif
