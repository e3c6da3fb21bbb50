/*
 * The trace file, version 11. man/adaptrace-trace.5 is the specification; this is the same in C.
 *
 *     header | directory: one entry a section | sections, each at a multiple of 8 bytes
 *
 * Little-endian. A section is an array of equal entries; the directory says how large one is, so
 * that a later version can append fields to a structure and older readers step over them. Strings
 * are offsets into the section STRINGS, each ending with NUL; offset 0 is the empty string.
 *
 * The recorder keeps the same arrays in shared memory while it runs (see tables.h), so what a
 * killed recorder leaves behind is already in this form.
 */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include "base/stack_cut.h"

#include <assert.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_MAGIC   "ADAPTRC" /* with its NUL */
#define TRACE_VERSION 11

enum trace_section {
	TRACE_RUN = 1,    /* one struct trace_run */
	TRACE_STRINGS,    /* bytes */
	TRACE_EVENTS,     /* struct trace_event; the index is the kind in bins */
	TRACE_STREAMS,    /* struct trace_stream */
	TRACE_MODULES,    /* struct trace_module; the index is the module in frames */
	TRACE_THREADS,    /* struct trace_thread; the index is the thread in records */
	TRACE_COMMANDS,   /* struct trace_command */
	TRACE_REDUCTIONS, /* struct trace_reduction */
	TRACE_GRANULES, /* uint32_t: for each whole bin of the arena its number in BINS + 1, or 0 */
	TRACE_BINS,     /* whole bins, as they were in the arena */
	TRACE_SYMBOLS,  /* struct trace_symbol, ascending by (module, lo), not overlapping */
	TRACE_SOURCES,  /* struct trace_source, each once; may be missing, with LINES */
	TRACE_LINES,    /* struct trace_line, ascending by (module, offset) */
	/* Sections of instrumented calls; traces without calls may miss them. */
	TRACE_REGIONS,      /* struct trace_region; the index is the region in calls */
	TRACE_COMMS,        /* struct trace_comm; the index is the communicator in parts of calls */
	TRACE_MEMBERS,      /* uint32_t: ranks of MPI_COMM_WORLD, in ranges that TRACE_COMMS name */
	TRACE_PROCESSES,    /* struct trace_process */
	TRACE_OWNERS,       /* uint32_t: for each thread its process + 1; 0: the one with its pid */
	TRACE_INSTRUMENTS,  /* struct trace_instrument */
	TRACE_COUNTERS,     /* struct trace_counter; missing or empty: samples have no counters */
	TRACE_SOURCE_FILES, /* struct trace_source_file, ascending by path; may be missing */
	TRACE_CALL_SUMS,    /* struct trace_call_sum, one for each key; may be missing */
	TRACE_ACTIONS,      /* struct trace_action, ascending by time; may be missing */
	TRACE_GAPS,         /* struct trace_gap, for each event ascending; may be missing */
	TRACE_WINDOWS,      /* struct trace_window; may be missing */
	TRACE_CONDITIONS = 26, /* struct trace_condition, ascending by time; may be missing */
	TRACE_CALL_SITES = 27, /* struct trace_call_site, each once; may be missing */
	TRACE_OPENMP = 28,     /* struct trace_openmp, one for each key; may be missing */
	TRACE_ITERATIONS = 29, /* struct trace_iterations, for each thread ascending by time; may be
	                          missing */
	NR_TRACE_SECTIONS
};

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t nr_sections;
	uint64_t size;     /* of the whole file */
	uint64_t checksum; /* XXH3-64 of this header with checksum 0, then the directory */
};
static_assert(sizeof(struct trace_header) == 32, "fixed by the format");

struct trace_entry {
	uint32_t section; /* enum trace_section; unknown ones are skipped */
	uint32_t entry_size;
	uint64_t offset;   /* from the start of the file */
	uint64_t size;     /* bytes, a multiple of entry_size */
	uint64_t checksum; /* XXH3-64 */
};
static_assert(sizeof(struct trace_entry) == 32, "fixed by the format");

