/*
 * Wrapper of json-c that makes every string valid, and that handles refused memory. A value for
 * which there is no memory is *lost*. A value becomes lost, too, when a lost value is added to it,
 * up to the document that is printed: the lost document is not printed, and the output keeps the
 * error. Callers need to check the error of the output only, at the end.
 *
 * Values are made, added and printed by these calls alone. A value belongs to the value that it was
 * added to. NULL is null.
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
/* Adds a value under a name of foreign origin, which is made valid as texts are. */
void json_add_named(struct json_object *object, const char *name, struct json_object *value);
void json_add_number(struct json_object *object, const char *key, uint64_t value);
void json_add_int(struct json_object *object, const char *key, int64_t value);
void json_add_real(struct json_object *object, const char *key, double value);
void json_add_flag(struct json_object *object, const char *key, bool value);
void json_add_text(struct json_object *object, const char *key, const char *text);
void json_append(struct json_object *array, struct json_object *value);
/* Appends a string to an array. It has the form of a callback that receives texts. */
void json_append_text(void *array, const char *text);
/* Returns a lost value, for callers that had no memory to compute the value. */
struct json_object *json_lost(void);
void json_free(struct json_object *value);

struct json_out {
	FILE *to;
	bool pretty; /* several lines, for people, too */
	int err;     /* the first one: -ENOMEM */
};

/* Prints a value and frees it. */
void json_put(struct json_out *out, struct json_object *value);
/* Prints and frees a value as a member of an object that is printed piece by piece. */
void json_put_member(struct json_out *out, const char *key, struct json_object *value);
/*
 * Prints the members of an object, each with a comma behind it, and frees the object. It is for an
 * outer object that is printed piece by piece and has more members.
 */
void json_put_members(struct json_out *out, struct json_object *object);

#endif
