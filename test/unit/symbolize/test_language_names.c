/* Names of Ada, OCaml and Haskell as their compilers made them, and of C among them. */
#include "cases.h"
#include "symbolize/elf/language_names.h"
#include "symbolize/elf/readable.h"

#include <stdlib.h>
#include <string.h>

#define ALL (LANGUAGE_ADA | LANGUAGE_OCAML | LANGUAGE_HASKELL)

static char text[DEMANGLED_MAX];

static void is(unsigned language, const char *name, const char *expected)
{
	name_readable_in(name, language, text);
	assert_string_equal(text, expected);
	name_readable(name, text);
	assert_string_equal(text, strstr(name, ".0") ? "burn__inner" : name);
}

static void is_in_go(const char *name, const char *expected)
{
	name_readable_in(name, LANGUAGE_GO, text);
	assert_string_equal(text, expected);
}

static void go(void **state)
{
	(void)state;
	is_in_go("main.cold", "main.cold");
	is_in_go("f.part.0", "f");
	is_in_go("_Z1fv.cold", "f()");
	assert_int_equal(language_of("runtime.main"), LANGUAGE_GO);
}

static void ada(void **state)
{
	(void)state;
	is(LANGUAGE_ADA, "_ada_burn", "burn");
	is(LANGUAGE_ADA, "burn__inner.0", "burn.inner");
	is(LANGUAGE_ADA, "work__deep__hotX", "work.deep.hot");
	is(LANGUAGE_ADA, "work__Oadd", "work.\"+\"");
	is(LANGUAGE_ADA, "ada__text_io__put_line__2", "ada.text_io.put_line");
	is(LANGUAGE_ADA, "__gnat_rcheck_CE_Overflow_Check", "__gnat_rcheck_CE_Overflow_Check");
	is(LANGUAGE_ADA, "work__T12b", "work__T12b");
	is(LANGUAGE_ADA, "my_function", "my_function");
	is(LANGUAGE_ADA, "main", "main");
	is(LANGUAGE_ADA, "aSO__aSO__aSO__aSO__aSO__aSO", "aSO__aSO__aSO__aSO__aSO__aSO");
}

static void ocaml(void **state)
{
	(void)state;
	is(LANGUAGE_OCAML, "camlOc__fib_81", "Oc.fib");
	is(LANGUAGE_OCAML, "camlOc__$2b$2b$2b_83", "Oc.+++");
	is(LANGUAGE_OCAML, "camlOc__work$27_88", "Oc.work'");
	is(LANGUAGE_OCAML, "camlOc__fun_201", "Oc.fun_201");
	is(LANGUAGE_OCAML, "camlOc__my_fun_201", "Oc.my_fun");
	is(LANGUAGE_OCAML, "camlOc__entry", "Oc.entry");
	is(LANGUAGE_OCAML, "camlStdlib__List__fold_left_123", "Stdlib.List.fold_left");
	is(LANGUAGE_OCAML, "camlStdlib__List.fold_left_521", "Stdlib.List.fold_left");
	is(LANGUAGE_OCAML, "camlOc.a__b_12_34_code", "Oc.a__b_12");
	is(LANGUAGE_OCAML, "camlOc.anon_fn$5boc.ml$3a12$2c3$2d$2d40$5d_9",
	   "Oc.anon_fn[oc.ml:12,3--40]");
	is(LANGUAGE_OCAML, "camlOc__$", "Oc.$");
	is(LANGUAGE_OCAML, "camlOc__$0a_1", "Oc.$0a");
	is(LANGUAGE_OCAML, "caml_alloc_small", "caml_alloc_small");
	is(LANGUAGE_OCAML, "camlX", "camlX");
	is(LANGUAGE_OCAML, "unix__read", "unix__read");
}

static void haskell(void **state)
{
	(void)state;
	is(LANGUAGE_HASKELL, "base_GHCziBase_map_info", "GHC.Base.map");
	is(LANGUAGE_HASKELL, "Main_fib_info", "Main.fib");
	is(LANGUAGE_HASKELL, "Main_mainzugo9_info", "Main.main_go9");
	is(LANGUAGE_HASKELL, "base_GHCziShow_zdwjblockzq_info", "GHC.Show.$wjblock'");
	is(LANGUAGE_HASKELL, "base_GHCziWord_W16zh_con_info", "GHC.Word.W16#");
	is(LANGUAGE_HASKELL, "containerszm0zi6zi4zi1_DataziMapziInternal_insert_info",
	   "Data.Map.Internal.insert");
	is(LANGUAGE_HASKELL, "base_GHCziBase_zlzbzg_entry", "GHC.Base.<|>");
	is(LANGUAGE_HASKELL, "base_GHCziA_z3fU_info", "GHC.A.?");
	is(LANGUAGE_HASKELL, "ghczmprim_GHCziTuple_Z3T_con_info", "GHC.Tuple.(,,)");
	is(LANGUAGE_HASKELL, "ghczmprim_GHCziTypes_ZC_con_info", "GHC.Types.:");
	is(LANGUAGE_HASKELL, "Main_f_s1Xy_info", "Main.f.s1Xy");
	is(LANGUAGE_HASKELL, "Main_fz_info", "Main_fz_info");
	is(LANGUAGE_HASKELL, "Main_fz9999999999U_info", "Main_fz9999999999U_info");
	is(LANGUAGE_HASKELL, "stg_ap_pppp_info", "stg_ap_pppp_info");
	is(LANGUAGE_HASKELL, "hs_init_ghc", "hs_init_ghc");
	is(LANGUAGE_HASKELL, "get_size_info", "get_size_info");
	is(LANGUAGE_HASKELL, "Main", "Main");
}

static void files(void **state)
{
	(void)state;
	assert_int_equal(language_of("_ada_burn"), LANGUAGE_ADA);
	assert_int_equal(language_of("__gnat_rcheck_CE_Overflow_Check"), LANGUAGE_ADA);
	assert_int_equal(language_of("caml_start_program"), LANGUAGE_OCAML);
	assert_int_equal(language_of("camlOc__code_begin"), LANGUAGE_OCAML);
	assert_int_equal(language_of("hs_main"), LANGUAGE_HASKELL);
	assert_int_equal(language_of("base_GHCziBase_map_info"), LANGUAGE_HASKELL);
	assert_int_equal(language_of("resizing_info"), 0);
	assert_int_equal(language_of("my__function"), 0);
	assert_int_equal(language_of("main"), 0);
	assert_int_equal(language_of(""), 0);
}

/* The most that a name can grow, and names cut anywhere. */
static void long_and_cut_names(void **state)
{
	static const char *const names[] = {"base_GHCziTuple_Z9Hz25UZC_con_info",
	                                    "camlStdlib__List.fold$2bx_521_code",
	                                    "_ada_work__deep__OaddX__2___elabb"};
	static char name[8192];

	(void)state;
	strcpy(name, "Main_");
	while (strlen(name) < 2040 - 5)
		strcat(name, "Z9H");
	strcat(name, "_info");
	assert_true(language_demangle(name, ALL, text));
	memset(name, 'Z', sizeof(name) - 1);
	assert_false(language_demangle(name, ALL, text));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (size_t size = 0; size <= strlen(names[i]); size++) {
			char *cut = strndup(names[i], size);

			language_demangle(cut, ALL, text);
			free(cut);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(go),    cmocka_unit_test(ada),
		cmocka_unit_test(ocaml), cmocka_unit_test(haskell),
		cmocka_unit_test(files), cmocka_unit_test(long_and_cut_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