enum trace_run_flags {
	TRACE_RUN_ATTACHED = 1,      /* -p: the target was running before; several: no pid */
	TRACE_RUN_CGROUP = 2,        /* per-CPU events of a cgroup; else inherited events */
	TRACE_RUN_RECOVERED = 4,     /* made from what a killed recorder left */
	TRACE_RUN_KERNEL_HIDDEN = 8, /* kernel addresses could not be named */
	TRACE_RUN_LEFT_CGROUP =
		16,               /* a process moved itself out of the cgroup: not observed there */
	TRACE_RUN_USER_ONLY = 32, /* not permitted to sample the kernel with all events */
	TRACE_RUN_DATA = 128,     /* samples have classes of memory accesses */
	TRACE_RUN_ONE_CORE_TYPE = 256,  /* inherited events counted on one type of core alone */
	TRACE_RUN_SPLIT_MISSING = 512,  /* .dwo files were not found: no inlined functions there */
	TRACE_RUN_SNAPSHOT = 1024,      /* of a recorder that went on */
	TRACE_RUN_LINES_PACKED = 2048,  /* no lines of files that libelf could not unpack */
	TRACE_RUN_LINES_REFUSED = 4096, /* no lines of files that are damaged or too large */
	TRACE_RUN_MISSED_CPU = 8192,    /* one was switched off or on: not observed from then on */
	TRACE_RUN_KILLED = 16384,       /* a signal ended the command */
	TRACE_RUN_IN_STEP = 32768,      /* samples in step were asked for */
	TRACE_RUN_WIDE = 64,    /* with CGROUP: whoever ran on CPUs or in a cgroup, not a command */
	TRACE_RUN_LIVE = 65536, /* read while it is recorded: in no file */

	/* Each of these lacks what a recorder adds at its end. */
	TRACE_RUN_NOT_ENDED = TRACE_RUN_RECOVERED | TRACE_RUN_SNAPSHOT | TRACE_RUN_LIVE,
};

/* The command of idle CPUs in a trace of whole CPUs, as perf calls it. */
#define TRACE_IDLE "swapper"

enum trace_stacks { TRACE_STACKS_NONE, TRACE_STACKS_FP, TRACE_STACKS_DWARF, TRACE_STACKS_LBR };

#define TRACE_STACK_CUTS 24 /* room for further reasons */
static_assert(NR_STACK_CUTS <= TRACE_STACK_CUTS, "reasons without room");

