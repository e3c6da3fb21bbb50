#include "cases.h"
#include "perf/machine/advice.h"
#include "perf/machine/cgroup.h"
#include "perf/machine/machine.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

static void every_topic_has_a_sentence(void **state)
{
	(void)state;
	for (int topic = ADVICE_NONE + 1; topic < NR_ADVICE; topic++) {
		const struct advice advice = {topic, {11111, 22222, 33333}, "SUBJECT"};
		char what[512], way_out[512], line[512];

		advice_what(&advice, what, sizeof(what));
		advice_way_out(&advice, way_out, sizeof(way_out));
		advice_line(&advice, line, sizeof(line));
		if (!*what || !*way_out)
			fail_msg("topic %d says nothing", topic);
		assert_int_equal(strlen(line), strlen(what) + 2 + strlen(way_out));
		assert_true(strlen(line) < sizeof(line) - 1);
		assert_null(strpbrk(line, "{}\n"));
	}
}

static void values_are_filled_in(void **state)
{
	struct advice advice = {ADVICE_RINGS, {100, 200, 300}, NULL};
	char line[512];

	(void)state;
	advice_line(&advice, line, sizeof(line));
	assert_non_null(strstr(line, "rings of 100 KiB"));
	assert_non_null(strstr(line, "mlock_kb=200, or: ulimit -l 300"));
	advice = (struct advice){.topic = ADVICE_FILTER, .subject = "ENOSYS"};
	advice_line(&advice, line, sizeof(line));
	assert_non_null(strstr(line, "with ENOSYS"));
	advice.topic = ADVICE_KERNEL;
	advice.numbers[0] = -3;
	advice_line(&advice, line, sizeof(line));
	assert_non_null(strstr(line, "paranoid is -3"));
	assert_non_null(strstr(line, "cap_perfmon+ep /"));
	advice.topic = ADVICE_NONE;
	advice_line(&advice, line, sizeof(line));
	assert_string_equal(line, "");
}

static void short_of_room(void **state)
{
	const struct advice advice = {ADVICE_KERNEL, {2}, NULL};
	char line[512];

	(void)state;
	for (size_t size = 1; size < sizeof(line); size++) {
		memset(line, 'x', sizeof(line));
		advice_line(&advice, line, size);
		assert_true(strnlen(line, size) < size);
		if (size < sizeof(line) - 1)
			assert_int_equal(line[size], 'x');
	}
}

static void machines(void **state)
{
	struct machine machine = {.has_sys = true, .has_perf = true};

	(void)state;
	assert_int_equal(machine_advise_call(&machine).topic, ADVICE_NONE);
	assert_int_equal(machine_advise_counters(&machine).topic, ADVICE_NO_COUNTERS);
	machine.is_virtual = true;
	assert_int_equal(machine_advise_counters(&machine).topic, ADVICE_VIRTUAL);
	machine.has_sys = false;
	assert_int_equal(machine_advise_counters(&machine).topic, ADVICE_NO_SYS);
	machine.counts = true;
	assert_int_equal(machine_advise_counters(&machine).topic, ADVICE_NONE);
	assert_int_equal(machine_advise_inherited(1, PERF_TYPE_RAW, "x").topic, ADVICE_NONE);
	assert_int_equal(machine_advise_inherited(2, PERF_TYPE_HARDWARE, "x").topic,
	                 ADVICE_CORE_TYPES);
	assert_int_equal(machine_advise_inherited(2, PERF_TYPE_SOFTWARE, "x").topic, ADVICE_NONE);
	machine.filter = -EPERM;
	assert_int_equal(machine_advise_call(&machine).topic, ADVICE_FILTER);
	assert_string_equal(machine_advise_call(&machine).subject, "EPERM");
	machine.has_perf = false;
	assert_int_equal(machine_advise_call(&machine).topic, ADVICE_NO_PERF);
	machine.proc.topic = ADVICE_NO_PROC;
	assert_int_equal(machine_advise_call(&machine).topic, ADVICE_NO_PROC);
	machine_read(&machine);
	assert_true(machine.precise >= 0 && machine.precise <= 3);
	assert_true(machine.counts || !machine.watchdog);
}

/* Where a directory was made the kernel says of its events what it says of none at all. */
static void cgroups(void **state)
{
	const struct cgroup none = {.fd = -1}, made = {.fd = 3};

	(void)state;
	assert_int_equal(cgroup_advise(&made, 0).topic, ADVICE_NONE);
	assert_int_equal(cgroup_advise(&none, -ENOENT).topic, ADVICE_NO_CGROUPS);
	assert_int_equal(cgroup_advise(&made, -ENOENT).topic, ADVICE_CGROUPS_V1);
	assert_int_equal(cgroup_advise(&none, -EACCES).topic, ADVICE_CGROUPS_DENIED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_topic_has_a_sentence),
		cmocka_unit_test(values_are_filled_in),
		cmocka_unit_test(short_of_room),
		cmocka_unit_test(machines),
		cmocka_unit_test(cgroups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
