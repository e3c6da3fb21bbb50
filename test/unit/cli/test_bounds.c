#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/bounds.h"

#ifdef __SANITIZE_ADDRESS__
#define BY_KERNEL 0 /* an allocation that fails ends the process */
#else
#define BY_KERNEL 1
#endif

static bool says_limit(void)
{
	char text[BOUNDS_TEXT_SIZE];

	return strstr(bounds_strerror(ENOMEM, text), "for traces of this size");
}

/* Allocates as a growing table does, until memory is refused. */
static void grow(void)
{
	size_t size = 1 << 16;
	char *table = malloc(size), *larger;

	while ((larger = realloc(table, size * 2))) {
		table = larger;
		size *= 2;
	}
	free(table);
}

static bool grown_to_the_bound(void)
{
	bounds_memory(0, 0);
	grow();
	return says_limit();
}

static bool refused_early(void)
{
	bounds_memory(0, 0);
	return says_limit();
}

static bool limited_by_the_user(void)
{
	bounds_set_memory((rlim_t)100 << 20);
	bounds_memory(1 << 20, 0);
	grow();
	return says_limit();
}

static bool limited_in_addresses(void)
{
	const struct rlimit limit = {(rlim_t)120 << 20, (rlim_t)120 << 20};

	setrlimit(RLIMIT_AS, &limit);
	bounds_memory(0, 0);
	grow();
	return says_limit();
}

static bool said_by(bool (*function)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(function());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void the_bound_is_named_where_it_was_met(void **state)
{
	(void)state;
	if (!BY_KERNEL)
		skip();
	assert_true(said_by(grown_to_the_bound));
	assert_false(said_by(refused_early));
	assert_false(said_by(limited_by_the_user));
	assert_false(said_by(limited_in_addresses));
}

static void other_errors_are_named_alone(void **state)
{
	char text[BOUNDS_TEXT_SIZE];

	(void)state;
	assert_string_equal(bounds_strerror(EIO, text), strerror(EIO));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bound_is_named_where_it_was_met),
		cmocka_unit_test(other_errors_are_named_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
