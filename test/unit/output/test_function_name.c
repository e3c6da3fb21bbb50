/* Names of functions as compilers and tools write them, and what they have in common. */
#include "cases.h"
#include "output/text/function_name.h"

#include <string.h>

static char texts[2][FUNCTION_NAME_SIZE];

static void common(const char *name, unsigned less, const char *expected)
{
	assert_string_equal(function_name_common(name, less, texts[0]), expected);
}

static void same(const char *a, const char *b, unsigned less)
{
	assert_string_equal(function_name_common(a, less, texts[0]),
	                    function_name_common(b, less, texts[1]));
}

static void apart(const char *a, const char *b, unsigned less)
{
	assert_string_not_equal(function_name_common(a, less, texts[0]),
	                        function_name_common(b, less, texts[1]));
}

static void arguments_and_results_go(void **state)
{
	(void)state;
	common("force(std::vector<double, std::allocator<double> >&)", FUNCTION_NO_ARGUMENTS,
	       "force");
	common("double ns::sum<double>(std::vector<double> const&, unsigned long)",
	       FUNCTION_NO_ARGUMENTS, "ns::sum<double>");
	common("std::vector<int> f<int>(int) const &", 0, "f<int>(int) const &");
	common("ns::A::operator()(int) const", FUNCTION_NO_ARGUMENTS, "ns::A::operator()");
	common("A::operator()", FUNCTION_NO_ARGUMENTS, "A::operator()");
	common("bool operator< <int>(A<int> const&)", FUNCTION_NO_ARGUMENTS, "operator< <int>");
	common("A::operator unsigned long() const", FUNCTION_NO_ARGUMENTS,
	       "A::operator unsigned long");
	common("f(int)::Local::g(int)", FUNCTION_NO_ARGUMENTS, "f::Local::g");
	common("A::f() const::Local::g()", FUNCTION_NO_ARGUMENTS, "A::f::Local::g");
	common("(anonymous namespace)::f(int)", FUNCTION_NO_ARGUMENTS, "(anonymous namespace)::f");
	common("ns::(anonymous namespace)::f", FUNCTION_NO_ARGUMENTS,
	       "ns::(anonymous namespace)::f");
	apart("non-virtual thunk to A::f()", "A::f()", FUNCTION_NO_ARGUMENTS);
	apart("f(int)", "f(long)", 0);
	apart("f<int>(int)", "f<long>(long)", FUNCTION_NO_ARGUMENTS);
	apart("f@plt", "f", FUNCTION_NO_ARGUMENTS | FUNCTION_NO_NUMBERS);
	same("int f<int>(int)", "f<int>", FUNCTION_NO_ARGUMENTS);
	common("<T as core::fmt::Write>::write", FUNCTION_NO_ARGUMENTS,
	       "<T as core::fmt::Write>::write");
	common("main.(*T).f", FUNCTION_NO_ARGUMENTS, "main.(*T).f");
	common("", 3, "");
	common("(", 3, "(");
	common(")", 3, ")");
	common("operator", 3, "operator");
}

static void types_have_one_writing(void **state)
{
	(void)state;
	same("f<long unsigned int, short int>", "f<unsigned long, short>", 0);
	same("f<3ul, (char)65>", "f<3,65>", 0);
	same("v<int, a<int> >::f(int &, char const *)", "v<int,a<int>>::f(int&, char const*)", 0);
	same("name[abi:cxx11](int)", "name(int)", 0);
	same("f(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >)",
	     "f(std::string)", 0);
	same("std::__1::vector<int>::f()", "std::vector<int>::f()", 0);
	same("core[8787f43e282added]::fmt::write", "core::fmt::write", 0);
	apart("f[3]", "f[4]", 0);
	apart("f(unsigned int)", "f(unsigned short)", 0);
	common("m::short", 0, "m::short");
}

static void lambdas_have_one_writing(void **state)
{
	const unsigned none = FUNCTION_NO_NUMBERS, bare = none | FUNCTION_NO_ARGUMENTS;
	const char *gcc = "main::{lambda(int, double)#2}::operator()(int, double) const";

	(void)state;
	same(gcc, "main::$_1::operator()(int, double) const", none);
	same(gcc, "main::{lambda#2}::operator()", FUNCTION_NO_ARGUMENTS);
	same(gcc, "main::'lambda0'(int, double)::operator()(int, double) const", 0);
	same(gcc, "main()::<lambda(int, double)>::operator()(int, double) const", bare);
	apart(gcc, "main::{lambda(int)#1}::operator()(int) const", FUNCTION_NO_ARGUMENTS);
	apart(gcc, "main::$_2::operator()(int, double) const", FUNCTION_NO_ARGUMENTS);
	apart(gcc, "main::{lambda(int)#1}::operator()(int) const", none);
	same("a::b::{{closure}}", "a::b::{closure#0}", none);
	apart("a::b::{closure#1}", "a::b::{closure#0}", 0);
	common("f::{lambda", 0, "f::{lambda");
}

