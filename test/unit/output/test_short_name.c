/* Names of functions where room is short, and how much there is. */
#include "page.h"
#include "output/report/report.h"
#include "output/text/name_parts.h"
#include "output/report/report_columns.h"
#include "output/text/short_name.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void becomes(const char *name, unsigned width, const char *expected)
{
	char *text = strdup(name);

	assert_non_null(text);
	short_name(text, width);
	assert_string_equal(text, expected);
	free(text);
}

static void no_more_goes_than_must(void **state)
{
	const char *name = "std::map<int, std::pair<int, A> >::find(int const&)";

	(void)state;
	becomes(name, 51, name);
	becomes(name, 50, "std::map<int, std::pair<…> >::find(int const&)");
	becomes(name, 45, "std::map<int, std::pair<…> >::find(…)");
	becomes(name, 37, "std::map<int, std::pair<…> >::find(…)");
	becomes(name, 36, "std::map<int, std::pair<…> >::find");
	becomes(name, 33, "std::map<…>::find");
	becomes(name, 16, "…::map<…>::find");
	becomes(name, 14, "…:map<…>::find");
	becomes(name, 10, "…<…>::find");
	becomes(name, 9, "…>::find");
	becomes(name, 5, "…find");
	becomes(name, 3, "…find");
	becomes("A::f(int) const", 10, "A::f");
}

