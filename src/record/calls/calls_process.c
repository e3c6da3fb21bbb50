#include "record/calls/calls_process.h"

#include "record/calls/call_libraries.h"
#include "record/calls/calls_openmp.h"
#include "record/calls/calls_ring.h"
#include "record/calls/calls_sums.h"
#include "record/calls/calls_thread.h"
#include "perf/machine/machine.h"
#include "base/array.h"
#include "base/frame.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_MEMBERS (1 << 22) /* of one communicator */
#define MOST_LOOKS   50        /* for the frames of new sites */

/* --- its memory ------------------------------------------------------------------------------- */

static int sealed_memory(void)
{
	int fd = memfd_create("adaptrace-calls", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (!ftruncate(fd, (off_t)ring_memory_size()) &&
	    !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
		return fd;
	close(fd);
	return -1;
}

static struct ring_process *map_memory(int fd)
{
	void *memory = mmap(NULL, ring_memory_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct calls_process *calls_process_new(pid_t pid, struct calls_names *names,
                                        const struct calls_clock *clock, int *fd)
{
	struct calls_process *process = calloc(1, sizeof(*process));

	if (!process)
		return NULL;
	*process = (struct calls_process){
		.pid = pid,
		.pidfd = -1,
		.since = ring_ticks(RING_CLOCK_MONOTONIC),
		.names = names,
		.clock = clock,
		.entry = NO_ENTRY,
	};
	*fd = sealed_memory();
	process->shared = *fd < 0 ? NULL : map_memory(*fd);
	if (process->shared) {
		process->shared->clock = clock->source;
		process->shared->ahead = machine_clock_shift(pid) - machine_clock_shift(getpid());
		process->shared->version = RING_VERSION;
		return process;
	}
	if (*fd >= 0)
		close(*fd);
	free(process);
	return NULL;
}

void calls_process_free(struct calls_process *process)
{
	if (!process)
		return;
	if (process->pidfd >= 0)
		close(process->pidfd);
	munmap(process->shared, ring_memory_size());
	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		free(process->threads[i]);
	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		free(process->sums[i].seen);
	free(process->openmp.teams);
	free(process->coming.members);
	free(process->regions);
	free(process->comms);
	free(process->sites);
	free(process);
}

void calls_process_close(struct calls_process *process, uint32_t classes)
{
	__atomic_store_n(&process->shared->closed, classes, __ATOMIC_RELAXED);
}

/* A plain futex word: the target may write anything into it, and wakes itself alone by that. */
void calls_process_hold(struct calls_process *process, bool hold)
{
	__atomic_store_n(&process->shared->hold, hold, __ATOMIC_RELEASE);
	if (!hold)
		syscall(SYS_futex, &process->shared->hold, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool calls_process_is_held(const struct calls_process *process)
{
	return __atomic_load_n(&process->shared->held, __ATOMIC_ACQUIRE);
}

void calls_process_want_moments(struct calls_process *process, unsigned floor)
{
	struct ring_process *shared = process->shared;
	struct ring_instant instant = calls_clock_instant(process->clock);
	uint32_t next = shared->instant + 1;

	if (instant.rate <= 0)
		return;
	shared->instants[next % 2] = instant;
	/* Pairs with the target's acquire: it sees the instant. */
	__atomic_store_n(&shared->instant, next, __ATOMIC_RELEASE);
	__atomic_store_n(&shared->floor, floor, __ATOMIC_RELEASE);
}

uint64_t calls_process_lost(const struct calls_process *process)
{
	uint64_t lost = process->shared->lost + process->shared->untracked;

	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		lost += process->shared->threads[i].lost;
	return lost > process->lost_before ? lost - process->lost_before : 0;
}

/* --- what calls cost -------------------------------------------------------------------------- */

uint64_t calls_process_untimed(const struct calls_process *process)
{
	uint64_t untimed = 0;

	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		untimed += process->shared->threads[i].untimed;
	return untimed > process->untimed_before ? untimed - process->untimed_before : 0;
}

/* --- beginning anew --------------------------------------------------------------------------- */

int calls_process_prepare_restart(struct calls_process *process)
{
	int err = calls_openmp_prepare_restart(process);

	for (unsigned i = 0; i < RING_MAX_THREADS && !err; i++)
		err = calls_sums_prepare_restart(process, i);
	return err;
}

void calls_process_restart(struct calls_process *process, uint64_t ticks, uint64_t time)
{
	__atomic_store_n(&process->shared->since, ticks, __ATOMIC_RELAXED);
	process->restarted = time;
	process->lost_before += calls_process_lost(process);
	process->untimed_before += calls_process_untimed(process);
	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		calls_sums_restart(process, i);
	calls_openmp_restart(process);
}

/* Times must be known: moments are told by them. */
static uint32_t thin_word(const struct calls_process *process, const struct calls_limits *limits,
                          const struct calls_thinning *thinning)
{
	if (!thinning->shift || calls_clock_instant(process->clock).rate <= 0)
		return 0;
	return ring_thin(thinning->shift, limits->nothing ? NR_LEVELS : thinning->level);
}

uint64_t calls_process_thin(struct calls_process *process, const struct calls_limits *limits,
                            uint64_t now, bool last)
{
	struct calls_look look = {.now = now,
	                          .cpu = calls_cpu_time(process->pid),
	                          .share = limits->share,
	                          .last = last};
	uint64_t cost = 0;

	for (unsigned i = 0; i < RING_MAX_THREADS; i++) {
		struct ring_ends *ring = &process->shared->threads[i];

		if (ring->state == RING_FREE && !process->costs[i].since)
			continue;
		look.calls = __atomic_load_n(&ring->calls, __ATOMIC_RELAXED);
		look.untimed = __atomic_load_n(&ring->untimed, __ATOMIC_RELAXED);
		cost += calls_thread_look(&process->costs[i], &limits->price, &look);
		__atomic_store_n(&ring->thin,
		                 thin_word(process, limits, &process->costs[i].thinning),
		                 __ATOMIC_RELAXED);
	}
	return cost;
}

/* --- its records ------------------------------------------------------------------------------ */

void calls_process_look(struct calls_process *process)
{
	struct ring_process *shared = process->shared;

	/* Pairs with the target's release: the words are there. A definition comes before its
	 * use, so threads are looked at first. */
	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		process->heads[i] = __atomic_load_n(&shared->threads[i].head, __ATOMIC_ACQUIRE);
	process->definitions = __atomic_load_n(&shared->definitions.head, __ATOMIC_ACQUIRE);
}

void calls_process_look_last(struct calls_process *process)
{
	calls_process_look(process);
	for (unsigned i = 0; i < RING_MAX_THREADS; i++) {
		uint64_t pending =
			__atomic_load_n(&process->shared->threads[i].pending, __ATOMIC_ACQUIRE);

		if (pending - process->heads[i] <= ring_words(i))
			process->heads[i] = pending;
	}
}

unsigned calls_process_fill(const struct calls_process *process)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < RING_MAX_THREADS; i++) {
		uint64_t words = process->heads[i] - process->shared->threads[i].tail;
		uint64_t fill = words > ring_words(i) ? 1024 : words * 1024 / ring_words(i);

		if (fill > most)
			most = fill;
	}
	return (unsigned)most;
}

/* --- definitions ------------------------------------------------------------------------------ */

static bool grow(uint32_t **table, uint32_t *nr, uint32_t number, uint32_t fill)
{
	uint32_t before = *nr;

	if (ARRAY_RESERVE(*table, *nr, (size_t)number + 1))
		return false;
	for (uint32_t i = before; i < *nr; i++)
		(*table)[i] = fill;
	return true;
}

static const char *name_in(uint64_t *record, size_t first, size_t nr)
{
	if (nr <= first)
		return "";
	((char *)&record[nr])[-1] = '\0';
	return (const char *)&record[first];
}

static uint32_t class_of(uint32_t number, uint64_t flags)
{
	static const uint8_t waits[NR_RING_TEAM_WAITS] = {
		[RING_WAIT_BARRIER] = TRACE_TEAM_BARRIER,
		[RING_WAIT_CRITICAL] = TRACE_TEAM_CRITICAL,
		[RING_WAIT_JOIN] = TRACE_TEAM_JOIN,
	};

	if (flags & (RING_REGION_MARKER | RING_REGION_VALUE))
		return flags & RING_REGION_MARKER ? TRACE_MARKER : TRACE_VALUE;
	if (number - RING_TEAM_WAITS < NR_RING_TEAM_WAITS)
		return waits[number - RING_TEAM_WAITS];
	if (number - RING_TEAM_PARTS < RING_MAX_PARALLELS)
		return TRACE_TEAM_PART;
	return call_library_of(number)->named;
}

static bool define_region(struct calls_process *process, uint64_t *record, size_t nr)
{
	uint32_t number = ring_head_number(record[0]), i = number - RING_USER_REGIONS;

	if (nr < 3 || i >= RING_MAX_REGIONS || !call_library_of(number) ||
	    !grow(&process->regions, &process->nr_regions, i, NO_ENTRY))
		return false;
	process->regions[i] = calls_names_region(process->names, name_in(record, 2, nr),
	                                         class_of(number, record[1]));
	return true;
}

static bool define_parallel(struct calls_process *process, uint64_t *record, size_t nr)
{
	uint32_t number = ring_head_number(record[0]), i = number - RING_PARALLELS;
	const char *name = name_in(record, 2, nr);

	number -= RING_USER_REGIONS;
	if (nr < 3 || i >= 2 * RING_MAX_PARALLELS ||
	    !grow(&process->regions, &process->nr_regions, number, NO_ENTRY))
		return false;
	if (i < RING_MAX_PARALLELS)
		process->openmp.addresses[i] = record[1];
	process->regions[number] =
		calls_names_region(process->names, name, class_of(RING_PARALLELS + i, 0));
	return true;
}

/* Forgets a communicator whose members have all come, or will not come. */
static void forget_coming(struct calls_process *process)
{
	free(process->coming.members);
	memset(&process->coming, 0, sizeof(process->coming));
}

static bool comm_complete(struct calls_process *process)
{
	uint32_t number = process->coming.number;

	if (grow(&process->comms, &process->nr_comms, number, 0))
		process->comms[number] = calls_names_comm(process->names, &process->coming.comm,
		                                          process->coming.members);
	forget_coming(process);
	return true;
}

/*
 * Nobody sends the members of the world. They are not made here: a few words could say that there
 * are millions, again and again.
 */
static bool define_comm(struct calls_process *process, const uint64_t *record, size_t nr)
{
	uint32_t number = ring_head_number(record[0]);
	uint32_t local = nr == 4 ? (uint32_t)record[3] : UINT32_MAX;
	uint32_t remote = nr == 4 ? (uint32_t)(record[3] >> 32) : 0;

	forget_coming(process);
	if (!number || number >= RING_MAX_COMMS || local > MOST_MEMBERS || remote > MOST_MEMBERS)
		return false;
	process->coming.number = number;
	process->coming.nr = local + remote;
	process->coming.comm = (struct trace_comm){
		.id = record[1],
		.nr_members = local,
		.nr_remote = remote,
		.flags = (record[2] & RING_COMM_SELF ? TRACE_COMM_SELF : 0U) |
	                 (record[2] & RING_COMM_INTER ? TRACE_COMM_INTER : 0U),
	};
	if (record[2] & (RING_COMM_WORLD | RING_COMM_SELF))
		process->coming.comm.name = tables_string(
			process->names->tables,
			record[2] & RING_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
	if (record[2] & RING_COMM_WORLD)
		return comm_complete(process);
	process->coming.members = calloc(process->coming.nr + 1UL, sizeof(uint32_t));
	if (process->coming.members)
		return process->coming.nr || comm_complete(process);
	forget_coming(process);
	return false;
}

static bool define_members(struct calls_process *process, const uint64_t *record, size_t nr)
{
	uint32_t first = (uint32_t)record[1], now;

	if (nr < 3 || ring_head_number(record[0]) != process->coming.number ||
	    first != process->coming.filled || first >= process->coming.nr)
		return false;
	now = process->coming.nr - first;
	if (now > 2 * (nr - 2))
		now = (uint32_t)(2 * (nr - 2));
	memcpy(process->coming.members + first, &record[2], now * sizeof(uint32_t));
	process->coming.filled += now;
	return process->coming.filled < process->coming.nr || comm_complete(process);
}

/* Files stand among the communicators, below the one that opened them. */
static bool define_file(struct calls_process *process, uint64_t *record, size_t nr)
{
	uint32_t number = ring_head_number(record[0]), of = nr < 4 ? 0 : (uint32_t)record[2];
	const uint32_t nobody = 0;
	struct trace_comm file = {.id = record[1], .flags = TRACE_COMM_FILE};

	if (nr < 4 || !number || number >= RING_MAX_COMMS ||
	    !grow(&process->comms, &process->nr_comms, number, 0))
		return false;
	file.name = tables_string(process->names->tables, name_in(record, 3, nr));
	if (of && of < process->nr_comms && process->comms[of])
		file.parent = process->comms[of] + 1;
	process->comms[number] = calls_names_comm(process->names, &file, &nobody);
	return true;
}

/* --- calling sites ---------------------------------------------------------------------------- */

/* The last byte of the call instruction is in the caller, even if the call never returns. */
static uint64_t frame_of_site(const struct calls_process *process, uint64_t address,
                              const struct calls_sink *sink)
{
	return sink->frame(sink->arg, process, address - 1);
}

/*
 * The kernel's record of the mapping may come after the definition. Then the site gets an entry at
 * once, and its frame later.
 */
static bool define_site(struct calls_process *process, const uint64_t *record, size_t nr,
                        const struct calls_sink *sink)
{
	uint32_t number = ring_head_number(record[0]);
	struct calls_site *site;
	uint64_t frame;

	if (nr != 2 || !number || number > 1U << RING_SITE_BITS ||
	    ARRAY_RESERVE_ZEROED(process->sites, process->nr_sites, number + 1UL))
		return false;
	site = &process->sites[number];
	if (site->entry || !sink->frame)
		return true;
	frame = frame_of_site(process, record[1], sink);
	site->entry = calls_names_site(process->names, frame);
	if (frame_module(frame))
		return true;
	site->address = record[1];
	process->looks_left = MOST_LOOKS;
	return true;
}

static void find_frame(struct calls_process *process, struct calls_site *site,
                       const struct calls_sink *sink)
{
	struct trace_call_site *entry = tables_site(process->names->tables, site->entry - 1);
	uint64_t frame = frame_of_site(process, site->address, sink);

	if (!frame_module(frame))
		return;
	site->address = 0;
	if (entry)
		*entry = (struct trace_call_site){frame_module(frame), frame_offset(frame)};
}

static void find_frames(struct calls_process *process, const struct calls_sink *sink)
{
	if (!process->looks_left)
		return;
	process->looks_left--;
	for (uint32_t i = 0; i < process->nr_sites; i++)
		if (process->sites[i].address)
			find_frame(process, &process->sites[i], sink);
}

/* --- the process ------------------------------------------------------------------------------ */

struct trace_process *calls_process_entry(struct calls_process *process)
{
	struct tables *tables = process->names->tables;
	const struct trace_process fresh = {
		.pid = process->pid,
		.rank = -1,
		.clock = process->clock->source == RING_CLOCK_COUNTER ? TRACE_CLOCK_COUNTER
	                                                              : TRACE_CLOCK_MONOTONIC,
	};

	if (process->entry == NO_ENTRY)
		process->entry = tables_add_process(tables, &fresh);
	return tables_process(tables, process->entry);
}

static bool define_process(struct calls_process *process, uint64_t *record, size_t nr)
{
	struct trace_process *entry;

	if (nr < 4)
		return false;
	entry = calls_process_entry(process);
	if (!entry) /* there is no room */
		return true;
	entry->flags |= TRACE_PROCESS_MPI;
	entry->thread_level = record[1] & 3;
	entry->rank = (int32_t)record[2];
	entry->world_size = (uint32_t)(record[2] >> 32);
	entry->library = tables_string(process->names->tables, name_in(record, 3, nr));
	return true;
}

/* False: it makes no sense. */
static bool define(struct calls_process *process, uint64_t *record, size_t nr,
                   const struct calls_sink *sink)
{
	switch (ring_head_record(record[0])) {
	case RING_REGION:
		return define_region(process, record, nr);
	case RING_PARALLEL:
		return define_parallel(process, record, nr);
	case RING_COMM:
		return define_comm(process, record, nr);
	case RING_MEMBERS:
		return define_members(process, record, nr);
	case RING_FILE:
		return define_file(process, record, nr);
	case RING_SITE:
		return define_site(process, record, nr, sink);
	case RING_PROCESS:
		return define_process(process, record, nr);
	default:
		return false;
	}
}

static void read_definitions(struct calls_process *process, const struct calls_sink *sink)
{
	struct ring_ends *ring = &process->shared->definitions;
	struct calls_ring view = calls_ring_open(process, ring, RING_DEFINITIONS_OFFSET,
	                                         RING_DEFINITION_WORDS, process->definitions);
	uint64_t record[RING_MAX_RECORD + 1];
	size_t nr;

	while ((nr = calls_ring_next(process, &view, record)))
		process->malformed += !define(process, record, nr, sink);
	__atomic_store_n(&ring->tail, view.tail, __ATOMIC_RELEASE);
}

/* --- rounds ----------------------------------------------------------------------------------- */

void calls_process_read(struct calls_process *process, uint64_t now, const struct calls_sink *sink)
{
	read_definitions(process, sink);
	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		if (process->heads[i] != process->shared->threads[i].tail ||
		    process->shared->threads[i].state == RING_ENDED)
			calls_thread_read(process, i, now, sink);
}

void calls_process_sum(struct calls_process *process, uint64_t now, const struct calls_sink *sink)
{
	find_frames(process, sink);
	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		if (process->shared->threads[i].state != RING_FREE)
			calls_sums_read(process, i, now, sink);
	calls_openmp_read(process, now, sink);
}

void calls_process_end(struct calls_process *process, uint64_t now, const struct calls_sink *sink)
{
	struct trace_process *entry;

	calls_process_read(process, now, sink);
	calls_openmp_read(process, now, sink);
	find_frames(process, sink);
	for (unsigned i = 0; i < RING_MAX_THREADS; i++)
		if (process->shared->threads[i].state != RING_FREE)
			calls_thread_end(process, i, now, sink);
	entry = tables_process(process->names->tables, process->entry);
	if (!entry)
		return;
	entry->lost = calls_process_lost(process);
	entry->clock_error = process->clock->error;
}