struct trace_run {
	uint32_t flags;
	uint32_t stacks;  /* enum trace_stacks */
	uint32_t command; /* string: arguments, separated by '\x1f'; without any what was sampled */
	uint32_t host, kernel, cpu_model, version, directory; /* strings */
	int32_t pid;
	int32_t exit_status; /* as a shell sees it: 128 + signal when killed; -1: unknown */
	uint32_t nr_cpus;
	uint32_t bin_shift, sub_shift; /* sizes of whole and of sub-bins: 1 << shift bytes */
	uint32_t max_overhead;         /* thousandths; 0: no guard */
	uint64_t real_start;           /* CLOCK_REALTIME at start, ns since 1970 */
	uint64_t start, end; /* CLOCK_MONOTONIC ns; every time in the trace is of this clock */
	uint64_t budget, used,
		contexts;      /* bytes: the arena, what held something, tree with index */
	uint64_t peak_rss;     /* of the recorder, bytes */
	uint64_t recorder_cpu; /* ns of CPU time that the recorder used while the target ran */
	uint64_t sample_price; /* ns that one sample costs the target, as measured; 0: not measured
	                        */
	uint64_t late;         /* records that arrived behind the merge front */
	uint64_t malformed;    /* records that made no sense */
	uint64_t lost_records; /* mmap, comm, fork, exit records that the kernel dropped */
	uint64_t truncated_stacks; /* samples whose stack does not reach its root */
	uint64_t stitched_stacks;  /* samples completed from the thread's previous stack */
	uint64_t folded_contexts;  /* samples whose context found no room in the tree */
	uint64_t refused_modules, folded_threads, refused_strings;
	uint64_t drain_latency; /* longest wait of a record for the recorder, ns */
	uint64_t seed;
	uint64_t records;    /* bytes of samples alone */
	uint64_t unobserved; /* processes that the kernel stopped observing while they lived */
	/* Older traces end here. */
	uint64_t delay; /* ns that sampling was to start later than it could have; 0: at once */
	uint64_t refused_mappings; /* of code: no room in a process's table, or not readable */
	uint64_t unanswered_files; /* names are missing: their file systems did not answer */
	uint64_t built_stacks;     /* of all samples but those dropped as they came; 0: not known */
	uint64_t cut_stacks[TRACE_STACK_CUTS]; /* truncated_stacks, by enum stack_cut */
	uint64_t max_stack; /* frames that were to be kept of a stack; 0: not known */
	/* Sampling in step: all CPUs were sampled at multiples of grid, ns; 0: they were not. */
	uint64_t grid;
	uint64_t median_off, p90_off; /* ns that samples were off the grid */
	uint64_t restarts;            /* of timers that were off the grid */
	uint64_t unsteered_cpus;      /* where most samples were off the grid */
	/* Cost of the recording for the program. */
	uint64_t calls_cost;      /* ns that recorded calls took */
	uint64_t one_cpu_cost;    /* millionths of its time that each CPU lost */
	uint64_t coupled_cost;    /* the same, if its CPUs wait for each other */
	uint64_t unsummed_calls;  /* calls without sums: there was no room for more rows */
	uint64_t dropped_actions; /* actions and marks that found no room in the trace */
	uint64_t left_iterations; /* iterations of loops that found no room in the trace */
};

#define TRACE_RUN_LEAST offsetof(struct trace_run, delay)

enum trace_unit {
	TRACE_NS,
	TRACE_COUNT,
	TRACE_CALLS /* not sampled: the kind of the bins with instrumented calls */
};

/*
 * An event that was sampled, or, behind all of these, a kind of instrumented calls, which has
 * taken, stored and floor alone. A stored sample of it stands for base_period << max(floor,
 * initial_shift) units, with the base_period of its stream.
 */
struct trace_event {
	uint32_t name;          /* string */
	uint32_t unit;          /* enum trace_unit */
	uint64_t base_period;   /* nominal, at shift 0 */
	uint32_t initial_shift; /* sampling started at base_period << initial_shift */
	uint32_t floor;         /* in the end */
	uint64_t taken, stored; /* samples delivered by the kernel; still in the bins */
	uint64_t exact;         /* the kernel's own total over the run, in the unit; 0: not known */
};

enum trace_counter_flags {
	TRACE_COUNTER_KERNEL = 1, /* counted by the kernel itself: a total of 0 means that */
	TRACE_COUNTER_TOTAL = 2,  /* total, enabled and running are known */
};

/*
 * An event that was read with every sample of another one. Bins with samples of that one have the
 * totals of its own first, then those of its counters in this order.
 */
struct trace_counter {
	uint32_t name;  /* string */
	uint32_t unit;  /* enum trace_unit */
	uint32_t event; /* with whose samples it was read */
	uint32_t flags;
	uint64_t total;            /* the kernel's own over the run, in the unit */
	uint64_t enabled, running; /* ns: meant to count, over all CPUs; and did */
};
static_assert(sizeof(struct trace_counter) == 40, "fixed by the format");

/* An event on one CPU, or on all CPUs (TRACE_ANY_CPU) if its streams are threads. */
#define TRACE_ANY_CPU UINT32_MAX

struct trace_stream {
	uint32_t event, cpu;
	uint64_t base_period;
	uint64_t lost, throttled; /* samples; times the kernel throttled */
};

