#include "record/memory_room.h"

#include "perf/machine/cgroup.h"
#include "preload/call_ring.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Names, threads and modules beside the samples; those of large programs take more. */
#define TABLES ((size_t)4 << 20)
/* Upper bound of the recorder's memory beside its buffer. */
#define RECORDER ((size_t)16 << 20)

struct advice memory_room_in_shm(size_t budget)
{
	struct statvfs shm;
	struct rlimit limit;
	uint64_t there = 0, needed = budget + TABLES;

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < needed)
		return (struct advice){ADVICE_FILE_SIZE, {(int64_t)(limit.rlim_cur >> 10)}, NULL};
	if (access("/dev/shm", W_OK | X_OK))
		return (struct advice){ADVICE_SHM_DENIED};
	if (!statvfs("/dev/shm", &shm))
		there = (uint64_t)shm.f_bavail * shm.f_frsize;
	if (there >= needed)
		return (struct advice){ADVICE_NONE};
	return (struct advice){
		ADVICE_SHM, {(int64_t)(there >> 20), (int64_t)((needed - 1) >> 20) + 1}, NULL};
}

struct advice memory_room_in_cgroup(size_t budget)
{
	uint64_t limit = cgroup_memory_limit(), needed = budget + RECORDER;

	if (limit >= needed)
		return (struct advice){ADVICE_NONE};
	return (struct advice){ADVICE_MEMORY,
	                       {(int64_t)(limit >> 20), (int64_t)((needed - 1) >> 20) + 1,
	                        limit > 2 * RECORDER ? (int64_t)((limit - RECORDER) >> 21) : 1},
	                       NULL};
}

struct advice memory_room_for_calls(void)
{
	size_t needed = ring_memory_size();
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= needed)
		return (struct advice){ADVICE_NONE};
	return (struct advice){ADVICE_CALLS_SIZE,
	                       {(int64_t)(limit.rlim_cur >> 10), (int64_t)(needed >> 10)},
	                       NULL};
}
