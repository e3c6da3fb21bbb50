#include "cases.h"
#include "perf/events/event.h"
#include "perf/events/event_place.h"
#include "base/suggest.h"
#include "perf/events/pmu.h"
#include "perf/events/tracepoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR(array) (sizeof(array) / sizeof(*(array)))

static struct event parse(const char *text)
{
	struct event event;
	char why[WHY_SIZE];

	if (event_parse(&event, text, why))
		fail_msg("%s: %s", text, why);
	assert_string_equal(event.name, text);
	return event;
}

/* The error, and that the line for the user has this in it. */
static void refused(const char *text, int err, const char *line)
{
	struct event event;
	char why[WHY_SIZE] = "";

	assert_int_equal(event_parse(&event, text, why), err);
	if (!strstr(why, line))
		fail_msg("%s: '%s' has no '%s'", text, why, line);
	assert_null(strchr(why, '\n'));
}

/* -- names and codes --------------------------------------------------------------------------- */

struct code {
	const char *name;
	uint32_t type;
	uint64_t config;
};

static void check_codes(const struct code *codes, size_t nr, bool foreign)
{
	for (size_t i = 0; i < nr; i++) {
		struct event event = parse(codes[i].name);

		if (event.attr.type != codes[i].type || event.attr.config != codes[i].config)
			fail_msg("%s: type %u config %#llx", codes[i].name, event.attr.type,
			         (unsigned long long)event.attr.config);
		if (foreign && event.foreign)
			assert_int_equal(event_probe(&event), -ENODEV);
		if (!foreign)
			assert_false(event.foreign);
	}
}

