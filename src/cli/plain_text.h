/*
 * Text for locales whose character set is not UTF-8, "C" for one. The program writes UTF-8; this is
 * the only place that knows what to write instead of its signs. Names of other people are not
 * changed, and neither is output for programs: JSON, and the formats of converters.
 */
#ifndef CLI_PLAIN_TEXT_H
#define CLI_PLAIN_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* Whether the environment asks for a character set other than UTF-8. */
bool plain_text_wanted(void);

/*
 * Writes text with ASCII for the program's signs. Columns of tables stay where they are: what takes
 * more room than its sign has this taken from the next spaces of its line. Returns whether all of
 * it was written, which a stream to memory does not tell later.
 */
bool plain_text_put(FILE *to, const char *text, size_t size);

/*
 * From now on what is written to standard output is such text, if it is wanted. Fails where memory
 * for that is refused: standard output would take UTF-8.
 */
int plain_text_start(void);

#endif
