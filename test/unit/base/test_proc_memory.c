#include "cases.h"

#include "base/proc_memory.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE ((size_t)64 << 20)

static void memory_counts_as_data_at_once_and_as_resident_when_it_is_touched(void **state)
{
	const uint64_t data = proc_memory_data(), resident = proc_memory_resident(getpid());
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(data && resident && memory != MAP_FAILED);
	assert_true(proc_memory_data() >= data + SIZE);
	assert_true(proc_memory_resident(getpid()) < resident + SIZE / 2);
	memset(memory, 1, SIZE);
	assert_true(proc_memory_resident(getpid()) >= resident + SIZE / 2);
	munmap(memory, SIZE);
	assert_true(proc_memory_data() < data + SIZE);
}

static void a_process_that_is_not_there_has_none(void **state)
{
	(void)state;
	assert_int_equal(proc_memory_resident(INT_MAX), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_counts_as_data_at_once_and_as_resident_when_it_is_touched),
		cmocka_unit_test(a_process_that_is_not_there_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
