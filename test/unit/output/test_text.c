#include "page.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "output/text/json_writer.h"
#include "output/text/text.h"

static void expect_put(const char *name, unsigned width, const char *expected, unsigned columns)
{
	struct page page;

	page_open(&page);
	assert_int_equal(text_put(page.file, name, width), columns);
	page_expect(&page, expected);
}

static void plain_names_stay(void **state)
{
	(void)state;
	expect_put("std::vector<int>::push_back(int&&)", 0, "std::vector<int>::push_back(int&&)",
	           34);
	expect_put("größe", 0, "größe", 5);
	expect_put("", 0, "", 0);
	assert_int_equal(text_put(NULL, "größe", 2), 5);
}

static void harm_is_shown(void **state)
{
	(void)state;
	expect_put("\033[2Jx", 0, "\\x1b[2Jx", 8);
	expect_put("a\nb\tc\r\x7f", 0, "a\\x0ab\\x09c\\x0d\\x7f", 19);
	expect_put("\xc2\x9b", 0, "\\u{9b}", 6);              /* CSI in one character */
	expect_put("\xe2\x80\xae", 0, "\\u{202e}", 8);        /* right to left */
	expect_put("\xff\xc0\xaf", 0, "\\xff\\xc0\\xaf", 12); /* overlong */
	expect_put("\xed\xa0\x80", 0, "\\xed\\xa0\\x80", 12); /* a surrogate */
	expect_put("\xf4\x90\x80\x80", 0, "\\xf4\\x90\\x80\\x80", 16);
	expect_put("x\xe2\x82", 0, "x\\xe2\\x82", 9); /* cut off */
}

static void long_names_are_cut(void **state)
{
	(void)state;
	expect_put("abcdef", 6, "abcdef", 6);
	expect_put("abcdef", 5, "abcd…", 5);
	expect_put("größer", 4, "grö…", 4);
	expect_put("ab\033cd", 5, "ab…", 3);
}

static void wide_letters_take_two_columns(void **state)
{
	(void)state;
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	expect_put("日本", 0, "日本", 4);
	expect_put("日本語", 6, "日本語", 6);
	expect_put("日本語", 5, "日本…", 5);
	expect_put("日本語", 4, "日…", 3); /* half of a letter is none */
	expect_put("o\xcc\x88x", 0, "o\xcc\x88x", 2);
	expect_put("o\xcc\x88xyz", 3, "o\xcc\x88x…", 3);
	assert_int_equal(text_field("12 ms", 10), 10);
	assert_int_equal(text_field("12 µs", 10), 11);
	assert_int_equal(text_field("日本", 10), 12);
}

static void padding_counts_columns(void **state)
{
	struct page page;

	(void)state;
	page_open(&page);
	text_put_padded(page.file, "größe", 7);
	fputc('|', page.file);
	page_expect(&page, "größe  |");
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	page_open(&page);
	text_put_padded(page.file, "日本", 7);
	fputc('|', page.file);
	page_expect(&page, "日本   |");
}

static void commands_can_be_pasted(void **state)
{
	struct page page;

	(void)state;
	page_open(&page);
	text_put_command(page.file,
	                 "sh\x1f-c\x1f"
	                 "echo 'a' $B\x1f\x1f./x\033",
	                 2000, false);
	page_expect(&page, "sh -c 'echo '\\''a'\\'' $B' '' './x\\x1b'");
	page_open(&page);
	text_put_command(page.file, "[cgroup it's]\x1fls\x1f[a b]", 2000, true);
	page_expect(&page, "[cgroup it's] ls '[a b]'");
}

static void commands_are_cut_where_there_is_more(void **state)
{
	static const struct {
		size_t most;
		const char *expected;
	} cuts[] = {{5, "ls -l"}, {4, "ls -…"}, {3, "ls …"}, {2, "ls…"}};
	struct page page;

	(void)state;
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		text_put_command(page_open(&page), "ls\x1f-l", cuts[i].most, false);
		page_expect(&page, cuts[i].expected);
	}
	text_put_command(page_open(&page), "ls\x1f", 3, false);
	page_expect(&page, "ls ''");
}

static void long_commands_are_cut(void **state)
{
	char *command = malloc(300000);
	struct page page;

	(void)state;
	for (size_t i = 0; i < 300000; i++)
		command[i] = i % 100 == 99 ? '\x1f' : 'x';
	command[299999] = '\0';
	for (unsigned skip = 0; skip < 99; skip++) {
		page_open(&page);
		text_put_command(page.file, command + skip, 2000, false);
		fclose(page.file);
		assert_true(page.size > 1990 && page.size < 2010);
		assert_string_equal(page.text + page.size - strlen("…"), "…");
		assert_null(strchr(page.text, '\''));
		free(page.text);
	}
	free(command);
}

