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
struct advice room_advise(size_t budget);

/* Advises whether the cgroup's memory limit permits a recorder with this budget. */
struct advice room_advise_memory(size_t budget);

/*
 * Advises whether the memory that is shared with an instrumented process may be a file of its size.
 */
struct advice room_advise_calls(void);

#endif
