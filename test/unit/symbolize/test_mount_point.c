/* File systems on the way to a path: found without accessing them, through links. */
#include "cases.h"

#include "symbolize/modules/mount_point.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file system that is none of a local disk, and mounted nearly everywhere. */
#define FOREIGN "/dev/pts"

static unsigned nr_on_way(pid_t pid, const char *path)
{
	struct mounts mounts = {0};

	mounts_on_way(&mounts, pid, path);
	return mounts.nr;
}

static void need_foreign(void)
{
	struct stat mount, outside;

	if (stat(FOREIGN "/.", &mount) || stat("/dev/.", &outside) ||
	    mount.st_dev == outside.st_dev)
		skip();
}

static void its_device_is_told(void **state)
{
	struct mounts mounts = {0};
	struct stat st;

	(void)state;
	need_foreign();
	assert_int_equal(stat(FOREIGN "/.", &st), 0);
	mounts_on_way(&mounts, 0, FOREIGN "/some/file");
	assert_int_equal(mounts.nr, 1);
	assert_true(mounts_hold(&mounts, st.st_dev));
	assert_int_equal(nr_on_way(getpid(), FOREIGN), 1);
	assert_int_equal(nr_on_way(0, FOREIGN "x/file"), 0);
	assert_int_equal(nr_on_way(0, "relative"), 0);
	assert_int_equal(nr_on_way(INT_MAX, FOREIGN), 0);
}

static void links_are_followed(void **state)
{
	char folder[] = "/tmp/test_mount_point.XXXXXX", path[64], way[128];

	(void)state;
	need_foreign();
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/link", folder);
	assert_int_equal(symlink(FOREIGN, path), 0);
	snprintf(way, sizeof(way), "%s/file", path);
	assert_int_equal(nr_on_way(0, way), 1);
	assert_int_equal(nr_on_way(getpid(), way), 1);
	unlink(path);
	assert_int_equal(symlink("./../.." FOREIGN "/file", path), 0);
	assert_int_equal(nr_on_way(0, path), 1);
	unlink(path);
	assert_int_equal(symlink("link", path), 0); /* to itself */
	assert_int_equal(nr_on_way(0, path), 0);
	unlink(path);
	rmdir(folder);
}

static void two_sets_meet(void **state)
{
	struct mounts a = {0}, b = {0};

	(void)state;
	assert_false(mounts_meet(&a, &b));
	for (dev_t dev = 1; dev < 2 * MOUNTS_MAX; dev++)
		mounts_add(&a, dev);
	mounts_add(&a, 1);
	assert_int_equal(a.nr, MOUNTS_MAX);
	mounts_add(&b, 2 * MOUNTS_MAX);
	assert_false(mounts_meet(&a, &b));
	mounts_add(&b, 1);
	assert_true(mounts_meet(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_device_is_told),
		cmocka_unit_test(links_are_followed),
		cmocka_unit_test(two_sets_meet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
