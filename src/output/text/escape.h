/*
 * Output of text of unknown origin. Names come from the profiled programs and may hold quotes,
 * control characters, markup, or bytes that are no text at all. These functions escape them, so
 * that the output format stays valid.
 *
 * Bytes that are not UTF-8 become U+FFFD everywhere.
 */
#ifndef OUTPUT_TEXT_ESCAPE_H
#define OUTPUT_TEXT_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ESCAPE_BAD 0xfffd /* replaces bytes and characters that cannot be shown */

/* Returns the next character of a text, and moves *text behind it; 0 at the end. */
uint32_t escape_next(const char **text);
/* Writes a character as UTF-8 and returns the number of its bytes. */
unsigned escape_encode(uint32_t c, char bytes[4]);

/*
 * Writes the text as a JSON string with its quotes. The string may also stand in a web page's
 * script.
 */
void escape_json(FILE *file, const char *text);
/*
 * Writes the first `size` bytes of a text, which end at its end or before a control character, as
 * the content of a JSON string. in_page: as above.
 */
void escape_json_part(FILE *file, const char *text, size_t size, bool in_page);
/* Writes the text as content or attribute of XML. */
void escape_xml(FILE *file, const char *text);
/*
 * Writes the text as a part of one line: control characters become ESCAPE_BAD, and characters of
 * `not` become `instead`.
 */
void escape_line(FILE *file, const char *text, const char * not, char instead);
/* Returns a copy of the text as UTF-8 without control characters; NULL: no memory. */
char *escape_copy(const char *text);

#endif
