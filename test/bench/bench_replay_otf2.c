/*
 * bench_replay_otf2 TRACE: the samples and calls of a recorded program, written again in the order
 * of their times by this buffer and by the event writers of OTF2, as in figure 5 (left) of Wagner
 * and Knüpfer (2017): the same input for both, nothing is flushed, and only the library is timed.
 * OTF2 is given the numbers of calling contexts, as Score-P gives them; here finding them is a
 * part, and is shown apart as well. The paper's buffer took 5.1 % less time than OTF2.
 */
#include "bench.h"

#ifndef HAVE_OTF2
int main(int argc, char **argv)
{
	(void)argc;
	printf("%s: built without OTF2\n", argv[0]);
	return 77;
}
#else

#include <math.h>
#include <otf2/otf2.h>
#include <string.h>

#include "base/array.h"
#include "hmb/call.h"
#include "hmb/cct.h"
#include "hmb/hmb.h"
#include "recorded_samples.h"
#include "trace/call_stream.h"

enum { SIZE = 128 << 20, POOL = 512 << 20, CHUNK = 1 << 20, TURNS = 7 };

/* Everything, as it happened, and the parts of it for themselves. */
enum step_set { ALL, SAMPLES, CALLS, NR_SETS };

enum step_type { SAMPLE, CALL, ENTER, LEAVE };

/* A sample, a call as the buffer takes it, when it is left, or one end of a call as OTF2 takes it.
 */
struct step {
	uint64_t time;
	uint64_t number; /* order of equal times; a sample's or call's index */
	uint32_t thread;
	enum step_type type;
	size_t item;
};

struct steps {
	struct step *steps;
	size_t nr;
};

struct replay {
	const struct trace *trace;
	struct hmb_sample *samples;
	uint32_t *contexts; /* of a sample: OTF2's calling context */
	struct call *calls;
	size_t nr_samples, nr_calls;
	struct steps ours[NR_SETS], otf2[NR_SETS];
	unsigned time_shift;
	void *memory;
	unsigned char *pool;
	size_t pool_at;
	OTF2_EvtWriter **writers; /* by thread */
	uint32_t nr_writers;
	uint64_t otf2_events;
	size_t our_bytes; /* of the set that was written last */
};

