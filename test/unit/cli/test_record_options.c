#include "cases.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/options.h"
#include "cli/size.h"

static size_t size_of(const char *text)
{
	size_t size;

	assert_int_equal(size_parse(text, &size), 0);
	return size;
}

static void sizes(void **state)
{
	(void)state;
	assert_int_equal(size_of("0"), 0);
	assert_int_equal(size_of("4096"), 4096);
	assert_int_equal(size_of("64K"), 65536);
	assert_int_equal(size_of("64k"), 65536);
	assert_int_equal(size_of("100M"), (size_t)100 << 20);
	assert_int_equal(size_of("100m"), (size_t)100 << 20);
	assert_int_equal(size_of("1G"), (size_t)1 << 30);
	assert_int_equal(size_of("1g"), (size_t)1 << 30);
	assert_int_equal(size_of("2GiB"), (size_t)2 << 30);
	assert_int_equal(size_of("2MB"), (size_t)2 << 20);
	assert_int_equal(size_of("512B"), 512);
	assert_int_equal(size_of("18446744073709551615"), SIZE_MAX);
	assert_int_equal(size_of("17179869183G"), (size_t)17179869183 << 30);
}

static void sizes_that_are_none(void **state)
{
	static const char *const texts[] = {"",      "M",   "-1",  "+1",   " 1",  "1.5M",
	                                    "0x10",  "5X",  "1MM", "1MiM", "1 M", "1M ",
	                                    "1KiBs", "1e6", "1iB", "nan",  "１",  "1,000"};
	size_t size = 42;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(size_parse(texts[i], &size), -EINVAL);
	assert_int_equal(size_parse("18446744073709551616", &size), -ERANGE);
	assert_int_equal(size_parse("17179869184G", &size), -ERANGE);
	assert_int_equal(size_parse("99999999999999999999999K", &size), -ERANGE);
	assert_int_equal(size, 42);
}

#define MOST_ARGS 20

static int parse(struct record_config *config, char *const *args)
{
	static char *argv[MOST_ARGS + 1];
	int argc = 1;

	argv[0] = (char *)"record";
	while (args[argc - 1]) {
		argv[argc] = args[argc - 1];
		argc++;
	}
	argv[argc] = NULL;
	return record_options(config, argc, argv);
}

