#include "output/convert/spool.h"

#include "trace/read_ahead.h"
#include "base/scratch.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFERS_SIZE    (1 << 20) /* samples, of all threads together */
#define MIN_BUFFER_SIZE 16
#define MAX_BUFFER_SIZE 4096

static struct spool_thread *thread_of(struct spool *spool, uint32_t thread)
{
	return &spool->threads[thread < spool->nr_threads ? thread : spool->nr_threads - 1];
}

/* --- the first walk: who has how many --------------------------------------------------------- */

static int count_sample(void *arg, const struct trace_sample *sample)
{
	struct spool *spool = arg;

	thread_of(spool, sample->thread)->nr++;
	return convert_step(spool->conversion);
}

static int make_room(struct spool *spool)
{
	uint64_t start = 0;
	uint32_t active = 0;

	for (uint32_t i = 0; i < spool->nr_threads; i++) {
		spool->threads[i].start = start;
		start += spool->threads[i].nr;
		spool->threads[i].buffer = spool->threads[i].nr ? ++active : 0;
	}
	spool->buffer_size = BUFFERS_SIZE / (active + 1);
	if (spool->buffer_size > MAX_BUFFER_SIZE)
		spool->buffer_size = MAX_BUFFER_SIZE;
	if (spool->buffer_size < MIN_BUFFER_SIZE)
		spool->buffer_size = MIN_BUFFER_SIZE;
	spool->buffers = calloc((size_t)(active + 1) * spool->buffer_size, spool->entry_size);
	spool->read = calloc(SPOOL_READ, spool->entry_size);
	return spool->buffers && spool->read ? 0 : -ENOMEM;
}

/* --- the second walk: to their places --------------------------------------------------------- */

static unsigned char *buffer_of(const struct spool *spool, const struct spool_thread *thread)
{
	return spool->buffers +
	       (size_t)(thread->buffer - 1) * spool->buffer_size * spool->entry_size;
}

static int flush_thread(struct spool *spool, struct spool_thread *thread)
{
	int err = scratch_write(spool->fd, buffer_of(spool, thread),
	                        thread->buffered * spool->entry_size,
	                        (off_t)((thread->start + thread->done) * spool->entry_size));

	if (err)
		return err;
	thread->done += thread->buffered;
	thread->buffered = 0;
	return 0;
}

static uint32_t find_rate(struct spool *spool, const struct trace_sample *sample)
{
	uint64_t key = (uint64_t)sample->event << 32 | sample->cpu;
	uint32_t rate = map64_number(&spool->rate_by_key, key);
	struct spool_rate added = {.event = sample->event, .weight = sample->weight};

	if (rate < spool->nr_rates)
		return rate;
	if (rate == UINT32_MAX || ARRAY_ADD(spool->rates, spool->nr_rates, added))
		return UINT32_MAX;
	return rate;
}

static void note_time(struct spool *spool, uint64_t time)
{
	if (!spool->last_time || time < spool->first_time)
		spool->first_time = time;
	if (time > spool->last_time)
		spool->last_time = time;
}

static void put_entry(const struct spool *spool, unsigned char *at,
                      const struct spool_sample *entry, const struct trace_sample *sample)
{
	static const uint64_t none[COUNTER_MAX];

	memcpy(at, entry, sizeof(*entry));
	memcpy(at + sizeof(*entry), sample->nr_counters ? sample->counters + 1 : none,
	       spool->nr_counters * sizeof(*none));
}

static int store_sample(struct spool *spool, const struct trace_sample *sample, uint32_t path)
{
	struct spool_thread *thread = thread_of(spool, sample->thread);
	uint32_t rate = find_rate(spool, sample);

	if (rate == UINT32_MAX)
		return -ENOMEM;
	if (thread->done + thread->buffered == thread->nr) /* the file changes as we read it */
		return -EBADMSG;
	note_time(spool, sample->time);
	if (sample->time > thread->last_time)
		thread->last_time = sample->time;
	put_entry(spool, buffer_of(spool, thread) + thread->buffered++ * spool->entry_size,
	          &(struct spool_sample){thread->last_time, path, rate}, sample);
	return thread->buffered == spool->buffer_size ? flush_thread(spool, thread) : 0;
}

static int store_some(struct spool *spool, const struct trace_sample *samples, unsigned nr)
{
	uint32_t paths[PATH_BATCH];
	int err = paths_find_some(&spool->paths, samples, nr, paths);

	for (unsigned i = 0; i < nr && !err; i++) {
		err = store_sample(spool, &samples[i], paths[i]);
		if (!err)
			err = convert_step(spool->conversion);
	}
	return err;
}

