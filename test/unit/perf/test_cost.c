#include "cases.h"
#include "perf/sampler/cost.h"
#include "perf/events/event.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The price, or 0 where this user or this moment allows none. */
static uint64_t price_of(const struct cost_question *question)
{
	uint64_t price = 0;
	int err = cost_measure(question, &price);

	if (err != 0 && err != -EACCES && err != -EPERM && err != -EAGAIN && err != -ENOSYS)
		fail_msg("cost_measure: %s", strerror(-err));
	assert_int_equal(!err, price > 0);
	return price;
}

static void test_prices(void **state)
{
	const struct cost_question questions[] = {
		{.exclude_kernel = true},
		{.exclude_kernel = true, .callchain = true},
		{.exclude_kernel = true, .stack_size = 16384, .regs = 0x180},
		{.exclude_kernel = true, .stack_size = EVENT_STACK_MAX},
		{.exclude_kernel = false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(questions) / sizeof(*questions); i++)
		printf("[   cost   ] %llu ns\n", (unsigned long long)price_of(&questions[i]));
}

static void test_bad_questions(void **state)
{
	uint64_t price;

	(void)state;
	assert_int_equal(
		cost_measure(&(struct cost_question){.stack_size = EVENT_STACK_MAX + 8}, &price),
		-EINVAL);
	assert_int_equal(cost_measure(&(struct cost_question){.stack_size = 12}, &price), -EINVAL);
}

static unsigned open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	assert_non_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static unsigned mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned nr = 0;
	char line[512];

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		nr += strstr(line, "perf_event") != NULL;
	fclose(maps);
	return nr;
}

static void test_leaves_nothing(void **state)
{
	unsigned files = open_files();

	(void)state;
	price_of(&(struct cost_question){.exclude_kernel = true});
	assert_int_equal(open_files(), files);
	assert_int_equal(mappings(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prices),
		cmocka_unit_test(test_bad_questions),
		cmocka_unit_test(test_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
