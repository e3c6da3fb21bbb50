/*
 * The shared memory through which a target passes its calls to the recorder.
 *
 *     header | definitions ring | thread 0: ring | … | thread 0: sums | … | sums of teams
 *
 * Every process that makes instrumented calls has one, made by the recorder and sealed at its size,
 * so that nothing the target does can take it away under the recorder's hands. The target asks for
 * it at an abstract socket for datagrams: $ADAPTRACE_CALLS has the socket's name, a colon and a
 * key. It sends the key, and is sent the descriptor, or none where it is refused. Who does not send
 * the key gets no answer: anybody may read the names of sockets, but the environment of a process
 * only who may trace it. Nothing else is said, and neither side keeps a descriptor open in the
 * target.
 *
 * A ring holds 64-bit words. Its one producer, a thread, advances head after it has written a
 * record; its one consumer, the recorder, advances tail after it has read one. Both count words for
 * ever. A record that finds no room is lost and counted; nobody waits, unless asked to. All places
 * and sizes are constants of this header: the recorder believes nothing but head, and checks that.
 *
 * Calls that have not returned stand in the thread's list of open calls, where a recorder finds
 * them whose target was killed. A whole call is written when it returns:
 *
 *     head word | ticks at entry | ticks at return | parts: see ring_part_words()
 *
 *     RING_CALL_AT   the same with the number of its calling site before the parts
 *
 * Programs repeat themselves. Where the head word names a slot of the thread, from 1 on, the call
 * stands for that slot until another one takes it; calls that differ from it in their times alone
 * are written as
 *
 *     RING_AGAIN     one word: slot, ticks from the last record's return to this entry, and to the
 *                    return
 *     RING_AGAIN     slot | ticks at entry | ticks at return, where these do not fit in there
 *
 * So that requests do not differ for ever, they are written as differences to the ones that are
 * expected: see struct call_requests.
 *
 * A call that the program left by a jump or an exception is written when that is seen, without
 * parts and with that time as its return:
 *
 *     RING_LEFT      head word | ticks at entry | ticks when it was seen
 *
 * The requests of records that were left out, because they are not wanted, count as well for the
 * differences in the next records. Before the first of these is:
 *
 *     RING_REQUESTS  head word | last request posted | last request done
 *
 * Of iterations of a loop some are kept, if the recorder wants that: see scale.h. While one is
 * written, head stays, and `pending` is where it would be. Each one that ends is told of:
 *
 *     RING_ITERATION head word: level and pattern, flags, calls | ticks at its begin | at its end |
 *                    number of the phase, and above bit 32 the ordinal | ticks from which
 *                    the gap of the next record counts | requests that were posted in it |
 *                    done in it. If it was dropped, these count for the differences, too. Of one
 *                    whose calls were written, where that is known: the thread's collectives of
 *                    all ranks before it | its balance of messages before it: see channel.h
 *     RING_ITERATION one word: level and pattern, duration in ticks. It follows the last one that
 *                    was told of, and has as many calls and requests as the last one of its
 *                    pattern. It was dropped, and the gap of the next record counts from its end.
 *
 * The policy of the recorder may be to drop whole iterations. Then all iterations are held back as
 * well, and with each of them the record of the one before it: when an iteration has ended, the
 * slot in that record's head word says at which level of the buffer its calls are to be stored,
 * + 1. 0: it is not known of the calls that follow.
 *
 * Every call is also added to the sums of its thread, whether it is recorded, lost in a full ring,
 * or not wanted. A row of the sums is for the calls of one region, made at one place,
 * that exchanged messages with one peer, or with none. Rows are never removed while the thread
 * lives; row 0 has the calls that found no row of their own.
 *
 * Places that make calls are known by return addresses, which have numbers from 1 on.
 *
 * Where the recorder says so, a thread reads the clock for some of its calls only: for one of
 * 1 << shift, chosen at random, which then stands for that many, and for all calls in some moments.
 * Calls are recorded in these moments alone. All other sums have every call.
 *
 * The definitions ring, which all threads share under a lock of the process, says what the numbers
 * in records mean. A definition is there before the first record that uses it.
 *
 *     RING_REGION    head word | flags | name, NUL, padded
 *     RING_PARALLEL  head word | address of an OpenMP region: of its outlined function, or of the
 *                    last byte of the call that forks it | module and offset, NUL, padded. With a
 *                    number from RING_TEAM_PARTS on: what other threads of its teams do
 *     RING_COMM      head word | id of the communicator in the job | flags | numbers of members,
 *                    of the local group and, above bit 32, of the remote one
 *     RING_MEMBERS   head word | first | two members a word: ranks in the world, or UINT32_MAX
 *     RING_FILE      head word | id of the file in the job | number of the communicator that opened
 *                    it | name, NUL, padded. Files have their numbers among the communicators.
 *     RING_SITE      head word | return address
 *     RING_PROCESS   head word | thread level | rank in the world, size of the world above bit 32 |
 *                    MPI library, NUL, padded
 */