static int store_samples(struct spool *spool, uint32_t event)
{
	struct read_ahead *ahead = read_ahead_new(spool->paths.trace, event);
	const struct trace_sample *samples;
	int got = 1, err = 0;
	unsigned nr;

	if (!ahead)
		return -errno;
	err = path_tree_use_pairs(&spool->paths.tree, read_ahead_pairs(ahead));
	while (got == 1 && !err) {
		got = read_ahead_some(ahead, PATH_BATCH, &samples, &nr);
		err = store_some(spool, samples, nr);
	}
	read_ahead_free(ahead);
	if (!err)
		err = got;
	for (uint32_t i = 0; i < spool->nr_threads && !err; i++)
		if (spool->threads[i].buffered)
			err = flush_thread(spool, &spool->threads[i]);
	free(spool->buffers);
	spool->buffers = NULL;
	return err;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* The index of calls uses the room in the file behind the samples. */
static int find_calls(struct spool *spool)
{
	const struct spool_thread *last = &spool->threads[spool->nr_threads - 1];
	off_t page = sysconf(_SC_PAGESIZE);
	off_t end = (off_t)((last->start + last->nr) * spool->entry_size);
	const struct scratch scratch = {spool->fd, (end + page - 1) / page * page};

	spool->calls = call_index_new(spool->paths.trace, &scratch);
	if (!spool->calls)
		return -errno;
	if (spool->calls->last_time) {
		note_time(spool, spool->calls->first_time);
		note_time(spool, spool->calls->last_time);
	}
	return 0;
}

static int spool_init(struct spool *spool, enum path_detail detail, uint32_t event)
{
	const struct trace *trace = spool->conversion->trace;
	int err;

	if (paths_init(&spool->paths, trace, detail))
		return -ENOMEM;
	spool->nr_threads = trace_nr(trace, TRACE_THREADS) + 1;
	spool->nr_counters = trace_nr(trace, TRACE_COUNTERS);
	spool->entry_size = sizeof(struct spool_sample) + spool->nr_counters * sizeof(uint64_t);
	spool->threads = calloc(spool->nr_threads, sizeof(*spool->threads));
	spool->fd = scratch_open(spool->conversion->scratch);
	if (!spool->threads || spool->fd < 0)
		return spool->threads ? spool->fd : -ENOMEM;
	err = trace_each_sample(trace_walk_unordered(trace, event), count_sample, spool);
	if (!err)
		err = make_room(spool);
	if (!err)
		err = store_samples(spool, event);
	return err ? err : find_calls(spool);
}

struct spool *spool_new(struct conversion *conversion, enum path_detail detail, uint32_t event)
{
	struct spool *spool = calloc(1, sizeof(*spool));
	int err;

	if (!spool)
		return NULL;
	spool->conversion = conversion;
	spool->fd = -1;
	err = spool_init(spool, detail, event);
	if (!err)
		return spool;
	spool_free(spool);
	errno = -err;
	return NULL;
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	if (spool->fd >= 0)
		close(spool->fd);
	paths_fini(&spool->paths);
	call_index_free(spool->calls);
	map64_fini(&spool->rate_by_key);
	free(spool->threads);
	free(spool->rates);
	free(spool->buffers);
	free(spool->read);
	free(spool);
}

void spool_open(struct spool *spool, uint32_t thread)
{
	spool->at = spool->threads[thread].start;
	spool->end = spool->at + spool->threads[thread].nr;
	spool->nr_read = spool->next_read = 0;
}

static int refill(struct spool *spool)
{
	uint64_t wanted = spool->end - spool->at;
	ssize_t size;

	if (wanted > SPOOL_READ)
		wanted = SPOOL_READ;
	do
		size = pread(spool->fd, spool->read, wanted * spool->entry_size,
		             (off_t)(spool->at * spool->entry_size));
	while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;
	spool->nr_read = (uint32_t)((size_t)size / spool->entry_size);
	spool->next_read = 0;
	spool->at += spool->nr_read;
	return spool->nr_read ? 0 : -EIO;
}

int spool_next(struct spool *spool, struct spool_sample *sample)
{
	int err;

	if (spool->next_read == spool->nr_read) {
		if (spool->at == spool->end)
			return 0;
		err = refill(spool);
		if (err)
			return err;
	}
	memcpy(sample, spool->read + spool->next_read++ * spool->entry_size, sizeof(*sample));
	return 1;
}

const uint64_t *spool_counters(const struct spool *spool)
{
	return (const void *)(spool->read + (spool->next_read - 1) * spool->entry_size +
	                      sizeof(struct spool_sample));
}

int spool_tell_calls(const struct spool *spool, uint32_t thread, spool_moment_fn *fn, void *arg)
{
	struct call_stream *stream;
	struct call_moment moment;
	uint64_t nr = 0;
	int got, err = 0;

	if (!spool_has_calls(spool, thread))
		return 0;
	stream = call_stream_new(spool->calls, thread);
	if (!stream)
		return -errno;
	while (!err && (got = call_stream_next(stream, &moment)) == 1) {
		fn(arg, &moment);
		err = ++nr % (1 << 16) ? 0 : convert_tick(spool->conversion);
	}
	call_stream_free(stream);
	return err ? err : got;
}

uint64_t spool_start(const struct spool *spool)
{
	uint64_t start = trace_run(spool->paths.trace)->start;

	return spool->last_time && spool->first_time < start ? spool->first_time : start;
}
