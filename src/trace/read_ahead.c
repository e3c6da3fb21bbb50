#include "trace/read_ahead.h"

#include "trace/trace_file.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#define NR_BATCHES    16
#define BATCH_SAMPLES 512

struct sample_batch {
	int more; /* 1: there may be more samples behind these; 0: no; or -EBADMSG */
	unsigned nr;
	struct trace_sample samples[BATCH_SAMPLES];
};

struct read_ahead {
	struct trace_walk *walk;
	struct sample_batch *ring;         /* without a decoder its first batch alone is used */
	uint64_t (*counters)[COUNTER_MAX]; /* of the ring's samples; NULL: the trace has none */
	struct sample_batch *batch;        /* the reader's; NULL: none yet */
	unsigned given;                    /* samples of it, to the reader */
	bool has_decoder;
	pthread_t decoder;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t decoded, read;
	unsigned nr_full; /* batches that are decoded, the reader's included */
	bool ended, stop; /* the decoder has, or should */
};

static struct sample_batch *batch_behind(const struct read_ahead *ahead, struct sample_batch *batch)
{
	return batch && ++batch < ahead->ring + NR_BATCHES ? batch : ahead->ring;
}

static void fill(struct read_ahead *ahead, struct sample_batch *batch)
{
	uint64_t(*counters)[COUNTER_MAX] = ahead->counters;

	if (counters)
		counters += (batch - ahead->ring) * BATCH_SAMPLES;
	batch->more =
		trace_walk_some(ahead->walk, batch->samples, counters, BATCH_SAMPLES, &batch->nr);
}

/* --- the decoder's side ----------------------------------------------------------------------- */

/*
 * A side that waits is woken when half of the ring is available to it, which needs fewer wake-ups.
 */
static bool wait_for_room(struct read_ahead *ahead)
{
	bool stop;

	pthread_mutex_lock(&ahead->lock);
	if (ahead->nr_full == NR_BATCHES)
		while (!ahead->stop && ahead->nr_full > NR_BATCHES / 2)
			pthread_cond_wait(&ahead->read, &ahead->lock);
	stop = ahead->stop;
	pthread_mutex_unlock(&ahead->lock);
	return !stop;
}

static void give(struct read_ahead *ahead, bool last)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->ended = last;
	if (++ahead->nr_full == NR_BATCHES / 2 || last)
		pthread_cond_signal(&ahead->decoded);
	pthread_mutex_unlock(&ahead->lock);
}

static void *decode(void *arg)
{
	struct read_ahead *ahead = arg;
	struct sample_batch *batch = NULL;

	do {
		if (!wait_for_room(ahead))
			break;
		batch = batch_behind(ahead, batch);
		fill(ahead, batch);
		give(ahead, batch->more != 1);
	} while (batch->more == 1);
	return NULL;
}

/* --- the reader's side ------------------------------------------------------------------------ */

static void wait_for_batch(struct read_ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	if (ahead->batch && --ahead->nr_full == NR_BATCHES / 2)
		pthread_cond_signal(&ahead->read);
	if (!ahead->nr_full)
		while (!ahead->ended && ahead->nr_full < NR_BATCHES / 2)
			pthread_cond_wait(&ahead->decoded, &ahead->lock);
	pthread_mutex_unlock(&ahead->lock);
}

static void next_batch(struct read_ahead *ahead)
{
	if (ahead->has_decoder) {
		wait_for_batch(ahead);
		ahead->batch = batch_behind(ahead, ahead->batch);
	} else {
		ahead->batch = ahead->ring;
		fill(ahead, ahead->batch);
	}
	ahead->given = 0;
}

int read_ahead_some(struct read_ahead *ahead, unsigned max, const struct trace_sample **samples,
                    unsigned *nr)
{
	const struct sample_batch *batch = ahead->batch;

	if (!batch || (ahead->given == batch->nr && batch->more == 1))
		next_batch(ahead);
	batch = ahead->batch;
	*samples = batch->samples + ahead->given;
	*nr = batch->nr - ahead->given < max ? batch->nr - ahead->given : max;
	ahead->given += *nr;
	return ahead->given < batch->nr ? 1 : batch->more;
}

uint32_t read_ahead_pairs(const struct read_ahead *ahead)
{
	return trace_walk_pairs(ahead->walk);
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool has_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) > 1;
}

/* Blocks all signals in the new thread: the calling thread handles them. */
static void start_decoder(struct read_ahead *ahead)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ahead->has_decoder = !pthread_create(&ahead->decoder, NULL, decode, ahead);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static int init(struct read_ahead *ahead, const struct trace *trace, uint32_t event)
{
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->decoded, NULL);
	pthread_cond_init(&ahead->read, NULL);
	ahead->walk = trace_walk_new(trace, event);
	ahead->ring = aligned_alloc(64, NR_BATCHES * sizeof(*ahead->ring));
	if (!ahead->walk || !ahead->ring)
		return -ENOMEM;
	if (!trace_nr(trace, TRACE_COUNTERS))
		return 0;
	ahead->counters = calloc((size_t)NR_BATCHES * BATCH_SAMPLES, sizeof(*ahead->counters));
	return ahead->counters ? 0 : -ENOMEM;
}

/* A live trace has no decoder: few samples are read each time, and a thread costs more then. */
struct read_ahead *read_ahead_new(const struct trace *trace, uint32_t event)
{
	struct read_ahead *ahead = calloc(1, sizeof(*ahead));

	if (ahead && init(ahead, trace, event)) {
		read_ahead_free(ahead);
		ahead = NULL;
	}
	if (!ahead)
		errno = ENOMEM;
	else if (!trace->walks && has_cpus())
		start_decoder(ahead);
	return ahead;
}

static void end_decoder(struct read_ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_signal(&ahead->read);
	pthread_mutex_unlock(&ahead->lock);
	pthread_join(ahead->decoder, NULL);
}

void read_ahead_free(struct read_ahead *ahead)
{
	if (!ahead)
		return;
	if (ahead->has_decoder)
		end_decoder(ahead);
	pthread_cond_destroy(&ahead->read);
	pthread_cond_destroy(&ahead->decoded);
	pthread_mutex_destroy(&ahead->lock);
	trace_walk_free(ahead->walk);
	free(ahead->ring);
	free(ahead->counters);
	free(ahead);
}
