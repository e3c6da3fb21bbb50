#include "perf/machine/advice.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

#define PARANOID "perf_event_paranoid is {0}, which "
#define SETCAP   "setcap cap_{cap}+ep {self}"

/*
 * {0} to {2} are the numbers, the others texts: {subject}, {self}, the file that setcap gives
 * rights to, and {cap} and {CAP}, the capability.
 */
static const struct sentence {
	const char *what, *way_out;
} sentences[NR_ADVICE] = {
	[ADVICE_NONE] = {"", ""},

	[ADVICE_SAMPLE] = {PARANOID "forbids this user to sample anything",
                           "as root: sysctl kernel.perf_event_paranoid=2, or: " SETCAP},
	[ADVICE_KERNEL] = {PARANOID "forbids this user to sample the kernel side",
                           "as root: sysctl kernel.perf_event_paranoid=1, or: " SETCAP},
	[ADVICE_CPUS] = {PARANOID "forbids this user to sample whole CPUs and control groups",
                         "as root: sysctl kernel.perf_event_paranoid=0, or: " SETCAP},
	[ADVICE_SYMBOLS] = {PARANOID "hides the kernel's addresses",
                            "as root: sysctl kernel.perf_event_paranoid=1"},
	[ADVICE_KPTR] = {"kptr_restrict is {0}, which hides the kernel's addresses",
                         "as root: sysctl kernel.kptr_restrict=0"},
	[ADVICE_KPTR_PARANOID] =
		{"kptr_restrict is {0}, which hides the kernel's addresses",
                 "as root: sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"},

	[ADVICE_OTHERS] = {"process {0} is another user's, or lets only root look into it",
                           "run adaptrace as that user or as root, or: " SETCAP},
	[ADVICE_RINGS] = {"rings of {0} KiB are more than perf_event_mlock_kb and the limit of "
                          "locked memory allow",
                          "as root: sysctl kernel.perf_event_mlock_kb={1}, or: ulimit -l {2}"},
	[ADVICE_SMALLER] = {"perf_event_mlock_kb and the limit of locked memory allow smaller "
                            "rings than {0} KiB, which lose samples sooner",
                            "as root: sysctl kernel.perf_event_mlock_kb={1}, or: ulimit -l {2}"},
	[ADVICE_HELD] = {"other recordings of this user have the locked memory that "
                         "perf_event_mlock_kb allows for rings",
                         "wait for their end, or: ulimit -l {0}"},
	[ADVICE_HELD_SMALLER] = {"other recordings of this user have locked memory that "
                                 "perf_event_mlock_kb allows: these rings are smaller, and lose "
                                 "samples sooner",
                                 "wait for their end, or: ulimit -l {0}"},
	[ADVICE_NO_MEMORY] = {"memory for rings is short: smaller ones lose samples sooner",
                              "try to free some"},
	[ADVICE_FILES] = {"only {0} files may be open, {1} are needed", "try: ulimit -n {1}"},

	[ADVICE_RUNGS] = {"only {0} files may be open, {1} are needed for all sampling periods: "
                          "fewer are used",
                          "try: ulimit -n {1}"},

	[ADVICE_FILTER] =
		{"a filter of system calls answers perf_event_open with {subject} (a container?)",
                 "start the container with --cap-add={CAP}, or where that does not help with "
                 "--security-opt seccomp=unconfined"},
	[ADVICE_SECURITY] = {"a security module or the kernel's lockdown forbids it",
                             "see: cat /sys/kernel/security/lockdown /sys/kernel/security/lsm"},
	[ADVICE_NO_PERF] = {"this kernel was built without perf events",
                            "boot one with CONFIG_PERF_EVENTS=y"},
	[ADVICE_NO_PROC] =
		{"no /proc of this PID namespace is mounted here (a chroot?), and without it "
                 "nothing is known of processes, code and permissions",
                 "as root: mount -t proc proc /proc"},
	[ADVICE_PROC_SUBSET] =
		{"/proc/sys is hidden here (by subset=pid, or a sandbox), and without it nothing "
                 "is known of what may be sampled",
                 "as root: mount -t proc proc /proc, or in a unit of systemd: ProcSubset=all"},
	[ADVICE_NO_SYS] = {"/sys is not mounted here (a chroot?), and it is what tells which "
                           "CPUs, counters and probes there are",
                           "as root: mount -t sysfs sysfs /sys"},

	[ADVICE_VIRTUAL] = {"this machine has no hardware counters: it is a virtual one, to which "
                            "its host gives none",
                            "try -e cpu-clock, or on the host: qemu -cpu host,pmu=on"},
	[ADVICE_CORE_TYPES] = {"this machine has {0} kinds of cores, and events that are inherited "
                               "count {subject} on one of them alone: what ran on the others is "
                               "not sampled",
                               "try -e cpu-clock, or as root without --inherit"},
	[ADVICE_NO_COUNTERS] = {"this machine has no hardware counters, or its kernel no driver "
                                "for them",
                                "try -e cpu-clock"},
	[ADVICE_NO_SUCH] = {"this CPU has no such counter", "try -e cycles"},
	[ADVICE_WATCHDOG] = {"the NMI watchdog holds a hardware counter",
                             "as root: sysctl kernel.nmi_watchdog=0"},
	[ADVICE_TAKEN] = {"its counter is taken, by another profiler",
                          "see: ls -l /proc/*/fd 2>/dev/null | grep perf_event"},
	[ADVICE_IMPRECISE] = {"this CPU cannot sample it precisely", "try it without :p"},
	[ADVICE_NO_BRANCHES] = {"this machine has no branch stacks (LBR, BRS or BRBE)",
                                "try -g dwarf"},

	[ADVICE_NO_GROUPS] = {"this kernel reads no counters with inherited events, and without "
                              "more privileges events are inherited",
                              "boot Linux 6.12 or later, or as root: sysctl "
                              "kernel.perf_event_paranoid=0, or: " SETCAP},

	[ADVICE_NO_CGROUPS] = {"there is no cgroup hierarchy of version 2 here",
                               "as root: mount -t cgroup2 none /mnt"},
	[ADVICE_CGROUPS_READONLY] = {"the cgroup hierarchy at {subject} is read-only (a "
                                     "container?)",
                                     "as root: mount -o remount,rw {subject}"},
	[ADVICE_CGROUPS_DENIED] = {"this user may not make cgroups below {subject}",
                                   "try: systemd-run --user --scope -p Delegate=yes adaptrace "
                                   "record ..."},
	[ADVICE_CGROUPS_V1] = {"perf_event belongs to a cgroup hierarchy of version 1",
                               "boot with cgroup_no_v1=perf_event"},

	[ADVICE_MEMORY] =
		{"a limit of {0} MiB of memory is in force here (a container's or a job's?), and a "
                 "full buffer makes the recorder take {1}: the kernel would kill it or the program",
                 "raise the limit, or try -m {2}M"},
	[ADVICE_SHM] = {"/dev/shm has {0} MiB of room, {1} are needed: a killed recorder would "
                        "leave nothing to recover",
                        "as root: mount -o remount,size={1}M /dev/shm, or start the container "
                        "with --shm-size={1}m"},
	[ADVICE_SHM_DENIED] = {"/dev/shm cannot be written to: a killed recorder would leave "
                               "nothing to recover",
                               "as root: mount -t tmpfs tmpfs /dev/shm"},
	[ADVICE_FILE_SIZE] = {"files are limited to {0} KiB: a larger trace would be lost, and a "
                              "killed recorder would leave nothing to recover",
                              "try: ulimit -f unlimited"},
	[ADVICE_CALLS_SIZE] =
		{"files are limited to {0} KiB, and the memory that a process's calls "
                 "pass through is one of {1} KiB",
                 "try: ulimit -f unlimited, or without --mpi"},
	[ADVICE_MAX_STACK] = {"perf_event_max_stack is {0}: deeper stacks are cut by -g fp",
                              "as root: sysctl kernel.perf_event_max_stack=1024"},
	[ADVICE_NO_CALLERS] = {"perf_event_max_stack is {0}: the kernel finds no callers",
                               "as root: sysctl kernel.perf_event_max_stack=127, or try -g none"},
	[ADVICE_THROTTLED] = {"perf_event_max_sample_rate is {0}: what comes faster is throttled",
                              "as root: sysctl kernel.perf_event_max_sample_rate=100000"},
	[ADVICE_NO_TRACEFS] = {"tracefs is not mounted",
                               "as root: mount -t tracefs tracefs /sys/kernel/tracing"},
	[ADVICE_TRACEFS] = {"tracefs is for root only",
                            "as root: mount -o remount,mode=750,gid={0} /sys/kernel/tracing"},
	[ADVICE_PROBES] = {"probes in the kernel and in programs take root or CAP_{CAP}",
                           "as root: " SETCAP},
	[ADVICE_NO_KPROBES] = {"this kernel has no kprobes for perf_event_open",
                               "boot Linux 4.17 or later with CONFIG_KPROBE_EVENTS=y"},
	[ADVICE_NO_UPROBES] = {"this kernel has no uprobes for perf_event_open",
                               "boot Linux 4.17 or later with CONFIG_UPROBE_EVENTS=y"},
	[ADVICE_DEBIAN_DEBUG] = {"no debug information of libc is installed: lines and inlined "
                                 "functions of libraries stay unknown",
                                 "as root: apt-get install libc6-dbg, and the -dbgsym packages "
                                 "of other libraries"},
	[ADVICE_OTHER_DEBUG] = {"no debug information of libc is installed: lines and inlined "
                                "functions of libraries stay unknown",
                                "as root: dnf debuginfo-install glibc, or zypper install "
                                "glibc-debuginfo"},
};

