/*
 * The library that runs inside a target: it stands before MPI, and behind adaptrace.h.
 *
 * A call goes visit_enter(), the real function, visit_leave(). Only the outermost counts, because
 * MPI libraries call themselves: Open MPI's Fortran calls PMPI_X, MPICH's calls MPI_X, and both
 * names are defined here. An error handler may leave a call by a jump or an exception; the next one
 * sees it. Nothing but a look at forks happens before a process's first call, so that programs
 * without MPI, launchers and shells are left alone.
 *
 * No MPI header is used: arguments are passed on as machine words, and what differs between Open
 * MPI and MPICH stands in struct abi.
 */
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include "preload/mpi_calls.h"
#include "preload/call_ring.h"

#include <pthread.h>
#include <stdbool.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
/* Calls of such a function are moved out of the usual path, so that usual calls fetch less code. */
#define RARE __attribute__((cold, noinline))

/* --- the process ------------------------------------------------------------------------------ */

/* At least a page, as large as this processor's may be. */
#ifdef __aarch64__
#define PROCESS_PAGE 65536
#else
#define PROCESS_PAGE 4096
#endif

/* The own end of the channels of a communicator: see hmb/channel.h. */
#define COMM_ENDS 256
struct comm_end {
	uint64_t id; /* 0: not known */
	uint32_t rank;
};

/*
 * The first part becomes zeros in a child, however the child was made: fork handlers run after
 * fork() alone, not after clone() and _Fork().
 */
struct process {
	_Alignas(PROCESS_PAGE) struct ring_process *shared; /* NULL: not connected */
	enum ring_clock clock;
	uint64_t ahead;     /* of the recorder's clock: see struct ring_process */
	bool started;       /* connecting was tried */
	uint64_t in_vain;   /* tail + 1 of the definitions after a wait that brought no room */
	bool rings_in_vain; /* a wait for a ring for another thread brought none */

	_Alignas(PROCESS_PAGE) struct ring_process *met; /* shared, or the parent's in a child */
	bool starting; /* a thread tries, or has tried, to connect */
	bool threaded; /* MPI_THREAD_MULTIPLE: threads call MPI at the same time */
	bool in_world; /* between MPI_Init and MPI_Finalize, or in a session */
	bool world;    /* MPI_Init's, not of a session alone */
	unsigned nr_sessions;
	uintptr_t session, session_group; /* that tells what the job is, and its group; 0: none */
	uint64_t next_request;
	uint64_t wide_comms; /* a bit for each number below 64 of a communicator with the most
	                        members */
	struct comm_end comm_ends[COMM_ENDS]; /* by the number of a communicator */
	pthread_mutex_t lock;                 /* definitions, communicators, rings being taken */
	pthread_key_t key; /* its destructor gives the ring of an ending thread back */
	bool have_key;
};

extern struct process process;

/* Out of line, for it needs room on the stack. */
RARE uint64_t process_slow_ticks(void);

/* Now, by the clock that the recorder wants of us. */
static inline uint64_t process_ticks(void)
{
	return likely(process.clock == RING_CLOCK_COUNTER) ? ring_counter() : process_slow_ticks();
}

/*
 * Tells whether records of this class are wanted. A poll asked for something that was not there.
 * The process must be connected.
 */
static inline bool process_wants(enum call_class class, bool poll)
{
	uint32_t closed = __atomic_load_n(&process.shared->closed, __ATOMIC_RELAXED);

	return !(closed & ((uint32_t)1 << class | (poll ? RING_NO_POLLS : 0)));
}

/* Tells whether a call between these times touches a moment that is wanted. */
RARE bool process_wants_moment(uint64_t enter, uint64_t leave, uint32_t floor);

/* Tells whether the recorder has ended: not even sums are wanted. */
static inline bool process_left_alone(const struct ring_process *shared)
{
	return __atomic_load_n(&shared->closed, __ATOMIC_RELAXED) == RING_GONE;
}

/*
 * Returns when a call began as far as it counts: not before the recorder began anew, nor after the
 * call ended. Both times are 0 if they were not read.
 */
static inline uint64_t process_clip(uint64_t enter, uint64_t leave)
{
	uint64_t since = __atomic_load_n(&process.shared->since, __ATOMIC_RELAXED);

	if (likely(enter >= since))
		return enter;
	return since < leave ? since : leave;
}

/* Sleeps while the recorder wants that, and lives. Errno stays. */
void process_hold(void);

/* Connects to the recorder at the first call. Returns false if there is none. */
bool process_start(void);

struct thread;

/*
 * Resets the state of a thread that runs in a child process which does not know yet that it is one.
 */
RARE void process_look(struct thread *thread);

/* Waits a moment for the recorder. It is no cancellation point, and keeps errno. */
void process_wait(long ns);

