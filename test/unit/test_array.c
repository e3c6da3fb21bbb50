#include "cases.h"
#include "symbolize/array.h"

static uint32_t *add(uint32_t *array, size_t nr)
{
	array = array_grow(array, nr, sizeof(*array));
	assert_non_null(array);
	array[nr] = (uint32_t)nr;
	return array;
}

static void entries_are_added(void **state)
{
	uint32_t *array = NULL;

	(void)state;
	for (size_t nr = 0; nr < 1000; nr++)
		array = add(array, nr);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	free(array);
}

/* Down to each number, and up beyond what there was. */
static void entries_are_dropped(void **state)
{
	uint32_t *array = NULL;
	size_t nr = 0;

	(void)state;
	for (size_t least = 0; least < 100; least++) {
		for (nr = nr < least ? nr : least; nr < 2 * least + 5; nr++)
			array = add(array, nr);
		for (size_t i = 0; i < nr; i++)
			assert_int_equal(array[i], i);
	}
	free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_added),
		cmocka_unit_test(entries_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