enum trace_module_flags {
	TRACE_MODULE_UNSEEN = 1, /* its file was not: offsets are those of its bytes */
	TRACE_MODULE_NO_ELF = 2, /* UNSEEN, because its file is no ELF file */
};

struct trace_module {
	uint32_t path; /* string */
	uint8_t type;  /* enum module_type */
	uint8_t build_id_size;
	uint8_t build_id[20];
	uint16_t flags; /* enum trace_module_flags */
	int32_t pid;    /* of code without a file; else 0 */
	uint64_t area;
};
static_assert(sizeof(struct trace_module) == 40, "fixed by the format");

enum trace_thread_flags {
	TRACE_THREAD_ENDED = 1,
	TRACE_THREAD_EXACT = 2,  /* exact is known */
	TRACE_THREAD_FOLDED = 4, /* stands for many: all later tasks of its command */
};

struct trace_thread {
	int32_t pid, tid; /* 0: TRACE_THREAD_FOLDED */
	uint32_t comm;    /* string */
	uint32_t flags;
	uint64_t start, end; /* first seen and ended, ns; end 0: it outlived the recording */
	uint64_t exact;      /* the kernel's own total of event 0, in its unit */
};
static_assert(sizeof(struct trace_thread) == 40, "fixed by the format");

#define TRACE_MAX_COMMANDS (1 << 13)

/* Totals of a command over all its tasks, those without a surviving sample included. */
struct trace_command {
	uint32_t comm;  /* string */
	uint32_t flags; /* TRACE_THREAD_EXACT: exact covers all its tasks that event 0 counted in */
	uint64_t tasks;
	uint64_t exact;      /* of event 0 */
	uint64_t unobserved; /* ns of CPU time after the kernel stopped observing tasks */
};

struct trace_reduction {
	uint64_t time;
	uint32_t event;
	uint32_t cause; /* enum hmb_cause */
	uint32_t floor; /* the event's lowest open level since then */
	uint32_t bins;  /* given back */
};
static_assert(sizeof(struct trace_reduction) == 24, "fixed by the format");

struct trace_symbol {
	uint32_t module;
	uint32_t lo, hi; /* offsets [lo, hi) */
	uint32_t name;   /* string; 0: bounds of a function without a name */
};
static_assert(sizeof(struct trace_symbol) == 16, "fixed by the format");

/* A place in the source code, inside a function or a call that was inlined. */
struct trace_source {
	uint32_t function; /* string; 0: not an inlined one, but that of the symbol */
	uint32_t file;     /* string; 0: not known */
	uint32_t line;     /* 0: none in particular */
	uint32_t caller; /* where the call was inlined: an earlier source's index + 1; 0: nowhere */
};
static_assert(sizeof(struct trace_source) == 16, "fixed by the format");

/* Identifies a source file against a later one with its path; unknown fields are 0. */
struct trace_source_file {
	uint32_t path;    /* string */
	uint32_t known;   /* enum source_known */
	uint64_t size;    /* bytes, when names were read */
	uint64_t changed; /* ns since 1970 */
	uint64_t hash;    /* XXH3-64 of the text at that time */
	uint8_t md5[16];  /* of the text that was compiled */
};
static_assert(sizeof(struct trace_source_file) == 48, "fixed by the format");

/*
 * The source of the frames in the bins from this offset on, up to the next entry or the end of the
 * function. Of addresses that are no frames in the bins it says nothing.
 */
struct trace_line {
	uint32_t module, offset;
	uint32_t source; /* index + 1; 0: not known */
};
static_assert(sizeof(struct trace_line) == 12, "fixed by the format");

