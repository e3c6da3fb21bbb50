#include "output/text/escape.h"
#include "output/text/text.h"

#include <stdlib.h>
#include <string.h>

uint32_t escape_next(const char **text)
{
	uint32_t c;
	unsigned size = text_decode(*text, &c);

	if (!**text)
		return 0;
	*text += size ? size : 1;
	return size ? c : ESCAPE_BAD;
}

unsigned escape_encode(uint32_t c, char bytes[4])
{
	unsigned size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	if (size == 1) {
		bytes[0] = (char)c;
		return size;
	}
	for (unsigned i = size - 1; i > 0; i--, c >>= 6)
		bytes[i] = (char)(0x80 | (c & 0x3f));
	bytes[0] = (char)((0xf00 >> size & 0xf0) | c);
	return size;
}

static void put(FILE *file, uint32_t c)
{
	char bytes[4];

	fwrite_unlocked(bytes, 1, escape_encode(c, bytes), file);
}

/*
 * Writes the characters at the start that need nothing, and steps over them. Names consist of words
 * for the most part, to which no format gives a meaning.
 */
static void put_plain(FILE *file, const char **text, const char * not )
{
	const char *end = *text;

	while (text_is_word(*end) || (*end >= 0x20 && *end < 0x7f && !strchr(not, *end)))
		end++;
	fwrite_unlocked(*text, 1, (size_t)(end - *text), file);
	*text = end;
}

/* C0, DEL and C1, which terminals obey. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* Separators of lines and paragraphs, which end a string in some scripts. */
static bool is_separator(uint32_t c)
{
	return c == 0x2028 || c == 0x2029;
}

/* Returns the letter that names a control character behind a backslash; 0: it has none. */
static char control_letter(uint32_t c)
{
	static const char letters[] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};

	return c < sizeof(letters) ? letters[c] : 0;
}

static void put_json(FILE *file, uint32_t c, bool in_page)
{
	char letter = c == '"' || c == '\\' ? (char)c : in_page ? 0 : control_letter(c);
	bool markup = c == '<' || c == '>' || c == '&' || c == '\'';

	if (letter)
		fprintf(file, "\\%c", letter);
	else if (is_control(c) || (in_page && (markup || is_separator(c))))
		fprintf(file, "\\u%04x", c);
	else
		put(file, c);
}

void escape_json_part(FILE *file, const char *text, size_t size, bool in_page)
{
	const char *end = text + size;

	while (put_plain(file, &text, in_page ? "<>&'\"\\" : "\"\\"), text < end)
		put_json(file, escape_next(&text), in_page);
}

void escape_json(FILE *file, const char *text)
{
	putc_unlocked('"', file);
	escape_json_part(file, text, strlen(text), true);
	putc_unlocked('"', file);
}

static const char *xml_entity(uint32_t c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void escape_xml(FILE *file, const char *text)
{
	uint32_t c;

	while (put_plain(file, &text, "<>&'\""), (c = escape_next(&text))) {
		const char *entity = xml_entity(c);

		if (entity)
			fputs(entity, file);
		else /* XML has no way to write these */
			put(file, is_control(c) || is_separator(c) || c == 0xfffe || c == 0xffff
			                  ? ESCAPE_BAD
			                  : c);
	}
}

void escape_line(FILE *file, const char *text, const char * not, char instead)
{
	uint32_t c;

	while (put_plain(file, &text, not ), (c = escape_next(&text))) {
		if (is_control(c) || is_separator(c))
			c = ESCAPE_BAD;
		else if (c < 0x80 && strchr(not, (int)c))
			c = (unsigned char)instead;
		put(file, c);
	}
}

char *escape_copy(const char *text)
{
	char *copy = malloc(3 * strlen(text) + 1), *to = copy; /* ESCAPE_BAD takes three bytes */
	uint32_t c;

	if (!copy)
		return NULL;
	while ((c = escape_next(&text)))
		to += escape_encode(is_control(c) || is_separator(c) ? ESCAPE_BAD : c, to);
	*to = 0;
	return copy;
}
