#include "cli/doctor_findings.h"

#include "record/period.h"
#include "record/memory_room.h"
#include "record/session.h"
#include "perf/sampler/cost.h"
#include "perf/machine/cpu_list.h"
#include "perf/machine/machine.h"
#include "perf/machine/permission.h"
#include "perf/machine/pmu_names.h"
#include "perf/events/tracepoint.h"
#include "symbolize/elf/debug_file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* State that all checks share. */
struct look {
	struct findings *findings;
	struct permission permission;
	struct machine machine;
	unsigned nr_cpus;
};

/* Something works, as the format says; or as the advice says it does not. */
__attribute__((format(printf, 5, 6))) static struct finding *
found(const struct look *look, const char *name, struct advice advice, enum finding_state without,
      const char *format, ...)
{
	struct finding *finding = &look->findings->list[look->findings->nr++];
	va_list args;

	assert(look->findings->nr <= FINDINGS_MAX);
	finding->name = name;
	advice_what(&advice, finding->says, sizeof(finding->says));
	advice_way_out(&advice, finding->way_out, sizeof(finding->way_out));
	finding->state = advice.topic == ADVICE_NONE ? FINDING_WORKS : without;
	if (advice.topic != ADVICE_NONE)
		return finding;
	va_start(args, format);
	vsnprintf(finding->says, sizeof(finding->says), format, args);
	va_end(args);
	return finding;
}

static struct advice permitted(const struct look *look, enum permission_want want, uint64_t amount)
{
	return permission_advise(&look->permission, want, amount);
}

static const struct advice no_obstacle = {ADVICE_NONE};

/* -- what may be sampled ----------------------------------------------------------------------- */

/* Most of what follows is read there; nobody needs to hear that it is mounted. */
static bool look_at_proc(const struct look *look)
{
	const struct advice proc = look->machine.proc;

	if (proc.topic != ADVICE_NONE)
		found(look, "/proc", proc, FINDING_MISSING, "is mounted");
	return proc.topic == ADVICE_NONE;
}

/* Nor that this is, without which nothing can be recorded. */
static bool look_at_sys(const struct look *look)
{
	struct cpu_list online;
	bool known = !cpu_list_online(&online);

	if (!known)
		found(look, "/sys", (struct advice){ADVICE_NO_SYS}, FINDING_MISSING, "is mounted");
	return known;
}

/* Checks perf_event_open() first: other checks need it and are skipped without it. */
static bool look_at_call(const struct look *look)
{
	struct advice advice = machine_advise_call(&look->machine);

	found(look, "perf_event_open", advice, FINDING_MISSING, "reaches the kernel");
	return advice.topic == ADVICE_NONE;
}

/* Tried, for there is more that forbids than can be asked for. */
static void look_at_own(const struct look *look)
{
	const struct event clock = {
		.attr = {.type = PERF_TYPE_SOFTWARE,
	                 .config = PERF_COUNT_SW_CPU_CLOCK,
	                 .exclude_kernel = 1},
	};
	struct advice advice = permitted(look, PERMISSION_ANY, 0);
	int err = event_probe(&clock);

	if (!err)
		advice = no_obstacle;
	else if (advice.topic == ADVICE_NONE)
		advice.topic = ADVICE_SECURITY;
	look->findings->can_sample = !err;
	found(look, "own programs", advice, FINDING_MISSING, "their user side can be sampled");
}

static void look_at_permissions(const struct look *look)
{
	found(look, "kernel side", permitted(look, PERMISSION_KERNEL, 0), FINDING_MISSING,
	      "can be sampled");
	found(look, "whole CPUs", permitted(look, PERMISSION_CPU, 0), FINDING_MISSING,
	      "-a, -C and --cgroup can be used");
}

static void look_at_symbols(const struct look *look)
{
	found(look, "kernel symbols", permitted(look, PERMISSION_SYMBOLS, 0), FINDING_MISSING,
	      "functions of the kernel have names");
}

static void look_at_cgroups(const struct look *look)
{
	struct advice advice = permitted(look, PERMISSION_CPU, 0);
	struct cgroup cgroup = {.fd = -1};
	int err;

	if (advice.topic == ADVICE_NONE) {
		err = cgroup_create(&cgroup);
		if (!err)
			err = cgroup_probe(&cgroup);
		advice = cgroup_advise(&cgroup, err);
	}
	found(look, "short tasks", advice, FINDING_LIMITED,
	      "get their fair share: programs run in a cgroup of their own below %s",
	      cgroup.parent);
	cgroup_remove(&cgroup);
}