/* src/trace/call_sources.c says what readers do with them. */
enum trace_region_class {
	TRACE_MPI_OTHER,          /* set-up, communicators, requests without a message, … */
	TRACE_MPI_POINT_TO_POINT, /* what sends, receives, or waits for that */
	TRACE_MPI_COLLECTIVE,
	TRACE_MPI_ONE_SIDED,
	TRACE_MPI_IO,
	TRACE_USER_REGION, /* what the program itself marks */
	TRACE_MARKER,
	TRACE_VALUE,
	TRACE_PARALLEL,      /* a parallel region of OpenMP, of the thread that forks */
	TRACE_TEAM_PART,     /* work of another thread of its team */
	TRACE_TEAM_BARRIER,  /* waits of a thread in it */
	TRACE_TEAM_CRITICAL, /* before a critical section */
	TRACE_TEAM_JOIN,     /* of the thread that forked, for the end of the others' work */
	NR_TRACE_REGION_CLASSES
};

struct trace_region {
	uint32_t name;         /* string */
	uint32_t region_class; /* enum trace_region_class */
	uint32_t file, line;   /* string, of user regions; 0: not known */
};
static_assert(sizeof(struct trace_region) == 16, "fixed by the format");

#define TRACE_COMM_WORLD_ID 1 /* the id of every process's MPI_COMM_WORLD */

enum trace_comm_flags {
	TRACE_COMM_SELF = 1,  /* MPI_COMM_SELF, of whichever process uses it */
	TRACE_COMM_INTER = 2, /* peers are ranks of the remote group */
	TRACE_COMM_FREED = 4,
	TRACE_COMM_MPI_WINDOW = 8, /* of an MPI window or file, made for the trace alone */
	TRACE_COMM_FILE = 16,      /* a file that its parent opened; nobody is a member */
};

struct trace_comm {
	uint64_t id;           /* the same in all processes of the job; 0: none */
	uint32_t name;         /* string */
	uint32_t parent;       /* index + 1 of an earlier one; 0: none */
	uint32_t first_member; /* in MEMBERS, in order of rank: those of the local group, … */
	uint32_t nr_members;
	uint32_t nr_remote; /* … then those of the remote group of an intercommunicator */
	uint32_t flags;     /* enum trace_comm_flags */
};
static_assert(sizeof(struct trace_comm) == 32, "fixed by the format");

enum trace_process_flags {
	TRACE_PROCESS_MPI = 1,       /* it called MPI_Init */
	TRACE_PROCESS_FINALIZED = 2, /* and MPI_Finalize; else it was aborted or killed */
	TRACE_PROCESS_ALL = 4,       /* all others belong to it: the recorder ran for this rank */
};

enum trace_clock {
	TRACE_CLOCK_MONOTONIC,
	TRACE_CLOCK_COUNTER, /* the processor's time-stamp counter, calibrated against it */
};

/* A process whose calls were recorded, or that is a rank of a job. */
struct trace_process {
	int32_t pid;
	int32_t rank; /* in MPI_COMM_WORLD; -1: none */
	uint32_t world_size;
	uint32_t flags;        /* enum trace_process_flags */
	uint32_t library;      /* string: of MPI, as it calls itself */
	uint32_t thread_level; /* as provided by MPI_Init_thread, 0 … 3 */
	uint32_t host;         /* string; 0: the run's */
	uint32_t clock;        /* enum trace_clock */
	uint64_t start, end;   /* MPI_Init left, MPI_Finalize entered; 0: not known */
	uint64_t lost;         /* calls that found no room on their way to the recorder */
	uint64_t clock_error;  /* ns by which times of calls may differ from those of samples */
	/*
	 * Written by adaptrace merge: times of the process are those it recorded + offset, at the
	 * start; the drift until the end of the run is added linearly.
	 */
	int64_t offset, drift; /* ns */
	uint64_t offset_error; /* ns; 0: not merged; UINT64_MAX: real time told it */
};
static_assert(sizeof(struct trace_process) == 88, "fixed by the format");

/*
 * Places in the code that make calls, as frames: the last byte of the call instruction. The symbols
 * and lines of the trace cover them.
 */
struct trace_call_site {
	uint32_t module; /* 0: the address was in no known mapping */
	uint32_t offset;
};
static_assert(sizeof(struct trace_call_site) == 8, "fixed by the format");

