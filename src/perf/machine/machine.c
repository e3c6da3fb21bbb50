#include "perf/machine/machine.h"

#include "perf/machine/pmu_names.h"
#include "base/text_file.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * The kernel refuses flags that do not exist before it looks at anything else, a filter never gets
 * to see more than the call: so whatever is not EINVAL did not come from the kernel. One built
 * without perf events answers ENOSYS, as some filters do.
 */
static int filter_answer(bool has_perf)
{
	int err = syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0UL) < 0 ? -errno : 0;

	return err == -EINVAL || (err == -ENOSYS && !has_perf) ? 0 : err;
}

/* Hypervisors show themselves by a flag on x86, by the names of the board elsewhere. */
static bool is_virtual(void)
{
	static const char *const names[] = {"QEMU", "KVM",    "VMware", "Xen",
	                                    "HVM",  "Google", "Amazon", "virt"};
	char text[4096], *flags;

	if (!text_file_read("/proc/cpuinfo", text, sizeof(text)) &&
	    (flags = strstr(text, "\nflags")) && (flags = strstr(flags, " hypervisor")) &&
	    (flags[11] == ' ' || flags[11] == '\n'))
		return true;
	if (text_file_read("/sys/class/dmi/id/product_name", text, sizeof(text)) &&
	    text_file_read("/sys/firmware/devicetree/base/compatible", text, sizeof(text)))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strcasestr(text, names[i]))
			return true;
	return false;
}

/* The PMU that counts for tasks is called after the architecture, or several after their cores. */
static bool is_cpu_pmu(const char *name)
{
	return !strcmp(name, "cpu") || !strcmp(name, "cpu_core") || !strncmp(name, "armv", 4) ||
	       !strcmp(name, "cpum_cf") || !strcmp(name, "cpu_atom");
}

struct capabilities {
	unsigned core_types;
	int64_t branches, precise;
};

static int note_pmu(void *arg, const char *name)
{
	struct capabilities *found = arg;
	char path[512];

	if (!is_cpu_pmu(name))
		return 0;
	found->core_types++;
	snprintf(path, sizeof(path), PMU_ROOT "/%s/caps/branches", name);
	found->branches = text_file_number_or(path, 0);
	snprintf(path, sizeof(path), PMU_ROOT "/%s/caps/max_precise", name);
	found->precise = text_file_number_or(path, 0);
	return 0;
}

unsigned machine_core_types(void)
{
	struct capabilities found = {0};

	pmu_walk_names(note_pmu, &found);
	return found.core_types;
}

struct advice machine_advise_proc(void)
{
	char pid[16] = "";

	if (readlink("/proc/self", pid, sizeof(pid) - 1) <= 0 || atol(pid) != getpid())
		return (struct advice){ADVICE_NO_PROC};
	return (struct advice){access("/proc/sys/kernel", F_OK) ? ADVICE_PROC_SUBSET : ADVICE_NONE};
}

uint64_t machine_clock_shift(pid_t pid)
{
	char path[32], text[128];
	int64_t seconds, ns;

	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", (int)pid);
	if (text_file_read(path, text, sizeof(text)) ||
	    sscanf(text, "monotonic %" SCNd64 " %" SCNd64, &seconds, &ns) != 2)
		return 0;
	return (uint64_t)seconds * 1000000000 + (uint64_t)ns;
}

int64_t machine_max_sample_rate(void)
{
	return text_file_number_or("/proc/sys/kernel/perf_event_max_sample_rate", MACHINE_UNKNOWN);
}

void machine_read(struct machine *machine)
{
	struct capabilities found = {0};
	bool has_perf = !access("/proc/sys/kernel/perf_event_paranoid", F_OK);

	pmu_walk_names(note_pmu, &found);
	*machine = (struct machine){
		.proc = machine_advise_proc(),
		.has_sys = !access(PMU_ROOT, F_OK),
		.has_perf = has_perf,
		.filter = filter_answer(has_perf),
		.counts = found.core_types,
		.is_virtual = is_virtual(),
		.watchdog = found.core_types &&
	                    text_file_number_or("/proc/sys/kernel/nmi_watchdog", 0) > 0,
		.precise = found.precise,
		.branches = found.branches,
		.max_stack = text_file_number_or("/proc/sys/kernel/perf_event_max_stack",
	                                         MACHINE_UNKNOWN),
		.max_sample_rate = machine_max_sample_rate(),
		.cpu_time_max = text_file_number_or("/proc/sys/kernel/perf_cpu_time_max_percent",
	                                            MACHINE_UNKNOWN),
	};
}

struct advice machine_advise_counters(const struct machine *machine)
{
	if (machine->counts)
		return (struct advice){ADVICE_NONE};
	if (!machine->has_sys)
		return (struct advice){ADVICE_NO_SYS};
	return (struct advice){machine->is_virtual ? ADVICE_VIRTUAL : ADVICE_NO_COUNTERS};
}

static bool is_of_cores(uint32_t type)
{
	char name[64];

	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW ||
	       (pmu_name(PMU_ROOT, type, name, sizeof(name)) && is_cpu_pmu(name));
}

struct advice machine_advise_inherited(unsigned core_types, uint32_t type, const char *subject)
{
	if (core_types < 2 || !is_of_cores(type))
		return (struct advice){ADVICE_NONE};
	return (struct advice){ADVICE_CORE_TYPES, {core_types}, subject};
}

struct advice machine_advise_call(const struct machine *machine)
{
	if (machine->proc.topic != ADVICE_NONE)
		return machine->proc;
	if (!machine->has_perf)
		return (struct advice){ADVICE_NO_PERF};
	if (machine->filter)
		return (struct advice){
			.topic = ADVICE_FILTER,
			.subject = strerrorname_np(-machine->filter),
		};
	return (struct advice){ADVICE_NONE};
}
