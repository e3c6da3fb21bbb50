/*
 * bench_unwind [COMMAND...]: what a walked frame costs, by both engines on the same samples.
 *
 * Samples of the command (else of deep recursion in this program itself) are recorded first, then
 * walked again and again, by each engine in turn and in the same state:
 *
 *   cold    the first time, rules not yet known; "stall" is the longest of these walks
 *   memory  from sample to sample of a long row, by the recorder's own reader: the rules are
 *           known, and in the caches as far as they stay there between one use and the next; the
 *           copied stacks are in none
 *   warm    as a recorder meets them: likewise, but the stacks were written into a ring of 512 KiB
 *           by another CPU just now, and have to come out of its cache line by line
 *   hot     the same sample repeatedly: all is in the first cache
 *
 * Each is the least of several passes; for "warm", where the other CPU can be taken away in the
 * midst, the least time of each batch of samples.
 *
 * As in a recording, the samples of a thread follow each other, and ours need not look again for
 * the rules of frames that are as the thread's sample before had them.
 */
#include "unwind_engines.h"

/* -- what is sampled by default --------------------------------------------------------------- */

static volatile unsigned sink;

__attribute__((noinline)) static unsigned recurse(unsigned depth, unsigned n)
{
	volatile unsigned room[16];

	room[depth % 16] = n;
	if (depth)
		return recurse(depth - 1, n * 3 + depth) + room[depth % 16];
	while (n % 4096)
		n++;
	return n;
}

static int work(void)
{
	unsigned i;

	for (i = 0; i < 300000; i++)
		sink += recurse(10 + i % 20, i);
	return 0;
}

/* -- measuring -------------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool sample_of(const struct record *record, struct unwind_sample *sample)
{
	unsigned nr_regs = (unsigned)__builtin_popcountll(unwind_regs_mask());
	const uint64_t *regs = record->rest + 1, *size = regs + nr_regs;

	*sample = (struct unwind_sample){.regs = regs, .tid = (pid_t)record->tid};
	if (record->rest[0] != PERF_SAMPLE_REGS_ABI_64 || *size == 0)
		return false;
	sample->stack = (const unsigned char *)(size + 1);
	sample->stack_size = *(const uint64_t *)(sample->stack + *size);
	return true;
}

static unsigned walk(struct engine *engine, const struct record *record)
{
	uint64_t frames[MAX_FRAMES];
	struct unwind_sample sample;
	enum unwind_end end;

	if (!sample_of(record, &sample))
		return 0;
	return unwinder_walk(engine->unwinder, engine->space, &sample, frames, MAX_FRAMES, &end);
}

/* Walks every sample a number of times in a row: ns a frame. */
static double pass_hot(struct bench *bench, struct engine *engine, unsigned times)
{
	unsigned long frames = 0;
	uint64_t start = now_ns();
	unsigned i, j;

	for (i = 0; i < bench->nr_samples; i++)
		for (j = 0; j < times; j++)
			frames += walk(engine, bench->samples[i]);
	engine->frames = frames / times;
	return (double)(now_ns() - start) / (double)(frames ? frames : 1);
}

/* The first walk of every sample, each timed by itself: what the clock costs is taken off. */
static void pass_cold(struct bench *bench, struct engine *engine)
{
	uint64_t start, spent, all = 0, clock = UINT64_MAX;
	unsigned long frames = 0;
	unsigned i;

	for (i = 0; i < 1000; i++) {
		start = now_ns();
		spent = now_ns() - start;
		clock = spent < clock ? spent : clock;
	}
	for (i = 0; i < bench->nr_samples; i++) {
		start = now_ns();
		frames += walk(engine, bench->samples[i]);
		spent = now_ns() - start;
		spent -= spent < clock ? spent : clock;
		all += spent;
		if ((double)spent > engine->stall)
			engine->stall = (double)spent;
	}
	engine->cold = (double)all / (double)(frames ? frames : 1);
}

