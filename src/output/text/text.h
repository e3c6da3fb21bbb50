/*
 * Text for people. Names come from the profiled programs and may hold anything: what could act on a
 * terminal or mislead the eye (control characters, bytes that are no UTF-8, marks that reverse the
 * writing direction) is shown as \xNN or \u{NNNN}.
 *
 * Columns are those of a terminal, as far as LC_CTYPE knows of a character: setlocale() is for the
 * program to call.
 */
#ifndef OUTPUT_TEXT_TEXT_H
#define OUTPUT_TEXT_TEXT_H

#include "trace/format.h"

#include <stdbool.h>
#include <stdio.h>

#define TEXT_SIZE 64

/* Prints a name, cut to `width` columns if not 0; returns the columns used. to: NULL: only counts.
 */
unsigned text_put(FILE *to, const char *name, unsigned width);

/* The same, filled up with blanks to `width` columns, and never cut. */
void text_put_padded(FILE *to, const char *name, unsigned width);

/* The width to give printf's %*s, which counts bytes, for a harmless text in so many columns. */
int text_field(const char *text, unsigned columns);

/*
 * Arguments separated by '\x1f', as a shell would take them: the first `left` bytes. scope: the
 * first is none, but says what was sampled.
 */
void text_put_command(FILE *to, const char *command, size_t left, bool scope);

/* "1.553 ms", "2 h 5 min 32 s", or "1009" for what is counted. */
void text_quantity(char text[TEXT_SIZE], double value, enum trace_unit unit);
/* The same for tables, in 10 columns: "2.092 h", "2.500M". */
void text_cell(char text[TEXT_SIZE], double value, enum trace_unit unit);
/* "61.2 MiB" */
void text_bytes(char text[TEXT_SIZE], uint64_t bytes);
/* "97.6 %", "0.0002 %"; returns text. */
const char *text_share(char text[TEXT_SIZE], uint64_t part, uint64_t whole);
/* What "one every" is followed by: "776.6 µs", "time", "9973 occurrences". */
void text_period(char text[TEXT_SIZE], uint64_t period, enum trace_unit unit);
/* "644 Hz", "0.00372 Hz" of a period in ns; "1 in 1009" of others. */
void text_rate(char text[TEXT_SIZE], uint64_t period, enum trace_unit unit);

/* Of a name in a program: a letter or digit of ASCII, or "_". */
static inline bool text_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* What is behind the name of so many things. */
static inline const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

/* The last part of a path. */
const char *text_file_name(const char *path);

/* The bytes of a UTF-8 character and its number; 0: it is none. */
unsigned text_decode(const char *at, uint32_t *character);

#endif
