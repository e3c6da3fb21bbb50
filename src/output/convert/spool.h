/*
 * The samples of a trace grouped by thread, each thread's in order of time, and its calls. Formats
 * that need one thread after the other use it. The samples are stored in an unlinked file, 16 bytes
 * each and 8 for each counter, so that memory does not grow with their number.
 */
#ifndef OUTPUT_CONVERT_SPOOL_H
#define OUTPUT_CONVERT_SPOOL_H

#include "trace/call_stream.h"
#include "output/convert/convert.h"
#include "output/profile/paths.h"

struct spool_sample {
	uint64_t time; /* ns; within a thread never less than the one before */
	uint32_t path;
	uint32_t rate;
};

/* Event and weight that samples have in common, as those of one event on one CPU do. */
struct spool_rate {
	uint32_t event;
	uint64_t weight;
};

struct spool_thread {
	uint64_t start, nr; /* its samples' places in the file */
	uint64_t done;      /* written so far */
	uint64_t last_time;
	uint32_t buffer; /* its number + 1; 0: none */
	uint32_t buffered;
};

#define SPOOL_READ 1024

struct spool {
	struct conversion *conversion;
	struct paths paths; /* of all samples */
	struct call_index *calls;
	struct spool_thread *threads; /* as in the trace, and a last one for thread numbers that are
	                                 not in its table */
	struct spool_rate *rates;
	uint32_t nr_threads, nr_rates;
	uint64_t first_time, last_time; /* of all samples and calls; 0: there are none */
	struct map64 rate_by_key;
	unsigned nr_counters; /* of every sample; where they are not known they are 0 */
	size_t entry_size;    /* a sample and its counters */
	unsigned char *buffers;
	uint32_t buffer_size;
	int fd;
	/* what is being read */
	uint64_t at, end;
	uint32_t nr_read, next_read;
	unsigned char *read;
};

#define SPOOL_WALKS 2 /* over the trace, for convert_plan() */

/*
 * Spools the samples of an event, or of all events, with paths of this detail. Returns NULL with
 * errno on failure.
 */
struct spool *spool_new(struct conversion *conversion, enum path_detail detail, uint32_t event);
void spool_free(struct spool *spool);

/*
 * spool_open() starts reading the samples of a thread. Then spool_next() returns 1 with a sample, 0
 * at the end, or -errno.
 */
void spool_open(struct spool *spool, uint32_t thread);
int spool_next(struct spool *spool, struct spool_sample *sample);
/*
 * Returns the counts of the trace's counters in the sample that was read last. They are valid until
 * the next call.
 */
const uint64_t *spool_counters(const struct spool *spool);

/*
 * Calls fn with the moments of a thread's calls, if it has any, one after the other. Returns 0 or
 * -errno.
 */
typedef void spool_moment_fn(void *arg, const struct call_moment *moment);
int spool_tell_calls(const struct spool *spool, uint32_t thread, spool_moment_fn *fn, void *arg);

/* Returns the time of the first sample or call, or the start of the run if that is earlier. */
uint64_t spool_start(const struct spool *spool);

/* Whether a thread has any calls. */
static inline bool spool_has_calls(const struct spool *spool, uint32_t thread)
{
	return thread < spool->calls->nr_threads && spool->calls->nr[thread];
}

#endif
