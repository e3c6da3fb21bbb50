/* Room for a run in shared memory, without which a killed recorder leaves nothing. */
#ifndef CLI_ROOM_H
#define CLI_ROOM_H

#include "perf/advice.h"

#include <stddef.h>

/* Whether a run of this budget may have a file in /dev/shm, and finds room there now. */
struct advice room_advise(size_t budget);

#endif
