/*
 * What json-c leaves to its callers: strings that are valid whatever is in them, and what to do
 * when memory is refused. Then a value is *lost*, and so is whatever it is added to, up to the
 * document that is printed: nothing of that appears, and the error is kept. Callers need look at
 * nothing but the error of the output, in the end.
 *
 * Values are made, added and printed by these calls alone; a value belongs to what it was added to.
 * NULL is null.
 */
#ifndef OUTPUT_TEXT_JSON_TEXT_H
#define OUTPUT_TEXT_JSON_TEXT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_object *json_new(void);  /* an object */
struct json_object *json_list(void); /* an array */
/* A string; bytes that are no UTF-8 become U+FFFD. */
struct json_object *json_text(const char *text);
struct json_object *json_text_part(const char *text, size_t size);
struct json_object *json_number(uint64_t value);
struct json_object *json_int(int64_t value);
/* null where it is not finite: JSON has no such numbers. */
struct json_object *json_real(double value);
struct json_object *json_flag(bool value);

void json_add(struct json_object *object, const char *key, struct json_object *value);
/* The same under a name that is somebody else's, made valid as texts are. */
void json_add_named(struct json_object *object, const char *name, struct json_object *value);
void json_add_number(struct json_object *object, const char *key, uint64_t value);
void json_add_int(struct json_object *object, const char *key, int64_t value);
void json_add_real(struct json_object *object, const char *key, double value);
void json_add_flag(struct json_object *object, const char *key, bool value);
void json_add_text(struct json_object *object, const char *key, const char *text);
void json_append(struct json_object *array, struct json_object *value);
/* A string to an array, for those who call with what they have to tell. */
void json_append_text(void *array, const char *text);
/* One for which the caller itself has no memory. */
struct json_object *json_lost(void);
void json_free(struct json_object *value);

struct json_out {
	FILE *to;
	bool pretty; /* several lines, for people, too */
	int err;     /* the first one: -ENOMEM */
};

/* Prints and frees. */
void json_put(struct json_out *out, struct json_object *value);
/* The same as a member of an object that is printed piece by piece. */
void json_put_member(struct json_out *out, const char *key, struct json_object *value);
/* The members of an object, each with a comma, of one that goes on. */
void json_put_members(struct json_out *out, struct json_object *object);

#endif
