/*
 * bench_unwind [COMMAND...]: what a walked frame costs, by both engines on the same samples.
 *
 * Samples of the command (else of deep recursion in this program itself) are recorded first, then
 * walked again and again, by each engine in turn and in the same state:
 *
 *   cold    the first time, rules not yet known; "stall" is the longest of these walks
 *   memory  from sample to sample of a long row: the rules are known, and in the caches as far as
 *           they stay there between one use and the next; the copied stacks are in none
 *   warm    as a recorder meets them: the rules as above, but the stacks were written into a ring
 * of 512 KiB by another CPU just now, have to come out of its cache line by line, and are read by
 * the recorder's own reader hot     the same sample repeatedly: all is in the first cache
 *
 * Each is the least of several passes; for "warm", where the other CPU can be taken away in the
 * midst, the least time of each batch of samples.
 *
 * As in a recording, the samples of a thread follow each other, and ours need not look again for
 * the rules of frames that are as the thread's sample before had them.
 */
#include "perf/ring.h"
#include "symbolize/unwind.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_SAMPLES 3000
#define MAX_FRAMES  512
#define STACK_SIZE  16384
#define RING_SIZE   (8 << 20)
#define REPEATS     7
#define SMALL_RING  (512 << 10) /* what users without privileges may have */
#define BATCH       24          /* samples that it holds */
#define NR_BATCHES  ((MAX_SAMPLES + BATCH - 1) / BATCH)

struct record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t rest[];
};

struct engine {
	const char *name;
	struct module_table *modules;
	struct unwinder *unwinder;
	struct space *space;
	double cold, memory, warm, hot; /* ns a frame */
	double stall;                   /* ns */
	unsigned long frames;
	uint64_t least[NR_BATCHES]; /* the time that a batch took, ns; 0: not known */
};

struct bench {
	pid_t pid;
	int fd;
	struct perf_event_mmap_page *ring;
	struct record *samples[MAX_SAMPLES];
	unsigned nr_samples;
	struct engine engines[2];
	struct batch {
		pthread_t writer;
		sem_t wanted, written;
		unsigned first, nr; /* samples; nr 0: the end */
		struct perf_event_mmap_page page;
		struct ring ring;
	} batch;
};

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

/* -- recording -------------------------------------------------------------------------------- */

static void enter_mapping(struct engine *engine, const struct record *record)
{
	const uint32_t *device = (const uint32_t *)&record->rest[3];
	struct module_file file = {
		.path = (const char *)&record->rest[7],
		.pid = (pid_t)record->pid,
		.start = record->rest[0],
		.end = record->rest[0] + record->rest[1],
		.dev = makedev(device[0], device[1]),
		.ino = record->rest[4],
		.ino_generation = record->rest[5],
	};
	struct mapping mapping = {.start = file.start, .end = file.end};

	if (!strcmp(file.path, "[vdso]"))
		mapping.module = module_table_vdso(engine->modules);
	else if (file.path[0] == '/' && file.path[1] != '/')
		mapping.module = module_table_file(engine->modules, &file);
	else
		mapping.module = module_table_anon(engine->modules, file.pid, file.start);
	if (!mapping.module)
		return;
	mapping.bias = mapping.module->kind == MODULE_ANON
	                       ? mapping.module->window << 32
	                       : file.start - module_vaddr(mapping.module, record->rest[2]);
	space_map(engine->space, &mapping);
}

static void take_record(struct bench *bench, const struct record *record)
{
	unsigned i;

	if (record->pid != (uint32_t)bench->pid)
		return;
	for (i = 0; record->header.type == PERF_RECORD_MMAP2 && i < 2; i++)
		enter_mapping(&bench->engines[i], record);
	if (record->header.type != PERF_RECORD_SAMPLE || bench->nr_samples == MAX_SAMPLES)
		return;
	bench->samples[bench->nr_samples] = malloc(record->header.size);
	memcpy(bench->samples[bench->nr_samples++], record, record->header.size);
}

