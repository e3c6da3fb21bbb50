/* Demangling: names as people write them, and none that keeps us busy. */
#include "cases.h"
#include "symbolize/elf/demangle.h"

#include <stdio.h>
#include <string.h>

static char text[DEMANGLED_MAX];

static void is(const char *name, const char *expected)
{
	const char *got = demangle(name, text);

	assert_non_null(got);
	assert_string_equal(got, expected);
}

static void cpp_names(void **state)
{
	(void)state;
	is("_Z3fooi", "foo(int)");
	is("_ZN2ns1AC1Ev", "ns::A::A()");
	is("_Z3fooIiEvT_", "void foo<int>(int)");
	is("_Znwm", "operator new(unsigned long)");
	is("_Z3fooi.cold", "foo(int) [clone .cold]");
	is("_Z3fooi.constprop.0", "foo(int) [clone .constprop.0]");
	is("_ZNSt6vectorIiSaIiEE9push_backERKi",
	   "std::vector<int, std::allocator<int> >::push_back(int const&)");
	is("_Z3addIJEEvDpT_", "void add<>()");
}

static void rust_names(void **state)
{
	(void)state;
	is("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt");
	is("_ZN3foo3bar17h0123456789abcdefE.llvm.1234", "foo::bar");
	is("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	is("_RNvMNtCs1234_7mycrate3modNtB2_1S3new", "<mycrate::mod::S>::new");
}

static void other_names(void **state)
{
	(void)state;
	assert_null(demangle("main", text));
	assert_null(demangle("foo.constprop.0", text));
	assert_null(demangle("", text));
	assert_null(demangle("_Z", text));
	assert_null(demangle("_R", text));
	assert_null(demangle("_ZOOPS", text));
}

static void long_names(void **state)
{
	static char name[70000];
	char *at = name + sprintf(name, "_Z1f");

	(void)state;
	/* Longer than libiberty likes, shorter than our own limit. */
	while (at < name + 2000)
		at += sprintf(at, "3aaa");
	assert_non_null(demangle(name, text));
	while (at < name + 65000)
		at += sprintf(at, "3aaa");
	assert_null(demangle(name, text));
}

/* S_ is the template A; each level is A<the level below, the same again>. */
static void nest(char *at, unsigned levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	unsigned i;

	at += sprintf(at, "1AI");
	for (i = 0; i < levels; i++)
		at += sprintf(at, "S_I");
	at += sprintf(at, "S_IiiE");
	for (i = 0; i < levels; i++)
		if (i < 36)
			at += sprintf(at, "S%c_E", digits[i]);
		else
			at += sprintf(at, "S%c%c_E", digits[i / 36], digits[i % 36]);
}

static void names_without_end(void **state)
{
	char name[2000], packed[2048];

	(void)state;
	nest(name, 60); /* 2^60 characters */
	snprintf(packed, sizeof(packed), "_Z1f%sE", name);
	assert_null(demangle(packed, text));
	/* The same where nothing is printed of it: an empty pack is looked for in all its parts. */
	snprintf(packed, sizeof(packed), "_Z1fIJEEvDp%sT_E", name);
	assert_null(demangle(packed, text));
	nest(name, 6);
	snprintf(packed, sizeof(packed), "_Z1fIJEEvDp%sT_E", name);
	is(packed, "void f<>()");
}

/* Whatever expression has the pack in it, also one of an operator that is not known here. */
static void expressions_without_end(void **state)
{
	static const char *const rests[] = {"%s", "T_%s", "%sT_", "X%sE", "1a%s", "1aI%sE"};
	char name[1000], rest[1100], packed[2048];
	int first, second;
	size_t i;

	(void)state;
	nest(name, 40);
	strcat(name, "T_E");
	for (i = 0; i < sizeof(rests) / sizeof(*rests); i++)
		for (first = 'a'; first <= 'z'; first++)
			for (second = 'a'; second <= 'z'; second++) {
				snprintf(rest, sizeof(rest), rests[i], name);
				snprintf(packed, sizeof(packed), "_Z1fIJEEvDTsp%c%c%sE", first,
				         second, rest);
				(void)demangle(packed, text);
			}
}

/* Where nothing is printed of an impl, nor of a crate's parts. */
static void lifetimes_without_end(void **state)
{
	(void)state;
	is("_RNvMIC1aFGzzzzzzzzzz_EuEa1b", "<i8>::b");
	(void)demangle("_RNvC1a1bIC1aFGzzzzzzzzzz_EuE", text);
	is("_RINvC1a1bFG_RL0_hEuE", "a::b::<for<'a> fn(&'a u8)>");
	is("_RNvCsFGab_3foo3bar", "foo::bar");
	assert_null(demangle("_RNvC3foo9FGbar_baz", text)); /* it looks so, and may stay as it is */
}

/* A reference that stands for itself. */
static void references_without_end(void **state)
{
	char name[4097] = "_RB_";

	(void)state;
	for (size_t size = 900; size < sizeof(name) - 1; size += 1000) {
		memset(name + 4, 'a', size);
		(void)demangle(name, text);
	}
}

/* What libiberty asks of the stack at once: so much for each template and each reference. */
static void templates_and_references_on_the_stack(void **state)
{
	char name[4097], *at = name;

	(void)state;
	at += sprintf(at, "_Z1f");
	for (unsigned i = 0; i < 500; i++)
		at += sprintf(at, "I1a");
	for (unsigned i = 0; i < 500; i++)
		*at++ = 'E';
	*at++ = 'v';
	for (unsigned i = 0; i < 650; i++)
		at += sprintf(at, "RT_");
	(void)demangle(name, text);
}

/* What recurses deeply must fail, not fall off the stack. */
static void deep_names(void **state)
{
	static const char *const units[] = {"_Z1f P",     "_Z1fIX ng", "_Z1fIX adL_Z1f", "_Z1f F",
	                                    "_Z1f A_",    "_Z1f M",    "_Z1fI J",        "_Z N1aI",
	                                    "_Z Z",       "_Z Z1fE",   "_R IC1a",        "_R YT",
	                                    "_R NvMC1aR", "_Z1f Dp",   "_Z1fIX cvT_"};
	char name[4097];
	const char *unit;
	size_t i, size;

	(void)state;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		unit = strchr(units[i], ' ');
		size = (size_t)sprintf(name, "%.*s", (int)(unit - units[i]), units[i]);
		while (size + strlen(unit + 1) < sizeof(name))
			size += (size_t)sprintf(name + size, "%s", unit + 1);
		(void)demangle(name, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpp_names),
		cmocka_unit_test(rust_names),
		cmocka_unit_test(other_names),
		cmocka_unit_test(long_names),
		cmocka_unit_test(names_without_end),
		cmocka_unit_test(expressions_without_end),
		cmocka_unit_test(lifetimes_without_end),
		cmocka_unit_test(references_without_end),
		cmocka_unit_test(templates_and_references_on_the_stack),
		cmocka_unit_test(deep_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