/*
 * Writes a definition, whose first word must be a ring_head(). Waits a little if there is no room,
 * and returns false if that was in vain. The caller holds the lock.
 */
bool process_define(const uint64_t *words, size_t nr);
/*
 * Like process_define(), for one or two words (word 0 is filled in) and a string, which is cut at
 * RING_MAX_NAME.
 */
bool process_define_name(enum ring_record record, uint32_t number, const uint64_t *more,
                         size_t nr_more, const char *name);

/* --- its threads ------------------------------------------------------------------------------ */

struct comm;

struct known_calls;
struct scale;
struct scale_events;

/* The members that every call needs come first. */
struct thread {
	_Alignas(64) struct ring_ends *ring; /* NULL: none yet */
	struct ring_open *open;
	uint64_t *words;
	uint64_t head;
	uint64_t look;    /* a head from which on it is looked where the recorder is */
	uintptr_t inside; /* the struct visit of the outer call, or INSIDE_OWN; 0: none */
	const struct ring_process *of; /* process.shared as it was known last */
	uint32_t mask;
	bool calls;       /* it has called MPI: its stack is known */
	bool recorded;    /* it is the last in the list of open ones; else it is passed through */
	bool idle;        /* the call asked, and there was nothing */
	bool skipped;     /* the recorder does not know the last requests */
	unsigned nr_open; /* as in the ring, and more where there are too many */
	uint32_t comm_generation;
	uint64_t last;               /* ticks, the leave of the last record */
	uint32_t weight;             /* of the call being written; 0: its time was not read */
	bool in_moment;              /* all times are read now: see thread_thins() */
	uint64_t *published;         /* where head is told: the ring's head, or its pending one */
	struct scale *scale;         /* NULL: all iterations are kept */
	struct scale_events *events; /* of scale */
	uint64_t told_head;          /* head after the last record that told of a slot */

	struct known_calls *known;     /* with a ring */
	struct call_requests requests; /* with the record that is being made */
	uint64_t comm_handle;          /* the communicator used last */
	struct comm *comm;
	uint64_t made;  /* the head word of the record that is being made, as far as it is */
	uintptr_t site; /* its return address; 0: it has none */

	struct ring_sum *sums; /* its rows */
	uint32_t random;
	uint32_t max_sums; /* rows at most */
	void *scratch;     /* see thread_scratch() */
	size_t scratch_size;
	uint64_t in_vain;    /* the ring's tail + 1 after a wait that brought no room */
	uint32_t nr_refused; /* calls that found no ring */
	bool loss_counted;   /* a record of the call that is being written was lost */
	bool ended;          /* destructors that run later find nothing */
	uint8_t turns;       /* that its destructor had */

	_Alignas(64) uint64_t parts[RING_MAX_PARTS * RING_MAX_PART]; /* of the record */
	unsigned char status[64];   /* for programs that ignore it */
	uintptr_t stack, stack_end; /* its own; those of fibers and signals are elsewhere */
};

extern __thread struct thread this_thread __attribute__((tls_model("initial-exec")));

/* Must be called before a thread uses its state, which may be that of its parent process. */
static inline void thread_look(struct thread *thread)
{
	if (unlikely(thread->of != process.shared))
		process_look(thread);
}

/*
 * Takes a ring for this thread. Returns false if there is none: the thread's calls are then lost.
 */
bool thread_start(struct thread *thread);
/*
 * Where its stack is, as far as that can be had. It takes malloc(), so that it is nothing for marks
 * in signal handlers, which have no use for it.
 */
void thread_find_stack(struct thread *thread);
/* Frees everything that the thread has except its ring. */
void thread_stop(struct thread *thread);
/* Returns memory that is valid until the next call of this function. NULL: no memory. */
void *thread_scratch(struct thread *thread, size_t size);

/* --- parts ------------------------------------------------------------------------------------ */

struct call_info;
struct collective;

/* A call being recorded. */
struct visit {
	struct thread *thread;
	const struct call_info *info;
	uintptr_t frame; /* of its wrapper: all that is its own, and all that it calls, is below */
	uintptr_t returns;     /* as it is in the frame; 0: the machine has no place for it there */
	uintptr_t site;        /* return address */
	uint64_t enter, leave; /* 0: not read */
	uint32_t weight;       /* as the thread's */
	int result;
	/* Kept from before the call to after it, where its signature needs this. */
	const unsigned char *status;
	struct request *request;
	uintptr_t saved;
	size_t nr_saved;
};

/* Words of parts, so far. */
static inline size_t thread_part_words(const struct thread *thread)
{
	return ring_head_words(thread->made) - 3;
}

/* Makes room for another part: writes what there is where the record is full. */
RARE void visit_part_room(struct visit *visit);

