/*
 * Pairs of messages, and of the parts of collectives, in traces of a job of which iterations were
 * dropped. Ends of messages of one sender, receiver, communicator and tag are paired by their
 * order. Those that were dropped count, too: an iteration has as many of each as the last one of
 * its pattern that is stored. The numbers are right where those of each thread add up to its exact
 * sums, and to the balances that iterations have. Where not, as in loops with inner loops of any
 * length, ends are counted from each collective of all ranks on behind which no message was on its
 * way. Others have no pair. See message_epochs.h.
 */
#ifndef TRACE_MESSAGE_PAIRS_H
#define TRACE_MESSAGE_PAIRS_H

#include "trace/trace_calls.h"
#include "trace/trace_iterations.h"

/* A trace that has some of the ranks. */
struct message_source {
	const struct call_index *calls;
	const struct iteration_index *iterations;
};

struct message_pairs;

/*
 * Reads all calls of all traces once, and once more if their numbers are wrong. Where no calls of
 * iterations were dropped, nothing is read, and everything has a pair. Returns 0 or -errno, and
 * *pairs, which message_pairs_free() frees and which keeps the sources.
 */
int message_pairs_new(struct message_pairs **pairs, const struct message_source *sources,
                      uint32_t nr);
void message_pairs_free(struct message_pairs *pairs);

/* Looks at the calls of a source's thread, as they were left. NULL: no memory. */
struct message_reader;
struct message_reader *message_reader_new(const struct message_pairs *pairs, uint32_t source,
                                          uint32_t thread);
void message_reader_free(struct message_reader *reader);

/*
 * Returns for each part of the next call whether it has its other ends in the trace, or does not
 * need any; NULL: no memory. Valid until the next call.
 */
const bool *message_reader_next(struct message_reader *reader, const struct call *call);

#endif
