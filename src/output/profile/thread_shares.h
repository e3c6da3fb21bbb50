/* How stored samples are distributed over threads and commands. */
#ifndef OUTPUT_PROFILE_THREAD_SHARES_H
#define OUTPUT_PROFILE_THREAD_SHARES_H

#include "base/map64.h"
#include "trace/trace.h"

struct share {
	uint64_t stored;          /* samples of all events */
	uint64_t samples, weight; /* of event 0 */
};

struct shares {
	struct share *threads, *commands; /* by their numbers in the trace */
	uint32_t nr_threads, nr_commands;
	uint64_t counted[COUNTER_MAX]; /* with samples, as struct trace_sample has it */
};

/* Tells whether the exact total of any command is known. */
bool shares_exact_known(const struct trace *trace);

/* Returns 0, -ENOMEM or -EBADMSG. */
int shares_init(struct shares *shares, const struct trace *trace);
void shares_fini(struct shares *shares);

/*
 * Sums for event 0 over all commands whose exact total is known: the total, and the weight of the
 * samples.
 */
struct coverage {
	uint64_t exact, sampled;
};

/* Tells whether samples stand for less than 99 % of the total. Returns false if this is unknown. */
bool shares_lack_samples(const struct trace *trace, struct coverage *coverage);

/*
 * Maps names of commands to their numbers. Returns 0 or -ENOMEM; call map64_fini() in either case.
 */
int commands_by_name(const struct trace *trace, struct map64 *by_comm);

/* Tells whether an entry of the table of threads is unused. */
bool thread_unused(const struct shares *shares, const struct trace *trace, uint32_t thread);
/* Tells whether a command has no tasks, no samples and no exact total. */
bool command_unused(const struct shares *shares, const struct trace *trace, uint32_t command);

#endif
