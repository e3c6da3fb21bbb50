/*
 * Writes JSON to a file as it is told, value by value, without keeping any of it. What is written
 * is valid whatever texts and keys hold: bytes that are not UTF-8 become U+FFFD, and control
 * characters, which a terminal would obey, are escaped.
 *
 * Every function takes the key of the value in the object that was begun last; in arrays the key is
 * NULL. The caller sees to it that the keys of an object differ. Commas are written where they are
 * due. Write errors are for the caller to find in `to`.
 */
#ifndef OUTPUT_TEXT_JSON_WRITER_H
#define OUTPUT_TEXT_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The caller sets the first three fields; the rest is 0 at the start. */
struct json_writer {
	FILE *to;
	bool pretty;  /* a value a line, indented */
	bool in_page; /* texts may also stand in the script of a web page */
	bool comma;   /* is due before the next value */
	unsigned depth;
};

void json_begin(struct json_writer *json, const char *key);
void json_end(struct json_writer *json);
void json_begin_list(struct json_writer *json, const char *key);
void json_end_list(struct json_writer *json);

/* text NULL: null. */
void json_text(struct json_writer *json, const char *key, const char *text);
void json_text_part(struct json_writer *json, const char *key, const char *text, size_t size);
void json_number(struct json_writer *json, const char *key, uint64_t value);
/* null unless the value is known. */
void json_known(struct json_writer *json, const char *key, bool known, uint64_t value);
void json_int(struct json_writer *json, const char *key, int64_t value);
/* null where it is not finite, for JSON has no such numbers. */
void json_real(struct json_writer *json, const char *key, double value);
void json_flag(struct json_writer *json, const char *key, bool value);
void json_null(struct json_writer *json, const char *key);
/* Writes text that is JSON. */
void json_raw(struct json_writer *json, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Begins a new line before the next value of a list or object. */
void json_break(struct json_writer *json);
/* The same unless the next value is the first. */
void json_break_between(struct json_writer *json);
/* Writes a string between these two as pieces that need no escape, to the file they share. */
FILE *json_begin_text(struct json_writer *json, const char *key);
void json_end_text(struct json_writer *json);
/* Appends a text to a list: a callback that receives texts. */
void json_append_text(void *json, const char *text);

#endif