/* The CPU time of this thread, ns: a turn is longer than the machine lets it run at a time. */
static uint64_t cpu_now(void)
{
	return bench_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void add_to(struct steps *to, struct step step)
{
	step.number = to->nr;
	if (ARRAY_ADD(to->steps, to->nr, step))
		exit(1);
}

static void add_step(struct steps sets[NR_SETS], enum step_type type, uint64_t time,
                     uint32_t thread, size_t item)
{
	const struct step step = {.time = time, .thread = thread, .type = type, .item = item};

	add_to(&sets[ALL], step);
	add_to(&sets[type == SAMPLE ? SAMPLES : CALLS], step);
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void sort(struct steps *steps)
{
	qsort(steps->steps, steps->nr, sizeof(*steps->steps), by_time);
}

/* Memory for good, one piece behind the other: what is read in order is at hand in the caches. */
static void *keep(const void *data, size_t size)
{
	static unsigned char *block;
	static size_t left;
	void *copy;

	size = (size + 7) / 8 * 8;
	if (size > left) {
		left = size > CHUNK ? size : CHUNK;
		block = malloc(left);
		if (!block)
			exit(1);
	}
	copy = memcpy(block, data, size);
	block += size;
	left -= size;
	return copy;
}

/* --- the input -------------------------------------------------------------------------------- */

static struct hmb_sample copy_sample(const struct trace *trace, const struct trace_sample *sample)
{
	uint64_t frames[RECORDED_MAX_PATH];
	size_t nr = recorded_stack(trace, sample, frames);

	return recorded_sample(trace, sample, keep(frames, nr * sizeof(*frames)), nr);
}

static void load_samples(struct replay *replay)
{
	struct trace_walk *walk = trace_walk_new(replay->trace, 0);
	struct trace_sample sample;
	size_t nr = 0;

	while (walk && trace_walk_next(walk, &sample) == 1) {
		if (ARRAY_ADD(replay->samples, replay->nr_samples,
		              copy_sample(replay->trace, &sample)) ||
		    ARRAY_ADD(replay->contexts, nr, sample.context))
			exit(1);
		add_step(replay->ours, SAMPLE, sample.time, sample.thread, nr - 1);
		add_step(replay->otf2, SAMPLE, sample.time, sample.thread, nr - 1);
	}
	trace_walk_free(walk);
}

static size_t copy_call(struct replay *replay, const struct call *call)
{
	struct call copy = *call;
	size_t i = replay->nr_calls;

	copy.parts = keep(call->parts, call->nr_parts * sizeof(*call->parts));
	if (ARRAY_ADD(replay->calls, replay->nr_calls, copy))
		exit(1);
	add_step(replay->ours, CALL, call->leave, call->thread, i);
	return i;
}

static void load_calls(struct replay *replay, const struct call_index *index, uint32_t thread)
{
	struct call_stream *stream = call_stream_new(index, thread);
	struct call_moment moment;
	size_t open[256], depth = 0;

	while (stream && call_stream_next(stream, &moment) == 1) {
		if (moment.type == CALL_ENTERED && depth < 256) {
			open[depth++] = copy_call(replay, moment.call);
			add_step(replay->otf2, ENTER, moment.time, thread, open[depth - 1]);
		} else if (moment.type == CALL_LEFT && depth) {
			add_step(replay->otf2, LEAVE, moment.time, thread, open[--depth]);
		}
	}
	call_stream_free(stream);
}

static bool load(struct replay *replay, const char *path)
{
	static const struct scratch nowhere = {.fd = -1};
	char why[TRACE_WHY_SIZE];
	struct trace *trace = trace_open(path, why);
	struct call_index *index = trace ? call_index_new(trace, &nowhere) : NULL;

	if (!index)
		return false;
	replay->trace = trace;
	replay->time_shift = recorded_time_shift(trace);
	load_samples(replay);
	for (uint32_t thread = 0; thread < index->nr_threads; thread++)
		load_calls(replay, index, thread);
	call_index_free(index);
	for (enum step_set set = 0; set < NR_SETS; set++) {
		sort(&replay->ours[set]);
		sort(&replay->otf2[set]);
	}
	return replay->nr_samples && replay->nr_calls;
}

/* --- this buffer ------------------------------------------------------------------------------ */

enum { KIND_SAMPLES, KIND_CALLS, NR_KINDS };

static struct hmb *buffer_new(struct replay *replay)
{
	struct hmb_config config = {
		.memory = replay->memory,
		.size = SIZE,
		.nr_kinds = NR_KINDS,
		.kinds = {[KIND_SAMPLES] = {.time_shift = replay->time_shift},
	                  [KIND_CALLS] = {.content = HMB_CALLS, .time_shift = 3}},
		.max_path = RECORDED_MAX_PATH,
		.truncated_frame = 1,
	};

	memset(replay->memory, 0, SIZE);
	return hmb_new(&config);
}

/* Returns the time for all steps of a set, ns. */
static double put_ours(struct replay *replay, enum step_set set)
{
	const struct steps *steps = &replay->ours[set];
	struct hmb *hmb = buffer_new(replay);
	uint64_t start = cpu_now();

	for (size_t i = 0; i < steps->nr; i++)
		if (steps->steps[i].type == SAMPLE)
			hmb_put(hmb, &replay->samples[steps->steps[i].item]);
		else
			hmb_put_call(hmb, KIND_CALLS, 0, &replay->calls[steps->steps[i].item]);
	start = cpu_now() - start;
	replay->our_bytes = hmb_used(hmb);
	hmb_free(hmb);
	return (double)start;
}

/* Returns the part of it that finds the contexts of all samples. */
static double find_contexts(struct replay *replay)
{
	struct hmb *hmb = buffer_new(replay);
	uint64_t start = cpu_now();

	for (size_t i = 0; i < replay->nr_samples; i++)
		cct_intern(hmb, &replay->samples[i]);
	start = cpu_now() - start;
	hmb_free(hmb);
	return (double)start;
}

/* --- OTF2 ------------------------------------------------------------------------------------- */

static void *take_chunk(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **own,
                        uint64_t size)
{
	struct replay *replay = arg;
	void *chunk = replay->pool + replay->pool_at;

	(void)type, (void)location, (void)own;
	if (size > POOL - replay->pool_at)
		return NULL;
	replay->pool_at += size;
	return chunk;
}

static void free_chunks(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **own,
                        bool final)
{
	(void)arg, (void)type, (void)location, (void)own, (void) final;
}

/* Whatever is asked to be flushed is thrown away. */
static OTF2_FlushType before_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location,
                                   void *caller, bool final)
{
	(void)arg, (void)type, (void)location, (void)caller, (void) final;
	return OTF2_NO_FLUSH;
}

static OTF2_TimeStamp after_flush(void *arg, OTF2_FileType type, OTF2_LocationRef location)
{
	(void)arg, (void)type, (void)location;
	return 0;
}

static OTF2_Archive *archive_new(struct replay *replay, const char *folder)
{
	static const OTF2_FlushCallbacks flush = {before_flush, after_flush};
	static const OTF2_MemoryCallbacks memory = {take_chunk, free_chunks};
	OTF2_Archive *archive =
		OTF2_Archive_Open(folder, "replay", OTF2_FILEMODE_WRITE, CHUNK, CHUNK,
	                          OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

	replay->pool_at = 0;
	OTF2_Archive_SetFlushCallbacks(archive, &flush, replay);
	OTF2_Archive_SetMemoryCallbacks(archive, &memory, replay);
	OTF2_Archive_SetSerialCollectiveCallbacks(archive);
	OTF2_Archive_OpenEvtFiles(archive);
	return archive;
}

static void write_begun(OTF2_EvtWriter *writer, uint64_t time, const struct call_part *part)
{
	uint32_t peer = (uint32_t)part->peer, tag = (uint32_t)part->tag;

	if (part->type == CALL_SEND)
		OTF2_EvtWriter_MpiSend(writer, NULL, time, peer, part->comm, tag, part->bytes);
	else if (part->type == CALL_SEND_POSTED)
		OTF2_EvtWriter_MpiIsend(writer, NULL, time, peer, part->comm, tag, part->bytes,
		                        part->request);
	else if (part->type == CALL_RECEIVE_POSTED)
		OTF2_EvtWriter_MpiIrecvRequest(writer, NULL, time, part->request);
	else if (part->type == CALL_COLLECTIVE)
		OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, time);
}

static void write_done(OTF2_EvtWriter *writer, uint64_t time, const struct call_part *part)
{
	uint32_t peer = (uint32_t)part->peer, tag = (uint32_t)part->tag;

	if (part->type == CALL_SEND_DONE)
		OTF2_EvtWriter_MpiIsendComplete(writer, NULL, time, part->request);
	else if (part->type == CALL_RECEIVE)
		OTF2_EvtWriter_MpiRecv(writer, NULL, time, peer, part->comm, tag, part->bytes);
	else if (part->type == CALL_RECEIVE_DONE)
		OTF2_EvtWriter_MpiIrecv(writer, NULL, time, peer, part->comm, tag, part->bytes,
		                        part->request);
	else if (part->type == CALL_COLLECTIVE)
		OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, time, OTF2_COLLECTIVE_OP_ALLREDUCE,
		                                part->comm, peer, part->bytes, part->bytes_in);
}

