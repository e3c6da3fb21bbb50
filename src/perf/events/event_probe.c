#include "perf/events/event.h"

#include "perf/machine/advice.h"
#include "perf/machine/machine.h"
#include "perf/machine/permission.h"
#include "perf/machine/pmu_names.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* So long that no sample would be taken even if the event were enabled. */
#define PROBE_PERIOD 1000000000

static int probe(const struct event *event, uint64_t sample_type, uint64_t branches)
{
	struct perf_event_attr attr = event_attr(event);
	int fd;

	if (event->foreign)
		return -ENODEV;
	if (event->function[0])
		return -ENOENT;
	attr.size = sizeof(attr);
	attr.disabled = 1;
	/* a period: there are PMUs that can count, but not sample */
	attr.sample_period = event->period ? event->period : PROBE_PERIOD;
	attr.sample_type = sample_type;
	attr.branch_sample_type = branches;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int event_probe(const struct event *event)
{
	return probe(event, PERF_SAMPLE_IP, 0);
}

int event_probe_branches(const struct event *event)
{
	return probe(event, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK, EVENT_CALL_BRANCHES);
}

/* -- explaining -------------------------------------------------------------------------------- */

static bool is_cpu_event(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

static struct advice advise_missing_counter(void)
{
	const struct event cycles = {
		.attr = {.type = PERF_TYPE_HARDWARE,
	                 .config = PERF_COUNT_HW_CPU_CYCLES,
	                 .exclude_kernel = 1},
	};
	struct machine machine;

	if (!event_probe(&cycles))
		return (struct advice){ADVICE_NO_SUCH};
	machine_read(&machine);
	return machine.counts ? (struct advice){ADVICE_NO_SUCH} : machine_advise_counters(&machine);
}

/* Explains why a probe was refused: the place does not exist, or the user has no right to it. */
static void explain_probe(const struct event *event, int err, char *line, size_t size)
{
	struct permission permission;
	const struct advice rights = {ADVICE_PROBES};

	permission_read(&permission);
	if ((err == -EACCES || err == -EPERM) && !permission.perfmon)
		advice_line(&rights, line, size);
	else if (event->probe[0] == '/')
		snprintf(line, size, "no code at offset 0x%llx of '%s'; nm -D shows what there is",
		         (unsigned long long)event->attr.probe_offset, event->probe);
	else
		snprintf(
			line, size,
			"the kernel has no function '%s' to probe; /proc/kallsyms shows what there "
			"is",
			event->probe);
}

static void explain_breakpoint(const struct event *event, int err, char *line, size_t size)
{
	if (err == -ENOSPC)
		snprintf(line, size, "all breakpoint registers are in use; try fewer");
	else
		snprintf(line, size, "this processor has no such breakpoint; try %sanother length",
		         event->attr.bp_type == HW_BREAKPOINT_R ? ":rw, or " : "");
}

static void explain_missing(const struct event *event, char *line, size_t size)
{
	struct advice advice;
	char pmu[64];

	if (is_cpu_event(&event->attr)) {
		advice = advise_missing_counter();
		advice_line(&advice, line, size);
		return;
	}
	if (event->attr.type == PERF_TYPE_SOFTWARE)
		snprintf(line, size, "this kernel has no such event; try -e cpu-clock");
	else if (!pmu_name(PMU_ROOT, event->attr.type, pmu, sizeof(pmu)))
		snprintf(line, size, "its PMU has left the machine; try -e cpu-clock");
	else
		snprintf(line, size, "PMU '%s' has no such event; see adaptrace list %s/", pmu,
		         pmu);
}

/*
 * Returns the reason for a refusal. If the user has all rights that perf events need, a security
 * mechanism outside perf events refuses.
 */
static struct advice advise_refused(const struct event *event)
{
	struct permission permission;
	struct machine machine;
	struct advice advice;

	permission_read(&permission);
	machine_read(&machine);
	advice = machine_advise_call(&machine);
	if (advice.topic == ADVICE_NONE)
		advice = permission_advise(&permission, PERMISSION_ANY, 0);
	if (advice.topic == ADVICE_NONE && !event->attr.exclude_kernel)
		advice = permission_advise(&permission, PERMISSION_KERNEL, 0);
	if (advice.topic == ADVICE_NONE)
		advice.topic = ADVICE_SECURITY;
	return advice;
}

static void explain_refused(const struct event *event, char *line, size_t size)
{
	struct advice advice = advise_refused(event);
	struct event user = *event;
	size_t used;

	advice_line(&advice, line, size);
	used = strlen(line);
	if (advice.topic == ADVICE_KERNEL && event_exclude_kernel(&user))
		snprintf(line + used, size - used, "; for the user side alone: -e %s", user.name);
}

static void explain_foreign(const struct event *event, char *line, size_t size)
{
	size_t used =
		(size_t)snprintf(line, size, "it belongs to another CPU model than this machine's");

	/* what needs a second register cannot be written as a raw code */
	if (event->attr.config1 || event->attr.config2)
		snprintf(line + used, size - used, "; adaptrace list shows what there is");
	else
		snprintf(line + used, size - used, "; should its code mean the same here: -e r%llx",
		         (unsigned long long)event->attr.config);
}

static void explain_unsupported(const struct event *event, char *line, size_t size)
{
	const struct advice imprecise = {ADVICE_IMPRECISE};

	if (event->attr.precise_ip)
		advice_line(&imprecise, line, size);
	else
		snprintf(line, size, "its PMU counts, but does not sample; try -e cpu-clock");
}

static void explain_invalid(const struct event *event, char *line, size_t size)
{
	if (event->attr.precise_ip)
		snprintf(line, size,
		         "the kernel refuses this code, or refuses it with :p; try it "
		         "without :p");
	else if (event->attr.type >= PERF_TYPE_MAX)
		snprintf(line, size,
		         "its PMU does not sample single tasks, or has no such event; "
		         "try -e cpu-clock");
	else
		snprintf(line, size,
		         "the kernel refuses its code 0x%llx; adaptrace list shows what "
		         "can be opened",
		         (unsigned long long)event->attr.config);
}

static void explain_busy(char *line, size_t size)
{
	struct machine machine;
	struct advice advice = {ADVICE_TAKEN};

	machine_read(&machine);
	if (machine.watchdog)
		advice.topic = ADVICE_WATCHDOG;
	advice_line(&advice, line, size);
}

static void explain_files(char *line, size_t size)
{
	struct permission permission;
	struct advice advice;

	permission_read(&permission);
	advice = permission_advise(&permission, PERMISSION_FILES, 2 * permission.nofile);
	advice_line(&advice, line, size);
}

/*
 * Explains that kernel.perf_event_max_stack is too small for any callers: the kernel refuses a call
 * chain that is longer than this limit.
 */
static void explain_no_callers(char *line, size_t size)
{
	struct advice advice = {ADVICE_NO_CALLERS};
	struct machine machine;

	machine_read(&machine);
	advice.numbers[0] = machine.max_stack;
	advice_line(&advice, line, size);
}

static void explain_no_call(char *line, size_t size)
{
	struct machine machine;
	struct advice advice;

	machine_read(&machine);
	advice = machine_advise_call(&machine);
	if (advice.topic == ADVICE_NONE)
		advice.topic = ADVICE_NO_PERF;
	advice_line(&advice, line, size);
}

static void explain_error(const struct event *event, int err, char *line, size_t size)
{
	switch (-err) {
	case ENOENT:
	case ENXIO:
		explain_missing(event, line, size);
		return;
	case EACCES:
	case EPERM:
		explain_refused(event, line, size);
		return;
	case ENODEV:
		if (!event->foreign)
			explain_missing(event, line, size);
		else
			explain_foreign(event, line, size);
		return;
	case EOPNOTSUPP:
		explain_unsupported(event, line, size);
		return;
	case EINVAL:
		explain_invalid(event, line, size);
		return;
	case EBUSY:
		explain_busy(line, size);
		return;
	case EMFILE:
		explain_files(line, size);
		return;
	case EOVERFLOW:
		explain_no_callers(line, size);
		return;
	case ENOSYS:
		explain_no_call(line, size);
		return;
	default:
		snprintf(line, size, "%s", strerror(-err));
	}
}

void event_explain(const struct event *event, int err, char why[WHY_SIZE])
{
	size_t used = (size_t)snprintf(why, WHY_SIZE, "cannot open event '%s': ", event->name);
	bool place = event->attr.type == PERF_TYPE_BREAKPOINT;

	if (event->probe[0] && err != -ENOSYS && err != -EMFILE)
		explain_probe(event, err, why + used, WHY_SIZE - used);
	else if (place && (err == -ENOSPC || err == -EINVAL || err == -EOPNOTSUPP))
		explain_breakpoint(event, err, why + used, WHY_SIZE - used);
	else
		explain_error(event, err, why + used, WHY_SIZE - used);
}
