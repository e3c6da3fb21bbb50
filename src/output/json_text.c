#include "output/json_text.h"
#include "output/text.h"

#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

struct json_object *json_text(const char *text)
{
	/* A byte becomes three at most. */
	char *valid = malloc(3 * strlen(text) + 1), *at = valid;
	struct json_object *object;
	uint32_t character;

	if (!valid)
		return NULL;
	while (*text) {
		unsigned size = text_decode(text, &character);

		memcpy(at, size ? text : replacement, size ? size : 3);
		at += size ? size : 3;
		text += size ? size : 1;
	}
	object = json_object_new_string_len(valid, (int)(at - valid));
	free(valid);
	return object;
}

struct json_object *json_number(uint64_t value)
{
	return json_object_new_uint64(value);
}

void json_add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_number(value));
}

void json_put(FILE *to, struct json_object *object)
{
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
	                                                     JSON_C_TO_STRING_NOSLASHESCAPE),
	      to);
	json_object_put(object);
}

void json_put_member(FILE *to, const char *key, struct json_object *object)
{
	fprintf(to, "\"%s\":", key);
	json_put(to, object);
}
