#include "cases.h"
#include "cli/commands.h"

#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_SIZE (1 << 20)

struct run {
	int status;
	char *out, *err;
};

static char *slurp(FILE *file)
{
	char *text = calloc(1, OUTPUT_SIZE);

	assert_non_null(text);
	rewind(file);
	assert_true(fread(text, 1, OUTPUT_SIZE - 1, file) < OUTPUT_SIZE - 1);
	fclose(file);
	return text;
}

static void child(const char *arg1, const char *arg2, FILE *out, FILE *err)
{
	char copy1[128], copy2[128], *argv[] = {"list", copy1, copy2, NULL};

	snprintf(copy1, sizeof(copy1), "%s", arg1 ? arg1 : "");
	snprintf(copy2, sizeof(copy2), "%s", arg2 ? arg2 : "");
	if (!arg1 || !arg2)
		argv[arg1 ? 2 : 1] = NULL;
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(err), STDERR_FILENO);
	exit(cmd_list(1 + !!arg1 + !!arg2, argv));
}

/* The command, in a process of its own: it prints, and argp may exit. */
static struct run run(const char *arg1, const char *arg2)
{
	FILE *out = tmpfile(), *err = tmpfile();
	struct run r;
	pid_t pid;

	assert_true(out && err);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child(arg1, arg2, out, err);
	assert_int_equal(waitpid(pid, &r.status, 0), pid);
	assert_true(WIFEXITED(r.status));
	r.status = WEXITSTATUS(r.status);
	r.out = slurp(out);
	r.err = slurp(err);
	return r;
}

static void run_fini(struct run *r)
{
	free(r->out);
	free(r->err);
}

static void test_table(void **state)
{
	struct run r = run("clock", NULL);
	const char *header, *row;

	(void)state;
	assert_int_equal(r.status, 0);
	assert_string_equal(r.err, "");
	header = strstr(r.out, "  EVENT");
	row = strstr(r.out, "cpu-clock");
	assert_ptr_equal(header, r.out);
	assert_non_null(row);
	assert_non_null(strstr(r.out, "task-clock"));
	assert_null(strstr(r.out, "page-faults"));
	/* columns stand below each other */
	row -= 2;
	assert_int_equal(strstr(header, "SOURCE") - header, strstr(row, "software") - row);
	run_fini(&r);
}

static void test_no_match(void **state)
{
	struct run r = run("cycels", NULL);

	(void)state;
	assert_int_equal(r.status, 1);
	assert_string_equal(r.out, "");
	assert_string_equal(r.err, "adaptrace: unknown event 'cycels'; did you mean 'cycles'?\n");
	run_fini(&r);
	r = run("r1c0", NULL);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err, "-e r1c0 is understood"));
	run_fini(&r);
}

static void test_usage(void **state)
{
	struct run r = run("--frobnicate", NULL);

	(void)state;
	assert_int_equal(r.status, 2);
	assert_non_null(strstr(r.err, "adaptrace: no option --frobnicate here"));
	run_fini(&r);
	r = run("one", "two");
	assert_int_equal(r.status, 2);
	run_fini(&r);
	r = run("--help", NULL);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "Usage: adaptrace list [OPTION...] [PATTERN]"));
	assert_non_null(strstr(r.out, "--available"));
	assert_non_null(strstr(r.out, "--json"));
	assert_non_null(strstr(r.out, "--verbose"));
	run_fini(&r);
}

static struct json_object *member(struct json_object *object, const char *name)
{
	struct json_object *value;

	if (!json_object_object_get_ex(object, name, &value))
		fail_msg("no member '%s'", name);
	return value;
}

static void test_json(void **state)
{
	struct run r = run("--json", "cpu-clock");
	struct json_object *array = json_tokener_parse(r.out), *event;

	(void)state;
	assert_int_equal(r.status, 0);
	assert_int_equal(json_object_array_length(array), 1);
	event = json_object_array_get_idx(array, 0);
	assert_string_equal(json_object_get_string(member(event, "name")), "cpu-clock");
	assert_string_equal(json_object_get_string(member(event, "source")), "software");
	assert_string_equal(json_object_get_string(member(event, "unit")), "ns");
	assert_int_equal(json_object_get_int(member(event, "type")), 1);
	assert_int_equal(json_object_get_int(member(event, "config")), 0);
	assert_true(json_object_is_type(member(event, "available"), json_type_boolean));
	assert_true(json_object_is_type(member(event, "user_only"), json_type_boolean));
	member(event, "description");
	json_object_put(array);
	run_fini(&r);
	r = run("--json", "cycels");
	assert_int_equal(r.status, 1);
	array = json_tokener_parse(r.out);
	assert_int_equal(json_object_array_length(array), 0);
	json_object_put(array);
	run_fini(&r);
}

static void test_verbose(void **state)
{
	struct run r = run("-v", "page-faults");

	(void)state;
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "type 1, config 0x2; counts occurrences"));
	run_fini(&r);
}

/* What an alias is made of, here and elsewhere. */
static void test_aliases(void **state)
{
	struct run r = run("-v", "flops");

	(void)state;
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "flops"));
	assert_true(strstr(r.out, "here: ") || strstr(r.out, "is not known"));
	run_fini(&r);
	r = run("-v", "spr::dp-flops");
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "spr::dp-flops:256b  alias"));
	assert_non_null(
		strstr(r.out, "here: 4 for each FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE (r10c7)"));
	run_fini(&r);
	r = run("TLB-MISS", NULL);
	assert_int_equal(r.status, 0);
	assert_non_null(strstr(r.out, "tlb-misses"));
	run_fini(&r);
	r = run("flosp", NULL);
	assert_int_equal(r.status, 1);
	assert_non_null(strstr(r.err, "did you mean 'flops'"));
	run_fini(&r);
}

static void test_available(void **state)
{
	struct run r = run("-a", NULL), all = run(NULL, NULL);

	(void)state;
	assert_true(strlen(r.out) <= strlen(all.out));
	if (r.status == 0) /* else nothing may be opened here at all */
		assert_null(strstr(r.out, "\n  "));
	run_fini(&all);
	run_fini(&r);
#if defined(__x86_64__)
	r = run("-a", "knl::");
	if (r.status == 1)
		assert_non_null(strstr(r.err, "can be opened now"));
	run_fini(&r);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),   cmocka_unit_test(test_no_match),
		cmocka_unit_test(test_usage),   cmocka_unit_test(test_json),
		cmocka_unit_test(test_verbose), cmocka_unit_test(test_available),
		cmocka_unit_test(test_aliases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
