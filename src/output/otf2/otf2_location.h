/* A location of an archive on its way; for the files that write events, alone. */
#ifndef OUTPUT_OTF2_OTF2_LOCATION_H
#define OUTPUT_OTF2_OTF2_LOCATION_H

#include "output/otf2/otf2_archive.h"

/* A call that was entered. */
struct entered {
	uint32_t context; /* of OTF2 */
	uint32_t region;  /* of the trace */
	bool mpi;
};

/* A location on its way. */
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
	struct map64 requests; /* active ones that the archive was told of: 0, or handle + 1 */
	uint64_t accesses, transfers;         /* one-sided ones, and of files, so far */
	OTF2_MetricValue totals[COUNTER_MAX]; /* of the counters read with samples */
};

/* What was counted up to the sample at hand, which is written next. */
void otf2_write_counters(struct location *location, uint64_t time);
/* What a call did: before what happens in it, and after that. */
void otf2_write_begun(struct location *location, uint64_t time, const struct call *call);
void otf2_write_done(struct location *location, uint64_t time, const struct call *call);
/*
 * Whether the archive is told of a request from now on: its end comes, and none of its number is
 * under way. handle: that of a transfer's file + 1; of others 0.
 */
bool otf2_activate(struct location *location, const struct call_part *part, uint32_t handle);
/* The same of a part about a file; and of one about a request for a transfer with this handle. */
void otf2_file_begun(struct location *location, uint64_t time, const struct call *call,
                     const struct call_part *part);
void otf2_file_done(struct location *location, uint64_t time, const struct call *call,
                    const struct call_part *part);
void otf2_file_request(struct location *location, uint64_t time, uint32_t handle,
                       const struct call_part *part);

#endif