#ifndef PRELOAD_CALL_RING_H
#define PRELOAD_CALL_RING_H

#include "hmb/call.h"
#include "hmb/lambda.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define RING_VERSION         8
#define RING_VARIABLE        "ADAPTRACE_CALLS" /* name, without the leading NUL, colon and key */
#define RING_KEY_SIZE        32
#define RING_AROUND_SECTION  "adaptrace_around" /* code that is around the program's */
#define RING_OPENMP_VARIABLE "ADAPTRACE_OPENMP" /* is set where OpenMP regions are wanted: */
#define RING_OPENMP_REGIONS  "regions"
#define RING_OPENMP_THREADS  "threads"           /* and what each thread does in them */
#define RING_UNHEARD         "adaptrace-unheard" /* memfd that a process maps after asking in vain */

#define RING_MAX_THREADS      128
#define RING_LARGE_THREADS    8 /* the first threads of a process have large rings */
#define RING_LARGE_WORDS      ((size_t)1 << 18)
#define RING_SMALL_WORDS      ((size_t)1 << 14)
#define RING_DEFINITION_WORDS ((size_t)1 << 15)
#define RING_MAX_OPEN         64 /* calls of one thread inside each other */
#define RING_MAX_RECORD       4095
#define RING_MAX_PARTS        60 /* a call with more is written in several records */
#define RING_SLOTS            256
#define RING_SLOT_PARTS       3    /* a call with more has no slot */
#define RING_SLOT_WORDS       14   /* a call whose parts have more words has no slot */
#define RING_AGAIN_BITS       20   /* of times in one word, ticks */
#define RING_MAX_MEMBERS      2000 /* in one record */
#define RING_MAX_NAME         255
#define RING_USER_REGIONS     1024 /* regions below are enum mpi_call */
#define RING_MAX_REGIONS      (1 << 16)
#define RING_PARALLELS        (RING_USER_REGIONS + 4096) /* numbers of OpenMP regions begin here */
#define RING_MAX_PARALLELS    2048
#define RING_TEAM_PARTS       (RING_PARALLELS + RING_MAX_PARALLELS)  /* threads in these regions */
#define RING_TEAM_WAITS       (RING_TEAM_PARTS + RING_MAX_PARALLELS) /* enum ring_team_wait */
#define RING_MAX_TEAM_SUMS    4096                                   /* rows of a process */
#define RING_MAX_COMMS        (1 << 20)
#define RING_SITE_BITS        13
#define RING_LARGE_SUMS       4096 /* rows of a thread with a large ring */
#define RING_SMALL_SUMS       1024
#define RING_MOMENT_SHIFT     24
#define RING_NO_POLLS         (UINT32_C(1) << 30) /* closed: no records of polls are wanted */
#define RING_GONE             UINT32_MAX          /* closed: the recorder has ended */

enum ring_clock {
	RING_CLOCK_COUNTER,   /* ring_counter() */
	RING_CLOCK_MONOTONIC, /* clock_gettime(CLOCK_MONOTONIC) in ns */
};

enum ring_record {
	RING_PAD, /* to the ring's end, or what its size says */
	RING_CALL,
	RING_REGION,
	RING_COMM,
	RING_MEMBERS,
	RING_PROCESS,
	RING_FILE,
	RING_AGAIN,
	RING_LEFT,
	RING_REQUESTS,
	RING_PARALLEL,
	RING_CALL_AT,
	RING_SITE,
	RING_ITERATION,
};

/* Waits of a thread in a parallel region. */
enum ring_team_wait { RING_WAIT_BARRIER, RING_WAIT_CRITICAL, RING_WAIT_JOIN, NR_RING_TEAM_WAITS };

enum ring_state { RING_FREE, RING_USED, RING_ENDED };

/* Flags in the head word of a call. */
#define RING_CONTINUED 0x80 /* CALL_CONTINUED; the other bits are the depth */

