/*
 * The rings of a sampler. They belong to dummy events of this process, one a ring, into which all
 * other events are redirected: so a ring does not depend on any task of the target, and its owner
 * polls as long as we live (the events of a task that has ended poll as hung up for ever).
 */
#include "perf/permission.h"
#include "perf/sampler_state.h"

#include <errno.h>
#include <unistd.h>

#define SIDE_RING_SIZE  ((size_t)128 << 10)
#define EXACT_RING_SIZE ((size_t)64 << 10) /* at least; no other ring is all CPUs' */
#define LEAST_SIZE      ((size_t)64 << 10)

struct perf_event_attr sampler_dummy(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = RECORD_ALWAYS,
		.exclude_kernel = 1,
	};
}

static int ring_open(struct sampler *s, enum sampler_ring kind, unsigned cpu, size_t size)
{
	unsigned index = ring_index(s, kind, cpu);
	struct merge_ring *ring = &s->rings[index];
	struct perf_event_attr attr = sampler_dummy();
	int fd;

	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)sampler_wakes_at(size);
	/* That of an event on all CPUs belongs to the same task. */
	fd = kind == RING_EXACT ? sampler_event_open(&attr, s->tasks[0], -1)
	                        : sampler_event_open(&attr, 0, s->cpus[cpu]);
	if (fd < 0)
		return fd;
	s->owner_fds[index] = fd;
	ring->cpu = cpu;
	ring->format = kind == RING_SAMPLES ? &s->sample_format : &s->side_format;
	return ring_map(&ring->ring, fd, size, s->wrapped);
}

/*
 * Of each CPU's tasks that end until its ring for side records wakes the recorder, which does not
 * wait for this one: a READ is no longer than half of what FORK and EXIT take there.
 */
static size_t exact_size(unsigned nr_cpus)
{
	size_t size = EXACT_RING_SIZE;

	while (size < nr_cpus * sampler_wakes_at(SIDE_RING_SIZE) / 2)
		size *= 2;
	return size;
}

static size_t kind_size(enum sampler_ring kind, unsigned nr_cpus, size_t size)
{
	const size_t most[NR_SAMPLER_RINGS] = {
		[RING_SIDE] = SIDE_RING_SIZE,
		[RING_SAMPLES] = size,
		[RING_EXACT] = exact_size(nr_cpus),
	};

	return most[kind] < size ? most[kind] : size;
}

/* The first page of each ring says where it is read and written. */
size_t sampler_rings_size(unsigned nr_cpus, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return nr_cpus * (2 * page + kind_size(RING_SIDE, nr_cpus, size) + size) + page +
	       kind_size(RING_EXACT, nr_cpus, size);
}

static int open_all(struct sampler *s, size_t size)
{
	int error = 0;

	for (unsigned i = 0; !error && i < s->nr_rings; i++) {
		enum sampler_ring kind = i / s->nr_cpus;

		error = ring_open(s, kind, i % s->nr_cpus, kind_size(kind, s->nr_cpus, size));
	}
	return error;
}

void sampler_close_rings(struct sampler *s)
{
	for (unsigned i = 0; s->rings && s->owner_fds && i < s->nr_rings; i++) {
		ring_unmap(&s->rings[i].ring);
		if (s->owner_fds[i] >= 0)
			close(s->owner_fds[i]);
		s->owner_fds[i] = -1;
	}
}

/* No smaller than a few samples, else none would ever fit. */
static size_t least_size(uint32_t stack_size)
{
	size_t least = LEAST_SIZE;

	while (least < (size_t)3 * stack_size)
		least *= 2;
	return least;
}

static struct advice advise_locked(const struct sampler *s, size_t size)
{
	struct permission permission;

	permission_read(&permission);
	return permission_advise(&permission, PERMISSION_RINGS,
	                         sampler_rings_size(s->nr_cpus, size));
}

static void note_shortage(struct sampler *s, size_t wanted)
{
	struct advice advice = advise_locked(s, wanted);

	if (advice.topic == ADVICE_RINGS)
		advice.topic = ADVICE_SMALLER;
	else
		advice.topic = ADVICE_NO_MEMORY;
	advice_line(&advice, s->shortage, sizeof(s->shortage));
}

int sampler_open_rings(struct sampler *s, size_t wanted, uint32_t stack_size, char *why)
{
	size_t least = least_size(stack_size), size = wanted > least ? wanted : least;
	int error = open_all(s, size);

	/* All alike: the CPU with the smallest ring would lose samples first. */
	while ((error == -EPERM || error == -ENOMEM) && size > least) {
		sampler_close_rings(s);
		size /= 2;
		error = open_all(s, size);
	}
	if (error == -EPERM) {
		struct advice advice = advise_locked(s, size);

		if (advice.topic == ADVICE_NONE)
			advice = (struct advice){
				ADVICE_HELD,
				{(int64_t)(sampler_rings_size(s->nr_cpus, size) >> 10)},
				NULL,
			};
		advice_line(&advice, why, WHY_SIZE);
	}
	if (!error && size < wanted)
		note_shortage(s, wanted);
	return error;
}