static void names_without_parts_stay(void **state)
{
	(void)state;
	becomes("a_function_of_c_with_a_long_name", 8, "a_function_of_c_with_a_long_name");
	becomes("a::b", 2, "…b");
	becomes("::b", 2, "::b");
	becomes("", 1, "");
	becomes("f(a)", 2, "f");
	becomes("(anonymous namespace)::f(int, int)", 28, "(anonymous namespace)::f(…)");
	becomes("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 20, "<…>::drop");
	becomes("<alloc::vec::Vec<T> as core::ops::Drop>::drop", 44, "<…Vec<T> as …Drop>::drop");
	becomes("<&mut a::B as c::D<e::F>>::g", 26, "<&mut …B as …D<e::F>>::g");
	becomes("<fn(a::B) -> c::D as e::F>::g", 26, "<fn(a::B) -> …D as …F>::g");
	becomes("<[a::B] as c::D>::e", 18, "<[…B] as …D>::e");
	becomes("<a::B>::c", 8, "<…>::c");
	becomes("<::a as ::b::c>::d", 17, "<::a as …c>::d");
	becomes("<a as ::b", 2, "<a as ::b");
	becomes("main::{lambda(int, int)#1}::operator()(int, int) const", 40,
	        "main::{lambda(…)#1}::operator()(…) const");
}

static void places_in_modules_keep_their_ends(void **state)
{
	(void)state;
	becomes("libopen-pal.so.40.30.2+0x878b0", 17, "….40.30.2+0x878b0");
	becomes("libopen-pal.so.40.30.2+0x878b0", 5, "…+0x878b0");
	becomes("a+0x878b0", 17, "a+0x878b0");
}

static void signs_are_no_brackets(void **state)
{
	(void)state;
	becomes("bool std::operator< <char, A>(B<char> const&)", 30,
	        "bool std::operator< <char, A>");
	becomes("bool std::operator< <char, A>(B<char> const&)", 28, "bool std::operator< <…>");
	becomes("A::operator<<(long, long)", 20, "A::operator<<(…)");
	becomes("A::operator->(long, long)", 20, "A::operator->(…)");
	becomes("A::operator()(long, long)", 20, "A::operator()(…)");
	becomes("A::operator[](long, long)", 20, "A::operator[](…)");
	becomes("auto f(long, long)->long", 20, "auto f(…)->long");
	becomes("A::operator()(long) const", 13, "A::operator()");
	becomes("Bcd::operator()", 11, "…operator()");
	becomes("an_operator(long, long)", 20, "an_operator(…)");
}

/* Names are as long as somebody makes them. */
static void very_long_names_are_cut_soon(void **state)
{
	enum { LONG = 500000 };
	char *name = malloc(LONG + 1);

	(void)state;
	assert_non_null(name);
	for (unsigned i = 0; i < LONG; i++)
		name[i] = "ab::"[i % 4];
	memcpy(name + LONG - 3, "end", 4);
	becomes(name, 20, "…b::ab::ab::ab::aend");
	memset(name, 'x', LONG);
	memcpy(name + LONG - 5, "::end", 6);
	becomes(name, 10, "…xxxx::end");
	memset(name, '<', LONG / 2);
	memset(name + LONG / 2, '>', LONG / 2);
	becomes(name, 11, "<<<<<…>>>>>");
	for (unsigned i = 0; i < LONG; i++)
		name[i] = "->"[i % 2];
	memcpy(name, "a::", 3);
	short_name(name, 20);
	free(name);
}

static void what_is_no_name_stays(void **state)
{
	(void)state;
	becomes("a < b and nothing else", 5, "a < b and nothing else");
	becomes("f(a, b, c))", 5, "f(a, b, c))");
	becomes("operator(", 3, "operator(");
	becomes("operator", 3, "operator");
	becomes("JS:*name /a/long/path.js:1:2", 10, "JS:*name /a/long/path.js:1:2");
}

/* Columns behind 40 others for names of these widths get those; key: of the second. */
static void fit(unsigned terminal, enum profile_keys key, const unsigned names[3],
                const unsigned expected[3])
{
	const struct report_options options = {
		.query.keys = {PROFILE_BY_SYMBOL, key, PROFILE_BY_CPU},
		.query.nr_keys = 3,
		.style.width = terminal,
	};
	struct report_columns columns;
	char name[100];

	report_columns_init(&columns, &options);
	for (unsigned k = 0; k < 3; k++) {
		memset(name, 'x', sizeof(name));
		name[names[k]] = 0;
		report_columns_note(&columns, k, name);
	}
	report_columns_fit(&columns, 40);
	assert_memory_equal(columns.widths, expected, 3 * sizeof(*expected));
}

static void modules_give_first(void **state)
{
	const unsigned names[] = {30, 20, 4};

	(void)state;
	fit(0, PROFILE_BY_MODULE, names, (unsigned[]){30, 20, 4});
	fit(100, PROFILE_BY_MODULE, names, (unsigned[]){30, 20, 4});
	fit(99, PROFILE_BY_MODULE, names, (unsigned[]){30, 19, 4});
	fit(90, PROFILE_BY_MODULE, names, (unsigned[]){30, 10, 4});
	fit(88, PROFILE_BY_MODULE, names, (unsigned[]){30, 8, 4});
	fit(80, PROFILE_BY_MODULE, names, (unsigned[]){22, 8, 4});
	fit(20, PROFILE_BY_MODULE, names, (unsigned[]){12, 8, 4});
}

static void lines_are_cut_last(void **state)
{
	const unsigned names[] = {30, 20, 4};

	(void)state;
	fit(90, PROFILE_BY_LINE, names, (unsigned[]){20, 20, 4});
	fit(82, PROFILE_BY_LINE, names, (unsigned[]){12, 20, 4});
	fit(80, PROFILE_BY_LINE, names, (unsigned[]){12, 18, 4});
	fit(20, PROFILE_BY_LINE, names, (unsigned[]){12, 12, 4});
}

static void expect_cell(const struct report_columns *columns, unsigned k, const char *name,
                        const char *shown)
{
	struct page page;

	report_columns_put(page_open(&page), columns, k, name);
	page_expect(&page, shown);
}

/* Where there is no terminal, too, arguments go that push the next column aside; nothing else. */
static void columns_stay_in_sight(void **state)
{
	static const char many[] = "std::map<int, std::vector<double, std::allocator<double> > "
				   ">::find(std::pair<int, std::less<int> > const&) const";
	static const char words[] = "JS:*name /a/very/long/way/to/a/folder/that/is/far/away/from/"
				    "all/others/and/has/a/name/of/its/own/file.js:10:5";
	struct report_options options = {.query.keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	                                 .query.nr_keys = 2};
	struct report_columns columns;

	(void)state;
	report_columns_init(&columns, &options);
	report_columns_note(&columns, 0, many);
	report_columns_note(&columns, 0, words);
	report_columns_fit(&columns, 40);
	assert_int_equal(columns.widths[0], 63);
	expect_cell(&columns, 0, many,
	            "  std::map<int, std::vector<…> >::find(std::pair<…> const&) const");
	expect_cell(&columns, 0, "f()",
	            "  f()                                                            ");
	expect_cell(&columns, 0, words,
	            "  JS:*name /a/very/long/way/to/a/folder/that/is/far/away/from/all/others/"
	            "and/has/a/name/of/its/own/file.js:10:5");
	expect_cell(&columns, 1, many,
	            "  std::map<int, std::vector<double, std::allocator<double> > "
	            ">::find(std::pair<int, std::less<int> > const&) const");
	/* Nothing is behind it. */
	options.query.nr_keys = 1;
	expect_cell(&columns, 0, many,
	            "  std::map<int, std::vector<double, std::allocator<double> > "
	            ">::find(std::pair<int, std::less<int> > const&) const");
}

/* Names that end too early are not read beyond that. */
static void parts_end_with_the_name(void **state)
{
	char *name = strdup("a::b<c::d>::operator(");
	const char *part;

	(void)state;
	part = name_next_part(name, name);
	assert_string_equal(part, "b<c::d>::operator(");
	part = name_next_part(name, part);
	assert_string_equal(part, "operator(");
	assert_null(name_next_part(name, part));
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_end_with_the_name),
		cmocka_unit_test(no_more_goes_than_must),
		cmocka_unit_test(names_without_parts_stay),
		cmocka_unit_test(places_in_modules_keep_their_ends),
		cmocka_unit_test(signs_are_no_brackets),
		cmocka_unit_test(very_long_names_are_cut_soon),
		cmocka_unit_test(what_is_no_name_stays),
		cmocka_unit_test(modules_give_first),
		cmocka_unit_test(lines_are_cut_last),
		cmocka_unit_test(columns_stay_in_sight),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