/* Flags of an iteration. Its parts are the pattern, and above bit 6 the level. */
#define RING_ITERATION_STORED  1 /* its calls were written */
#define RING_ITERATION_SLOW    2
#define RING_ITERATION_DROPPED 4 /* the thread went back: its calls are not there */
#define RING_ITERATION_LOOSE   8 /* it may belong to the next phase */

/* Flags of a region and of a communicator. */
#define RING_REGION_MARKER 1
#define RING_REGION_VALUE  2
#define RING_COMM_WORLD    1 /* member i is rank i; no members follow */
#define RING_COMM_SELF     2
#define RING_COMM_INTER    4
#define RING_COMM_WORLD_ID 1

/* Sums of the values that a program gave one name. All but nr cover only those that are numbers. */
struct ring_values {
	uint64_t nr;
	double sum, least, most, last;
	uint64_t last_ticks;
};

enum ring_moved { RING_SENT, RING_BYTES, RING_RECEIVED, RING_BYTES_IN, NR_RING_MOVED };

/*
 * A row of the sums. Its first four members are its key, written before the row is counted.
 *
 * A call whose time was read stands for `weight` calls, w: ticks has w * t. The last members are
 * sums of w * (w - 1), and of that times t and t * t, for the variance of the time.
 */
struct ring_sum {
	uint32_t region;
	uint32_t site; /* 0: several, or unknown */
	uint32_t comm; /* number of the communicator that peer is of; 0: unknown */
	int32_t peer;  /* as in struct call_part; CALL_NO_PEER: of messages to several or unknown */
	uint64_t unfinished; /* calls that the program left by a jump or an exception */
	uint64_t calls;
	uint64_t polls; /* calls that asked for something that was not there */
	union {
		struct {
			uint64_t ticks, longest;       /* inside, all calls together; at most */
			uint64_t moved[NR_RING_MOVED]; /* messages and bytes */
		};
		struct ring_values values; /* of regions with RING_REGION_VALUE */
	};
	int64_t untimed; /* calls without the weights of those whose time was read */
	double extra, extra_ticks, extra_squares;
};
static_assert(sizeof(struct ring_sum) == 120, "shared with the target");

/*
 * A row of the sums of parallel regions: those that one thread forked of one region. Its first two
 * members are its key, written before the row is counted. Times are ticks. See omp_regions.h for
 * what they are of.
 */
struct ring_team_sum {
	uint32_t region;
	uint32_t thread; /* number of the forking thread's ring */
	uint64_t count, ticks;
	uint64_t covered; /* time in which regions of any thread ran, counted once, at its end */
	uint64_t threads; /* of all its teams together */
	uint64_t most_threads;
	uint64_t idle;                /* from the end of work to the end of the region */
	uint64_t barrier, critical;   /* waits */
	uint64_t work, longest, mean; /* of all threads; of each team its longest and its mean */
};
static_assert(sizeof(struct ring_team_sum) == 96, "shared with the target");

struct ring_open {
	uint64_t enter;  /* ticks; 0: its time was not read */
	uint64_t region; /* below bit 32 */
};

/*
 * The state of a ring: the places up to which it was written and read, and its thread. Its words
 * are elsewhere: ring_offset().
 */
struct ring_ends {
	_Alignas(64) uint64_t head;
	uint64_t lost;  /* calls; of definitions: none */
	uint32_t state; /* enum ring_state: the target takes FREE and leaves ENDED, the recorder
	                   makes it FREE again */
	uint32_t tid;   /* as the target's PID namespace knows it */
	uint32_t nr_open;
	uint32_t nr_sums; /* rows that are in use */
	uint64_t calls;   /* in the sums */
	uint64_t untimed; /* of these: their time was not read */
	/* From the recorder: the shift and, above it, the level of the moments of which all calls
	 * are recorded; 0: all times are read. */
	uint32_t thin;
	uint64_t pending; /* head after the records of an iteration that has not ended */
	_Alignas(64) uint64_t tail;
};

/* An instant by the clock of records and by CLOCK_MONOTONIC, and ns of a tick about that time. */
struct ring_instant {
	uint64_t ticks, ns;
	double rate;
};

