/*
 * The rings of a sampler. They belong to dummy events of this process, one a ring, into which all
 * other events are redirected: so a ring does not depend on any task of the target, and its owner
 * polls as long as we live (the events of a task that has ended poll as hung up for ever).
 */
#include "perf/machine/permission.h"
#include "perf/sampler/sampler_state.h"

#include <errno.h>
#include <unistd.h>

#define SIDE_RING_SIZE  ((size_t)128 << 10)
#define EXACT_RING_SIZE ((size_t)64 << 10)  /* at least; no other ring is all CPUs' */
#define OTHER_SIZE      ((size_t)128 << 10) /* of a CPU where samples are not likely, at most */
#define LEAST_SIZE      ((size_t)16 << 10)

/*
 * The sizes of the rings for samples, in bytes. The sizes of the other rings are derived from them.
 */
struct ring_sizes {
	size_t likely, other;
};

static int ring_open(struct sampler *s, enum sampler_ring type, unsigned cpu, size_t size)
{
	unsigned index = ring_index(s, type, cpu);
	struct merged_ring *ring = &s->rings[index];
	struct perf_event_attr attr = sampler_dummy();
	int fd;

	attr.watermark = 1;
	attr.wakeup_watermark = (uint32_t)sampler_wakes_at(size);
	/*
	 * The kernel lets an event on all CPUs write only to a ring of an event of the same task.
	 */
	fd = type == RING_EXACT ? sampler_event_open(&attr, s->tasks[0], -1)
	                        : sampler_event_open(&attr, 0, s->cpus[cpu]);
	if (fd < 0)
		return fd;
	s->owner_fds[index] = fd;
	ring->cpu = cpu;
	ring->format = type == RING_SAMPLES ? &s->sample_format : &s->side_format;
	return ring_map(&ring->ring, fd, size, s->wrapped);
}

/*
 * The ring for READ records has room for those of all tasks that end before the ring for side
 * records wakes the recorder, because it does not wake the recorder itself. A READ record is at
 * most half as long as the FORK and EXIT records of its task.
 */
static size_t exact_size(unsigned nr_cpus)
{
	size_t size = EXACT_RING_SIZE;

	while (size < nr_cpus * sampler_wakes_at(SIDE_RING_SIZE) / 2)
		size *= 2;
	return size;
}

static size_t type_size(enum sampler_ring type, unsigned nr_cpus, size_t size)
{
	switch (type) {
	case RING_SIDE:
		return size / 2 < SIDE_RING_SIZE ? size / 2 : SIDE_RING_SIZE;
	case RING_EXACT:
		return size < exact_size(nr_cpus) ? size : exact_size(nr_cpus);
	default:
		return size;
	}
}

static size_t size_of(const struct sampler *s, enum sampler_ring type, unsigned cpu,
                      struct ring_sizes sizes)
{
	bool likely = type == RING_EXACT || sampler_is_likely(s, cpu);

	return type_size(type, s->nr_cpus, likely ? sizes.likely : sizes.other);
}

/* The first page of each ring says where it is read and written. */
static size_t cpu_size(size_t size)
{
	return 2 * (size_t)sysconf(_SC_PAGESIZE) + type_size(RING_SIDE, 1, size) + size;
}

static size_t all_size(unsigned nr_cpus, unsigned nr_likely, struct ring_sizes sizes)
{
	return nr_likely * cpu_size(sizes.likely) + (nr_cpus - nr_likely) * cpu_size(sizes.other) +
	       (size_t)sysconf(_SC_PAGESIZE) + type_size(RING_EXACT, nr_cpus, sizes.likely);
}

/* Two thirds of it are a sample. */
static size_t least_size(uint32_t stack_size)
{
	size_t least = LEAST_SIZE;

	while (least < (size_t)stack_size / 2 * 3)
		least *= 2;
	return least;
}

size_t sampler_rings_size(unsigned nr_cpus, unsigned nr_likely, size_t size, uint32_t stack_size)
{
	return all_size(nr_cpus, nr_likely, (struct ring_sizes){size, least_size(stack_size)});
}

static int open_all(struct sampler *s, struct ring_sizes sizes)
{
	int err = 0;

	for (unsigned i = 0; !err && i < s->nr_rings; i++) {
		enum sampler_ring type = i / s->nr_cpus;
		unsigned cpu = i % s->nr_cpus;

		err = ring_open(s, type, cpu, size_of(s, type, cpu, sizes));
	}
	return err;
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

/* held: where it would be allowed if others had none. */
static struct advice advise_locked(size_t size, enum advice_topic held)
{
	struct permission permission;
	struct advice advice;

	permission_read(&permission);
	advice = permission_advise(&permission, PERMISSION_RINGS, size);
	if (advice.topic == ADVICE_NONE)
		advice = (struct advice){held, {(int64_t)(size >> 10)}, NULL};
	return advice;
}

static void note_shortage(struct sampler *s, int err, size_t size)
{
	struct advice advice = {ADVICE_NO_MEMORY};

	if (err == -EPERM)
		advice = advise_locked(size, ADVICE_HELD_SMALLER);
	if (advice.topic == ADVICE_RINGS)
		advice.topic = ADVICE_SMALLER;
	advice_line(&advice, s->shortage, sizeof(s->shortage));
}

/* The likely ones last, and all alike: the CPU with the smallest ring would lose samples first. */
static bool shrink(const struct sampler *s, struct ring_sizes *sizes, size_t least)
{
	if (sizes->other > least && s->nr_likely < s->nr_cpus)
		sizes->other /= 2;
	else if (sizes->likely > least)
		sizes->likely /= 2;
	else
		return false;
	return true;
}

int sampler_open_rings(struct sampler *s, size_t wanted, uint32_t stack_size, char *why)
{
	size_t least = least_size(stack_size);
	struct ring_sizes sizes = {wanted > least ? wanted : least, 0};
	struct advice advice;
	int err, shortage = 0;

	sizes.other = sizes.likely < OTHER_SIZE ? sizes.likely : OTHER_SIZE;
	err = open_all(s, sizes);
	while ((err == -EPERM || err == -ENOMEM) && shrink(s, &sizes, least)) {
		shortage = err;
		sampler_close_rings(s);
		err = open_all(s, sizes);
	}
	if (err == -EPERM) {
		advice = advise_locked(all_size(s->nr_cpus, s->nr_likely, sizes), ADVICE_HELD);
		advice_line(&advice, why, WHY_SIZE);
	}
	if (!err && sizes.likely < wanted)
		note_shortage(s, shortage,
		              sampler_rings_size(s->nr_cpus, s->nr_likely, wanted, stack_size));
	return err;
}