#define TRACE_ITERATIONS_NR     16 /* iterations of one entry, */
#define TRACE_ITERATIONS_ROUGH  26 /* and of one with rough durations */
#define TRACE_ITERATIONS_LEVELS 4
#define TRACE_ITERATIONS_NONE   255
#define TRACE_NO_POINT          UINT32_MAX /* in place of a number of collectives */

enum trace_iteration_flags {
	TRACE_ITERATION_PATTERN = 63, /* these bits are the pattern */
	/* All of its calls are stored, unless its level is below the floor of calls. */
	TRACE_ITERATION_STORED = 64,
	TRACE_ITERATION_SLOW = 128, /* of its pattern about 255 in 256 are faster */
};

enum trace_iterations_flags {
	TRACE_ITERATIONS_LEVEL = 15, /* these bits are the level */
	TRACE_ITERATIONS_IS_ROUGH = 32,
	TRACE_ITERATIONS_GAPS = 64, /* calls between iterations may have been dropped */
	/* Their phase is that of the next entry that is not loose, of the thread and level. */
	TRACE_ITERATIONS_LOOSE = 128,
};

/*
 * Iterations of a loop, one after the other, that a program's calls were found to form while it ran
 * (record --scale-trace). A duration is m << e ns, with m in the lower bits and the 5 bits of e
 * above. m has 27 bits, so that stored calls can be told apart by the times of begins, or 11 in
 * entries without a stored iteration.
 *
 * The calls of a stored iteration are in the bins of its level or of higher ones. That is
 * lambda_random() of its ordinal, but for those that `levels` names.
 */
struct trace_iterations {
	uint64_t begin; /* of the first one, ns */
	/*
	 * How far the thread was before the first one: channels of the messages that it had sent,
	 * minus those of the messages received, see channel.h; and below, its calls of collectives
	 * of all ranks. Both are valid if collectives is not TRACE_NO_POINT.
	 */
	uint64_t balance;
	uint32_t thread;
	uint32_t phase;   /* of the thread: other numbers are other loops */
	uint32_t ordinal; /* of the first one: how often the loop had begun an iteration */
	uint32_t calls;   /* of all of them */
	uint32_t collectives;
	uint8_t level; /* 0: an innermost loop; enum trace_iterations_flags */
	uint8_t nr;
	struct {
		uint8_t at; /* which iteration of the entry; TRACE_ITERATIONS_NONE: none */
		uint8_t level;
	} levels[TRACE_ITERATIONS_LEVELS];
	uint16_t reserved;
	union {
		struct {
			uint32_t durations[TRACE_ITERATIONS_NR];
			uint8_t patterns[TRACE_ITERATIONS_NR]; /* enum trace_iteration_flags */
		} exact;
		struct {
			uint16_t durations[TRACE_ITERATIONS_ROUGH];
			uint8_t patterns[TRACE_ITERATIONS_ROUGH];
		} rough;
	};
};
static_assert(sizeof(struct trace_iterations) == 128, "fixed by the format");

enum { TRACE_EXACT_BITS = 27, TRACE_ROUGH_BITS = 11 };

static inline uint64_t trace_duration_ns(uint32_t duration, unsigned bits)
{
	return (uint64_t)(duration & ((1U << bits) - 1)) << (duration >> bits);
}

/* Rounds down. Durations that are too long become the longest one. */
static inline uint32_t trace_duration_of(uint64_t ns, unsigned bits)
{
	unsigned e = ns >> bits ? 64 - bits - (unsigned)__builtin_clzll(ns) : 0;

	return e > 31 ? UINT32_MAX >> (TRACE_EXACT_BITS - bits) : (uint32_t)(e << bits | ns >> e);
}

static inline bool trace_iterations_are_rough(const struct trace_iterations *entry)
{
	return entry->level & TRACE_ITERATIONS_IS_ROUGH;
}