static void expect_quantity(double value, enum trace_unit unit, const char *expected)
{
	char text[TEXT_SIZE];

	text_quantity(text, value, unit);
	assert_string_equal(text, expected);
}

static void quantities_have_units(void **state)
{
	char text[TEXT_SIZE];

	(void)state;
	expect_quantity(0, TRACE_NS, "0 ns");
	expect_quantity(999, TRACE_NS, "999 ns");
	expect_quantity(97081, TRACE_NS, "97.08 µs");
	expect_quantity(999600, TRACE_NS, "999.6 µs");
	expect_quantity(1553296, TRACE_NS, "1.553 ms");
	expect_quantity(999999, TRACE_NS, "1.000 ms");
	expect_quantity(12345678901.0, TRACE_NS, "12.35 s");
	expect_quantity(3599.9e9, TRACE_NS, "3599.9 s");
	expect_quantity(3600e9, TRACE_NS, "1 h 0 min 0 s");
	expect_quantity(7532.11e9, TRACE_NS, "2 h 5 min 32 s");
	expect_quantity(2591999.7e9, TRACE_NS, "720 h 0 min 0 s");
	expect_quantity(1009, TRACE_COUNT, "1009");
	expect_quantity(2500000, TRACE_COUNT, "2.500 million");
	expect_quantity(4.5e15, TRACE_COUNT, "4.500 quadrillion");
	text_bytes(text, 100 << 20);
	assert_string_equal(text, "100.0 MiB");
	text_bytes(text, 17);
	assert_string_equal(text, "17 bytes");
	text_bytes(text, 1);
	assert_string_equal(text, "1 byte");
	text_bytes(text, (1 << 20) - 1);
	assert_string_equal(text, "1.0 MiB");
	text_period(text, 776648, TRACE_NS);
	assert_string_equal(text, "776.6 µs");
	text_period(text, 1, TRACE_COUNT);
	assert_string_equal(text, "time");
	text_period(text, 9973, TRACE_COUNT);
	assert_string_equal(text, "9973 occurrences");
	text_rate(text, 1553296, TRACE_NS);
	assert_string_equal(text, "644 Hz");
	text_rate(text, 100050000, TRACE_NS);
	assert_string_equal(text, "10.0 Hz");
	text_rate(text, 268435456000, TRACE_NS);
	assert_string_equal(text, "0.00373 Hz");
}

static void expect_condition(const char *condition, double value, const char *expected)
{
	char text[TEXT_SIZE];

	text_condition_value(text, condition, value);
	assert_string_equal(text, expected);
}

static void values_of_conditions_have_their_unit(void **state)
{
	(void)state;
	expect_condition("share(f) > 20%: mark", 0.3125, "31.2 %");
	expect_condition(" rss > 90% of limit: mark", 64175473, "61.2 MiB");
	expect_condition("rss_like > 1: mark", 64175473, "6.418e+07");
	expect_condition("time(step) > 2*median: mark", 0.0025, "2.500 ms");
	expect_condition("rate(page-faults) > 10k: mark", 12345, "1.234e+04/s");
	expect_condition("cpu < 1: mark", 0.75, "0.75");
	expect_condition("rss > 1: mark", NAN, "nan");
	expect_condition("rss > 1: mark", -1, "-1");
}

static void expect_cell(double value, enum trace_unit unit, const char *expected)
{
	char text[TEXT_SIZE];

	text_cell(text, value, unit);
	assert_string_equal(text, expected);
}

static void cells_are_narrow(void **state)
{
	(void)state;
	expect_cell(3599.9e9, TRACE_NS, "3599.9 s");
	expect_cell(7532.11e9, TRACE_NS, "2.092 h");
	expect_cell(2592000e9, TRACE_NS, "720.0 h");
	expect_cell(99999, TRACE_COUNT, "99999");
	expect_cell(99999.5, TRACE_COUNT, "100.0k");
	expect_cell(2500000, TRACE_COUNT, "2.500M");
	expect_cell(1.8446744073709552e19, TRACE_COUNT, "18.45E");
}

static void expect_share(uint64_t part, uint64_t whole, const char *expected)
{
	char text[TEXT_SIZE];

	assert_string_equal(text_share(text, part, whole), expected);
}

