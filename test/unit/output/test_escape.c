#include "cases.h"

#include <stdlib.h>
#include <string.h>

#include "output/text/escape.h"

#define BAD "\xef\xbf\xbd"

static char *written(void (*write)(FILE *file, const char *text), const char *text)
{
	static char result[4096];
	size_t size;
	char *memory;
	FILE *file = open_memstream(&memory, &size);

	write(file, text);
	fclose(file);
	assert_true(size < sizeof(result));
	memcpy(result, memory, size + 1);
	free(memory);
	return result;
}

static void folded(FILE *file, const char *text)
{
	escape_line(file, text, ";", ':');
}

/* Every code point there and back; what UTF-8 forbids is bad, byte by byte. */
static void utf8(void **state)
{
	static const char *const none[] = {
		"\xff",
		"\xc0\xaf",
		"\xed\xa0\x80",
		"\xf4\x90\x80\x80",
		"\xe2\x82",
		"\xf0\x9f\x98",
		"\x80",
		"\xe0\x80\xaf",
		"\xf8\x88\x80",
		"\xc1\xbf",
		"\xf0\x8f\xbf\xbf",
	};
	char bytes[5];
	const char *at;

	(void)state;
	for (uint32_t c = 1; c <= 0x10ffff; c++) {
		if (c == 0xd800)
			c = 0xe000;
		bytes[escape_encode(c, bytes)] = 0;
		at = bytes;
		assert_int_equal(escape_next(&at), c);
		assert_int_equal(escape_next(&at), 0);
		assert_ptr_equal(at, bytes + strlen(bytes));
	}
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
		at = none[i];
		for (size_t n = 0; n < strlen(none[i]); n++)
			assert_int_equal(escape_next(&at), ESCAPE_BAD);
		assert_int_equal(escape_next(&at), 0);
	}
}

static void formats(void **state)
{
	(void)state;
	assert_string_equal(written(escape_json, "a\"\\\n\x1b<\xff\xc3\xa4"),
	                    "\"a\\\"\\\\\\u000a\\u001b\\u003c" BAD "\xc3\xa4\"");
	assert_string_equal(written(escape_json, "\xe2\x80\xa8&'>"),
	                    "\"\\u2028\\u0026\\u0027\\u003e\"");
	assert_string_equal(written(escape_xml, "<a b=\"c\">&'\x01\xef\xbf\xbf]]>"),
	                    "&lt;a b=&quot;c&quot;&gt;&amp;&#39;" BAD BAD "]]&gt;");
	assert_string_equal(written(folded, "a;b\nc\x7f\xc2\x85 d"), "a:b" BAD "c" BAD BAD " d");
	assert_string_equal(written(folded, ""), "");
}

static void copies(void **state)
{
	char all[256], *copy;

	(void)state;
	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	all[255] = 0;
	copy = escape_copy(all);
	for (const char *at = copy; *at;) {
		uint32_t c = escape_next(&at);

		assert_true(c == ESCAPE_BAD || (c >= 0x20 && c < 0x7f));
	}
	free(copy);
	copy = escape_copy("");
	assert_string_equal(copy, "");
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(utf8),
		cmocka_unit_test(formats),
		cmocka_unit_test(copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