/* Returns how many iterations the entry has room for. */
static inline unsigned trace_iterations_room(const struct trace_iterations *entry)
{
	return trace_iterations_are_rough(entry) ? TRACE_ITERATIONS_ROUGH : TRACE_ITERATIONS_NR;
}

static inline uint64_t trace_iteration_ns(const struct trace_iterations *entry, unsigned at)
{
	return trace_iterations_are_rough(entry)
	               ? trace_duration_ns(entry->rough.durations[at], TRACE_ROUGH_BITS)
	               : trace_duration_ns(entry->exact.durations[at], TRACE_EXACT_BITS);
}

/* Returns enum trace_iteration_flags. */
static inline unsigned trace_iteration_pattern(const struct trace_iterations *entry, unsigned at)
{
	return trace_iterations_are_rough(entry) ? entry->rough.patterns[at]
	                                         : entry->exact.patterns[at];
}

/* Sets an iteration, which has room; nr stays as it is. */
static inline void trace_iteration_set(struct trace_iterations *entry, unsigned at, uint64_t ns,
                                       unsigned pattern)
{
	if (trace_iterations_are_rough(entry)) {
		entry->rough.durations[at] = (uint16_t)trace_duration_of(ns, TRACE_ROUGH_BITS);
		entry->rough.patterns[at] = (uint8_t)pattern;
	} else {
		entry->exact.durations[at] = trace_duration_of(ns, TRACE_EXACT_BITS);
		entry->exact.patterns[at] = (uint8_t)pattern;
	}
}

/* Sums of the values that a program gave one name. All but nr cover only those that are numbers. */
struct trace_value_sum {
	uint64_t nr;
	double sum, least, most, last;
	uint64_t last_time; /* ns */
};

/*
 * Exact sums of calls of one thread and region, made at one place, that exchanged messages with one
 * peer, or with none, whether the calls are stored or not. A call counts in the row of its first
 * message; each message counts in the row of its peer.
 */
struct trace_call_sum {
	uint32_t thread, region;
	uint32_t comm; /* of peer; 0: unknown */
	int32_t peer;  /* as in parts of calls; -1: none, or several */
	uint64_t calls, unfinished;
	union {
		struct {
			uint64_t polls; /* calls that asked for something that was not there */
			uint64_t time, longest; /* ns */
			uint64_t sent, bytes, received, bytes_in;
		};
		struct trace_value_sum values; /* of regions of class TRACE_VALUE */
	};
	/*
	 * A call whose time was read stands for some calls, w: one, unless clock readings were
	 * thinned. untimed: calls without the sum of these weights. The time has w * t for each.
	 * The others are sums of w * (w - 1), and of that times t and t * t, in ns.
	 */
	int64_t untimed;
	double extra, extra_time, extra_squares;
	uint32_t site; /* in CALL_SITES, + 1; 0: unknown, or several */
	uint32_t reserved;
};
static_assert(sizeof(struct trace_call_sum) == 128, "fixed by the format");

/*
 * Exact sums of one region of class TRACE_PARALLEL, of the calls that one thread forked. Waits and
 * work are those of all threads of its teams. The sums over all rows are valid whether calls are
 * stored or not.
 */
struct trace_openmp {
	uint32_t thread, region;
	uint32_t module, offset; /* frame of its code; module 0: not known */
	uint64_t count, time;
	uint64_t covered;  /* ns in which regions of its process ran, counted once */
	uint64_t from, to; /* of its process: its start, and up to when these are its sums */
	uint64_t threads;  /* of all teams together */
	uint64_t most_threads;
	uint64_t idle; /* ns from the end of a thread's work to the end of the region */
	uint64_t barrier_wait, critical_wait;   /* ns */
	uint64_t work, longest_work, mean_work; /* ns: of all threads; sums over the teams */
};
static_assert(sizeof(struct trace_openmp) == 120, "fixed by the format");