struct ring_process {
	uint32_t version;   /* RING_VERSION */
	uint32_t clock;     /* enum ring_clock */
	uint32_t closed;    /* a bit for each call_class of which no more records are wanted, and
	                       RING_NO_POLLS */
	uint32_t pid;       /* as the target's PID namespace knows it */
	uint64_t since;     /* ticks, when the recorder began anew: calls that began earlier began
	                       then; 0: never */
	uint32_t hold;      /* 1: MPI_Init sleeps at its end until this, a futex, is 0 */
	uint32_t held;      /* 1: it does */
	uint64_t ahead;     /* ns that its RING_CLOCK_MONOTONIC is before the recorder's, modulo
	                       2^64: it may be in a time namespace */
	uint64_t patience;  /* ns that a thread may wait for room; 0: it never waits */
	uint64_t lost;      /* calls of threads that got no ring */
	uint32_t keep;      /* iterations of each pattern at least; 0: all */
	uint32_t levels;    /* 1: iterations have levels, see RING_ITERATION */
	uint64_t untracked; /* requests that found no place: what their ends tell is lost */
	/*
	 * Records are wanted of calls with this ring_moment_level() or a higher one, and of
	 * iterations with this level or a higher one; 0: of all.
	 * The instant with this number converts their times.
	 */
	uint32_t floor, instant;
	struct ring_instant instants[2];
	uint32_t nr_team_sums; /* rows that are in use */
	uint64_t loaded;       /* when the process loaded the library, RING_CLOCK_MONOTONIC */
	struct ring_ends definitions;
	struct ring_ends threads[RING_MAX_THREADS];
	struct ring_open open[RING_MAX_THREADS][RING_MAX_OPEN];
};

#define RING_THIN_SHIFT 8 /* of the level */
#define RING_MAX_THIN   16

static inline uint32_t ring_thin(unsigned shift, unsigned level)
{
	return shift | level << RING_THIN_SHIFT;
}

#define RING_HEADER_SIZE ((sizeof(struct ring_process) + 4095) & ~(size_t)4095)

/*
 * Time is divided into moments of 1 << RING_MOMENT_SHIFT ns, which are the same for all processes
 * and recorders of a machine. Returns the most trailing zeros that the number of a moment has which
 * a call touches.
 */
static inline unsigned ring_moment_level(uint64_t enter, uint64_t leave)
{
	uint64_t first = enter >> RING_MOMENT_SHIFT, last = leave >> RING_MOMENT_SHIFT;

	/* The highest bit that changes on the way from before the first one to the last one. */
	return 63 - (unsigned)__builtin_clzll(((first - 1) ^ last) | 1);
}

static inline size_t ring_words(unsigned thread)
{
	return thread < RING_LARGE_THREADS ? RING_LARGE_WORDS : RING_SMALL_WORDS;
}

/* Where a thread's words begin, in bytes from the start of the memory. */
static inline size_t ring_offset(unsigned thread)
{
	size_t large = thread < RING_LARGE_THREADS ? thread : RING_LARGE_THREADS;
	size_t words = RING_DEFINITION_WORDS + large * RING_LARGE_WORDS +
	               (thread - large) * RING_SMALL_WORDS;

	return RING_HEADER_SIZE + words * sizeof(uint64_t);
}

#define RING_DEFINITIONS_OFFSET RING_HEADER_SIZE

static inline uint32_t ring_max_sums(unsigned thread)
{
	return thread < RING_LARGE_THREADS ? RING_LARGE_SUMS : RING_SMALL_SUMS;
}

/* Returns where a thread's sums begin, in bytes from the start of the memory. */
static inline size_t ring_sums_offset(unsigned thread)
{
	size_t large = thread < RING_LARGE_THREADS ? thread : RING_LARGE_THREADS;
	size_t rows = large * RING_LARGE_SUMS + (thread - large) * RING_SMALL_SUMS;

	return ring_offset(RING_MAX_THREADS) + rows * sizeof(struct ring_sum);
}

/* Returns where the sums of parallel regions begin, in bytes from the start of the memory. */
static inline size_t ring_team_sums_offset(void)
{
	return ring_sums_offset(RING_MAX_THREADS);
}

static inline size_t ring_memory_size(void)
{
	return ring_team_sums_offset() + RING_MAX_TEAM_SUMS * sizeof(struct ring_team_sum);
}

/* The first word of a record: its size in words, this one included, and what it is about. */
static inline uint64_t ring_head(enum ring_record record, size_t words, unsigned nr_parts,
                                 unsigned flags, uint32_t number)
{
	return words | (uint64_t)record << 12 | (uint64_t)nr_parts << 16 | (uint64_t)flags << 24 |
	       (uint64_t)number << 32;
}

