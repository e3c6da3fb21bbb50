/*
 * Finds how the clocks of two hosts differ from a job's calls: matching messages and collectives.
 * Messages of one sender, receiver, communicator and tag arrive in the order in which they were
 * sent; the collectives of a communicator are the same for all its members.
 *
 * Memory is bounded. A collective that some members do not reach for too long is forgotten. When
 * too many ends of messages wait for the other end, later ones are ignored.
 */
#ifndef TRACE_MERGE_MERGE_MATCH_H
#define TRACE_MERGE_MERGE_MATCH_H

#include "trace/merge/merge_clock.h"
#include "trace/trace_calls.h"

struct matcher;

/*
 * host_of_rank: by rank in MPI_COMM_WORLD, below nr_ranks; UINT32_MAX: unknown. Both arrays and the
 * clocks stay the caller's. NULL: no memory.
 */
struct matcher *matcher_new(struct clocks *clocks, const uint32_t *host_of_rank, uint32_t nr_ranks);
void matcher_free(struct matcher *matcher);

/*
 * A call of the rank, in the order of each rank's own times; enter and leave in guessed time. 0 or
 * -ENOMEM.
 */
int matcher_call(struct matcher *matcher, const struct trace *trace, int32_t rank,
                 const struct call *call);

#endif
