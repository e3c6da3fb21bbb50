/*
 * Text for people. Names come from the profiled programs and may hold anything. Characters that
 * could act on a terminal or mislead the eye (control characters, bytes that are no UTF-8, marks
 * that reverse the writing direction) are shown as \xNN or \u{NNNN}.
 *
 * Widths count columns of a terminal. They depend on LC_CTYPE: the program has to call setlocale().
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

/* Prints a name, padded with blanks to `width` columns, and never cuts it. */
void text_put_padded(FILE *to, const char *name, unsigned width);

/*
 * Returns the width for printf's %*s, which counts bytes, so that a text without unprintable
 * characters takes so many columns.
 */
int text_field(const char *text, unsigned columns);

/*
 * Prints the first `left` bytes of arguments that are separated by '\x1f', quoted as a shell needs
 * them. scope: the first one is no argument, but says what was sampled.
 */
void text_put_command(FILE *to, const char *command, size_t left, bool scope);

/* Writes "1.553 ms" or "2 h 5 min 32 s" for times, and "1009" for counts. */
void text_quantity(char text[TEXT_SIZE], double value, enum trace_unit unit);
/* Writes a quantity for a table, in 10 columns: "2.092 h", "2.500M". */
void text_cell(char text[TEXT_SIZE], double value, enum trace_unit unit);
/* Writes a number with so many digits behind the point, and "0" for one that rounds to it. */
void text_fixed(char text[TEXT_SIZE], double value, int digits, bool sign);
/* "61.2 MiB" */
void text_bytes(char text[TEXT_SIZE], uint64_t bytes);
/* "97.6 %", "0.0002 %"; returns text. */
const char *text_share(char text[TEXT_SIZE], uint64_t part, uint64_t whole);
/* Writes the words that follow "one every": "776.6 µs", "time", "9973 occurrences". */
void text_period(char text[TEXT_SIZE], uint64_t period, enum trace_unit unit);
/* Writes "644 Hz" or "0.00372 Hz" for a period in ns, and "1 in 1009" for other units. */
void text_rate(char text[TEXT_SIZE], uint64_t period, enum trace_unit unit);

/* Writes the value of a condition's metric, the first word of its text: "31.2 %", "61.2 MiB". */
void text_condition_value(char text[TEXT_SIZE], const char *condition, double value);

/* Returns a bar of so many eighths of a line's height; 8 for more. */
const char *text_bar(unsigned eighths);

/* Returns the share of a part in per cent; 0 if the whole is 0. */
static inline double percent(double part, uint64_t whole)
{
	return whole ? 100 * part / (double)whole : 0;
}

/* The formula may give more than 100 % for few samples, which no share can have. */
static inline double percent_error(double error, uint64_t whole)
{
	return percent(error < (double)whole ? error : (double)whole, whole);
}

/* Whether c can be part of an identifier: a letter or digit of ASCII, or "_". */
static inline bool text_is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Returns the plural ending of the name of `nr` things. */
static inline const char *plural(uint64_t nr)
{
	return nr == 1 ? "" : "s";
}

/* Returns the last part of a path. */
const char *text_file_name(const char *path);

/* Decodes a UTF-8 character. Returns the number of its bytes; 0: the bytes are no UTF-8. */
unsigned text_decode(const char *at, uint32_t *character);

#endif