/* -- hardware ---------------------------------------------------------------------------------- */

/* Per-CPU events can always have them. */
static void look_at_groups(const struct look *look)
{
	struct advice advice = {ADVICE_NONE};

	if (!permission_has(&look->permission, PERMISSION_CPU, 0) && !counters_inheritable())
		advice.topic = ADVICE_NO_GROUPS;
	found(look, "counters with samples", advice, FINDING_MISSING, "--counters can be used");
}

static void look_at_counters(const struct look *look)
{
	const struct event cycles = {
		.name = "cycles:u",
		.attr = {.type = PERF_TYPE_HARDWARE,
	                 .config = PERF_COUNT_HW_CPU_CYCLES,
	                 .exclude_kernel = 1},
	};
	struct advice advice = machine_advise_counters(&look->machine);
	int err = event_probe(&cycles);
	struct finding *finding = found(look, "hardware counters", err ? advice : no_obstacle,
	                                FINDING_MISSING, "cycles can be sampled");

	if (!err || advice.topic != ADVICE_NONE)
		return;
	finding->state = FINDING_MISSING;
	event_explain(&cycles, err, finding->says);
}

static void look_at_features(const struct look *look)
{
	struct advice counters = machine_advise_counters(&look->machine);
	struct advice watchdog = {look->machine.watchdog ? ADVICE_WATCHDOG : ADVICE_NONE};
	struct advice precise = {look->machine.precise > 0 ? ADVICE_NONE : ADVICE_IMPRECISE};
	struct advice branches = {look->machine.branches > 0 ? ADVICE_NONE : ADVICE_NO_BRANCHES};

	/* without any, the one line above is enough */
	if (counters.topic != ADVICE_NONE)
		return;
	found(look, "kinds of cores",
	      machine_advise_inherited(machine_core_types(), PERF_TYPE_HARDWARE, "hardware events"),
	      FINDING_LIMITED, "one, so inherited events count everywhere");
	found(look, "NMI watchdog", watchdog, FINDING_LIMITED, "holds no counter");
	found(look, "precise sampling", precise, FINDING_LIMITED, "up to :%.*s",
	      (int)look->machine.precise, "ppp");
	found(look, "branch stacks", branches, FINDING_LIMITED, "-g lbr: %" PRId64 " branches",
	      look->machine.branches);
}

/* -- how much ---------------------------------------------------------------------------------- */

static void look_at_limits(const struct look *look)
{
	size_t ring = session_ring_size(look->nr_cpus);
	uint64_t rings = sampler_rings_size(look->nr_cpus, look->nr_cpus, ring, SESSION_STACK_SIZE);
	uint64_t files = sampler_usual_descriptors(look->nr_cpus);
	struct permission hard = look->permission;
	struct advice advice = permitted(look, PERMISSION_RINGS, rings);
	struct rlimit limit;

	if (advice.topic == ADVICE_RINGS)
		advice.topic = ADVICE_SMALLER;
	found(look, "locked memory", advice, FINDING_LIMITED,
	      "permits rings of %zu KiB on each CPU, and of %" PRIu64 " KiB in all", ring >> 10,
	      rings >> 10);
	/* the recorder takes what it may have */
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		hard.nofile = limit.rlim_max;
	found(look, "open files", permission_advise(&hard, PERMISSION_FILES, files),
	      FINDING_LIMITED, "as many as a recording needs, %" PRIu64, files);
	found(look, "memory", memory_room_in_cgroup(SESSION_BUDGET), FINDING_LIMITED,
	      "enough is permitted for the default budget");
	found(look, "recovery", memory_room_in_shm(SESSION_BUDGET), FINDING_LIMITED,
	      "/dev/shm has room for the default budget");
}

static void look_at_rates(const struct look *look)
{
	const struct machine *machine = &look->machine;
	struct advice depth = {.numbers = {machine->max_stack}};
	struct advice rate = {.numbers = {machine->max_sample_rate}};
	const struct overhead_guard guard = {.max_rate = (uint64_t)machine->max_sample_rate};
	const struct event clock = {.unit = EVENT_NS};

	if (machine->max_stack >= 0 && machine->max_stack < SESSION_MAX_STACK)
		depth.topic = machine->max_stack ? ADVICE_MAX_STACK : ADVICE_NO_CALLERS;
	found(look, "stack depth", depth, FINDING_LIMITED, "stacks of any depth");
	if (machine->max_sample_rate > 0 &&
	    overhead_guard_initial_shift(&guard, period_base(&clock, 0, 0)))
		rate.topic = ADVICE_THROTTLED;
	found(look, "sample rate", rate, FINDING_LIMITED,
	      "up to %" PRId64 " a second on a CPU; the kernel lowers that where they take more "
	      "than %" PRId64 " %% of the time",
	      machine->max_sample_rate, machine->cpu_time_max);
}

