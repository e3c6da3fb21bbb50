/* What json-c leaves to its callers: strings that are valid whatever is in them, and lines. */
#ifndef OUTPUT_JSON_TEXT_H
#define OUTPUT_JSON_TEXT_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

/* A string; bytes that are no UTF-8 become U+FFFD. */
struct json_object *json_text(const char *text);
struct json_object *json_number(uint64_t value);
void json_add_number(struct json_object *object, const char *key, uint64_t value);

/* Prints and frees. */
void json_put(FILE *to, struct json_object *object);
/* The same as a member of an object that is printed piece by piece. */
void json_put_member(FILE *to, const char *key, struct json_object *object);

#endif
