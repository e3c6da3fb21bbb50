#include "cases.h"
#include "perf/machine/permission.h"

#include <grp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An ordinary user of a Debian machine with 2 CPUs. */
static struct permission ordinary(void)
{
	return (struct permission){
		.paranoid = 2,
		.ring_bytes = 2 * 516 * 1024,
		.memlock = 64 * 1024,
		.nofile = 1024,
	};
}

static void explains(const struct permission *p, enum permission_want want, uint64_t amount,
                     const char *way_out)
{
	char line[512] = "";
	struct advice advice;

	assert_false(permission_has(p, want, amount));
	advice = permission_advise(p, want, amount);
	advice_line(&advice, line, sizeof(line));
	if (!strstr(line, way_out))
		fail_msg("'%s' has no '%s'", line, way_out);
	assert_null(strchr(line, '\n'));
}

static void test_paranoid(void **state)
{
	struct permission p = ordinary();

	(void)state;
	assert_true(permission_has(&p, PERMISSION_ANY, 0));
	explains(&p, PERMISSION_KERNEL, 0, "sysctl kernel.perf_event_paranoid=1");
	explains(&p, PERMISSION_KERNEL, 0, "setcap cap_perfmon+ep /");
	explains(&p, PERMISSION_CPU, 0, "sysctl kernel.perf_event_paranoid=0");
	p.paranoid = 1;
	assert_true(permission_has(&p, PERMISSION_KERNEL, 0));
	assert_false(permission_has(&p, PERMISSION_CPU, 0));
	p.paranoid = 3; /* Debian's and Ubuntu's own levels */
	explains(&p, PERMISSION_ANY, 0, "sysctl kernel.perf_event_paranoid=2");
	p.perfmon = true;
	assert_true(permission_has(&p, PERMISSION_ANY, 0));
	assert_true(permission_has(&p, PERMISSION_CPU, 0));
}

static void test_symbols(void **state)
{
	struct permission p = ordinary();

	(void)state;
	explains(&p, PERMISSION_SYMBOLS, 0, "sysctl kernel.perf_event_paranoid=1");
	p.kptr_restrict = 1;
	explains(&p, PERMISSION_SYMBOLS, 0,
	         "sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
	p.paranoid = 1;
	explains(&p, PERMISSION_SYMBOLS, 0, "sysctl kernel.kptr_restrict=0");
	p.syslog = true;
	assert_true(permission_has(&p, PERMISSION_SYMBOLS, 0));
	p.kptr_restrict = 2;
	explains(&p, PERMISSION_SYMBOLS, 0, "kptr_restrict is 2");
}

static void test_limits(void **state)
{
	struct permission p = ordinary();

	(void)state;
	assert_true(permission_has(&p, PERMISSION_RINGS, p.ring_bytes + p.memlock));
	explains(&p, PERMISSION_RINGS, p.ring_bytes + p.memlock + 1, "perf_event_mlock_kb=");
	explains(&p, PERMISSION_RINGS, UINT64_MAX, "ulimit -l ");
	p.ipc_lock = true;
	assert_true(permission_has(&p, PERMISSION_RINGS, UINT64_MAX));
	assert_true(permission_has(&p, PERMISSION_FILES, 1024));
	explains(&p, PERMISSION_FILES, 1025, "ulimit -n 1025");
}

static void test_read(void **state)
{
	struct permission p;

	(void)state;
	permission_read(&p);
	assert_in_range(p.nofile, 3, UINT64_MAX);
	if (p.perfmon)
		assert_true(permission_has(&p, PERMISSION_CPU, 0));
}

/* However many groups a user is in, in what /proc says they come before the rights. */
static void test_many_groups(void **state)
{
	struct permission before, after;
	gid_t groups[1000];
	pid_t pid;
	int status;

	(void)state;
	permission_read(&before);
	for (unsigned i = 0; i < sizeof(groups) / sizeof(*groups); i++)
		groups[i] = 1000000000 + i;
	if (!before.perfmon)
		skip();
	pid = fork();
	if (!pid) {
		if (setgroups(sizeof(groups) / sizeof(*groups), groups))
			_exit(2);
		permission_read(&after);
		_exit(!after.perfmon);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 2)
		skip();
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paranoid),    cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_limits),      cmocka_unit_test(test_read),
		cmocka_unit_test(test_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
