/*
 * Parser of the parts of function names in C++ and Rust: nested names, with brackets behind them.
 */
#ifndef OUTPUT_TEXT_NAME_PARTS_H
#define OUTPUT_TEXT_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_DOTS "…" /* stands in a shortened name for the parts that were left out */

/*
 * Returns the number of bytes to pass over at a place in a name: the signs behind `operator` are
 * part of a name, and > behind - is an arrow, no bracket.
 */
size_t name_signs(const char *name, const char *at);
/*
 * Returns the number of open brackets behind the character c, given those before it; -1: the
 * brackets do not match.
 */
int name_depth_behind(int depth, char c);
/*
 * Returns the place behind the next :: that is in no brackets which open from here on; NULL: there
 * is none.
 */
const char *name_next_part(const char *name, const char *at);
/*
 * Returns the place behind the bracket that closes the one at `at`. Only brackets like it are
 * counted. NULL: there is none.
 */
const char *name_behind_bracket(const char *at, char open, char close);
/* Whether the first `size` bytes of a name end with `end`. */
bool name_ends_with(const char *name, size_t size, const char *end);

#endif
