/* Histograms of durations, against the values themselves. */
#include "cases.h"
#include "output/views/durations.h"
#include "random.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES = 20000 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void fill(uint64_t *values, unsigned nr)
{
	uint64_t seed = 3;

	for (unsigned i = 0; i < nr; i++)
		values[i] = random_below(&seed, 1000) * random_below(&seed, 1UL << i % 30);
}

static void assert_near(uint64_t found, uint64_t value)
{
	assert_true(fabs((double)found - (double)value) <= 1 + (double)value / 60);
}

static void quantiles_are_near(void **state)
{
	const double parts[] = {0.01, 0.5, 0.99, 1};
	uint64_t *values = malloc(VALUES * sizeof(*values));
	struct durations durations = {0};

	(void)state;
	assert_int_equal(durations_quantile(&durations, 0.5), 0);
	fill(values, VALUES);
	for (unsigned i = 0; i < VALUES; i++)
		durations_add(&durations, values[i]);
	qsort(values, VALUES, sizeof(*values), compare);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		assert_near(durations_quantile(&durations, parts[i]),
		            values[(unsigned)(parts[i] * VALUES) - 1]);
	assert_int_equal(durations.least, values[0]);
	assert_int_equal(durations.most, values[VALUES - 1]);
	free(values);
}

static void halves_make_a_whole(void **state)
{
	uint64_t values[1000];
	struct durations all = {0}, half = {0}, other = {0};

	(void)state;
	fill(values, 1000);
	for (unsigned i = 0; i < 1000; i++) {
		durations_add(&all, values[i]);
		durations_add(i % 3 ? &half : &other, values[i]);
	}
	durations_merge(&half, &other);
	assert_memory_equal(&half, &all, sizeof(all));
}

static void few_are_slow(void **state)
{
	struct durations durations = {0};

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		durations_add(&durations, i % 100 ? 1000 + i % 7 : 10000);
	durations_add(&durations, UINT64_MAX / 2);
	assert_int_equal(durations_above(&durations, 2 * durations_quantile(&durations, 0.5)), 11);
	assert_int_equal(durations.most, UINT64_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_near),
		cmocka_unit_test(halves_make_a_whole),
		cmocka_unit_test(few_are_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
