/* Names as people would say them, and names that only look as if they had a suffix. */
#include "cases.h"
#include "symbolize/elf/readable.h"

#include <string.h>

static void is(const char *name, const char *expected)
{
	static char text[DEMANGLED_MAX];

	name_readable(name, text);
	assert_string_equal(text, expected);
}

static void pieces_of_functions(void **state)
{
	(void)state;
	is("foo.cold", "foo");
	is("foo.cold.12", "foo");
	is("foo.part.0", "foo");
	is("foo.isra.0.cold", "foo");
	is("foo.constprop.0.isra.3.part.1", "foo");
	is("foo.lto_priv.0", "foo");
	is("foo.localalias", "foo");
	is("foo.llvm.4358161080502826341", "foo");
	is("_Z3fooi.part.0.cold", "foo(int)");
	is("foo.__part.12", "foo");
	is("foo.__uniq.200302151190398233541416586123876410254", "foo");
	is("_ZL3fooi.__uniq.1234.llvm.5678.specialized.1.__part.0.cold", "foo(int)");
	is("_ZN2nsL3fooEi.specialized.2", "ns::foo(int)");
	is("nested.3", "nested");
}

static void parallel_regions(void **state)
{
	(void)state;
	is("foo._omp_fn.3", "foo (omp region 3)");
	is("_ZN2ns3fooEi._omp_fn.0.cold", "ns::foo(int) (omp region 0)");
	is("__m_MOD_work._omp_fn.1", "m::work (omp region 1)");
	is("foo.omp_outlined", "foo (omp region)");
	is("foo.omp_outlined.2", "foo (omp region 2)");
	is("foo.omp_outlined_debug__.2", "foo (omp region 2)");
	is(".omp_outlined.", "(omp region)");
	is(".omp_outlined..3", "(omp region 3)");
	is(".omp_outlined._debug__", "(omp region)");
	is(".omp_outlined._debug__.4", "(omp region 4)");
	is(".omp_task_entry..1", "(omp task 1)");
	is(".omp.reduction.reduction_func.2", "(omp reduction 2)");
	is(".omp_outlined.x", ".omp_outlined.x");
	is("foo._loopfn.0", "foo (parallel loop 0)");
}

static void fortran(void **state)
{
	(void)state;
	is("__m_MOD_work", "m::work");
	is("__a_b_MOD_c_d", "a_b::c_d");
	is("__MOD_x", "__MOD_x");
	is("___MOD_", "___MOD_");
	is("__Z_MOD_x", "__Z_MOD_x");
	assert_true(name_is_of("dgemm_", "dgemm"));
	is("_QMmPwork", "m::work");
	is("_QMa_bSsub2Pc_d", "a_b::sub2::c_d");
	is("_QMmFhostPinner", "m::inner");
	is("_QFPinner", "inner");
	is("_QPwork", "work");
	is("_QMmPwork.omp_par", "_QMmPwork.omp_par");
	is("_QMmPwork.cold", "m::work");
	is("_QQmain", "_QQmain");
	is("_QMmP", "_QMmP");
	is("_QMmEvalue", "_QMmEvalue");
	is("_Q", "_Q");
	is("_QM", "_QM");
	is("m_mp_work_", "m::work");
	is("a_b_mp_c_d_", "a_b::c_d");
	is("lock_mp_init", "lock_mp_init"); /* of C */
	is("Lock_mp_init_", "Lock_mp_init_");
	is("m_mp__", "m_mp__");
	is("_mp_x_", "_mp_x_");
	assert_true(name_is_of("MAIN__", "hello"));
	assert_true(name_is_of("MAIN_", "hello"));
	assert_true(name_is_of("_QQmain", "hello"));
	assert_false(name_is_of("dgemm", "dgemm"));
	assert_false(name_is_of("dgemm__", "dgemm"));
	assert_false(name_is_of("_", ""));
}

static void d_language(void **state)
{
	static char many[1200] = "_D3app";

	(void)state;
	is("_D3app4core4workFiZi", "app.core.work(int)");
	is("_D3app4core__T1STiZQf5twiceMFNaNbNiNfiZi", "app.core.S!(int).S.twice(int)");
	is("_Dmain", "_Dmain");
	is("_D", "_D");
	is("_D3ap", "_D3ap");
	is("_Do_work", "_Do_work"); /* of C */
	is("_D4data", "_D4data");
	for (unsigned i = 6; i < 1190; i += 2)
		memcpy(many + i, "Qf", 3);
	is(many, many);
}

static void other_languages(void **state)
{
	(void)state;
	is("main", "main");
	is("", "");
	is(".", ".");
	is(".cold", ".cold");
	is("memcpy.avx2", "memcpy.avx2");
	is("main.main.func1.2", "main.main.func1.2"); /* Go */
	is("net/http.f.1", "net/http.f.1");
	is("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	is("_ZN3foo3bar17h0123456789abcdefE.llvm.1234", "foo::bar");
	is("_Z3fooi.avx2", "foo(int) [clone .avx2]");
	is("f.cold.cold.12345678901234567890123._omp_fn.99999999999999999999",
	   "f (omp region 18446744073709551615)");
}

static void long_names(void **state)
{
	static char name[3 * DEMANGLED_MAX], text[DEMANGLED_MAX];

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name_readable(name, text);
	assert_int_equal(strlen(text), DEMANGLED_MAX - 1);
	name[0] = '_';
	name[1] = 'Q';
	for (size_t i = 2; i < DEMANGLED_MAX - 3; i += 2)
		memcpy(name + i, "Mm", 2);
	name_readable(name, text);
	assert_true(strlen(text) < DEMANGLED_MAX);
	memset(name, '.', sizeof(name) - 1);
	name_readable(name, text);
	memcpy(name + DEMANGLED_MAX - 12, "._omp_fn.7", 11);
	name_readable(name, text);
	assert_true(strlen(text) < DEMANGLED_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_of_functions),
		cmocka_unit_test(parallel_regions),
		cmocka_unit_test(fortran),
		cmocka_unit_test(d_language),
		cmocka_unit_test(other_languages),
		cmocka_unit_test(long_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