static void only_nothing_is_0_and_only_all_100_percent(void **state)
{
	(void)state;
	expect_share(0, 0, "0.0 %");
	expect_share(0, 7, "0.0 %");
	expect_share(7, 7, "100.0 %");
	expect_share(244, 250, "97.6 %");
	expect_share(998, 1000, "99.8 %");
	expect_share(99996, 100000, "99.996 %");
	expect_share(1, 1000, "0.10 %");
	expect_share(1, 5000000, "0.00002 %");
	expect_share(1020, 1000, "102.0 %");
	expect_share(UINT64_MAX - 1, UINT64_MAX, "100.000000000 %");
}

static void expect_json(const char *name, const char *expected)
{
	struct json_writer json = {0};
	struct page page;

	page_open(&page);
	json.to = page.file;
	json_text(&json, NULL, name);
	page_expect(&page, expected);
}

static void json_is_valid_whatever_it_holds(void **state)
{
	(void)state;
	expect_json("a/b \"c\" \\", "\"a/b \\\"c\\\" \\\\\"");
	expect_json("\033\n\t", "\"\\u001b\\n\\t\"");
	expect_json("gr\xc3\xb6\xc3", "\"gr\xc3\xb6\xef\xbf\xbd\"");
	expect_json("\xff", "\"\xef\xbf\xbd\"");
	/* Nothing in it acts on a terminal, and it says the same. */
	expect_json("a\x7f"
	            "b\xc2\x9b[31m\xc2\x80\xc2\x9f",
	            "\"a\\u007fb\\u009b[31m\\u0080\\u009f\"");
	expect_json("\xc2\xa0\xc3\x9b\xc2\xb5", "\"\xc2\xa0\xc3\x9b\xc2\xb5\"");
	expect_json(NULL, "null");
}

static void write_values(struct json_writer *json)
{
	json_begin(json, NULL);
	json_number(json, "a\xff\xc2", UINT64_MAX);
	json_begin_list(json, "list");
	json_int(json, NULL, -1);
	json_real(json, NULL, 2);
	json_real(json, NULL, 0.1);
	json_real(json, NULL, 1e300);
	json_real(json, NULL, NAN);
	json_flag(json, NULL, true);
	json_begin_list(json, NULL);
	json_end_list(json);
	json_end_list(json);
	json_text_part(json, "part",
	               "a\x1f"
	               "b",
	               1);
	json_known(json, "unknown", false, 1);
	json_end(json);
}

static void json_has_commas_where_they_are_due(void **state)
{
	struct json_writer json = {0};
	struct page page;

	(void)state;
	page_open(&page);
	json.to = page.file;
	write_values(&json);
	page_expect(&page, "{\"a\xef\xbf\xbd\xef\xbf\xbd\":18446744073709551615,"
	                   "\"list\":[-1,2.0,0.10000000000000001,1.0000000000000001e+300,null,true,"
	                   "[]],\"part\":\"a\",\"unknown\":null}");
	page_open(&page);
	json = (struct json_writer){.to = page.file, .pretty = true};
	json_begin(&json, NULL);
	json_number(&json, "a", 0);
	json_begin_list(&json, "b");
	json_text(&json, NULL, "x");
	json_end_list(&json);
	json_end(&json);
	page_expect(&page, "{\n  \"a\":0,\n  \"b\":[\n    \"x\"\n  ]\n}");
}

static void json_may_stand_in_a_page(void **state)
{
	struct json_writer json = {.in_page = true};
	struct page page;

	(void)state;
	page_open(&page);
	json.to = page.file;
	json_begin_list(&json, NULL);
	json_break(&json);
	json_text(&json, NULL, "<\n\xe2\x80\xa8");
	json_break(&json);
	json_raw(&json, NULL, "%s", "{}");
	json_end_list(&json);
	page_expect(&page, "[\n\"\\u003c\\u000a\\u2028\",\n{}]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_names_stay),
		cmocka_unit_test(harm_is_shown),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(wide_letters_take_two_columns),
		cmocka_unit_test(padding_counts_columns),
		cmocka_unit_test(commands_can_be_pasted),
		cmocka_unit_test(commands_are_cut_where_there_is_more),
		cmocka_unit_test(long_commands_are_cut),
		cmocka_unit_test(quantities_have_units),
		cmocka_unit_test(values_of_conditions_have_their_unit),
		cmocka_unit_test(cells_are_narrow),
		cmocka_unit_test(only_nothing_is_0_and_only_all_100_percent),
		cmocka_unit_test(json_is_valid_whatever_it_holds),
		cmocka_unit_test(json_has_commas_where_they_are_due),
		cmocka_unit_test(json_may_stand_in_a_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
