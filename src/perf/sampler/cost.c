#include "perf/sampler/cost.h"

#include "base/clock.h"
#include "perf/events/event.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A multiple of what a sample costs in a virtual machine: a period near the price is a standstill.
 */
#define PERIOD_NS    97081
#define TRY_NS       5000000
#define TRIES        4
#define TRIES_MAX    8 /* where another task took the CPU in some */
#define SAMPLES_MIN  8 /* for a try to count */
#define SLICES_MAX   4096
#define SLICE_STEPS  3000 /* some µs of work */
#define CHAIN_FRAMES 32
#define RING_SIZE    (256 << 10) /* three of the largest samples */

/* Two groups of slices of the same work: those in which a sample was taken, and the rest. */
struct spin {
	struct perf_event_mmap_page *page;
	const char *ring;
	uint32_t nr_hit, nr_clear;
	uint64_t hit[SLICES_MAX], clear[SLICES_MAX]; /* ns */
};

/* Empties the ring. How many samples were in it. */
static unsigned drain(const struct spin *spin)
{
	/* pairs with the kernel's release of what it has written */
	uint64_t head = __atomic_load_n(&spin->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = spin->page->data_tail;
	unsigned nr = 0;

	while (tail < head) {
		const void *at = spin->ring + (tail & (RING_SIZE - 1));
		const struct perf_event_header *record = at; /* of 8 bytes, so never split */

		if (record->size < sizeof(*record))
			break;
		nr += record->type == PERF_RECORD_SAMPLE;
		tail += record->size;
	}
	/* pairs with the kernel's load before it writes there again */
	__atomic_store_n(&spin->page->data_tail, head, __ATOMIC_RELEASE);
	return nr;
}

static uint64_t work(uint64_t x, unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void put_slice(uint64_t *slices, uint32_t *nr, uint64_t ns)
{
	if (*nr < SLICES_MAX)
		slices[(*nr)++] = ns;
}

static __attribute__((noinline)) void spin_run(struct spin *spin)
{
	uint64_t before = clock_ns(CLOCK_MONOTONIC), end = before + TRY_NS;
	/* asking for its frame makes the compiler build one, for the kernel's walk to begin at */
	volatile uint64_t x = (uintptr_t)__builtin_frame_address(0);

	spin->nr_hit = spin->nr_clear = 0;
	for (unsigned nr_unclear = 0; before < end;) {
		uint64_t after;
		unsigned nr;

		x = work(x, SLICE_STEPS);
		nr = drain(spin);
		after = clock_ns(CLOCK_MONOTONIC);
		if (drain(spin)) { /* which slice has paid for this sample is not known */
			x = work(x, SLICE_STEPS * (++nr_unclear % 7) / 7); /* or all come here */
			drain(spin);
			before = clock_ns(CLOCK_MONOTONIC);
			continue;
		}
		if (nr == 1)
			put_slice(spin->hit, &spin->nr_hit, after - before);
		else if (nr == 0)
			put_slice(spin->clear, &spin->nr_clear, after - before);
		before = after;
	}
}

/*
 * The spin below so many frames, so that there are as many to walk. The stack to copy is as deep
 * as it happens to be: most are less deep than what is asked for, and then the copy ends in a
 * fault, which costs more than a full copy does.
 */
static __attribute__((noinline)) void spin_below_frames(struct spin *spin, unsigned frames)
{
	volatile uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	if (frames)
		spin_below_frames(spin, frames - 1);
	else
		spin_run(spin);
	(void)frame; /* after the call: it is no tail call */
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* The value below which this many quarters of them lie. */
static uint64_t quartile(uint64_t *values, uint32_t nr, unsigned quarters)
{
	qsort(values, nr, sizeof(*values), compare);
	return values[(uint64_t)nr * quarters / 4];
}

/*
 * The price by one try; 0: it says nothing. The lower quartile, because what disturbs a slice
 * (ticks, other tasks, the host of a virtual machine) only ever makes it longer.
 */
static uint64_t spin_price(struct spin *spin)
{
	uint64_t hit, clear;

	if (spin->nr_hit < SAMPLES_MIN || spin->nr_clear < SAMPLES_MIN)
		return 0;
	hit = quartile(spin->hit, spin->nr_hit, 1);
	clear = quartile(spin->clear, spin->nr_clear, 1);
	return hit > clear ? hit - clear : 0;
}

static int measure(struct spin *spin, int fd, unsigned frames, uint64_t *ns_per_sample)
{
	uint64_t prices[TRIES];
	uint32_t nr = 0;

	for (int i = 0; i < TRIES_MAX && nr < TRIES; i++) {

		if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			return -errno;
		spin_below_frames(spin, frames);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		drain(spin);
		prices[nr] = spin_price(spin);
		nr += prices[nr] > 0;
	}
	if (!nr)
		return -EAGAIN;
	*ns_per_sample = quartile(prices, nr, 1);
	return 0;
}

static int event_open(const struct cost_question *q)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
	                       PERF_SAMPLE_TIME,
		.disabled = 1,
		.exclude_kernel = q->exclude_kernel,
		.sample_stack_user = q->stack_size,
		.sample_regs_user = q->regs,
	};
	int fd;

	if (q->stack_size > EVENT_STACK_MAX || q->stack_size % 8)
		return -EINVAL;
	if (q->callchain)
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (q->regs)
		attr.sample_type |= PERF_SAMPLE_REGS_USER;
	if (q->stack_size)
		attr.sample_type |= PERF_SAMPLE_STACK_USER;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cost_measure(const struct cost_question *q, uint64_t *ns_per_sample)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), size = page_size + RING_SIZE;
	int fd = event_open(q), err;
	void *map = MAP_FAILED;
	struct spin *spin;

	if (fd < 0)
		return fd;
	err = -ENOMEM;
	spin = calloc(1, sizeof(*spin));
	if (!spin)
		goto out;
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = -errno;
	if (map == MAP_FAILED)
		goto out;
	spin->page = map;
	spin->ring = (const char *)map + page_size;
	err = measure(spin, fd, q->callchain ? CHAIN_FRAMES : 0, ns_per_sample);
out:
	/* the ring first: an event whose ring is mapped outlives its descriptor */
	if (map != MAP_FAILED)
		munmap(map, size);
	close(fd);
	free(spin);
	return err;
}