static void stay_on_cpu(unsigned which)
{
	unsigned cpu = which % (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void ring_write(struct ring *ring, const struct record *record)
{
	uint64_t head = ring->page->data_head;
	size_t at = head % ring->size, before = ring->size - at, size = record->header.size;

	memcpy(ring->data + at, record, size < before ? size : before);
	if (size > before)
		memcpy(ring->data, (const char *)record + before, size - before);
	__atomic_store_n(&ring->page->data_head, head + size, __ATOMIC_RELEASE);
}

/* The other CPU, in the place of the kernel: writes samples into the ring. */
static void *batch_write(void *arg)
{
	struct bench *bench = arg;
	struct batch *batch = &bench->batch;
	unsigned i;

	stay_on_cpu(1);
	for (;;) {
		sem_wait(&batch->wanted);
		if (batch->nr == 0)
			return NULL;
		for (i = 0; i < batch->nr; i++)
			ring_write(&batch->ring, bench->samples[batch->first + i]);
		sem_post(&batch->written);
	}
}

static void batch_begin(struct bench *bench)
{
	struct batch *batch = &bench->batch;

	stay_on_cpu(0);
	sem_init(&batch->wanted, 0, 0);
	sem_init(&batch->written, 0, 0);
	ring_attach(&batch->ring, &batch->page, malloc(SMALL_RING), SMALL_RING,
	            malloc(UINT16_MAX + 1));
	pthread_create(&batch->writer, NULL, batch_write, bench);
}

static void batch_end(struct bench *bench)
{
	bench->batch.nr = 0;
	sem_post(&bench->batch.wanted);
	pthread_join(bench->batch.writer, NULL);
	free(bench->batch.ring.data);
	free(bench->batch.ring.wrapped);
}

static unsigned long ring_walk(struct ring *ring, struct engine *engine)
{
	unsigned long frames = 0;
	const struct record *record;
	size_t size;

	ring_refresh(ring);
	while ((record = ring_peek(ring, &size)) != NULL) {
		frames += walk(engine, record);
		ring_consume(ring, size);
	}
	ring_release(ring);
	return frames;
}

/* Walks every sample once, from a ring that has them all: ns a frame. */
static double pass_memory(struct bench *bench, struct engine *engine)
{
	struct perf_event_mmap_page page = {.data_head = bench->large_size};
	unsigned char *wrapped = malloc(UINT16_MAX + 1);
	unsigned long frames;
	struct ring ring;
	uint64_t start;

	ring_attach(&ring, &page, bench->large, LARGE_RING, wrapped);
	start = now_ns();
	frames = ring_walk(&ring, engine);
	start = now_ns() - start;
	free(wrapped);
	return (double)start / (double)(frames ? frames : 1);
}

/* Walks every sample once, in batches that were written just now: ns a frame, at best. */
static double pass_ring(struct bench *bench, struct engine *engine)
{
	struct batch *batch = &bench->batch;
	unsigned long frames = 0;
	uint64_t all = 0, start, spent, *least = engine->least;
	unsigned left;

	for (batch->first = 0; batch->first < bench->nr_samples; batch->first += batch->nr) {
		left = bench->nr_samples - batch->first;
		batch->nr = left < BATCH ? left : BATCH;
		sem_post(&batch->wanted);
		sem_wait(&batch->written);
		start = now_ns();
		frames += ring_walk(&batch->ring, engine);
		spent = now_ns() - start;
		if (!*least || spent < *least)
			*least = spent;
		all += *least++;
	}
	return (double)all / (double)(frames ? frames : 1);
}

static void large_fill(struct bench *bench)
{
	struct perf_event_mmap_page page = {0};
	struct ring ring;

	bench->large = malloc(LARGE_RING);
	ring_attach(&ring, &page, bench->large, LARGE_RING, NULL);
	for (unsigned i = 0; i < bench->nr_samples; i++)
		ring_write(&ring, bench->samples[i]);
	bench->large_size = page.data_head;
}

static void keep_best(double *best, double value)
{
	if (*best == 0 || value < *best)
		*best = value;
}

static void engine_print(const struct engine *engine, unsigned nr_samples)
{
	struct unwind_stats stats;

	unwinder_stats(engine->unwinder, &stats);
	printf("%-10s %5.1f frames a sample, %6.2f %% complete, %5.2f %% stitched;"
	       "  ns a frame: cold %7.1f  memory %6.1f  warm %6.1f  hot %6.1f;  stall %.3f ms\n",
	       engine->name, (double)engine->frames / nr_samples,
	       100.0 * (double)stats.complete / (double)stats.walks,
	       100.0 * (double)stats.stitched / (double)stats.walks, engine->cold, engine->memory,
	       engine->warm, engine->hot, engine->stall / 1e6);
}

static void measure(struct bench *bench)
{
	struct engine *ours = &bench->engines[0], *theirs = &bench->engines[1];
	double frames;
	unsigned i, j;

	large_fill(bench);
	batch_begin(bench);
	for (i = 0; i < REPEATS; i++) {
		for (j = 0; j < 2; j++) {
			struct engine *engine = &bench->engines[j];

			if (i == 0)
				pass_cold(bench, engine);
			keep_best(&engine->memory, pass_memory(bench, engine));
			keep_best(&engine->warm, pass_ring(bench, engine));
			keep_best(&engine->hot, pass_hot(bench, engine, j == 0 ? 20 : 3));
		}
	}
	batch_end(bench);
	engine_print(ours, bench->nr_samples);
	engine_print(theirs, bench->nr_samples);
	/* Stacks that are cut are completed by one of them alone. */
	frames = (double)theirs->frames / (double)ours->frames;
	printf("libunwind / rules, a sample: memory %.1f, warm %.1f (goal 20), hot %.1f\n",
	       frames * theirs->memory / ours->memory, frames * theirs->warm / ours->warm,
	       frames * theirs->hot / ours->hot);
}

/* -- truth ------------------------------------------------------------------------------------ */

struct cut_count {
	unsigned cut, completed, wrong;
};

/* Cuts a sample's stack, and compares what its thread's chain makes of it with the whole. */
static void compare_cut(struct engine *engine, const struct record *record, size_t size,
                        struct cut_count *count)
{
	uint64_t frames[MAX_FRAMES], truth[MAX_FRAMES];
	struct unwind_sample sample;
	enum unwind_end end;
	unsigned nr, nr_truth;

	if (!sample_of(record, &sample))
		return;
	sample.tid = 0; /* by itself */
	nr_truth = unwinder_walk(engine->unwinder, engine->space, &sample, truth, MAX_FRAMES, &end);
	if (end != UNWIND_COMPLETE)
		return;
	sample.tid = (pid_t)record->tid;
	if (sample.stack_size > size)
		sample.stack_size = size;
	nr = unwinder_walk(engine->unwinder, engine->space, &sample, frames, MAX_FRAMES, &end);
	count->cut += end != UNWIND_COMPLETE;
	count->completed += end == UNWIND_STITCHED;
	count->wrong += end != UNWIND_TRUNCATED &&
	                (nr != nr_truth || memcmp(frames, truth, nr * sizeof(*frames)));
}

/*
 * Cut stacks that are completed must be as they were, and whole ones the same whether a thread's
 * past is made use of or not. The process has ended: no memory is read.
 */
static void check_cuts(struct bench *bench)
{
	struct engine *engine = &bench->engines[0];

	for (size_t size = STACK_SIZE / 4; size <= STACK_SIZE; size *= 2) {
		struct cut_count count = {0};

		unwinder_forget(engine->unwinder, bench->pid);
		for (unsigned i = 0; i < bench->nr_samples; i++)
			compare_cut(engine, bench->samples[i], size, &count);
		printf("cut at %zu bytes: %u of %u, completed %u, wrong %u (goal 0)\n", size,
		       count.cut, bench->nr_samples, count.completed, count.wrong);
	}
}

int main(int argc, char **argv)
{
	static struct bench bench = {.engines = {{"rules"}, {"libunwind"}}};
	char *self[] = {"/proc/self/exe", "--work", NULL};

	if (argc == 2 && !strcmp(argv[1], "--work"))
		return work();
	bench.engines[0].modules = module_table_new();
	bench.engines[1].modules = module_table_new();
	bench.engines[0].unwinder = unwinder_new(bench.engines[0].modules, UNWIND_RULES);
	bench.engines[1].unwinder = unwinder_new(bench.engines[1].modules, UNWIND_LIBUNWIND);
	if (!record(&bench, argc > 1 ? argv + 1 : self)) {
		fprintf(stderr, "bench_unwind: cannot sample here: %s\n", strerror(errno));
		return 77;
	}
	measure(&bench);
	check_cuts(&bench);
	return 0;
}
