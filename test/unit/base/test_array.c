#include "cases.h"
#include "base/array.h"

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

/* Filled again, it stays where it is as far as it went before. */
static void room_stays(void **state)
{
	uint32_t *array = NULL, *before;
	size_t most = 0;

	(void)state;
	for (size_t round = 1; round < 100; round++) {
		before = array;
		for (size_t nr = 0; nr < 3 * round; nr++) {
			array = array_reach(array, nr, &most, sizeof(*array));
			assert_non_null(array);
			if (nr < 3 * (round - 1))
				assert_ptr_equal(array, before);
			array[nr] = (uint32_t)nr;
		}
		for (size_t i = 0; i < 3 * round; i++)
			assert_int_equal(array[i], i);
		assert_int_equal(most, 3 * round);
	}
	free(array);
}

/* To any size, and what was there before stays. */
static void room_is_reserved(void **state)
{
	uint32_t *array = NULL, *before;
	uint32_t room = 0, nr = 0;

	(void)state;
	assert_int_equal(ARRAY_RESERVE(array, room, 0), 0);
	assert_null(array);
	for (uint32_t wanted = 1; wanted < 100000; wanted += wanted / 3 + 1) {
		before = wanted > room ? NULL : array;
		assert_int_equal(ARRAY_RESERVE(array, room, wanted), 0);
		assert_true(room >= wanted);
		assert_true(!before || array == before);
		for (uint32_t i = 0; i < nr; i++)
			assert_int_equal(array[i], i);
		for (; nr < wanted; nr++)
			array[nr] = nr;
	}
	free(array);
}

/* The sanitizer would end the test that asks for too much. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void room_that_cannot_be_had_changes_nothing(void **state)
{
	uint32_t *array = NULL, *before;
	volatile size_t endless = SIZE_MAX; /* the compiler need not see that it is too much */
	size_t room = 0;

	(void)state;
	assert_int_equal(ARRAY_RESERVE(array, room, 1), 0);
	before = array;
	assert_int_equal(ARRAY_RESERVE(array, room, endless), -ENOMEM);
	assert_ptr_equal(array, before);
	assert_int_equal(room, ARRAY_LEAST);
	free(array);
}

/* The same, and each new entry is zero whatever was there before. */
static void reserved_room_is_zero(void **state)
{
	uint64_t *array = NULL;
	uint32_t room = 0, nr = 0;

	(void)state;
	assert_int_equal(ARRAY_RESERVE_ZEROED(array, room, 0), 0);
	assert_null(array);
	for (uint32_t wanted = 1; wanted < 10000; wanted += wanted / 3 + 1) {
		assert_int_equal(ARRAY_RESERVE_ZEROED(array, room, wanted), 0);
		assert_true(room >= wanted);
		for (uint32_t i = 0; i < room; i++)
			assert_int_equal(array[i], i < nr ? ~0ULL : 0);
		for (nr = room; wanted = room, nr > 0 && !array[nr - 1]; nr--)
			array[nr - 1] = ~0ULL;
		nr = room;
	}
	free(array);
}

/* Of every size, with each number there once, not at all or often. */
static void the_partition_point_is_found(void **state)
{
	const uint32_t numbers[] = {1, 1, 1, 3, 4, 4, 7, 7, 7, 7, 9};
	size_t below;

	(void)state;
	assert_int_equal(ARRAY_PARTITION((const uint32_t *)NULL, 0, number, *number < 5), 0);
	for (size_t nr = 0; nr <= sizeof(numbers) / sizeof(*numbers); nr++)
		for (uint32_t limit = 0; limit < 11; limit++) {
			for (below = 0; below < nr && numbers[below] < limit; below++)
				continue;
			assert_int_equal(ARRAY_PARTITION(numbers, nr, number, *number < limit),
			                 below);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_added),
		cmocka_unit_test(entries_are_dropped),
		cmocka_unit_test(room_stays),
		cmocka_unit_test(room_is_reserved),
		cmocka_unit_test(room_that_cannot_be_had_changes_nothing),
		cmocka_unit_test(reserved_room_is_zero),
		cmocka_unit_test(the_partition_point_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
