/*
 * One instrumented process: the memory that it shares with the recorder, and the definitions that
 * were read from it. The process may write anything into that memory at any time, so the recorder
 * copies each value once and checks the copy.
 */
#ifndef RECORD_CALLS_CALLS_PROCESS_H
#define RECORD_CALLS_CALLS_PROCESS_H

#include "record/calls/calls_clock.h"
#include "record/calls/calls_names.h"
#include "record/calls/calls_thin.h"

#include <string.h>
#include <sys/types.h>

/* Copies whole words that the target may change meanwhile. */
static inline void calls_copy_words(void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < size / sizeof(uint64_t); i++) {
		const uint64_t word = __atomic_load_n((const uint64_t *)from + i, __ATOMIC_RELAXED);

		memcpy((uint64_t *)to + i, &word, sizeof(word));
	}
}

/* How far the sums of a thread are in the trace. */
struct calls_sums {
	struct ring_sum *seen; /* rows as they were read last */
	uint32_t nr;
	uint32_t thread; /* of the trace, + 1; 0: unknown */
};

/* OpenMP regions of a process. */
struct calls_openmp {
	uint64_t addresses[RING_MAX_PARALLELS]; /* by number; 0: not defined */
	struct calls_team {
		struct ring_team_sum seen; /* the row as it was read last */
		uint32_t to;               /* where it is in the trace, + 1; 0: nowhere so far */
	} * teams;
	uint32_t nr;
};

struct calls_process {
	pid_t pid;
	int pidfd;
	uint64_t since; /* time at which it connected, ns */
	/* When the recording began anew, ns, and counts of before; 0: it did not */
	uint64_t restarted, lost_before, untimed_before;
	struct ring_process *shared;
	struct calls_names *names;
	const struct calls_clock *clock;
	uint32_t entry; /* index in the trace's processes; NO_ENTRY: none */

	uint64_t definitions; /* head of the definitions, as read for this round */
	uint64_t heads[RING_MAX_THREADS];
	struct calls_thread *threads[RING_MAX_THREADS]; /* NULL: nothing was read from it yet */
	struct calls_sums sums[RING_MAX_THREADS];
	struct calls_thread_cost costs[RING_MAX_THREADS];
	struct calls_openmp openmp;

	uint32_t *regions, nr_regions; /* numbers from RING_USER_REGIONS on; NO_ENTRY: unknown */
	uint32_t *comms, nr_comms;     /* entries of the trace; 0: unknown */
	struct calls_site {
		uint32_t entry;   /* of the trace, + 1; 0: unknown */
		uint64_t address; /* 0: its frame is known, or will never be */
	} * sites;                /* by number */
	uint32_t nr_sites;
	unsigned looks_left; /* for frames of sites that were unknown when they were defined */
	struct {
		uint32_t number; /* communicator whose members are being received; 0: none */
		uint32_t nr, filled;
		uint32_t *members;
		struct trace_comm comm;
	} coming;
	uint64_t malformed;
	/* The level of the calls that a sink is given now, as of iterations. */
	uint8_t wanted_level;
};

/* An iteration of a loop, as the target found it. */
struct calls_iteration {
	uint64_t begin, end; /* ns */
	uint64_t begin_ticks, end_ticks;
	uint32_t calls, phase, ordinal;
	uint8_t level, pattern;
	uint8_t flags; /* RING_ITERATION_… */
	/* At which level of the buffer the target wants its calls, + 1; 0: it does not say. */
	uint8_t wanted_level;
	bool is_mixed; /* it does not, and it has calls of an iteration with another level */
	/* The thread's collectives of all ranks and balance of messages, before the iteration. */
	bool has_point;
	uint64_t collectives, balance;
};

/* Receives the calls of a process. */
struct calls_sink {
	/*
	 * Receives a call of the thread with this tid. The call is valid until the function
	 * returns. The function may set its thread, but nothing else.
	 */
	void (*put)(void *arg, struct calls_process *process, pid_t tid, uint32_t local_region,
	            struct call *call);
	/*
	 * Begins a run of calls of one thread. Each of them equals an earlier call except for its
	 * times, and none begins before `time`. `last` has the latest requests. NULL: runs are not
	 * supported. Returns false if the next call must be passed to put() first.
	 */
	bool (*begin)(void *arg, struct calls_process *process, pid_t tid, uint64_t time,
	              const struct call_requests *last, struct call_run *run);
	void (*end)(void *arg, const struct call_run *run);
	/* Receives an iteration of a loop that has ended. NULL: it is left out. */
	void (*iteration)(void *arg, struct calls_process *process, pid_t tid,
	                  const struct calls_iteration *iteration);
	void *arg;
	/*
	 * Returns the trace's thread for sums of calls; UINT32_MAX: it is unknown. NULL: no sums
	 * are wanted.
	 */
	uint32_t (*thread)(void *arg, struct calls_process *process, pid_t tid, uint64_t time);
	/* Returns the frame of an address of the process, or FRAME_UNKNOWN. NULL: all are. */
	uint64_t (*frame)(void *arg, const struct calls_process *process, uint64_t address);
	/*
	 * A run of calls without a wanted level ends before the next multiple of 1 << moment_shift
	 * ns; 0: anywhere.
	 */
	unsigned moment_shift;
};