static void write_end_of_call(OTF2_EvtWriter *writer, const struct step *step,
                              const struct call *call)
{
	if (step->type == ENTER)
		OTF2_EvtWriter_Enter(writer, NULL, step->time, call->region);
	for (uint32_t i = 0; i < call->nr_parts; i++)
		if (step->type == ENTER)
			write_begun(writer, step->time, &call->parts[i]);
		else
			write_done(writer, step->time, &call->parts[i]);
	if (step->type == LEAVE)
		OTF2_EvtWriter_Leave(writer, NULL, step->time, call->region);
}

static void write_steps(struct replay *replay, const struct step *steps, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		OTF2_EvtWriter *writer = replay->writers[steps[i].thread];

		if (steps[i].type == SAMPLE)
			OTF2_EvtWriter_CallingContextSample(
				writer, NULL, steps[i].time, replay->contexts[steps[i].item],
				replay->samples[steps[i].item].path_size + 1, 0);
		else
			write_end_of_call(writer, &steps[i], &replay->calls[steps[i].item]);
	}
}

static void open_writers(struct replay *replay, OTF2_Archive *archive)
{
	replay->nr_writers = 0;
	while (trace_thread(replay->trace, replay->nr_writers))
		replay->nr_writers++;
	replay->writers = calloc(replay->nr_writers + 1, sizeof(OTF2_EvtWriter *));
	for (uint32_t i = 0; i < replay->nr_writers; i++)
		replay->writers[i] = OTF2_Archive_GetEvtWriter(archive, i);
}

