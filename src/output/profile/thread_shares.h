/* How the stored samples spread over threads and commands. */
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

/* Whether there is a command whose exact total is known: else shares say nothing of such. */
bool shares_exact_known(const struct trace *trace);

/* 0, -ENOMEM, -EBADMSG. */
int shares_init(struct shares *shares, const struct trace *trace);
void shares_fini(struct shares *shares);

/*
 * Sums for event 0 over all commands whose exact total is known: that total, and the part of it
 * that samples stand for.
 */
struct coverage {
	uint64_t exact, sampled;
};

/* Whether samples stand for less than 99 % of it. Returns false as well where this is unknown. */
bool shares_lack_samples(const struct trace *trace, struct coverage *coverage);

/* The numbers of commands by their names, to be given to map64_fini(). 0 or -ENOMEM. */
int commands_by_name(const struct trace *trace, struct map64 *by_comm);

/* Whether an entry of the table of threads is unused. */
bool thread_unused(const struct trace_thread *thread);
/* Whether a command has nothing but its name. */
bool command_unused(const struct shares *shares, const struct trace *trace, uint32_t command);

#endif
