/*
 * Checks that a recording has enough memory: in /dev/shm, so that a killed recorder leaves a trace,
 * and within the memory limit of the cgroup.
 */
#ifndef RECORD_MEMORY_ROOM_H
#define RECORD_MEMORY_ROOM_H

#include "perf/machine/advice.h"

#include <stddef.h>

/*
 * Advises whether a recording with this budget may have a file in /dev/shm and finds room there
 * now.
 */
struct advice memory_room_in_shm(size_t budget);

/* Advises whether the cgroup's memory limit permits a recorder with this budget. */
struct advice memory_room_in_cgroup(size_t budget);

/*
 * Advises whether the memory that is shared with an instrumented process may be a file of its size.
 */
struct advice memory_room_for_calls(void);

#endif
