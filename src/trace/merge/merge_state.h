/*
 * The state of a merge between its steps. Only the files that implement merge.h include this
 * header.
 */
#ifndef TRACE_MERGE_MERGE_STATE_H
#define TRACE_MERGE_MERGE_STATE_H

#include "trace/merge/merge.h"
#include "trace/merge/merge_counters.h"
#include "trace/merge/merge_map.h"

struct merged_event {
	uint32_t name, unit; /* string of the new trace */
	uint64_t base_period, taken, exact;
	uint32_t initial_shift, floor;
	unsigned time_shift;
	bool inexact; /* the exact total of an input is not known */
};

/* A window or history of the new trace while its samples are put into their kind. */
struct merge_part {
	const bool *inputs;     /* those that it has samples of; they have the window chosen */
	const uint32_t *events; /* whose samples these are, by input */
	uint32_t kind;
	unsigned floor; /* samples of lower levels, and earlier ones, are left out */
	uint64_t from;  /* ns of the new trace */
};

struct merge {
	const struct merge_config *config;
	struct merge_result *result;
	char *why;
	struct merge_input *inputs; /* by rank */
	uint32_t nr;
	struct clocks clocks;
	struct tables *tables;
	struct merge_map map;
	struct merge_counters counters;
	struct merged_event events[TABLES_MAX_EVENTS]; /* the kind of calls is the last one */
	uint32_t nr_events, calls;                     /* calls: MERGE_NONE if there are none */
	struct hmb *hmb;
	uint64_t *path;                /* of a sample */
	uint64_t lost_calls;           /* whose region or thread found no room in the tables */
	uint64_t taken[HMB_MAX_KINDS]; /* of kinds of windows; of calls those that are missing */
};

/* Stores the reason and returns err. */
__attribute__((format(printf, 3, 4))) int merge_complain(struct merge *merge, int err,
                                                         const char *format, ...);

/* Converts a time of the input to the new trace. */
static inline uint64_t merge_time(const struct merge *merge, const struct merge_input *input,
                                  uint64_t time)
{
	return clocks_time(&merge->clocks, input->host, time);
}

/* Returns the unit in which times of a kind of an input are stored, as a shift. */
unsigned merge_time_shift(const struct trace *trace, uint32_t kind, enum bin_use use);
/* Returns the new number + 1 of the process that an entry is of: the input's first for 0. */
uint32_t merge_process(const struct merge_input *input, uint32_t process);

/* The steps of a merge, in this order. They return 0 or -errno. */

/* Opens the traces, tells ranks and hosts apart, and brings the hosts' clocks together. */
int merge_open(struct merge *merge);
/* Closes the levels that are closed in the end, and puts in all that is left. */
int merge_put_records(struct merge *merge);
/* Used by it: puts the calls that an input has into this kind, but those that ended before a time.
 */
int merge_put_calls(struct merge *merge, struct merge_input *input, unsigned kind, uint64_t from);
/* Used by it: puts the samples of the run, or of a part, in the order of time. */
int merge_put_samples(struct merge *merge, const struct merge_part *part);
/* Used by it: puts the windows of all inputs, each as its own, and their histories as one. */
int merge_put_windows(struct merge *merge);
/* Enters the actions, conditions and gaps of all inputs. */
int merge_put_actions(struct merge *merge);

#endif
