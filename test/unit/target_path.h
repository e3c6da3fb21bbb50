/* Programs that were built for the tests. */
#ifndef UNIT_TARGET_PATH_H
#define UNIT_TARGET_PATH_H

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* The path of one, beside this program. */
static inline void target_path(char path[4096], const char *name)
{
	ssize_t n = readlink("/proc/self/exe", path, 4000);

	assert_true(n > 0);
	path[n] = 0;
	snprintf(strrchr(path, '/'), 90, "/../../targets/%s", name);
}

#endif