static void close_writers(struct replay *replay, OTF2_Archive *archive)
{
	uint64_t events;

	replay->otf2_events = 0;
	for (uint32_t i = 0; i < replay->nr_writers; i++) {
		OTF2_EvtWriter_GetNumberOfEvents(replay->writers[i], &events);
		replay->otf2_events += events;
		OTF2_Archive_CloseEvtWriter(archive, replay->writers[i]);
	}
	free(replay->writers);
}

/* Returns the time for all steps of a set, ns. */
static double put_otf2(struct replay *replay, enum step_set set)
{
	char folder[] = "/tmp/bench_replay_XXXXXX", command[64];
	OTF2_Archive *archive;
	uint64_t start;

	if (!mkdtemp(folder))
		exit(1);
	archive = archive_new(replay, folder);
	open_writers(replay, archive);
	start = cpu_now();
	write_steps(replay, replay->otf2[set].steps, replay->otf2[set].nr);
	start = cpu_now() - start;
	close_writers(replay, archive);
	OTF2_Archive_CloseEvtFiles(archive);
	OTF2_Archive_Close(archive);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	if (system(command))
		exit(1);
	return (double)start;
}

/* --- figures ---------------------------------------------------------------------------------- */

struct times {
	double ours[NR_SETS], otf2[NR_SETS], contexts; /* ns */
};

static void print(const struct replay *replay, const struct times *least)
{
	double samples = (double)replay->nr_samples, calls = (double)replay->nr_calls;

	bench_head("replay: samples and calls, against OTF2", "ns each");
	bench_figure("sample", least->ours[SAMPLES] / samples, "CallingContextSample",
	             least->otf2[SAMPLES] / samples, "");
	bench_figure("  of that, finding its context", least->contexts / samples, "", 0, "");
	bench_figure("call", least->ours[CALLS] / calls, "enter, messages, leave",
	             least->otf2[CALLS] / calls, "");
	printf("  %zu samples and %zu calls, %llu events of OTF2: %.2f times the CPU time of OTF2 "
	       "(paper: "
	       "0.95), %.1f MB instead of %.1f\n",
	       replay->nr_samples, replay->nr_calls, (unsigned long long)replay->otf2_events,
	       least->ours[ALL] / least->otf2[ALL], (double)replay->our_bytes / 1e6,
	       (double)replay->pool_at / 1e6);
}

static void measure(struct replay *replay)
{
	struct times least = {{1e18, 1e18, 1e18}, {1e18, 1e18, 1e18}, 1e18};

	for (unsigned i = 0; i < TURNS; i++) {
		least.contexts = fmin(least.contexts, find_contexts(replay));
		for (enum step_set set = NR_SETS; set-- > 0;) {
			least.ours[set] = fmin(least.ours[set], put_ours(replay, set));
			least.otf2[set] = fmin(least.otf2[set], put_otf2(replay, set));
		}
	}
	print(replay, &least);
}

int main(int argc, char **argv)
{
	struct replay *replay = calloc(1, sizeof(*replay));

	if (argc < 2)
		return 0;
	if (!replay || !load(replay, argv[1])) {
		fprintf(stderr, "bench_replay_otf2: %s holds nothing to replay\n", argv[1]);
		return 1;
	}
	replay->memory = bench_memory(SIZE);
	replay->pool = bench_memory(POOL);
	measure(replay);
	return 0;
}
#endif
