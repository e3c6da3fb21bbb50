/* The words of record for the notices of a recording. */
#ifndef CLI_RECORD_WORDS_H
#define CLI_RECORD_WORDS_H

#include "record/config.h"
#include "record/watcher.h"

/* The words for a topic: a sentence, or a function that prints one; all NULL: there are none. */
struct notice_words {
	const char *text;
	void (*say)(const struct notice *notice);
	void (*say_for)(const struct record_config *config, const struct notice *notice);
};

/* Prints what was noticed in one line, or nothing where there are no words for the topic. */
void record_say(const struct record_config *config, const struct notice *notice);

/* Returns the words for topics of the end of a recording; for other topics there are none. */
const struct notice_words *record_warning(enum notice_topic topic);

#endif
