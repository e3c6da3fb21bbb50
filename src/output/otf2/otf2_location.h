/*
 * Location of an archive that is being written. Only the files that write events include this
 * header.
 */
#ifndef OUTPUT_OTF2_OTF2_LOCATION_H
#define OUTPUT_OTF2_OTF2_LOCATION_H

#include "output/otf2/otf2_archive.h"

/* A call that was entered. */
struct entered {
	uint32_t context; /* of OTF2 */
	uint32_t region;  /* of OTF2 */
	bool mpi, iteration;
};

/* State of a location while its events are written. */
struct location {
	struct archive *archive;
	OTF2_EvtWriter *writer;
	uint32_t thread;
	struct call_stream *calls; /* NULL: there are none */
	struct call_moment moment;
	bool more_calls, more_samples;
	struct spool_sample sample; /* the next one */
	struct entered *stack;
	unsigned depth;
	size_t deepest;
	struct map64 requests;                /* active requests in the archive: 0, or handle + 1 */
	uint64_t accesses, transfers;         /* one-sided ones, and of files, so far */
	OTF2_MetricValue totals[COUNTER_MAX]; /* of the counters read with samples */
	uint64_t last;                        /* time of the event that was written last */
	struct iteration_follower follower;
	uint32_t phase, level; /* of the last iteration; phases count from 1 */
	struct message_reader *messages;
	const bool *told; /* by part of the call that is open */
};

/* Enter a region that is no call, and leave what was entered last. */
void otf2_enter_region(struct location *location, uint64_t time, uint32_t region);
void otf2_leave_region(struct location *location, uint64_t time);
/* Whether an MPI call is open. */
bool otf2_in_mpi(const struct location *location);

/* Enters and leaves the iterations that begin or end before a call, or before a time. */
void otf2_iterations_before_call(struct location *location, const struct call *call);
void otf2_iterations_before(struct location *location, uint64_t time);
/* A region that was entered before the open iteration is left: it ends, too. */
void otf2_cut_iteration(struct location *location, uint64_t time);

/* Writes the counters' values at the sample that is written next. */
void otf2_write_counters(struct location *location, uint64_t time);
/*
 * These write the effects of a call: the first one at its beginning, before all events inside the
 * call, the second one at its end.
 */
void otf2_write_begun(struct location *location, uint64_t time, const struct call *call);
void otf2_write_done(struct location *location, uint64_t time, const struct call *call);
/*
 * These write that a thread forks or enters a team, before it enters a region, and the reverse,
 * after it left. Regions that have no team are passed over.
 */
void otf2_team_begun(struct location *location, uint64_t time, uint32_t region);
void otf2_team_done(struct location *location, uint64_t time, uint32_t region);
/*
 * Marks a request as active. Returns false where the archive must not mention it: its end is not in
 * the trace, or a request with its number is active already. handle: that of a transfer's file + 1;
 * of other requests 0.
 */
bool otf2_activate(struct location *location, const struct call_part *part, uint32_t handle);
/* Tells whether the request of this part is active. */
bool otf2_is_active(const struct location *location, const struct call_part *part);
/*
 * These write the effects of a part of a call on a file: at the call's beginning, at its end, and
 * for a request of a transfer with this handle.
 */
void otf2_file_begun(struct location *location, uint64_t time, const struct call *call,
                     const struct call_part *part);
void otf2_file_done(struct location *location, uint64_t time, const struct call *call,
                    const struct call_part *part);
void otf2_file_request(struct location *location, uint64_t time, uint32_t handle,
                       const struct call_part *part);

#endif