/* A wrong option ends the process that reads it. */
static int status_of(char *const *args)
{
	int status, null;
	pid_t pid = fork();

	if (!pid) {
		struct record_config config;

		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		_exit(parse(&config, args));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define ARGS(...) ((char *const[]){__VA_ARGS__, NULL})

static void defaults(void **state)
{
	struct record_config config;

	(void)state;
	assert_int_equal(parse(&config, ARGS("-e", "cpu-clock:u", "true")), 0);
	assert_int_equal(config.budget, (size_t)100 << 20);
	assert_string_equal(config.output, "adaptrace.atr");
	assert_int_equal(config.stack.mode, TRACE_STACKS_DWARF);
	assert_int_equal(config.stack.size, 16384);
	assert_true(config.max_overhead == 0.05);
	assert_int_equal(config.nr_events, 1);
	assert_string_equal(config.command[0], "true");
	assert_null(config.command[1]);
	assert_int_equal(config.nr_attach, 0);
	/* as --seed takes it back from what jq shows of info --json */
	assert_int_equal((uint64_t)(double)config.seed, config.seed);
}

/* As perf has it: what is attached to is recorded, and the command tells for how long. */
static void a_command_beside_pids_is_no_target(void **state)
{
	struct record_config config;

	(void)state;
	assert_int_equal(parse(&config, ARGS("-e", "cpu-clock:u", "-p", "1", "sleep", "2")), 0);
	assert_int_equal(config.nr_attach, 1);
	assert_null(config.command);
	assert_string_equal(config.until[1], "2");
}

/* The command's options are its own. */
static void the_command_begins_at_the_first_word(void **state)
{
	struct record_config config;

	(void)state;
	assert_int_equal(parse(&config, ARGS("-m", "1M", "-e", "cpu-clock:u", "ls", "-m", "2M")),
	                 0);
	assert_int_equal(config.budget, 1 << 20);
	assert_string_equal(config.command[1], "-m");
	assert_int_equal(parse(&config, ARGS("-e", "cpu-clock:u", "--", "-x", "--", "y")), 0);
	assert_string_equal(config.command[0], "-x");
	assert_string_equal(config.command[1], "--");
}

static void everything(void **state)
{
	struct record_config config;

	(void)state;
	assert_int_equal(parse(&config, ARGS("-q", "-m64K", "-F99.5", "-gfp", "-oother",
	                                     "--max-overhead=2.5%", "--seed=18446744073709551615",
	                                     "--inherit", "--max-stack=9", "-ecpu-clock:u",
	                                     "--delay=2.5", "-epage-faults:u", "true")),
	                 0);
	assert_true(config.quiet && config.inherit);
	assert_int_equal(config.delay, 2500000000);
	assert_int_equal(config.budget, 65536);
	assert_true(config.frequency == 99.5);
	assert_int_equal(config.stack.mode, TRACE_STACKS_FP);
	assert_string_equal(config.output, "other");
	assert_true(config.max_overhead == 0.025);
	assert_int_equal(config.seed, UINT64_MAX);
	assert_int_equal(config.stack.max, 9);
	assert_int_equal(config.nr_events, 2);
	assert_int_equal(
		parse(&config, ARGS("-gdwarf,4K", "--unwinder=libunwind", "-ecpu-clock:u", "true")),
		0);
	assert_int_equal(config.stack.size, 4096);
	assert_int_equal(config.stack.engine, UNWIND_LIBUNWIND);
	assert_int_equal(parse(&config, ARGS("-m65537", "-ecpu-clock:u", "true")), 0);
	assert_int_equal(config.budget, 65536); /* whole pages */
}

static void processes(void **state)
{
	char list[16 * SESSION_MAX_PROCESSES], *at = list;
	struct record_config config;

	(void)state;
	assert_int_equal(parse(&config, ARGS("-ecpu-clock:u", "-p7,5", "-p", "9", "-p5,7,9")), 0);
	assert_int_equal(config.nr_attach, 3);
	assert_int_equal(config.attach[0], 7);
	assert_int_equal(config.attach[1], 5);
	assert_int_equal(config.attach[2], 9);
	for (int pid = 1; pid <= SESSION_MAX_PROCESSES; pid++)
		at += sprintf(at, "%s%d", pid > 1 ? "," : "", pid);
	assert_int_equal(parse(&config, ARGS("-ecpu-clock:u", "-p", list, "-p", "1024")), 0);
	assert_int_equal(config.nr_attach, SESSION_MAX_PROCESSES);
	assert_int_equal(status_of(ARGS("-ecpu-clock:u", "-p", list, "-p", "1025")), 125);
}

static void wrong_values(void **state)
{
	static char *const wrong[][2] = {
		{"-m", "0"},
		{"-m", "5X"},
		{"-m", "63K"},
		{"-m", "99999G"},
		{"-m", ""},
		{"-F", "0"},
		{"-F", "-1"},
		{"-F", "nan"},
		{"-F", "1e9"},
		{"-F", "10k"},
		{"-c", "0"},
		{"-c", "many"},
		{"-g", "lbr"},
		{"-g", "dwarf,"},
		{"-g", "dwarf,1"},
		{"-g", "dwarf,1M"},
		{"-e", "no-such-thing"},
		{"-e", ""},
		{"-p", "0"},
		{"-p", "-1"},
		{"-p", "self"},
		{"-p", "1e30"},
		{"-p", "1.5"},
		{"-p", "2e0"},
		{"-p", ""},
		{"-p", "1,"},
		{"-p", ",1"},
		{"-p", "1,,2"},
		{"-p", "1, 2"},
		{"-p", "1 2"},
		{"-p", "1,2147483648"},
		{"-p", "0000000000000000000000000000000000001x"},
		{"-c", "2.5"},
		{"--seed", "18446744073709551616"},
		{"--max-overhead", "-1"},
		{"--max-overhead", "101"},
		{"--max-overhead", "inf"},
		{"--max-overhead", "5%%"},
		{"--max-stack", "0"},
		{"--max-stack", "1025"},
		{"--seed", "x"},
		{"--unwinder", "x"},
		{"--delay", "0"},
		{"--delay", "-1"},
		{"--delay", "1s"},
		{"--delay", "nan"},
		{"--delay", "1e10"},
		{"--no-such-option", "1"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(status_of(ARGS(wrong[i][0], wrong[i][1], "true")), 125);
}

static void nothing_to_do(void **state)
{
	(void)state;
	assert_int_equal(status_of(ARGS("-q")), 125);
	assert_int_equal(status_of(ARGS("-m")), 125);
	assert_int_equal(status_of(ARGS("--events-wait", "5", "true")), 125);
	assert_int_equal(status_of(ARGS("--polls", "true")), 125);
	assert_int_equal(status_of(ARGS("--mpi", "--delay", "5", "true")), 125);
	assert_int_equal(status_of(ARGS("--unwinder=rules", "-gfp", "true")), 125);
	assert_int_equal(status_of(ARGS("--max-stack=9", "-gnone", "true")), 125);
	assert_int_equal(status_of(ARGS("-F100", "-ecpu-clock:u:freq=9", "true")), 125);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),
		cmocka_unit_test(sizes_that_are_none),
		cmocka_unit_test(defaults),
		cmocka_unit_test(the_command_begins_at_the_first_word),
		cmocka_unit_test(everything),
		cmocka_unit_test(processes),
		cmocka_unit_test(a_command_beside_pids_is_no_target),
		cmocka_unit_test(wrong_values),
		cmocka_unit_test(nothing_to_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