static void drain(struct bench *bench)
{
	static union {
		struct record record;
		char bytes[UINT16_MAX + 1];
	} whole;
	char *data = (char *)bench->ring + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&bench->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = bench->ring->data_tail;

	while (tail < head) {
		size_t at = tail % RING_SIZE, before = RING_SIZE - at;
		const struct perf_event_header *header = (void *)(data + at);
		size_t size = header->size;

		memcpy(whole.bytes, data + at, size < before ? size : before);
		if (size > before)
			memcpy(whole.bytes + before, data, size - before);
		take_record(bench, &whole.record);
		tail += size;
	}
	__atomic_store_n(&bench->ring->data_tail, tail, __ATOMIC_RELEASE);
}

/* One CPU, so that one ring has all the records, in their order. */
static bool sampling_open(struct bench *bench)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 250000,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = unwind_regs_mask(),
		.sample_stack_user = STACK_SIZE,
		.exclude_kernel = 1,
		.mmap = 1,
		.mmap2 = 1,
		.disabled = 1,
		.enable_on_exec = 1,
	};

	bench->fd =
		(int)syscall(SYS_perf_event_open, &attr, bench->pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (bench->fd < 0)
		return false;
	bench->ring = mmap(NULL, RING_SIZE + sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
	                   MAP_SHARED, bench->fd, 0);
	return bench->ring != MAP_FAILED;
}

static bool record(struct bench *bench, char **command)
{
	struct pollfd ready = {.events = POLLIN};
	int go[2], status;
	bool open;
	char byte;

	if (pipe(go))
		return false;
	bench->pid = fork();
	if (bench->pid == 0) {
		close(go[1]);
		if (read(go[0], &byte, 1) == 0)
			execvp(command[0], command);
		_exit(127);
	}
	bench->engines[0].space = space_new(bench->pid);
	bench->engines[1].space = space_new(bench->pid);
	open = sampling_open(bench);
	close(go[1]);
	ready.fd = bench->fd;
	while (open && bench->nr_samples < MAX_SAMPLES && !waitpid(bench->pid, &status, WNOHANG)) {
		poll(&ready, 1, 10);
		drain(bench);
	}
	if (open)
		drain(bench);
	kill(bench->pid, SIGKILL);
	waitpid(bench->pid, &status, 0);
	return open && bench->nr_samples > 0;
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
static double pass(struct bench *bench, struct engine *engine, unsigned times)
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

static void ring_write(struct batch *batch, const struct record *record)
{
	struct ring *ring = &batch->ring;
	uint64_t head = batch->page.data_head;
	size_t at = head % ring->size, before = ring->size - at, size = record->header.size;

	memcpy(ring->data + at, record, size < before ? size : before);
	if (size > before)
		memcpy(ring->data, (const char *)record + before, size - before);
	__atomic_store_n(&batch->page.data_head, head + size, __ATOMIC_RELEASE);
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
			ring_write(batch, bench->samples[batch->first + i]);
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

static unsigned long batch_walk(struct batch *batch, struct engine *engine)
{
	unsigned long frames = 0;
	const struct record *record;
	size_t size;

	ring_refresh(&batch->ring);
	while ((record = ring_peek(&batch->ring, &size)) != NULL) {
		frames += walk(engine, record);
		ring_consume(&batch->ring, size);
	}
	ring_release(&batch->ring);
	return frames;
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
		frames += batch_walk(batch, engine);
		spent = now_ns() - start;
		if (!*least || spent < *least)
			*least = spent;
		all += *least++;
	}
	return (double)all / (double)(frames ? frames : 1);
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
	unsigned i, j;

	batch_begin(bench);
	for (i = 0; i < REPEATS; i++) {
		for (j = 0; j < 2; j++) {
			struct engine *engine = &bench->engines[j];

			if (i == 0)
				pass_cold(bench, engine);
			keep_best(&engine->memory, pass(bench, engine, 1));
			keep_best(&engine->warm, pass_ring(bench, engine));
			keep_best(&engine->hot, pass(bench, engine, j == 0 ? 20 : 3));
		}
	}
	batch_end(bench);
	engine_print(ours, bench->nr_samples);
	engine_print(theirs, bench->nr_samples);
	printf("libunwind / rules: memory %.1f, warm %.1f (goal 20), hot %.1f\n",
	       theirs->memory / ours->memory, theirs->warm / ours->warm, theirs->hot / ours->hot);
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
