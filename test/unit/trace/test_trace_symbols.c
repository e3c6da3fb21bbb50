/* How what is said of single frames becomes a table of functions. */
#include "cases.h"

#include <string.h>

#include "trace/write/trace_symbols.h"

/* What is known of each frame, in ascending order. */
struct answer {
	uint32_t offset, lo, hi;
	const char *name;
};

struct answers {
	const struct answer *all;
	size_t nr;
};

static int tell(void *arg, uint16_t module, const uint32_t *offsets, size_t n, symbol_fn *fn,
                void *fn_arg)
{
	const struct answers *answers = arg;
	int err = 0;

	assert_int_equal(module, 1);
	assert_int_equal(n, answers->nr);
	for (size_t i = 0; i < n && !err; i++) {
		const struct answer *answer = &answers->all[i];

		assert_int_equal(offsets[i], answer->offset);
		err = fn(
			fn_arg, answer->offset,
			&(struct symbol){.lo = answer->lo, .hi = answer->hi, .name = answer->name});
	}
	return err;
}

static const char *name_of(const struct trace_names *names, const struct trace_symbol *symbol)
{
	return symbol->name ? names->strings.memory + symbol->name - 1 : "";
}

static void expect(const struct answer *given, size_t nr_given, const struct answer *wanted,
                   size_t nr_wanted)
{
	struct answers answers = {given, nr_given};
	const struct name_provider provider = {.module = tell, .arg = &answers};
	struct frame_set *frames = frame_set_new();
	struct trace_names names;

	assert_non_null(frames);
	for (size_t i = 0; i < nr_given; i++)
		frame_set_add(frames, frame_make(1, given[i].offset));
	assert_int_equal(frame_set_finish(frames), 0);
	assert_int_equal(trace_names_init(&names, &provider, frames, 1), 0);
	assert_int_equal(names.nr, nr_wanted);
	for (size_t i = 0; i < nr_wanted; i++) {
		assert_int_equal(names.symbols[i].lo, wanted[i].lo);
		assert_int_equal(names.symbols[i].hi, wanted[i].hi);
		assert_string_equal(name_of(&names, &names.symbols[i]), wanted[i].name);
	}
	trace_names_fini(&names);
	frame_set_free(frames);
}

#define EXPECT(given, wanted) \
	expect(given, sizeof(given) / sizeof(*(given)), wanted, sizeof(wanted) / sizeof(*(wanted)))

/* One description of a whole PLT, as for its head: the entries have their names all the same. */
static void names_end_what_has_none(void **state)
{
	static const struct answer given[] = {
		{4, 0, 1000, NULL},   {20, 16, 32, "a@plt"},   {40, 0, 1000, NULL},
		{50, 0, 1000, NULL},  {100, 96, 112, "b@plt"}, {120, 112, 128, "c@plt"},
		{999, 0, 1000, NULL},
	};
	static const struct answer wanted[] = {
		{0, 0, 16, ""},        {0, 16, 32, "a@plt"},   {0, 32, 96, ""},
		{0, 96, 112, "b@plt"}, {0, 112, 128, "c@plt"}, {0, 128, 1000, ""},
	};

	(void)state;
	EXPECT(given, wanted);
}

/* As merged traces may have them, of different debug files. */
static void the_later_of_two_names_has_what_is_left(void **state)
{
	static const struct answer given[] = {
		{4, 0, 20, "a"},
		{24, 10, 40, "b"},
		{60, 50, 70, NULL},
		{65, 50, 80, "c"},
	};
	static const struct answer wanted[] = {
		{0, 0, 20, "a"},
		{0, 20, 40, "b"},
		{0, 50, 70, ""},
	};

	(void)state;
	EXPECT(given, wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_end_what_has_none),
		cmocka_unit_test(the_later_of_two_names_has_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
