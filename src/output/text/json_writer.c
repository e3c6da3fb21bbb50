#include "output/text/json_writer.h"

#include "output/text/escape.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static void put_indent(const struct json_writer *json)
{
	fprintf(json->to, "\n%*s", 2 * (int)json->depth, "");
}

static void put_string(const struct json_writer *json, const char *text, size_t size)
{
	putc_unlocked('"', json->to);
	escape_json_part(json->to, text, size, json->in_page);
	putc_unlocked('"', json->to);
}

/* Writes all that precedes a value. */
static void put_key(struct json_writer *json, const char *key)
{
	if (json->comma)
		putc_unlocked(',', json->to);
	if (json->pretty && json->depth)
		put_indent(json);
	json->comma = true;
	if (!key)
		return;
	put_string(json, key, strlen(key));
	putc_unlocked(':', json->to);
}

static void begin(struct json_writer *json, const char *key, char bracket)
{
	put_key(json, key);
	putc_unlocked(bracket, json->to);
	json->comma = false;
	json->depth++;
}

static void end(struct json_writer *json, char bracket)
{
	json->depth--;
	if (json->pretty)
		put_indent(json);
	putc_unlocked(bracket, json->to);
	json->comma = true;
}

void json_begin(struct json_writer *json, const char *key)
{
	begin(json, key, '{');
}

void json_end(struct json_writer *json)
{
	end(json, '}');
}

void json_begin_list(struct json_writer *json, const char *key)
{
	begin(json, key, '[');
}

void json_end_list(struct json_writer *json)
{
	end(json, ']');
}

void json_text(struct json_writer *json, const char *key, const char *text)
{
	if (text)
		json_text_part(json, key, text, strlen(text));
	else
		json_null(json, key);
}

void json_text_part(struct json_writer *json, const char *key, const char *text, size_t size)
{
	put_key(json, key);
	put_string(json, text, size);
}

/* Most of a large file is numbers: printf() would take several times as long. */
void json_number(struct json_writer *json, const char *key, uint64_t value)
{
	char digits[20];
	unsigned at = sizeof(digits);

	put_key(json, key);
	do
		digits[--at] = (char)('0' + value % 10);
	while (value /= 10);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, json->to);
}

void json_known(struct json_writer *json, const char *key, bool known, uint64_t value)
{
	if (known)
		json_number(json, key, value);
	else
		json_null(json, key);
}

void json_int(struct json_writer *json, const char *key, int64_t value)
{
	if (value < 0)
		json_raw(json, key, "%lld", (long long)value);
	else
		json_number(json, key, (uint64_t)value);
}

/* Writes a point even for integers, by which readers tell the types of numbers apart. */
void json_real(struct json_writer *json, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.17g", value);
	if (!isfinite(value))
		json_null(json, key);
	else
		json_raw(json, key, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void json_flag(struct json_writer *json, const char *key, bool value)
{
	json_raw(json, key, "%s", value ? "true" : "false");
}

void json_null(struct json_writer *json, const char *key)
{
	json_raw(json, key, "null");
}

void json_raw(struct json_writer *json, const char *key, const char *format, ...)
{
	va_list values;

	put_key(json, key);
	va_start(values, format);
	vfprintf(json->to, format, values);
	va_end(values);
}

void json_break(struct json_writer *json)
{
	fputs(json->comma ? ",\n" : "\n", json->to);
	json->comma = false;
}

void json_break_between(struct json_writer *json)
{
	if (json->comma)
		json_break(json);
}

FILE *json_begin_text(struct json_writer *json, const char *key)
{
	put_key(json, key);
	putc_unlocked('"', json->to);
	return json->to;
}

void json_end_text(struct json_writer *json)
{
	putc_unlocked('"', json->to);
}

void json_append_text(void *json, const char *text)
{
	json_text(json, NULL, text);
}
