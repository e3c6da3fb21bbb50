/* Text without characters beyond ASCII, where the locale asks for that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/plain_text.h"

static void expect(const char *text, const char *plain)
{
	char got[256] = "";
	FILE *to = fmemopen(got, sizeof(got), "w");

	assert_non_null(to);
	plain_text_put(to, text, strlen(text));
	fclose(to);
	assert_string_equal(got, plain);
}

static void signs_become_ascii(void **state)
{
	(void)state;
	expect("12.5 µs → x.atr\n", "12.5 us -> x.atr\n");
	expect("├ a(…)\n│ └ b\n", "| a(~)\n| ` b\n");
	expect("", "");
}

static void columns_stay_where_they_are(void **state)
{
	(void)state;
	expect("12.96% ±   0.05%  13.00%\n", "12.96% +-  0.05%  13.00%\n");
	expect("12.96% ±10.05%  13.00%\n", "12.96% +-10.05% 13.00%\n");
	expect("1 ±2 3\n4  5\n", "1 +-2 3\n4  5\n");
}

static void other_text_is_not_changed(void **state)
{
	(void)state;
	expect("Größe\xff\xe2\x80", "Größe\xff\xe2\x80");
}

static void the_environment_decides(void **state)
{
	static const struct {
		const char *all, *ctype, *lang;
		bool wanted;
	} cases[] = {{"C", "C.UTF-8", "C.UTF-8", true},
	             {"", "POSIX", "C.UTF-8", true},
	             {"", "", "", true},
	             {"C.UTF-8", "C", "C", false},
	             {"", "xx_XX.utf8", "C", false},
	             {"", "", "xx_XX.UTF-8", false},
	             {"xx_XX", "C.UTF-8", "C.UTF-8", true}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("LC_ALL", cases[i].all, 1);
		setenv("LC_CTYPE", cases[i].ctype, 1);
		setenv("LANG", cases[i].lang, 1);
		assert_int_equal(plain_text_wanted(), cases[i].wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signs_become_ascii),
		cmocka_unit_test(columns_stay_where_they_are),
		cmocka_unit_test(other_text_is_not_changed),
		cmocka_unit_test(the_environment_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