static inline size_t ring_head_words(uint64_t head)
{
	return head & 0xfff;
}

static inline enum ring_record ring_head_record(uint64_t head)
{
	return (enum ring_record)(head >> 12 & 0xf);
}

static inline unsigned ring_head_parts(uint64_t head)
{
	return head >> 16 & 0xff;
}

static inline unsigned ring_head_flags(uint64_t head)
{
	return head >> 24 & 0xff;
}

static inline uint32_t ring_head_number(uint64_t head)
{
	return head >> 32 & 0xffffff;
}

/* The slot number in the head words of RING_CALL and RING_AGAIN; 0: the call has no slot. */
#define RING_SLOT_SHIFT 56

static inline unsigned ring_head_slot(uint64_t head)
{
	return (unsigned)(head >> RING_SLOT_SHIFT);
}

static_assert(RING_SLOTS == 1 << (64 - RING_SLOT_SHIFT), "a slot's number fits");
static_assert(NR_LEVELS < RING_SLOTS, "so does a level");
static_assert(RING_MAX_REGIONS + RING_USER_REGIONS <= 1 << 24, "a region's number fits");
static_assert(RING_MAX_COMMS <= 1 << 24, "a communicator's number fits");

/* The head word of RING_AGAIN: 1 word with gap and duration, or 3 words. */
static inline uint64_t ring_again(size_t words, unsigned slot, uint64_t gap, uint64_t duration)
{
	return words | (uint64_t)RING_AGAIN << 12 | gap << 16 | duration << (16 + RING_AGAIN_BITS) |
	       (uint64_t)slot << RING_SLOT_SHIFT;
}

static inline bool ring_fits_again(uint64_t gap, uint64_t duration)
{
	return (gap | duration) < (uint64_t)1 << RING_AGAIN_BITS;
}

static inline bool ring_is_short_again(uint64_t head)
{
	return (head & 0xffff) == (1 | RING_AGAIN << 12);
}

/* The head word of RING_ITERATION of one word. */
static inline uint64_t ring_dropped(unsigned level_and_pattern, uint64_t duration)
{
	return 1 | (uint64_t)RING_ITERATION << 12 | (uint64_t)level_and_pattern << 16 |
	       duration << 24;
}

static inline bool ring_is_dropped(uint64_t head)
{
	return (head & 0xffff) == (1 | RING_ITERATION << 12);
}

static inline bool ring_fits_dropped(uint64_t duration)
{
	return duration <= UINT32_MAX;
}

static inline uint64_t ring_dropped_duration(uint64_t head)
{
	return head >> 24 & UINT32_MAX;
}

static inline uint64_t ring_again_gap(uint64_t head)
{
	return head >> 16 & (((uint64_t)1 << RING_AGAIN_BITS) - 1);
}

static inline uint64_t ring_again_duration(uint64_t head)
{
	return head >> (16 + RING_AGAIN_BITS) & (((uint64_t)1 << RING_AGAIN_BITS) - 1);
}

/*
 * A part begins with type | communicator << 8 | peer << 32. What follows, one word each, of its
 * tag, bytes, bytes_in and request, in this order, is fixed by its type. A request is written as
 * the difference to the one that is expected.
 */
static inline unsigned ring_part_fields(unsigned type)
{
	/* The policy may make it a blocking one, which says what it moved. */
	return call_part_fields(type) |
	       (type == CALL_COLLECTIVE_POSTED ? PART_BYTES | PART_BYTES_IN : 0U);
}

static inline unsigned ring_part_words(unsigned type)
{
	unsigned fields = ring_part_fields(type);

	return 1U + !!(fields & PART_TAG) + !!(fields & PART_BYTES) + !!(fields & PART_BYTES_IN) +
	       !!(fields & PART_REQUEST);
}

#define RING_MAX_PART 5 /* words */
static_assert(4 + RING_MAX_PARTS * RING_MAX_PART <= RING_MAX_RECORD, "a call fits a record");
static_assert(2 + RING_MAX_MEMBERS / 2 <= RING_MAX_RECORD, "members fit a record");

/* The cheapest clock of the machine. The recorder decides whether it is usable: enum ring_clock. */
static inline uint64_t ring_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
#else
	return 0;
#endif
}

static inline uint64_t ring_ticks(enum ring_clock clock)
{
	struct timespec ts;

	if (clock == RING_CLOCK_COUNTER)
		return ring_counter();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