/* The file to which setcap would give the capability. */
static size_t put_self(char *text, size_t size)
{
	char path[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return (size_t)snprintf(text, size, "$(command -v adaptrace)");
	path[n] = '\0';
	return (size_t)snprintf(text, size, "%s", path);
}

/* The capability that the kernel requires: Linux before 5.8 has no CAP_PERFMON. */
static const char *capability(bool capitals)
{
	if (prctl(PR_CAPBSET_READ, CAP_PERFMON) < 0)
		return capitals ? "SYS_ADMIN" : "sys_admin";
	return capitals ? "PERFMON" : "perfmon";
}

static size_t put(const struct advice *advice, const char *name, size_t length, char *text,
                  size_t size)
{
	if (length == 1)
		return (size_t)snprintf(text, size, "%lld",
		                        (long long)advice->numbers[(name[0] - '0') % 3]);
	if (!strncmp(name, "subject", length))
		return (size_t)snprintf(text, size, "%s", advice->subject ? advice->subject : "");
	if (length == 3)
		return (size_t)snprintf(text, size, "%s", capability(name[0] == 'C'));
	return put_self(text, size);
}

static void fill(const struct advice *advice, const char *format, char *text, size_t size)
{
	size_t used = 0, n;

	*text = '\0';
	while (*format && used + 1 < size) {
		if (*format == '{') {
			n = strcspn(format + 1, "}");
			used += put(advice, format + 1, n, text + used, size - used);
			format += n + 2;
			continue;
		}
		n = strcspn(format, "{");
		used += (size_t)snprintf(text + used, size - used, "%.*s", (int)n, format);
		format += n;
	}
}

void advice_what(const struct advice *advice, char *text, size_t size)
{
	fill(advice, sentences[advice->topic].what, text, size);
}

void advice_way_out(const struct advice *advice, char *text, size_t size)
{
	fill(advice, sentences[advice->topic].way_out, text, size);
}

void advice_line(const struct advice *advice, char *line, size_t size)
{
	size_t used;

	advice_what(advice, line, size);
	used = strlen(line);
	if (!used || used + 3 > size)
		return;
	memcpy(line + used, "; ", 3);
	advice_way_out(advice, line + used + 2, size - used - 2);
}