static void look_at_price(const struct look *look)
{
	struct cost_question question = {.exclude_kernel = true};
	uint64_t bare = 0, stack = 0;

	if (cost_measure(&question, &bare))
		return;
	question.stack_size = SESSION_STACK_SIZE;
	question.regs = unwind_regs_mask();
	if (cost_measure(&question, &stack) || !stack)
		return;
	found(look, "price of a sample", no_obstacle, FINDING_WORKS,
	      "%.1f µs, with a copy of 16 KiB of stack %.1f µs: at 5 %% of overhead up to %.0f a "
	      "second",
	      (double)bare / 1e3, (double)stack / 1e3, 0.05 * 1e9 / 2 / (double)stack);
}

/* -- other sources ----------------------------------------------------------------------------- */

static int is_wanted(void *arg, const char *name)
{
	return !strcmp(arg, name);
}

static bool has_pmu(char *name)
{
	return pmu_walk_names(is_wanted, name);
}

static void look_at_probes(const struct look *look)
{
	struct advice kprobes = {ADVICE_NO_KPROBES};
	struct advice uprobes = {ADVICE_NO_UPROBES};
	struct advice rights = {look->permission.perfmon ? ADVICE_NONE : ADVICE_PROBES};
	char kprobe[] = "kprobe", uprobe[] = "uprobe";
	struct tracefs tracefs;
	int err = tracefs_open(&tracefs);

	tracefs_close(&tracefs);
	found(look, "tracepoints", tracepoint_advise(err), FINDING_MISSING, "can be looked up");
	found(look, "uprobes", has_pmu(uprobe) ? rights : uprobes, FINDING_MISSING,
	      "can be opened: -e uprobe:FILE:FUNCTION");
	found(look, "kprobes", has_pmu(kprobe) ? rights : kprobes, FINDING_MISSING,
	      "can be opened: -e kprobe:FUNCTION");
}

/* The mapping of our own libc: it is everybody's. */
static bool find_libc(struct module_file *file, char path[PATH_MAX])
{
	unsigned major, minor;
	char line[PATH_MAX + 128];
	bool got = false;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (maps && !got && fgets(line, sizeof(line), maps))
		got = strstr(line, "/libc.so.6") &&
		      sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %x:%x %lu %4095s", &file->start,
		             &file->end, &major, &minor, &file->ino, path) == 6;
	if (got)
		file->dev = makedev(major, minor);
	if (maps)
		fclose(maps);
	return got;
}

static bool has_debug_file(void)
{
	struct module_table *modules = module_table_new();
	char path[PATH_MAX];
	struct module_file file = {.path = path, .pid = getpid()};
	const struct module *libc;
	int fd = -1;

	if (modules && find_libc(&file, path)) {
		libc = module_table_file(modules, &file);
		fd = libc ? debug_file_open(libc, NULL, NULL) : -1;
	}
	if (fd >= 0)
		close(fd);
	module_table_free(modules);
	return fd >= 0;
}

static void look_at_debug(const struct look *look)
{
	bool debian = !access("/etc/debian_version", F_OK);
	struct advice missing = {debian ? ADVICE_DEBIAN_DEBUG : ADVICE_OTHER_DEBUG};

	found(look, "debug information", has_debug_file() ? no_obstacle : missing, FINDING_LIMITED,
	      "that of libc is installed");
}

void findings_make(struct findings *findings)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct look look = {.findings = findings, .nr_cpus = cpus > 0 ? (unsigned)cpus : 1};

	findings->nr = 0;
	findings->can_sample = false;
	permission_read(&look.permission);
	machine_read(&look.machine);
	if (!look_at_proc(&look) || !look_at_sys(&look))
		return;
	if (look_at_call(&look)) {
		look_at_own(&look);
		look_at_permissions(&look);
		look_at_cgroups(&look);
		look_at_counters(&look);
		look_at_groups(&look);
		look_at_features(&look);
		look_at_price(&look);
		look_at_probes(&look);
	}
	look_at_symbols(&look);
	look_at_rates(&look);
	look_at_limits(&look);
	look_at_debug(&look);
}