static void parts_are_of_their_function(void **state)
{
	(void)state;
	assert_int_equal(function_name_whole("matmul (omp region 0)"), 6);
	assert_int_equal(function_name_whole("f(int) (omp region)"), 6);
	assert_int_equal(function_name_whole("f(int) [clone .avx2] [clone .x]"), 6);
	assert_int_equal(function_name_whole("f (parallel loop 2)"), 1);
	assert_int_equal(function_name_whole("(omp region 3)"), 0);
	assert_int_equal(function_name_whole("f(int)"), 0);
	assert_int_equal(function_name_whole("x[clone .y]"), 0);
	assert_true(function_name_is_in("matmul (omp region 0)", "matmul"));
	assert_true(function_name_is_in("matmul", "matmul"));
	assert_true(function_name_is_in("matmul (omp region 0)", "matmul (omp region 0)"));
	assert_false(function_name_is_in("matmul (omp region 0)", "matmul (omp region 1)"));
	assert_false(function_name_is_in("matmul2 (omp region 0)", "matmul"));
	assert_false(function_name_is_in("matmul", "matmul (omp region 0)"));
	assert_true(function_name_is_in("f(int) (omp region 0)", "f"));
	assert_false(function_name_is_in("f(int)", "f"));
	assert_false(function_name_is_in("f(int) (omp region 0)", "f(long)"));
	assert_false(function_name_is_in("(omp region 0)", ""));
	same("matmul (omp region 0)", "matmul (omp region)", FUNCTION_NO_NUMBERS);
	apart("matmul (omp region 0)", "matmul (omp region)", 0);
	apart("matmul (omp region 0)", "matmul (omp copy 0)", FUNCTION_NO_NUMBERS);
	apart("matmul (omp region 0)", "matmul", 3);
	same("f(int) (omp region 1)", "f (omp region)", 3);
	same("f(int) [clone .avx2]", "f(int)", FUNCTION_NO_NUMBERS);
	same("f.avx2", "f.default", FUNCTION_NO_NUMBERS);
	same("f.arch_x86_64_v3.0", "f", FUNCTION_NO_NUMBERS);
	apart("f.avx2", "f.default", 0);
	apart("main.avxFirst", "main", FUNCTION_NO_NUMBERS); /* Go */
	apart("a.b.avx2", "a.b", FUNCTION_NO_NUMBERS);
	assert_true(function_name_is_in("f.avx512f", "f"));
	assert_int_equal(function_name_whole("f.resolver"), 0);
	same("(omp region 3)", "(omp region)", FUNCTION_NO_NUMBERS);
}

static void arguments_are_seen(void **state)
{
	(void)state;
	assert_true(function_name_has_arguments("f(int) const"));
	assert_true(function_name_has_arguments("A::operator()(int)"));
	assert_true(function_name_has_arguments("f(int) (omp region 0)"));
	assert_false(function_name_has_arguments("matmul (omp region 0)"));
	assert_false(function_name_has_arguments("A::operator()"));
	assert_false(function_name_has_arguments("a::(anonymous namespace)::f"));
}

static void reads(const char *typed, const char *expected)
{
	function_name_read(typed, texts[0]);
	assert_string_equal(texts[0], expected);
}

static void other_tools_are_understood(void **state)
{
	(void)state;
	reads("_ZN2ns1fEi", "ns::f(int)");
	reads("_ZN2ns1fEi.isra.0.cold", "ns::f(int)");
	reads("matmul._omp_fn.0", "matmul (omp region 0)");
	reads("matmul.omp_outlined", "matmul (omp region)");
	reads(".omp_outlined._debug__.3", "(omp region 3)");
	reads("f(int) [clone ._omp_fn.0] [clone .cold]", "f(int) (omp region 0)");
	reads("f(int) [clone .constprop.0]", "f(int)");
	reads("f(int) (.isra.0.cold)", "f(int)");
	reads("f.part.0+0x12", "f");
	reads("f+0x12/0x40", "f");
	reads("f + 18", "f");
	reads("<f+0x12>:", "f");
	reads("<f>", "f");
	reads("<T as A>::f", "<T as A>::f");
	reads("'ns::f(int)'", "ns::f(int)");
	reads("[.] f", "f");
	reads("memcpy@@GLIBC_2.14", "memcpy");
	reads("memcpy@GLIBC_2.2.5", "memcpy");
	reads("memcpy@plt", "memcpy@plt");
	reads("core::fmt::write::h0123456789abcdef", "core::fmt::write");
	reads("__m_MOD_work", "m::work");
	reads("f.llvm.4358161080502826341", "f");
	reads("f.lto_priv.0", "f");
	reads("matmul._omp_fn.0(void)", "matmul (omp region 0)");
	reads("operator+", "operator+");
	reads("operator<", "operator<");
	reads("f (omp region 0)", "f (omp region 0)");
	reads("", "");
	reads("'", "'");
	reads("+", "+");
	reads("@", "@");
	reads(" (", "(");
}

static void long_names_are_left(void **state)
{
	static char name[2 * FUNCTION_NAME_SIZE];

	(void)state;
	memset(name, '(', sizeof(name) - 1);
	assert_ptr_equal(function_name_common(name, 3, texts[0]), name);
	function_name_read(name, texts[0]);
	for (size_t i = 0; i + 9 < sizeof(name); i += 9)
		memcpy(name + i, "unsigned ", 9);
	name[FUNCTION_NAME_SIZE / 2 - 1] = '\0';
	function_name_common(name, 3, texts[0]);
	assert_true(strlen(texts[0]) < FUNCTION_NAME_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_and_results_go),
		cmocka_unit_test(types_have_one_writing),
		cmocka_unit_test(lambdas_have_one_writing),
		cmocka_unit_test(parts_are_of_their_function),
		cmocka_unit_test(arguments_are_seen),
		cmocka_unit_test(other_tools_are_understood),
		cmocka_unit_test(long_names_are_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