enum trace_policy {
	TRACE_POLICY_ALL,
	TRACE_POLICY_CLASS,
	TRACE_POLICY_DEPTH,
	TRACE_POLICY_DURATION,
	TRACE_POLICY_TIME,
	TRACE_POLICY_ITERATIONS,
	NR_TRACE_POLICIES
};

/* How the calls of one kind were recorded and stored. */
struct trace_instrument {
	uint32_t event;  /* of the bins */
	uint32_t policy; /* enum trace_policy: what goes first when the memory is full */
	uint64_t share;  /* bytes of the buffer; 0: all of it */
	uint64_t from,
		to;    /* all calls between these times are stored; equal: there is no such time */
	uint64_t lost; /* calls that found no room on their way to the recorder */
	uint64_t untimed; /* calls that were not timed, and so not recorded: they are in sums alone
	                   */
};
static_assert(sizeof(struct trace_instrument) == 48, "fixed by the format");

#define TRACE_MARK      "mark"      /* the action that only marks a time */
#define TRACE_CONDITION "condition" /* the action that enters a struct trace_condition */

/* An action of somebody who steered the recording while it ran. */
struct trace_action {
	uint64_t time;    /* ns */
	uint32_t action;  /* string: the name of the command */
	uint32_t text;    /* string: what it was given; of a mark its text */
	int32_t pid;      /* of the process that asked for it */
	uint32_t uid;     /* of the user who did */
	uint32_t result;  /* 0: done; else an errno */
	uint32_t process; /* index + 1 of the process that was recorded; 0: all of the trace */
};
static_assert(sizeof(struct trace_action) == 32, "fixed by the format");

/* A time in which an event took no samples and counted nothing. */
struct trace_gap {
	uint64_t from, to; /* ns; to 0: until the end of the recording */
	uint32_t event;
	uint32_t process; /* as in struct trace_action */
};
static_assert(sizeof(struct trace_gap) == 24, "fixed by the format");

/* A condition that somebody watched for while the recording went on, each time that it came true.
 */
struct trace_condition {
	uint64_t time;    /* ns */
	double value;     /* of its first metric */
	uint32_t text;    /* string: as it was given */
	uint32_t file;    /* string: path of the trace that was written then; 0: none */
	int32_t pid;      /* of the process that watched */
	uint32_t process; /* as in struct trace_action */
};
static_assert(sizeof(struct trace_condition) == 32, "fixed by the format");

enum trace_window_flags {
	/* It ended early, or the history became coarser, because it cost the program too much. */
	TRACE_WINDOW_CUT = 1,
	/* For somebody who looks on: in the image of a recorder alone, never in a file. */
	TRACE_WINDOW_LEASED = 2,
	TRACE_WINDOW_HISTORY = 4, /* it is a part of the history, and no window */
};

/*
 * A time in which an event was sampled more often than the rest of the run: a window, or a part of
 * the history, which is the time before the end. Its samples are a kind of their own in bins,
 * behind those of EVENTS. A stored one stands for base_period << max(floor, shift) units, with the
 * base_period of its stream. Samples of the history stand for those of the part that has most.
 *
 * A part of the history may be of calls: those of its time, whatever the policy did to the run's.
 * Those that were lost, and at least those that were not timed, count as taken.
 */
struct trace_window {
	/*
	 * From 1 on, in the order of their starts, windows apart from parts of the history; 0: the
	 * entry is not in use.
	 */
	uint32_t number;
	uint32_t kind;     /* of the bins */
	uint32_t event;    /* or kind of calls */
	uint32_t process;  /* as in struct trace_action */
	uint64_t from, to; /* ns; to 0: until the end of the recording */
	uint32_t shift;
	uint32_t floor;         /* in the end */
	uint64_t taken, stored; /* as in struct trace_event */
	uint32_t flags;         /* enum trace_window_flags */
	uint32_t since;         /* while it is recorded: the ledger's, of its kind; else 0 */
	uint64_t span;          /* ns that a part of the history is to hold; else 0 */
};
static_assert(sizeof(struct trace_window) == 72, "fixed by the format");

#endif
