/*
 * Text of unknown origin, written so that a format stays what it is: names come from other people's
 * programs and may hold quotes, control characters, markup, or bytes that are no text at all.
 *
 * Bytes that are not UTF-8 become U+FFFD everywhere.
 */
#ifndef OUTPUT_TEXT_ESCAPE_H
#define OUTPUT_TEXT_ESCAPE_H

#include <stdint.h>
#include <stdio.h>

#define ESCAPE_BAD 0xfffd /* stands for what cannot be shown */

/* The next character of a text, which moves on; 0 at its end. */
uint32_t escape_next(const char **text);
/* Writes a character as UTF-8 and returns its bytes. */
unsigned escape_encode(uint32_t c, char bytes[4]);

/* As a JSON string with its quotes, which may also stand in a web page's script. */
void escape_json(FILE *file, const char *text);
/* As content or attribute of XML. */
void escape_xml(FILE *file, const char *text);
/*
 * As a part of one line: control characters as ESCAPE_BAD, and characters of `not` as `instead`.
 */
void escape_line(FILE *file, const char *text, const char * not, char instead);
/* A copy that is UTF-8 without control characters; NULL: no memory. */
char *escape_copy(const char *text);

#endif
