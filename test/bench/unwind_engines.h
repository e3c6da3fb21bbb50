/* Samples of a command, and the two engines that walk them. */
#ifndef UNWIND_ENGINES_H
#define UNWIND_ENGINES_H

#include "perf/sampler/kernel_ring.h"
#include "symbolize/unwind/unwind.h"

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
#define LARGE_RING  (64 << 20)  /* for all samples */
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
	unsigned char *large; /* all of them, one behind the other */
	size_t large_size;
	struct engine engines[2];
	struct batch {
		pthread_t writer;
		sem_t wanted, written;
		unsigned first, nr; /* samples; nr 0: the end */
		struct perf_event_mmap_page page;
		struct ring ring;
	} batch;
};

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
	mapping.bias = mapping.module->type == MODULE_ANON
	                       ? 0
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

#endif
