/*
 * Records: what the kernel writes into a ring, decoded with every length checked.
 */
#ifndef PERF_SAMPLER_RECORD_H
#define PERF_SAMPLER_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum record_type {
	RECORD_SAMPLE,
	RECORD_MMAP,
	RECORD_COMM,
	RECORD_FORK,
	RECORD_EXIT,
	RECORD_READ, /* the exact total of a task that ended */
	RECORD_RUN,  /* a task begins to run on a CPU */
	RECORD_STOP, /* it ends, for now */
	RECORD_CODE, /* code of the kernel comes or goes */
	RECORD_LOST,
	RECORD_THROTTLE,
	RECORD_OTHER, /* of a type that is of no use here */
};

#define RECORD_BUILD_ID_MAX 20

/* A decoded record. Pointers are into the raw record and live as long as it. */
struct record {
	enum record_type type;
	uint64_t time; /* CLOCK_MONOTONIC ns */
	uint64_t id;   /* of the event; see sampler.h */
	uint32_t pid, tid;
	union {
		struct {
			uint64_t ip;
			bool in_kernel;
			const uint64_t *chain; /* call chain with marks, see record_is_mark() */
			size_t chain_size;
			const uint64_t *regs; /* NULL: no user registers */
			bool regs_32;         /* of a 32-bit program */
			const unsigned char *stack;
			size_t stack_size;
			bool stack_cut;    /* the stack goes on beyond what was copied */
			uint64_t address;  /* of the data; 0: not known */
			uint64_t data_src; /* perf_mem_data_src; 0: not known */
			uint64_t latency;  /* of the access, cycles; 0: not known */
			/* The latest branches, or calls that have not returned: newest first. */
			const struct perf_branch_entry *branches;
			size_t nr_branches;
			const uint64_t *counts; /* of the event's group, itself first */
			size_t nr_counts;       /* 0: it was not asked for */
			unsigned count_stride;  /* from one count to the next */
		} sample;
		struct {
			uint64_t start, end, pgoff;
			uint64_t ino, ino_generation;
			uint32_t dev_major, dev_minor;
			uint8_t build_id[RECORD_BUILD_ID_MAX];
			uint8_t build_id_size; /* 0: ino and dev are given instead */
			const char *path;
		} mmap;
		struct {
			const char *comm;
			bool exec;
		} comm;
		struct {
			uint32_t parent_pid, parent_tid;
		} fork; /* and exit */
		struct {
			uint64_t value;
		} read;
		struct {
			uint64_t start, size;
			const char *name;
			bool gone;
		} code;
		struct {
			uint64_t count;
		} lost;
	};
};

/* The kernel's marks inside a call chain are "negative" numbers, not addresses. */
static inline bool record_is_mark(uint64_t address)
{
	return address >= PERF_CONTEXT_MAX;
}

/* Whether the addresses behind this mark belong to the program, and not to the kernel. */
static inline bool record_is_user_mark(uint64_t address)
{
	return address == (uint64_t)PERF_CONTEXT_USER;
}

/*
 * These fields are in every record: at the start of samples and at the end of other records. The
 * CPU is not among them, because each ring belongs to one CPU.
 */
#define RECORD_ALWAYS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER)

/* PERF_FORMAT_LOST came with Linux 6.0: headers may be older. */
#define RECORD_LOST_COUNTS (1U << 4)

/* The counts of a group, and how long it was on the hardware. */
#define RECORD_COUNTS \
	(PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* How the records of a ring were asked for. */
struct record_format {
	uint64_t sample_type; /* of RECORD_SAMPLE; has RECORD_ALWAYS and PERF_SAMPLE_IP */
	unsigned nr_regs;     /* popcount of sample_regs_user */
	uint64_t read_format; /* with PERF_SAMPLE_READ: RECORD_COUNTS, RECORD_LOST_COUNTS */
	uint64_t clock_shift; /* added to all times, modulo 2^64: see machine_clock_shift() */
};

/*
 * Decodes one raw record of `size` bytes, 8-byte aligned, header included. 0, or -EBADMSG where
 * its contents contradict its size.
 */
int record_decode(struct record *record, const void *raw, size_t size,
                  const struct record_format *format);

/* The time of a raw record without decoding the rest; 0 where it is too short to have one. */
uint64_t record_time(const void *raw, size_t size, const struct record_format *format);

#endif
