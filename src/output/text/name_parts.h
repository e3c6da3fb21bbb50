/* How names of functions are put together, in C++ and Rust: names in names, with brackets behind.
 */
#ifndef OUTPUT_TEXT_NAME_PARTS_H
#define OUTPUT_TEXT_NAME_PARTS_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_DOTS "…" /* stand in a shortened name for what was left out */

/*
 * The signs behind `operator` are a name, and > behind - is an arrow: the bytes of these to pass
 * over at a place in a name.
 */
size_t name_signs(const char *name, const char *at);
/* Brackets open before this byte and with it; -1: they do not match. */
int name_depth_behind(int depth, char c);
/* Behind the next :: that is in no brackets which open from here on; NULL: there is none. */
const char *name_next_part(const char *name, const char *at);
/* Behind the bracket that closes the one here, counting this kind alone; NULL: there is none. */
const char *name_behind_bracket(const char *at, char open, char close);
/* Whether the first size bytes of a name end so. */
bool name_ends_with(const char *name, size_t size, const char *end);

#endif
