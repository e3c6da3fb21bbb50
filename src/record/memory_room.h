/*
 * Room for a run: in shared memory, without which a killed recorder leaves nothing, and in the
 * memory that there may be at all.
 */
#ifndef RECORD_MEMORY_ROOM_H
#define RECORD_MEMORY_ROOM_H

#include "perf/machine/advice.h"

#include <stddef.h>

/* Whether a run of this budget may have a file in /dev/shm, and finds room there now. */
struct advice room_advise(size_t budget);

/* Whether a recorder with this budget may grow as far as it may come to. */
struct advice room_advise_memory(size_t budget);

/* Whether the memory that is shared with a process for its calls may be a file of that size. */
struct advice room_advise_calls(void);

#endif
