/*
 * One instrumented process: its memory as the recorder sees it, and what its definitions said so
 * far. The process may write anything into that memory at any time: what is read is copied once,
 * and believed only where it makes sense.
 */
#ifndef RECORD_CALLS_CALLS_PROCESS_H
#define RECORD_CALLS_CALLS_PROCESS_H

#include "record/calls/calls_clock.h"
#include "record/calls/calls_names.h"

#include <sys/types.h>

struct calls_process {
	pid_t pid;
	int pidfd;
	uint64_t since; /* when it came, ns */
	struct ring_process *shared;
	struct calls_names *names;
	const struct calls_clock *clock;
	uint32_t entry; /* of the trace's processes; NO_ENTRY: none */

	uint64_t definitions; /* head, as looked at for this round */
	uint64_t heads[RING_MAX_THREADS];
	struct calls_thread *threads[RING_MAX_THREADS]; /* NULL: nothing was read of it */

	uint32_t *regions, nr_regions; /* numbers from RING_USER_REGIONS on; NO_ENTRY: unknown */
	uint32_t *comms, nr_comms;     /* entries of the trace; 0: unknown */
	struct {
		uint32_t number; /* of the communicator whose members come; 0: none */
		uint32_t nr, filled;
		uint32_t *members;
		struct trace_comm comm;
	} coming;
	uint64_t malformed;
};

/* Where calls go. */
struct calls_sink {
	/*
	 * A call of the process's thread with this tid. The call lives until the function returns,
	 * which may set its thread, but change nothing else.
	 */
	void (*put)(void *arg, struct calls_process *process, pid_t tid, uint32_t local_region,
	            struct call *call);
	/*
	 * Begins a run of calls of a thread, all like others before them, none of which is entered
	 * before this time; these are the last requests. NULL: there are no runs. false: the next
	 * call must be put first.
	 */
	bool (*begin)(void *arg, struct calls_process *process, pid_t tid, uint64_t time,
	              const struct call_requests *last, struct call_run *run);
	void (*end)(void *arg, const struct call_run *run);
	void *arg;
};

/* New memory, to be sent as *fd, which is the caller's to close. NULL with errno. */
struct calls_process *calls_process_new(pid_t pid, struct calls_names *names,
                                        const struct calls_clock *clock, int *fd);
void calls_process_free(struct calls_process *process);

/* Looks how far the process has come; what is behind that waits for the next round. */
void calls_process_look(struct calls_process *process);
/*
 * Reads all calls up to there, in the order of their threads. What threads that have ended did not
 * return from lasted until now.
 */
void calls_process_read(struct calls_process *process, uint64_t now, const struct calls_sink *sink);
/*
 * The process is gone, or lost to us: the same, and what no thread returned from lasted until now.
 */
void calls_process_end(struct calls_process *process, uint64_t now, const struct calls_sink *sink);

/* Calls that found no room, up to now. */
uint64_t calls_process_lost(const struct calls_process *process);

/* The trace's entry of the process, made when there is something to say; NULL: no room. */
struct trace_process *calls_process_entry(struct calls_process *process);

/* How full, in 1024ths, the fullest of its rings was when it was looked at. */
unsigned calls_process_fill(const struct calls_process *process);

/* No more calls of these classes, a bit each, are wanted. */
void calls_process_close(struct calls_process *process, uint32_t classes);

#endif