static void test_generic(void **state)
{
	static const struct code codes[] = {
		{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
		{"CPU-CLOCK", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
		{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
		{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
		{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
		{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
		{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
		{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
		{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
		{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
		{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
		{"LLC-load-misses", PERF_TYPE_HW_CACHE, 0x10002},
		{"L1-dcache-loads", PERF_TYPE_HW_CACHE, 0},
		{"dTLB-store-misses", PERF_TYPE_HW_CACHE, 0x10103},
		{"r1c0", PERF_TYPE_RAW, 0x1c0},
		{"rfffffffffffffffe", PERF_TYPE_RAW, UINT64_MAX - 1},
	};

	(void)state;
	check_codes(codes, NR(codes), false);
}

/* The table of names is libpfm4's, too: what list shows is what -e takes. */
static void test_every_generic_name(void **state)
{
	(void)state;
	for (const struct event_generic *g = event_generics; g->name; g++) {
		struct event event = parse(g->name);

		assert_true(event.attr.type == PERF_TYPE_SOFTWARE ||
		            event.attr.type == PERF_TYPE_HARDWARE ||
		            event.attr.type == PERF_TYPE_HW_CACHE);
		assert_true(*g->description);
	}
}

/* Codes as the manufacturers' manuals and the kernel's own lists have them. */
static void test_cpu_codes(void **state)
{
	static const struct code codes[] = {
#if defined(__x86_64__)
		{"skx::INST_RETIRED:ANY_P", PERF_TYPE_RAW, 0xc0},
		{"skx::FP_ARITH:SCALAR_DOUBLE", PERF_TYPE_RAW, 0x1c7},
		{"skx::FP_ARITH_INST_RETIRED:512B_PACKED_DOUBLE", PERF_TYPE_RAW, 0x40c7},
		{"skx::LONGEST_LAT_CACHE:MISS", PERF_TYPE_RAW, 0x412e},
		{"skx::MEM_LOAD_RETIRED:L3_MISS", PERF_TYPE_RAW, 0x20d1},
		{"skx::CYCLE_ACTIVITY:STALLS_L3_MISS", PERF_TYPE_RAW, 0x60006a3},
		{"spr::INST_RETIRED:ANY_P", PERF_TYPE_RAW, 0xc0},
		{"spr::MEM_LOAD_RETIRED:L1_MISS", PERF_TYPE_RAW, 0x8d1},
		{"spr::FP_ARITH_INST_RETIRED:512B_PACKED_SINGLE", PERF_TYPE_RAW, 0x80c7},
		{"spr::FP_ARITH_INST_RETIRED2:SCALAR_HALF", PERF_TYPE_RAW, 0x1cf},
		{"spr::INST_RETIRED:ANY_P:c=1", PERF_TYPE_RAW, 0x10000c0},
		{"amd64_fam17h_zen2::RETIRED_INSTRUCTIONS", PERF_TYPE_RAW, 0xc0},
		{"amd64_fam17h_zen2::CYCLES_NOT_IN_HALT", PERF_TYPE_RAW, 0x76},
		{"amd64_fam17h_zen2::RETIRED_SSE_AVX_FLOPS:ANY", PERF_TYPE_RAW, 0xf03},
		{"amd64_fam19h_zen3::RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED", PERF_TYPE_RAW,
		 0xc3},
		{"amd64_fam19h_zen3::IC_TAG_HIT_MISS:IC_MISS", PERF_TYPE_RAW, 0x10000188e},
		{"amd64_fam19h_zen4::RETIRED_INSTRUCTIONS", PERF_TYPE_RAW, 0xc0},
		{"amd64_fam19h_zen4::DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR",
		 PERF_TYPE_RAW, 0x843},
#elif defined(__aarch64__)
		{"arm_n1::CPU_CYCLES", PERF_TYPE_RAW, 0x11},
		{"arm_n1::INST_RETIRED", PERF_TYPE_RAW, 0x8},
		{"arm_n1::L1D_CACHE_REFILL", PERF_TYPE_RAW, 0x3},
		{"arm_n1::LL_CACHE_MISS_RD", PERF_TYPE_RAW, 0x37},
		{"arm_v1::L1D_CACHE_REFILL", PERF_TYPE_RAW, 0x3},
		{"arm_v1::STALL_BACKEND", PERF_TYPE_RAW, 0x24},
		{"arm_a64fx::CPU_CYCLES", PERF_TYPE_RAW, 0x11},
		{"arm_a64fx::FP_SCALE_OPS_SPEC", PERF_TYPE_RAW, 0x80c0},
#endif
		{"cycles", PERF_TYPE_HARDWARE, 0},
	};

	(void)state;
	check_codes(codes, NR(codes), true);
}

/* A code of another CPU would be counted as something else here. */
static void test_foreign(void **state)
{
	struct event event = {.foreign = true, .name = "skx::X:Y", .attr = {.config = 0x1c7}};
	char why[WHY_SIZE];

	(void)state;
	assert_int_equal(event_probe(&event), -ENODEV);
	event_explain(&event, -ENODEV, why);
	assert_non_null(strstr(why, "another CPU model"));
	assert_non_null(strstr(why, "-e r1c7"));
}

static void test_units(void **state)
{
	(void)state;
	assert_int_equal(parse("cpu-clock").unit, EVENT_NS);
	assert_int_equal(parse("task-clock:u").unit, EVENT_NS);
	assert_int_equal(parse("page-faults").unit, EVENT_COUNT);
	assert_int_equal(parse("cycles").unit, EVENT_COUNT);
}

/* -- modifiers --------------------------------------------------------------------------------- */

static void test_sides(void **state)
{
	static const struct {
		const char *name;
		bool modifiers, no_user, no_kernel;
	} cases[] = {
		{"cycles", false, false, false},    {"cycles:u", true, false, true},
		{"cycles:k", true, true, false},    {"cycles:uk", true, false, false},
		{"cycles:u:k", true, false, false}, {"cpu-clock:u", true, false, true},
		{"r1c0:k", true, true, false},      {"cycles:h", true, true, true},
		{"cycles:U", true, false, true},    {"cycles:pu", true, false, true},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct event event = parse(cases[i].name);

		assert_int_equal(event.modifiers, cases[i].modifiers);
		assert_int_equal(event.attr.exclude_user, cases[i].no_user);
		assert_int_equal(event.attr.exclude_kernel, cases[i].no_kernel);
	}
	assert_false(parse("cpu-clock").attr.exclude_hv);
	assert_false(parse("cycles:h").attr.exclude_hv);
}

static void test_precise(void **state)
{
	(void)state;
	assert_int_equal(parse("cycles").attr.precise_ip, 0);
	assert_int_equal(parse("cycles:p").attr.precise_ip, 1);
	assert_int_equal(parse("cycles:ppp").attr.precise_ip, 3);
	assert_int_equal(parse("cycles:upp").attr.precise_ip, 2);
	assert_int_equal(parse("cycles:precise=2").attr.precise_ip, 2);
	refused("cycles:pppp", -EINVAL, "known modifiers");
	refused("cycles:precise=4", -EINVAL, "0 to 3");
	refused("cpu-clock:p", -EINVAL, "hardware");
}

static void test_rates(void **state)
{
	struct event event = parse("cycles:period=0x1000:u");

	(void)state;
	assert_int_equal(event.period, 0x1000);
	assert_int_equal(event.attr.sample_period, 0);
	assert_true(event.attr.exclude_kernel);
	event = parse("cpu-clock:freq=99");
	assert_int_equal(event.freq, 99);
	assert_int_equal(event.period, 0);
	assert_int_equal(event.attr.freq, 0);
	refused("cycles:period=0", -EINVAL, "above zero");
	refused("cycles:period=-1", -EINVAL, "above zero");
	refused("cycles:period=1x", -EINVAL, "above zero");
	refused("cycles:period=99999999999999999999", -EINVAL, "above zero");
	refused("cycles:period=1:freq=1", -EINVAL, "period as well");
}

/* A recorder that may not sample the kernel falls back by this, and by nothing else. */
static void test_exclude_kernel(void **state)
{
	struct event event = parse("cycles");

	(void)state;
	assert_true(event_exclude_kernel(&event));
	assert_string_equal(event.name, "cycles:u");
	assert_true(event.attr.exclude_kernel);
	assert_false(event_exclude_kernel(&event));
	event = parse("cycles:k");
	assert_false(event_exclude_kernel(&event));
	assert_false(event.attr.exclude_kernel);
	event = parse("context-switches");
	assert_false(event_exclude_kernel(&event));
	event = (struct event){.name = "a:b", .attr = {.type = PERF_TYPE_TRACEPOINT}};
	assert_false(event_exclude_kernel(&event));
	event = (struct event){.name = "cpu/event=1/", .attr = {.type = PERF_TYPE_RAW}};
	assert_true(event_exclude_kernel(&event));
	assert_string_equal(event.name, "cpu/event=1/u");
	memset(event.name, 'x', sizeof(event.name) - 1);
	event.modifiers = false;
	event.attr.exclude_kernel = 0;
	assert_false(event_exclude_kernel(&event));
}

/* -- lines for the user ------------------------------------------------------------------------ */

static void test_unknown(void **state)
{
	(void)state;
	refused("cycels", -ENOENT, "did you mean 'cycles'?");
	refused("page_faults", -ENOENT, "'page-faults'");
	refused("LLC-misses", -ENOENT, "'LLC-load-misses'");
	refused("xyzzy12345", -ENOENT, "adaptrace list");
	refused("nopmu::FOO", -ENOENT, "no PMU 'nopmu'");
	refused("cycles:frob", -EINVAL, "cycles:frob");
#if defined(__x86_64__)
	refused("sxk::FOO", -ENOENT, "'skx'");
	refused("skx::BR_MISP_RETIRD:ALL_BRANCHES", -ENOENT, "'skx::BR_MISP_RETIRED'");
	refused("skx::FP_ARITH", -EINVAL, "SCALAR_DOUBLE");
	refused("skx::FP_ARITH:SCALAR_QUAD", -EINVAL, "SCALAR_DOUBLE");
#endif
}

static void test_malformed(void **state)
{
	char longest[2 * EVENT_NAME_MAX];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[EVENT_NAME_MAX] = '\0';
	refused(longest, -EINVAL, "letters");
	longest[EVENT_NAME_MAX - 1] = '\0';
	refused(longest, -ENOENT, "unknown");
	refused("", -EINVAL, "needs a name");
	refused("two words", -EINVAL, "blanks");
	refused("line\nfeed", -EINVAL, "blanks");
	refused("cycles,instructions", -EINVAL, "");
	refused("cycles:", -EINVAL, "");
	refused("::", -ENOENT, "");
	refused(":", -ENOENT, "");
	refused("/", -EINVAL, "PMU/terms/");
	refused("//", -ENOENT, "");
	refused("cycles:cpu=1", -EINVAL, "CPU");
	refused("rfffffffffffffffff", -ENOENT, "");
	refused("r12xyz", -ENOENT, "");
	refused("r", -ENOENT, "");
	refused("cycles:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a:a", -EINVAL,
	        "too many");
}

/* Every error that the kernel may answer with gives one line with the name in it. */
static void test_explain(void **state)
{
	static const int errors[] = {ENOENT, EACCES, EPERM,  EINVAL, EOPNOTSUPP, EBUSY,
	                             EMFILE, ENODEV, ENOSYS, ENXIO,  EIO,        ENOSPC};
	static const char *const names[] = {"cycles", "cycles:ppp", "cpu-clock", "r1c0:u"};

	(void)state;
	for (size_t n = 0; n < NR(names); n++) {
		struct event event = parse(names[n]);

		for (size_t i = 0; i < NR(errors); i++) {
			char why[WHY_SIZE] = "";

			event_explain(&event, -errors[i], why);
			assert_true(strstr(why, names[n]) && strlen(why) < WHY_SIZE - 1);
			assert_true(strlen(why) >
			            strlen("cannot open event '': ") + strlen(names[n]));
			assert_null(strchr(why, '\n'));
		}
	}
}

/* Not every processor tells reads from writes. */
static void test_explain_breakpoint(void **state)
{
	struct event event = parse("mem:0x1000/8:r");
	char why[WHY_SIZE];

	(void)state;
	event_explain(&event, -EINVAL, why);
	assert_non_null(strstr(why, "try :rw"));
	event = parse("mem:0x1000/8:rw");
	event_explain(&event, -EINVAL, why);
	assert_null(strstr(why, "try :rw"));
}

static void test_explain_missing_counter(void **state)
{
	struct event event = parse("cycles:u");
	char why[WHY_SIZE];

	(void)state;
	if (event_probe(&event) != -ENOENT)
		skip();
	event_explain(&event, -ENOENT, why);
	assert_non_null(strstr(why, "no hardware counters"));
	assert_non_null(strstr(why, "-e cpu-clock"));
}

/* What an ordinary user meets: run as one, in a child. Exit 0: as promised; 77: no such limit. */
static int ordinary_user(void)
{
	struct event event;
	char why[WHY_SIZE];
	int err;

	if (geteuid() == 0 && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
		return 77;
	if (event_parse(&event, "cpu-clock", why))
		return 1;
	err = event_probe(&event);
	if (err != -EACCES && err != -EPERM)
		return 77;
	event_explain(&event, err, why);
	if (!strstr(why, "perf_event_paranoid") && !strstr(why, "container"))
		return 2;
	if (strstr(why, "paranoid is 2") && !strstr(why, "sysctl kernel.perf_event_paranoid=1"))
		return 3;
	if (!event_exclude_kernel(&event))
		return 4;
	return strstr(why, "paranoid is 2") && event_probe(&event) ? 5 : 0;
}

static void test_ordinary_user(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (!pid)
		_exit(ordinary_user());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_suggest(void **state)
{
	struct suggest suggest;
	char text[128];

	(void)state;
	suggest_init(&suggest, "cyles");
	suggest_offer(&suggest, "cycles");
	suggest_offer(&suggest, "CYCLES");
	suggest_offer(&suggest, "something-else");
	suggest_print(&suggest, "none", text, sizeof(text));
	assert_string_equal(text, "; did you mean 'cycles'?");
	suggest_init(&suggest, "abcd");
	suggest_print(&suggest, "; none", text, sizeof(text));
	assert_string_equal(text, "; none");
	suggest_offer(&suggest, "abcd-efgh");
	suggest_offer(&suggest, "a-b-c-d");
	suggest_offer(&suggest, "abdc");
	suggest_offer(&suggest, "abcde");
	suggest_print(&suggest, "", text, sizeof(text));
	assert_string_equal(text, "; did you mean 'abdc', 'abcde' or 'abcd-efgh'?");
	suggest_print(&suggest, "", text, 10);
	assert_int_equal(strlen(text), 9);
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	suggest_init(&suggest, text);
	suggest_offer(&suggest, text);
	assert_int_equal(suggest.nr, 0);
}

/* -- sysfs and tracefs, made up ---------------------------------------------------------------- */

struct tree {
	char root[64];
};

static void put_file(const struct tree *tree, const char *path, const char *text)
{
	char full[256], *slash;
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", tree->root, path);
	for (slash = full + strlen(tree->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int tree_setup(void **state)
{
	static struct tree tree;

	strcpy(tree.root, "/tmp/test_event.XXXXXX");
	if (!mkdtemp(tree.root))
		return -1;
	*state = &tree;
	put_file(&tree, "cpu/type", "4\n");
	put_file(&tree, "cpu/format/event", "config:0-7,32-35\n");
	put_file(&tree, "cpu/format/umask", "config:8-15\n");
	put_file(&tree, "cpu/format/edge", "config:18\n");
	put_file(&tree, "cpu/format/all", "config1:0-63\n");
	put_file(&tree, "cpu/format/whole", "config2\n");
	put_file(&tree, "cpu/format/broken", "config:8-77\n");
	put_file(&tree, "cpu/format/odd", "config:7-0,\n");
	put_file(&tree, "cpu/format/other", "stuff:0\n");
	put_file(&tree, "cpu/events/mem-loads", "event=0xcd,umask=0x1,all=?\n");
	put_file(&tree, "cpu/events/mem-loads.unit", "x\n");
	put_file(&tree, "cpu/events/loop", "loop\n");
	put_file(&tree, "big/type", "99999999999\n");
	put_file(&tree, "sched/sched_switch/id", "314\n");
	put_file(&tree, "sched/sched_wakeup/id", "313\n");
	put_file(&tree, "sched/enable", "0\n");
	return 0;
}

static int tree_teardown(void **state)
{
	const struct tree *tree = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", tree->root);
	return system(command);
}

static void test_pmu(void **state)
{
	const struct tree *tree = *state;
	static const struct {
		const char *text;
		int err;
		uint64_t config, config1, config2;
	} cases[] = {
		{"cpu/event=0xabc/", 0, 0xa000000bc, 0, 0},
		{"cpu/event=0xc0,umask=1,edge/", 0, 0x401c0, 0, 0},
		{"cpu/umask=1,umask=2/", 0, 0x200, 0, 0},
		{"cpu/all=0xffffffffffffffff/", 0, 0, UINT64_MAX, 0},
		{"cpu/whole=7,config1=8/", 0, 0, 8, 7},
		{"cpu/config=0x1c0/", 0, 0x1c0, 0, 0},
		{"cpu/mem-loads/", 0, 0x1cd, 0, 0},
		{"cpu/mem-loads,all=3/", 0, 0x1cd, 3, 0},
		{"cpu//", 0, 0, 0, 0},
		{"cpu/event=0x1000/", -EINVAL, 0, 0, 0},
		{"cpu/edge=2/", -EINVAL, 0, 0, 0},
		{"cpu/event=/", -EINVAL, 0, 0, 0},
		{"cpu/event=-1/", -EINVAL, 0, 0, 0},
		{"cpu/event=1=2/", -EINVAL, 0, 0, 0},
		{"cpu/broken=1/", -EINVAL, 0, 0, 0},
		{"cpu/odd=1/", -EINVAL, 0, 0, 0},
		{"cpu/other=1/", -EINVAL, 0, 0, 0},
		{"cpu/loop/", -ENOENT, 0, 0, 0},
		{"cpu/nothing/", -ENOENT, 0, 0, 0},
		{"cpu/nothing=1/", -ENOENT, 0, 0, 0},
		{"cpu/../", -EINVAL, 0, 0, 0},
		{"cpu/period=1,freq=2/", -EINVAL, 0, 0, 0},
		{"../event=1/", -ENOENT, 0, 0, 0},
		{"big/event=1/", -ENOENT, 0, 0, 0},
		{"none/event=1/", -ENOENT, 0, 0, 0},
		{"cpu/event=1", -EINVAL, 0, 0, 0},
	};

	for (size_t i = 0; i < NR(cases); i++) {
		struct event event = {0};
		char why[WHY_SIZE] = "";
		int err = pmu_encode(tree->root, cases[i].text, &event, why);

		if (err != cases[i].err)
			fail_msg("%s: %d %s", cases[i].text, err, why);
		if (err) {
			assert_true(*why);
			continue;
		}
		assert_int_equal(event.attr.type, 4);
		assert_int_equal(event.attr.config, cases[i].config);
		assert_int_equal(event.attr.config1, cases[i].config1);
		assert_int_equal(event.attr.config2, cases[i].config2);
	}
}

static void test_pmu_lines(void **state)
{
	const struct tree *tree = *state;
	struct event event = {0};
	char why[WHY_SIZE];

	assert_int_equal(pmu_encode(tree->root, "cpi/event=1/", &event, why), -ENOENT);
	assert_non_null(strstr(why, "did you mean 'cpu'"));
	assert_int_equal(pmu_encode(tree->root, "cpu/mem-lods/", &event, why), -ENOENT);
	assert_non_null(strstr(why, "'mem-loads'?"));
}

static int count_name(void *arg, const char *name, const char *pmu)
{
	assert_string_equal(pmu, "cpu");
	assert_null(strchr(name, '.'));
	++*(int *)arg;
	return 0;
}

static void test_pmu_walk(void **state)
{
	const struct tree *tree = *state;
	char name[32];
	int nr = 0;

	assert_int_equal(pmu_walk(tree->root, count_name, &nr), 0);
	assert_int_equal(nr, 2);
	assert_true(pmu_name(tree->root, 4, name, sizeof(name)));
	assert_string_equal(name, "cpu");
	assert_false(pmu_name(tree->root, 5, name, sizeof(name)));
	assert_int_equal(pmu_walk("/nonexistent", count_name, &nr), 0);
}

static int keep_last(void *arg, const char *name)
{
	strcpy(arg, name);
	return 0;
}

static void test_tracepoint(void **state)
{
	const struct tree *tree = *state;
	struct event event = {0};
	char why[WHY_SIZE], last[EVENT_NAME_MAX] = "";

	assert_int_equal(tracepoint_encode(tree->root, 0, "sched:sched_switch", &event, why), 0);
	assert_int_equal(event.attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(event.attr.config, 314);
	assert_int_equal(tracepoint_encode(tree->root, 0, "sched:sched_swich", &event, why),
	                 -ENOENT);
	assert_non_null(strstr(why, "'sched:sched_switch'"));
	assert_int_equal(tracepoint_encode(tree->root, 0, "sched:*", &event, why), -ENOENT);
	assert_non_null(strstr(why, "adaptrace list sched shows"));
	assert_int_equal(tracepoint_encode(NULL, -EACCES, "a:b", &event, why), -EACCES);
	assert_non_null(strstr(why, "mount -o remount"));
	assert_int_equal(tracepoint_encode(NULL, -ENOENT, "a:b", &event, why), -ENOENT);
	assert_non_null(strstr(why, "mount -t tracefs"));
	assert_int_equal(tracepoint_walk(tree->root, keep_last, last), 0);
	assert_string_equal(last, "sched:sched_wakeup");
}

static void test_tracepoint_form(void **state)
{
	(void)state;
	assert_true(tracepoint_looks_so("sched:sched_switch"));
	assert_true(tracepoint_looks_so("nfs4:nfs4_open"));
	assert_false(tracepoint_looks_so("BR_MISP_RETIRED:ALL"));
	assert_false(tracepoint_looks_so("a::b"));
	assert_false(tracepoint_looks_so("a:b:c"));
	assert_true(tracepoint_looks_so("syscalls:sys_enter_*"));
	assert_true(tracepoint_looks_so("sched:*"));
	assert_false(tracepoint_looks_so("x:../*"));
	assert_false(tracepoint_looks_so("../x:y"));
	assert_false(tracepoint_looks_so("x:../y"));
	assert_false(tracepoint_looks_so(":y"));
	assert_false(tracepoint_looks_so("x:"));
	assert_false(tracepoint_looks_so("x"));
}

/* -- places ------------------------------------------------------------------------------------ */

static void test_breakpoints(void **state)
{
	static const struct {
		const char *text;
		uint64_t address, length;
		uint32_t type;
	} cases[] = {
		{"mem:0x1000", 0x1000, 4, 3},
		{"mem:0x1000:r", 0x1000, 4, 1},
		{"mem:0x1000/8:w", 0x1000, 8, 2},
		{"mem:4096/1:rw", 0x1000, 1, 3},
		{"mem:0x1000:x", 0x1000, sizeof(long), 4},
		{"mem:0x1000/2:wr:u", 0x1000, 2, 3},
	};

	(void)state;
	for (size_t i = 0; i < NR(cases); i++) {
		struct event event = parse(cases[i].text);

		assert_int_equal(event.attr.type, PERF_TYPE_BREAKPOINT);
		assert_int_equal(event.attr.bp_addr, cases[i].address);
		assert_int_equal(event.attr.bp_len, cases[i].length);
		assert_int_equal(event.attr.bp_type, cases[i].type);
	}
	assert_true(parse("mem:0x1000:w:u").attr.exclude_kernel);
	assert_true(parse("mem:0x1000:u").attr.exclude_kernel);
	assert_int_equal(parse("mem:0x1000:rw:period=7").period, 7);
	refused("mem:", -EINVAL, "an address is needed");
	refused("mem:main", -EINVAL, "an address is needed");
	refused("mem:0x1000/3", -EINVAL, "1, 2, 4 and 8");
	refused("mem:0x1000/16", -EINVAL, "1, 2, 4 and 8");
	refused("mem:0x1000/", -EINVAL, "1, 2, 4 and 8");
	refused("mem:0x1001/2", -EINVAL, "multiple");
	refused("mem:0x1000:rx", -EINVAL, "neither r nor w");
	refused("mem:0x1000:q", -EINVAL, "unknown modifier");
}

static void test_probes(void **state)
{
	const struct tree *tree = *state;
	struct event event = {0};
	char why[WHY_SIZE] = "";
	const char *end;

	put_file(tree, "uprobe/type", "9\n");
	assert_int_equal(place_encode(tree->root, "uprobe:/bin/app:main+0x10", &event, why), 0);
	assert_int_equal(event.attr.type, 9);
	assert_int_equal(event.attr.config, 0);
	assert_string_equal(event.probe, "/bin/app");
	assert_string_equal(event.function, "main");
	event_resolve(&event, 0x1000);
	assert_int_equal(event.attr.probe_offset, 0x1010);
	assert_string_equal(event.function, "");
	assert_int_equal(event_attr(&event).uprobe_path, (uintptr_t)event.probe);
	event = (struct event){0};
	assert_int_equal(place_encode(tree->root, "uretprobe:/bin/app:0x1139", &event, why), 0);
	assert_int_equal(event.attr.config, 1);
	assert_int_equal(event.attr.probe_offset, 0x1139);
	assert_string_equal(event.function, "");
	assert_int_equal(place_encode(tree->root, "uprobe:/bin/app:a::b(int)", &event, why), 0);
	assert_string_equal(event.function, "a::b(int)");
	assert_int_equal(place_encode(tree->root, "uprobe:app:main", &event, why), -EINVAL);
	assert_int_equal(place_encode(tree->root, "uprobe:/bin/app", &event, why), -EINVAL);
	assert_int_equal(place_encode(tree->root, "uprobe:/bin/app:", &event, why), -EINVAL);
	assert_int_equal(place_encode(tree->root, "kprobe:vfs_read", &event, why), -ENOENT);
	assert_non_null(strstr(why, "no kprobes for perf_event_open; boot"));
	put_file(tree, "kprobe/type", "8\n");
	assert_int_equal(place_encode(tree->root, "kretprobe:vfs_read", &event, why), 0);
	assert_string_equal(event.probe, "vfs_read");
	assert_int_equal(place_encode(tree->root, "kprobe:0x10", &event, why), -EINVAL);
	assert_true(place_looks_so("uprobe:/bin/app:a::b:u", &end));
	assert_string_equal(end, ":u");
	assert_true(place_looks_so("kprobe:f:period=3", &end));
	assert_string_equal(end, ":period=3");
	assert_false(place_looks_so("probe:x", &end));
	assert_false(place_looks_so("cpu/event=1/", &end));
}

/* -- list -------------------------------------------------------------------------------------- */

struct seen {
	int nr, nr_software, nr_clock, stop_after;
};

static int see(void *arg, const struct event_info *info)
{
	struct seen *seen = arg;

	seen->nr++;
	seen->nr_software += !strcmp(info->source, "software");
	seen->nr_clock += !strcmp(info->event->name, "cpu-clock");
	assert_non_null(info->description);
	assert_true(info->available || !info->user_only);
	return seen->nr == seen->stop_after ? 42 : 0;
}

static void test_list(void **state)
{
	struct seen all = {0}, clocks = {0}, none = {0}, one = {.stop_after = 1};

	(void)state;
	assert_int_equal(event_list(NULL, see, &all), 0);
	assert_int_equal(all.nr_clock, 1);
	assert_true(all.nr > 40);
	assert_int_equal(event_list("CLOCK", see, &clocks), 0);
	assert_true(clocks.nr >= 2 && clocks.nr < all.nr);
	assert_int_equal(event_list("no-such-event", see, &none), 0);
	assert_int_equal(none.nr, 0);
	assert_int_equal(event_list(NULL, see, &one), 42);
	assert_int_equal(one.nr, 1);
}

static void test_list_pmu(void **state)
{
#if defined(__x86_64__)
	struct seen seen = {0}, none = {0};

	(void)state;
	assert_int_equal(event_list("skx::fp_arith", see, &seen), 0);
	assert_true(seen.nr > 8 && !seen.nr_software);
	assert_int_equal(event_list("skxx::", see, &none), 0);
	assert_int_equal(none.nr, 0);
#else
	(void)state;
	skip();
#endif
}

/* The target inherits the environment: libpfm4's switch must not stay in it. */
static void test_environment(void **state)
{
	(void)state;
	parse("cycles");
	assert_null(getenv("LIBPFM_ENCODE_INACTIVE"));
}

static void lists_are_split_at_commas_between_names(void **state)
{
	static const struct {
		const char *names;
		size_t first;
	} lists[] = {
		{"cycles", 6},
		{"cycles,page-faults", 6},
		{",cycles", 0},
		{"", 0},
		{"cpu/event=0xc0,umask=1/,cycles", 23},
		{"cpu/event=0xc0,umask=1/u,cycles", 24},
		{"cpu/event=0xc0,umask=1", 22},
		{"sched:sched_switch,cycles", 18},
		{"mem:0x601040/8:rw/,cycles", 18},
		{"kprobe:vfs_read,cycles", 15},
		{"uprobe:/bin/app:f(int, int)", 27},
		{"uretprobe:/bin/app:f<int,int>", 29},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++)
		assert_int_equal(event_name_end(lists[i].names) - lists[i].names, lists[i].first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_are_split_at_commas_between_names),
		cmocka_unit_test(test_generic),
		cmocka_unit_test(test_every_generic_name),
		cmocka_unit_test(test_cpu_codes),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_precise),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_exclude_kernel),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_explain),
		cmocka_unit_test(test_explain_breakpoint),
		cmocka_unit_test(test_explain_missing_counter),
		cmocka_unit_test(test_ordinary_user),
		cmocka_unit_test(test_suggest),
		cmocka_unit_test_setup_teardown(test_pmu, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_pmu_lines, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_pmu_walk, tree_setup, tree_teardown),
		cmocka_unit_test_setup_teardown(test_tracepoint, tree_setup, tree_teardown),
		cmocka_unit_test(test_tracepoint_form),
		cmocka_unit_test(test_breakpoints),
		cmocka_unit_test_setup_teardown(test_probes, tree_setup, tree_teardown),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_pmu),
		cmocka_unit_test(test_environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
