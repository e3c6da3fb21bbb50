#include "output/text/json_text.h"
#include "output/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";

/* --- what is lost ----------------------------------------------------------------------------- */

/* Stands for values that could not be made, and marks what one of these belonged to. */
static const char mark;
#define LOST ((struct json_object *)(uintptr_t)&mark)

static bool is_lost(const struct json_object *value)
{
	return value == LOST ||
	       (value && json_object_get_userdata((struct json_object *)(uintptr_t)value) == &mark);
}

static void lose(struct json_object *container)
{
	if (container != LOST)
		json_object_set_userdata(container, LOST, NULL);
}

static struct json_object *made(struct json_object *value)
{
	return value ? value : LOST;
}

struct json_object *json_lost(void)
{
	return LOST;
}

void json_free(struct json_object *value)
{
	if (value == LOST)
		return;
	/* json-c 0.19 would take the mark for the object that holds this value. */
	if (is_lost(value))
		json_object_set_userdata(value, NULL, NULL);
	json_object_put(value);
}

/* --- values ----------------------------------------------------------------------------------- */

struct json_object *json_new(void)
{
	return made(json_object_new_object());
}

struct json_object *json_list(void)
{
	return made(json_object_new_array());
}

struct json_object *json_text(const char *text)
{
	return json_text_part(text, strlen(text));
}

struct json_object *json_text_part(const char *text, size_t size)
{
	/* A byte becomes three at most. */
	char *valid = malloc(3 * size + 1), *at = valid;
	struct json_object *object;
	uint32_t character;

	if (!valid)
		return LOST;
	for (const char *end = text + size; text < end;) {
		unsigned bytes = text_decode(text, &character);

		memcpy(at, bytes ? text : replacement, bytes ? bytes : 3);
		at += bytes ? bytes : 3;
		text += bytes ? bytes : 1;
	}
	object = json_object_new_string_len(valid, (int)(at - valid));
	free(valid);
	return made(object);
}

struct json_object *json_number(uint64_t value)
{
	return made(json_object_new_uint64(value));
}

struct json_object *json_int(int64_t value)
{
	return made(json_object_new_int64(value));
}

struct json_object *json_real(double value)
{
	return isfinite(value) ? made(json_object_new_double(value)) : NULL;
}

struct json_object *json_flag(bool value)
{
	return made(json_object_new_boolean(value));
}

void json_add(struct json_object *object, const char *key, struct json_object *value)
{
	if (!is_lost(object) && !is_lost(value) && !json_object_object_add(object, key, value))
		return;
	lose(object);
	json_free(value);
}

void json_add_named(struct json_object *object, const char *name, struct json_object *value)
{
	struct json_object *key = json_text(name);

	if (key == LOST)
		json_add(object, "", LOST);
	else
		json_add(object, json_object_get_string(key), value);
	json_free(key == LOST ? value : key);
}

void json_add_number(struct json_object *object, const char *key, uint64_t value)
{
	json_add(object, key, json_number(value));
}

void json_add_int(struct json_object *object, const char *key, int64_t value)
{
	json_add(object, key, json_int(value));
}

void json_add_real(struct json_object *object, const char *key, double value)
{
	json_add(object, key, json_real(value));
}

void json_add_flag(struct json_object *object, const char *key, bool value)
{
	json_add(object, key, json_flag(value));
}

void json_add_text(struct json_object *object, const char *key, const char *text)
{
	json_add(object, key, text ? json_text(text) : NULL);
}

void json_append(struct json_object *array, struct json_object *value)
{
	if (!is_lost(array) && !is_lost(value) && !json_object_array_add(array, value))
		return;
	lose(array);
	json_free(value);
}

void json_append_text(void *array, const char *text)
{
	json_append(array, json_text(text));
}

/* --- printing --------------------------------------------------------------------------------- */

/* NULL: no memory. json-c itself prints what it found room for, and keeps silent of the rest. */
static const char *text_of(struct json_object *value, bool pretty)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE |
	            (pretty ? JSON_C_TO_STRING_PRETTY : JSON_C_TO_STRING_PLAIN);
	const char *text;

	if (is_lost(value))
		return NULL;
	errno = 0;
	text = json_object_to_json_string_ext(value, flags);
	return errno == ENOMEM ? NULL : text;
}

/* A terminal obeys U+0080 to U+009F as well, which JSON leaves as they are: \u009b says the same.
 */
static void put_harmless(FILE *to, const char *text)
{
	for (const char *at; (at = strpbrk(text, "\x7f\xc2")); text = at) {
		unsigned size = *at == 0x7f ? 1 : 2;
		unsigned char control = (unsigned char)at[size - 1];

		fwrite(text, 1, (size_t)(at - text), to);
		if (control < 0xa0)
			fprintf(to, "\\u%04x", control);
		else
			fwrite(at, 1, size, to);
		at += size;
	}
	fputs(text, to);
}

void json_put(struct json_out *out, struct json_object *value)
{
	const char *text = text_of(value, out->pretty);

	if (text && !out->err)
		put_harmless(out->to, text);
	else
		out->err = -ENOMEM;
	json_free(value);
}

void json_put_member(struct json_out *out, const char *key, struct json_object *value)
{
	fprintf(out->to, "\"%s\":", key);
	json_put(out, value);
}

void json_put_members(struct json_out *out, struct json_object *object)
{
	if (is_lost(object)) {
		out->err = -ENOMEM;
		json_free(object);
		return;
	}
	json_object_object_foreach(object, key, value)
	{
		json_put_member(out, key, json_object_get(value));
		fputc(',', out->to);
	}
	json_object_put(object);
}
