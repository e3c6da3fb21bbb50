#include "cases.h"
#include "symbolize/elf/find_function.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int here(void)
{
	return 42;
}

struct seen {
	unsigned nr;
	int main;
};

static void see(void *arg, const char *name)
{
	struct seen *seen = arg;

	seen->nr++;
	seen->main |= !strcmp(name, "main");
}

/* What stands at the offset in the file is what is in memory at the function. */
static void the_bytes_are_the_functions(void **state)
{
	FILE *self = fopen("/proc/self/exe", "re");
	unsigned char bytes[8];
	char path[256];
	uint64_t offset = 0;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0 && self);
	path[n] = '\0';
	assert_int_equal(function_find(path, "here", &offset, NULL, NULL), 0);
	assert_int_equal(fseek(self, (long)offset, SEEK_SET), 0);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), self), sizeof(bytes));
	assert_memory_equal(bytes, (const void *)(uintptr_t)&here, sizeof(bytes));
	fclose(self);
	assert_int_equal(here(), 42);
}

/* A program that is linked to an address has other ones than its file has places. */
static void addresses_are_no_places(void **state)
{
	static const char source[] =
		"__asm__(\".text\\n.globl marked\\n.type marked,%function\\n\"\n"
		"\"marked: .ascii \\\"a mark\\\"\\n\");\n"
		"int main(void) { return 0; }\n";
	char folder[] = "/tmp/test_find_function.XXXXXX", path[64], command[256], bytes[6];
	uint64_t offset = 0;
	FILE *file;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/app", folder);
	snprintf(command, sizeof(command), "cc -no-pie -x c - -o %s", path);
	file = popen(command, "w");
	assert_non_null(file);
	fputs(source, file);
	assert_int_equal(pclose(file), 0);
	assert_int_equal(function_find(path, "marked", &offset, NULL, NULL), 0);
	file = fopen(path, "re");
	assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	assert_memory_equal(bytes, "a mark", sizeof(bytes));
	fclose(file);
	unlink(path);
	rmdir(folder);
}

static void what_is_not_there(void **state)
{
	struct seen seen = {0};
	uint64_t offset;

	(void)state;
	assert_int_equal(function_find("/proc/self/exe", "no_such", &offset, see, &seen), -ENOENT);
	assert_true(seen.nr > 10 && seen.main);
	assert_int_equal(function_find("/nonexistent", "main", &offset, NULL, NULL), -ENOENT);
	assert_int_equal(function_find("/proc", "main", &offset, NULL, NULL), -EINVAL);
	assert_int_equal(function_find("/dev/null", "main", &offset, NULL, NULL), -EINVAL);
	assert_int_equal(function_find("/etc/passwd", "main", &offset, NULL, NULL), -ENOEXEC);
	assert_int_equal(function_find("/etc/passwd", "", &offset, NULL, NULL), -ENOEXEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bytes_are_the_functions),
		cmocka_unit_test(addresses_are_no_places),
		cmocka_unit_test(what_is_not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