/* Another part. What its type has beyond these is the caller's to fill in, from here on. */
static inline uint64_t *visit_part(struct visit *visit, enum call_part_type type, uint32_t comm,
                                   int32_t peer)
{
	struct thread *thread = visit->thread;
	uint64_t *at;

	if (unlikely(ring_head_parts(thread->made) == RING_MAX_PARTS))
		visit_part_room(visit);
	at = &thread->parts[thread_part_words(thread)];
	thread->made += ring_head(0, ring_part_words(type), 1, 0, 0);
	*at = (uint64_t)type | (uint64_t)comm << 8 | (uint64_t)(uint32_t)peer << 32;
	return at + 1;
}

/* CALL_SEND and CALL_RECEIVE; with a request CALL_SEND_POSTED and CALL_RECEIVE_DONE. */
static inline void visit_message(struct visit *visit, enum call_part_type type, uint32_t comm,
                                 int32_t peer, int32_t tag, uint64_t bytes)
{
	uint64_t *at = visit_part(visit, type, comm, peer);

	at[0] = (uint64_t)(uint32_t)tag;
	at[1] = bytes;
}

/* The request that the last part, of this type, is about, as its last word. */
static inline void visit_request(struct visit *visit, enum call_part_type type, uint64_t request)
{
	struct thread *thread = visit->thread;
	unsigned fields = call_part_fields(type);

	thread->parts[thread_part_words(thread) - 1] =
		request - (*call_last_request(&thread->requests, fields) + 1);
	call_note_request(&thread->requests, fields, request);
}

/* --- signatures ------------------------------------------------------------------------------- */

/*
 * The work before and after calls of one signature. before() may exchange arguments. after() runs
 * only if the call succeeded, unless `always` is set. Neither runs if the meaning of the library's
 * arguments is unknown, unless `unknown` is set. The other members are parameters of the two:
 * signatures that differ only in the places of arguments share their functions.
 */
struct handler {
	void (*before)(struct visit *visit, uintptr_t *a);
	void (*after)(struct visit *visit, const uintptr_t *a);
	bool always, unknown;
	uint8_t type;   /* of the request or the part that is made */
	uint8_t status; /* its place among the arguments */
	uint8_t at[3];  /* other places, as after() says */
	/* Returns the bytes that a collective sends and receives. */
	struct volume (*volume)(const struct collective *args);
};

struct call_info {
	const char *name; /* without MPI_ */
	const struct handler *handler;
	uint16_t region; /* enum mpi_call */
	uint8_t class;
	bool large;
};

extern const struct call_info call_infos[NR_MPI_CALLS];

/* A count as it is passed: an int, or an MPI_Count. */
static inline uint64_t count_arg(uintptr_t arg, bool large)
{
	int64_t count = large ? (int64_t)arg : (int32_t)arg;

	return count > 0 ? (uint64_t)count : 0;
}

static inline int64_t count_at(uintptr_t array, size_t i, bool large)
{
	return large ? ((const int64_t *)array)[i] : ((const int32_t *)array)[i];
}

/* --- open calls ------------------------------------------------------------------------------- */

/* Takes a ring for this thread. Returns false if there is none, or the recorder has ended. */
bool visit_wanted(struct thread *thread);
/*
 * The upper half of region is for the target alone: an MPI call has its class there, and a region
 * the binary logarithm of its weight. ticks 0: the clock was not read.
 */
void thread_push(struct thread *thread, uint64_t region, uint64_t ticks);
void thread_pop(struct thread *thread);

/* Instrumented calls around the one that is written, as its flags say it. */
static inline unsigned thread_depth(const struct thread *thread)
{
	return thread->nr_open < RING_CONTINUED ? thread->nr_open : RING_CONTINUED - 1;
}

/* --- visits ----------------------------------------------------------------------------------- */

/* Where this function's caller has called it: above all that is its own. */
#define OWN_FRAME ((uintptr_t)__builtin_dwarf_cfa())
/* Where this function returns to. */
#define OWN_CALLER ((uintptr_t)__builtin_return_address(0))

/* A thread is busy with records, and in no call. */
#define INSIDE_OWN 1

/* Tells whether a call is neither recorded nor summed. */
static inline bool visit_passes(enum mpi_call call)
{
	const struct ring_process *shared = process.shared;

	return !mpi_call_bounds_world(call) && shared && process_left_alone(shared);
}

/*
 * Whether the outer call that the thread is in was left without a return, as far as can be told in
 * this frame; then it is recorded as such, and the thread is in none. Never true of one that is
 * still to return, on whatever stack it is.
 */
RARE bool visit_was_left(struct thread *thread, uintptr_t frame);

/*
 * Before the real function, of a call that does not pass; false: call that function, and nothing
 * more, because another call is around this one, or there is no recorder.
 */
bool visit_enter(struct visit *visit, const struct call_info *info, uintptr_t *a, uintptr_t frame,
                 uintptr_t site);
/* Records the call and returns its result. */
int visit_leave(struct visit *visit, const uintptr_t *a, int result);

#endif