/*
 * Creates the shared memory. The caller sends *fd to the process and closes it. Returns NULL with
 * errno on failure.
 */
struct calls_process *calls_process_new(pid_t pid, struct calls_names *names,
                                        const struct calls_clock *clock, int *fd);
void calls_process_free(struct calls_process *process);

/* Reads how far the process has written. Later records wait for the next round. */
void calls_process_look(struct calls_process *process);
/* The same for a process that writes no more: iterations that were not published are read, too. */
void calls_process_look_last(struct calls_process *process);
/*
 * Reads all calls up to that point, thread by thread. Calls from which an ended thread did not
 * return end at `now`.
 */
void calls_process_read(struct calls_process *process, uint64_t now, const struct calls_sink *sink);
/*
 * Reads the last calls of a process that has ended or has lost its connection. All calls that did
 * not return end at `now`.
 */
void calls_process_end(struct calls_process *process, uint64_t now, const struct calls_sink *sink);

/* Limits to the cost of calls. */
struct calls_limits {
	struct calls_price price;
	double share; /* of a thread's time; 0: any */
	bool nothing; /* no call is recorded any more: no moment of it is of use */
};

/*
 * Tells each thread which of its calls are to be timed, as far as that is known. Returns what calls
 * have cost since it was called last, ns, up to a tenth of a second ago unless this is the last
 * time.
 */
uint64_t calls_process_thin(struct calls_process *process, const struct calls_limits *limits,
                            uint64_t now, bool last);
/* Returns the calls that were not timed so far. */
uint64_t calls_process_untimed(const struct calls_process *process);

/* Tells the target which moments are wanted: those of this level or a higher one. */
void calls_process_want_moments(struct calls_process *process, unsigned floor);

/* Takes what the process's sums have grown by into the trace. */
void calls_process_sum(struct calls_process *process, uint64_t now, const struct calls_sink *sink);

/* Returns the trace's entry for a number of the process; NO_ENTRY: none so far. */
static inline uint32_t calls_process_region(const struct calls_process *process, uint32_t number)
{
	if (number < RING_USER_REGIONS)
		return calls_names_fixed(process->names, number);
	number -= RING_USER_REGIONS;
	return number < process->nr_regions ? process->regions[number] : NO_ENTRY;
}

/* The same for a communicator; 0: unknown. */
static inline uint32_t calls_process_comm(const struct calls_process *process, uint32_t number)
{
	return number < process->nr_comms ? process->comms[number] : 0;
}

/* The same for a calling site, + 1; 0: unknown. */
static inline uint32_t calls_process_site(const struct calls_process *process, uint32_t number)
{
	return number < process->nr_sites ? process->sites[number].entry : 0;
}

/* Returns how many calls were lost so far because a ring was full. */
uint64_t calls_process_lost(const struct calls_process *process);

/* Returns the trace's entry of the process, which the first call creates; NULL: no room. */
struct trace_process *calls_process_entry(struct calls_process *process);

/*
 * Begins its sums anew: prepare gets the memory that this takes, and returns 0 or -ENOMEM. The time
 * is now, by the clock of records and in ns. Calls that end meanwhile may be in the sums or not.
 */
int calls_process_prepare_restart(struct calls_process *process);
void calls_process_restart(struct calls_process *process, uint64_t ticks, uint64_t time);

/* Returns how full its fullest ring was at the last look, in 1024ths. */
unsigned calls_process_fill(const struct calls_process *process);

/* Lets MPI_Init sleep at its end, or go on. Returns whether it sleeps. */
void calls_process_hold(struct calls_process *process, bool hold);
bool calls_process_is_held(const struct calls_process *process);

/* Tells the process to stop recording calls of these classes, one bit each. */
void calls_process_close(struct calls_process *process, uint32_t classes);

#endif
