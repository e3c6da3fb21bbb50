#include "perf/machine/permission.h"

#include "base/text_file.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

/* The kernel asks for these capabilities in its first user namespace: a container's do not count.
 */
static bool in_first_user_namespace(void)
{
	char map[64], *end;

	if (text_file_read("/proc/self/uid_map", map, sizeof(map)))
		return true;
	return strtoul(map, &end, 10) == 0 && strtoul(end, &end, 10) == 0 &&
	       strtoul(end, &end, 10) == UINT_MAX;
}

static uint64_t capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (!in_first_user_namespace() || syscall(SYS_capget, &header, sets))
		return 0;
	return (uint64_t)sets[1].effective << 32 | sets[0].effective;
}

static bool has_capability(uint64_t set, unsigned number)
{
	return set >> number & 1;
}

static uint64_t soft_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

void permission_read(struct permission *p)
{
	uint64_t set = capabilities();
	int64_t ring_kb = text_file_number_or("/proc/sys/kernel/perf_event_mlock_kb", 0);
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	*p = (struct permission){
		.paranoid = (int)text_file_number_or("/proc/sys/kernel/perf_event_paranoid",
	                                             PERMISSION_PARANOID_UNKNOWN),
		.kptr_restrict = (int)text_file_number_or("/proc/sys/kernel/kptr_restrict", 0),
		.ring_bytes =
			ring_kb > 0 && cpus > 0 ? 1024 * (uint64_t)ring_kb * (uint64_t)cpus : 0,
		.memlock = soft_limit(RLIMIT_MEMLOCK),
		.nofile = soft_limit(RLIMIT_NOFILE),
		.perfmon = has_capability(set, CAP_PERFMON) || has_capability(set, CAP_SYS_ADMIN),
		.ipc_lock = has_capability(set, CAP_IPC_LOCK),
		.syslog = has_capability(set, CAP_SYSLOG),
	};
}

static bool has_symbols(const struct permission *p)
{
	return (p->kptr_restrict <= 0 && p->paranoid <= 1) || (p->kptr_restrict <= 1 && p->syslog);
}

static bool has_rings(const struct permission *p, uint64_t bytes)
{
	return p->ipc_lock || p->paranoid < 0 || bytes <= p->ring_bytes ||
	       bytes - p->ring_bytes <= p->memlock;
}

bool permission_has(const struct permission *p, enum permission_want want, uint64_t amount)
{
	switch (want) {
	case PERMISSION_ANY:
		return p->perfmon || p->paranoid <= 2;
	case PERMISSION_KERNEL:
		return p->perfmon || p->paranoid <= 1;
	case PERMISSION_CPU:
		return p->perfmon || p->paranoid <= 0;
	case PERMISSION_SYMBOLS:
		return has_symbols(p);
	case PERMISSION_RINGS:
		return has_rings(p, amount);
	case PERMISSION_FILES:
		return amount <= p->nofile;
	}
	return false;
}

/* A limit of 0 lifts the first obstacle; what the sysctl of paranoia hides needs a second one. */
static struct advice advise_symbols(const struct permission *p)
{
	if (p->kptr_restrict <= 0)
		return (struct advice){ADVICE_SYMBOLS, {p->paranoid}, NULL};
	return (struct advice){
		p->paranoid > 1 ? ADVICE_KPTR_PARANOID : ADVICE_KPTR, {p->kptr_restrict}, NULL};
}

static struct advice advise_rings(const struct permission *p, uint64_t bytes)
{
	uint64_t kb = bytes / 1024 + 1, free_kb = p->ring_bytes / 1024;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return (struct advice){
		ADVICE_RINGS,
		{(int64_t)kb, (int64_t)(kb / (cpus > 0 ? (uint64_t)cpus : 1) + 1),
	         (int64_t)(kb > free_kb ? kb - free_kb : 1)},
		NULL,
	};
}

struct advice permission_advise(const struct permission *p, enum permission_want want,
                                uint64_t amount)
{
	if (permission_has(p, want, amount))
		return (struct advice){ADVICE_NONE};
	switch (want) {
	case PERMISSION_ANY:
		return (struct advice){ADVICE_SAMPLE, {p->paranoid}, NULL};
	case PERMISSION_KERNEL:
		return (struct advice){ADVICE_KERNEL, {p->paranoid}, NULL};
	case PERMISSION_CPU:
		return (struct advice){ADVICE_CPUS, {p->paranoid}, NULL};
	case PERMISSION_SYMBOLS:
		return advise_symbols(p);
	case PERMISSION_RINGS:
		return advise_rings(p, amount);
	case PERMISSION_FILES:
		return (struct advice){ADVICE_FILES, {(int64_t)p->nofile, (int64_t)amount}, NULL};
	}
	return (struct advice){ADVICE_NONE};
}
