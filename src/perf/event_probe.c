#include "perf/event.h"

#include "perf/event_pfm.h"
#include "perf/permission.h"
#include "perf/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* So long that a probe could not fire even if it were enabled. */
#define PROBE_PERIOD 1000000000

int event_probe(const struct event *event)
{
	struct perf_event_attr attr = event->attr;
	int fd;

	if (event->foreign)
		return -ENODEV;
	attr.size = sizeof(attr);
	attr.disabled = 1;
	/* a period: there are PMUs that can count, but not sample */
	attr.sample_period = event->period ? event->period : PROBE_PERIOD;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* -- explaining -------------------------------------------------------------------------------- */

static bool is_cpu_event(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

static bool has_counters(void)
{
	const struct event cycles = {
		.attr = {.type = PERF_TYPE_HARDWARE,
	                 .config = PERF_COUNT_HW_CPU_CYCLES,
	                 .exclude_kernel = 1},
	};

	return !event_probe(&cycles);
}

static void explain_missing(const struct event *event, char *line, size_t size)
{
	char pmu[64];

	if (is_cpu_event(&event->attr) && has_counters())
		snprintf(line, size, "this CPU has no such counter; try -e cycles");
	else if (is_cpu_event(&event->attr))
		snprintf(line, size,
		         "this machine has no hardware counters (a virtual machine?); "
		         "try -e cpu-clock");
	else if (event->attr.type == PERF_TYPE_SOFTWARE)
		snprintf(line, size, "this kernel has no such event; try -e cpu-clock");
	else if (!pmu_name(PMU_ROOT, event->attr.type, pmu, sizeof(pmu)))
		snprintf(line, size, "its PMU has left the machine; try -e cpu-clock");
	else
		snprintf(line, size, "PMU '%s' has no such event; see adaptrace list %s/", pmu,
		         pmu);
}

/* Who has every right and is still refused sits behind a filter of system calls. */
static void explain_filter(char *line, size_t size)
{
	snprintf(line, size,
	         "a filter of system calls or a security module forbids it (a "
	         "container?); try to start the container with --cap-add=PERFMON");
}

static void explain_refused(const struct event *event, char *line, size_t size)
{
	struct event user = *event;
	struct permission permission;
	size_t used;

	permission_read(&permission);
	if (!permission_has(&permission, PERMISSION_ANY, 0)) {
		permission_explain(&permission, PERMISSION_ANY, 0, line, size);
	} else if (event->attr.exclude_kernel ||
	           permission_has(&permission, PERMISSION_KERNEL, 0)) {
		explain_filter(line, size);
	} else {
		permission_explain(&permission, PERMISSION_KERNEL, 0, line, size);
		used = strlen(line);
		if (event_exclude_kernel(&user))
			snprintf(line + used, size - used, "; for the user side alone: -e %s",
			         user.name);
	}
}

static void explain_foreign(const struct event *event, char *line, size_t size)
{
	int used = snprintf(line, size, "it belongs to another CPU model than this machine's");

	/* what needs a second register cannot be written as a raw code */
	if (event->attr.config1 || event->attr.config2)
		snprintf(line + used, size - used, "; adaptrace list shows what there is");
	else
		snprintf(line + used, size - used, "; should its code mean the same here: -e r%llx",
		         (unsigned long long)event->attr.config);
}

static void explain_unsupported(const struct event *event, char *line, size_t size)
{
	if (event->attr.precise_ip)
		snprintf(line, size, "this CPU cannot sample it precisely; try it without :p");
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
	snprintf(line, size,
	         "its counter is taken, often by the watchdog; as root: sysctl "
	         "kernel.nmi_watchdog=0");
}

static void explain_files(char *line, size_t size)
{
	struct permission permission;

	permission_read(&permission);
	snprintf(line, size, "all %llu files that may be open are in use; try: ulimit -n %llu",
	         (unsigned long long)permission.nofile, 2 * (unsigned long long)permission.nofile);
}

static void explain_error(const struct event *event, int error, char *line, size_t size)
{
	switch (-error) {
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
	case ENOSYS:
		snprintf(line, size, "this kernel was built without perf events");
		return;
	default:
		snprintf(line, size, "%s", strerror(-error));
	}
}

void event_explain(const struct event *event, int error, char why[WHY_SIZE])
{
	int used = snprintf(why, WHY_SIZE, "cannot open event '%s': ", event->name);

	explain_error(event, error, why + used, WHY_SIZE - used);
}
