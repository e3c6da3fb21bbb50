#include "preload/omp_regions.h"

#include "preload/write.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__thread struct omp_part *omp_part __attribute__((tls_model("initial-exec")));
__thread struct omp_wait *omp_waiting __attribute__((tls_model("initial-exec")));

bool omp_wanted, omp_threads;

bool omp_look_whether_wanted(void)
{
	const char *wanted = getenv(RING_OPENMP_VARIABLE);

	omp_wanted = wanted && getenv(RING_VARIABLE);
	omp_threads = omp_wanted && !strcmp(wanted, RING_OPENMP_THREADS);
	return omp_wanted;
}

__attribute__((constructor)) static void look_at_start(void)
{
	omp_look_whether_wanted();
}

/* --- regions and their rows ------------------------------------------------------------------- */

#define NR_PLACES \
	8192 /* of an index of rows; a power of two, and twice as many as there are rows */
static_assert(NR_PLACES == 2 * RING_MAX_TEAM_SUMS, "there always is a free place");

/* Guarded by the lock of the process, except that places which are taken may be read by all. */
static struct {
	struct omp_site places[NR_PLACES];
	uintptr_t addresses[RING_MAX_PARALLELS]; /* of regions by their number */
	uint32_t nr_addresses;
	bool waits; /* are defined */
} known;

/* Regions that no other one is around of, in all threads. */
static struct {
	uint32_t nr;
	uint64_t since; /* ticks, at which the first of them began */
} outermost;

static size_t first_place(uintptr_t address, uint32_t thread)
{
	uint64_t hash = ((uint64_t)address ^ (uint64_t)thread << 50) * 0x9e3779b97f4a7c15;

	return hash >> (64 - __builtin_ctzll(NR_PLACES));
}

/* Returns the place of a site, or the free place where it belongs. */
static struct omp_site *find_place(uintptr_t address, uint32_t thread)
{
	for (size_t i = first_place(address, thread);; i++) {
		struct omp_site *site = &known.places[i % NR_PLACES];
		/* Pairs with the release of who takes the place: the rest of it is there. */
		uintptr_t there = __atomic_load_n(&site->address, __ATOMIC_ACQUIRE);

		if (!there || (there == address && site->thread == thread))
			return site;
	}
}

/* For readers that find no symbol. It is the same in all processes of a program. */
static void name_address(char name[RING_MAX_NAME + 1], uintptr_t address)
{
	Dl_info module;
	const char *file;

	if (!dladdr((const void *)address, &module)) {
		snprintf(name, RING_MAX_NAME, "parallel 0x%" PRIxPTR, address);
		return;
	}
	file = strrchr(module.dli_fname, '/');
	snprintf(name, RING_MAX_NAME, "parallel %s+0x%" PRIxPTR, file ? file + 1 : module.dli_fname,
	         address - (uintptr_t)module.dli_fbase);
}

static bool define_waits(void)
{
	static const char *const names[NR_RING_TEAM_WAITS] = {
		[RING_WAIT_BARRIER] = "OpenMP barrier",
		[RING_WAIT_CRITICAL] = "OpenMP critical",
		[RING_WAIT_JOIN] = "OpenMP join",
	};
	const uint64_t no_flags = 0;

	for (uint32_t i = 0; i < NR_RING_TEAM_WAITS && !known.waits; i++)
		if (!process_define_name(RING_REGION, RING_TEAM_WAITS + i, &no_flags, 1, names[i]))
			return false;
	known.waits = true;
	return true;
}

/* Defines what is recorded of single threads. */
static bool define_threads(uint32_t i, const char *name)
{
	char part[RING_MAX_NAME + 1];
	const uint64_t address = 0;

	snprintf(part, sizeof(part), "thread of %.200s", name);
	return define_waits() &&
	       process_define_name(RING_PARALLEL, RING_TEAM_PARTS + i, &address, 1, part);
}

/* Returns the number of a region; 0: there is no room. */
static uint32_t region_of(uintptr_t address)
{
	char name[RING_MAX_NAME + 1];
	uint32_t i = 0, number;
	uint64_t word = address;

	while (i < known.nr_addresses && known.addresses[i] != address)
		i++;
	number = RING_PARALLELS + i;
	if (i < known.nr_addresses)
		return number;
	name_address(name, address);
	if (i == RING_MAX_PARALLELS ||
	    !process_define_name(RING_PARALLEL, number, &word, 1, name) ||
	    (omp_threads && !define_threads(i, name)))
		return 0;
	known.addresses[known.nr_addresses++] = address;
	return number;
}

static struct ring_team_sum *add_row(uint32_t region, uint32_t thread)
{
	struct ring_process *shared = process.shared;
	char *rows = (char *)shared + ring_team_sums_offset();
	uint32_t nr = shared->nr_team_sums;
	struct ring_team_sum *row;

	if (nr >= RING_MAX_TEAM_SUMS)
		return NULL;
	row = (struct ring_team_sum *)(void *)rows + nr;
	*row = (struct ring_team_sum){.region = region, .thread = thread};
	/* Pairs with the recorder's acquire: it sees the key. */
	__atomic_store_n(&shared->nr_team_sums, nr + 1, __ATOMIC_RELEASE);
	return row;
}

/* The lock is held. */
static struct omp_site *take_place(uintptr_t address, uint32_t thread)
{
	struct omp_site *site = find_place(address, thread);
	uint32_t region;

	if (site->address)
		return site;
	region = region_of(address);
	site->row = region ? add_row(region, thread) : NULL;
	if (!site->row)
		return NULL;
	site->thread = thread;
	site->region = region;
	__atomic_store_n(&site->address, address, __ATOMIC_RELEASE);
	return site;
}

RARE static struct omp_site *new_site(uintptr_t address, uint32_t thread)
{
	struct omp_site *site;

	pthread_mutex_lock(&process.lock);
	site = take_place(address, thread);
	pthread_mutex_unlock(&process.lock);
	return site;
}

static inline struct omp_site *site_of(const struct thread *thread, uintptr_t address)
{
	uint32_t number = (uint32_t)(thread->ring - process.shared->threads);
	struct omp_site *site = find_place(address, number);

	return likely(site->address) ? site : new_site(address, number);
}

void omp_forked(void)
{
	memset(&known, 0, sizeof(known));
	memset(&outermost, 0, sizeof(outermost));
}

/* --- calls ------------------------------------------------------------------------------------ */

/* Returns this thread, busy with records, if it may have a call now; or NULL. */
static struct thread *take_thread(uintptr_t frame)
{
	struct thread *thread = &this_thread;

	thread_look(thread);
	if (unlikely(thread->inside) && !visit_was_left(thread, frame))
		return NULL;
	thread->inside = INSIDE_OWN;
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	if (likely(visit_wanted(thread)))
		return thread;
	thread->inside = 0;
	return NULL;
}

static void release_thread(struct thread *thread)
{
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	thread->inside = 0;
}

static void push_call(struct omp_call *call, struct thread *thread, uint32_t region, uint64_t enter)
{
	call->thread = thread;
	call->of = process.shared;
	call->region = region;
	call->depth = thread->nr_open;
	call->enter = enter;
	thread_push(thread, region, enter);
}

static void begin_call(struct omp_call *call, uint32_t region, uint64_t enter, uintptr_t frame)
{
	struct thread *thread = take_thread(frame);

	if (!thread)
		return;
	push_call(call, thread, region, enter);
	release_thread(thread);
}

/*
 * Takes the thread of a call that ends. A child that was forked inside has other memory, and is
 * recorded from its next call on.
 */
static bool retake_thread(const struct omp_call *call)
{
	struct thread *thread = call->thread;

	if (unlikely(call->of != process.shared || thread->inside || !thread->ring))
		return false;
	thread->inside = INSIDE_OWN;
	__atomic_signal_fence(__ATOMIC_ACQ_REL);
	return true;
}

/*
 * Regions of the program that began inside and have not ended are lost: calls of a thread are
 * inside each other.
 */
static void pop_to(struct thread *thread, unsigned depth)
{
	while (thread->nr_open > depth) {
		thread->ring->lost += thread->nr_open > depth + 1;
		thread_pop(thread);
	}
}

/* The times of regions are always read. */
static void write_call(struct thread *thread, uint32_t region, uint64_t enter, uint64_t leave)
{
	thread->weight = 1;
	thread_write_region(thread, region, CLASS_OPENMP, enter, leave);
}

static void pop_call(const struct omp_call *call, uint64_t leave)
{
	pop_to(call->thread, call->depth);
	write_call(call->thread, call->region, call->enter, leave);
}

static void end_call(const struct omp_call *call, uint64_t leave)
{
	if (!retake_thread(call))
		return;
	pop_call(call, leave);
	release_thread(call->thread);
}

/* --- begin and end ---------------------------------------------------------------------------- */

static void note_begin(struct omp_team *team)
{
	team->outermost = !omp_part;
	if (team->outermost && !__atomic_fetch_add(&outermost.nr, 1, __ATOMIC_ACQ_REL))
		__atomic_store_n(&outermost.since, team->call.enter, __ATOMIC_RELAXED);
}

/* Returns the time for which regions were there, if this was the last one that was. */
static uint64_t note_end(const struct omp_team *team, uint64_t leave)
{
	uint64_t since = __atomic_load_n(&outermost.since, __ATOMIC_RELAXED);

	if (!team->outermost || __atomic_fetch_sub(&outermost.nr, 1, __ATOMIC_ACQ_REL) != 1)
		return 0;
	return leave - process_clip(since, leave);
}

static void team_init(struct omp_team *team, struct omp_site *site)
{
	team->reductions = 0;
	team->site = site;
	team->own_ended = false;
	team->nr_others = 0;
	team->rest = (struct omp_done){0};
	team->late = 0;
}

bool omp_team_begin(struct omp_team *team, uintptr_t address, uintptr_t frame)
{
	struct thread *thread = take_thread(frame);
	struct omp_site *site;

	if (!thread)
		return false;
	site = site_of(thread, address);
	if (likely(site)) {
		team_init(team, site);
		push_call(&team->call, thread, site->region, process_ticks());
		note_begin(team);
	} else {
		thread->ring->lost++;
	}
	release_thread(thread);
	return site;
}

static void add_done(struct omp_done *to, const struct omp_done *done)
{
	to->ends += done->ends;
	to->work += done->work;
	if (done->longest > to->longest)
		to->longest = done->longest;
	to->barrier += done->barrier;
	to->critical += done->critical;
}

/* Returns the sum over all threads of a team that has ended. */
static struct omp_done team_done(const struct omp_team *team)
{
	struct omp_done done = team->rest;

	done.ends += team->late;
	done.work += team->late;
	if (likely(team->own_ended))
		add_done(&done, &team->own);
	for (uint32_t i = 0; i < team->nr_others && i < OMP_PLACES; i++)
		add_done(&done, &team->others[i].done);
	return done;
}

static void add_to_row(const struct omp_team *team, uint64_t leave)
{
	struct ring_team_sum *row = team->site->row;
	const struct omp_done done = team_done(team);
	uint64_t time = leave - team->call.enter, nr = team->nr_others + team->own_ended;

	row->covered += note_end(team, leave);
	/* Parts of its threads may have ended before the recorder began anew. */
	if (process_clip(team->call.enter, leave) != team->call.enter)
		return;
	row->ticks += time;
	row->threads += nr;
	if (nr > row->most_threads)
		row->most_threads = nr;
	row->idle += nr * time - done.ends;
	row->barrier += done.barrier;
	row->critical += done.critical;
	row->work += done.work;
	row->longest += done.longest;
	/* Times are exact in a double, which is divided in half of the time. */
	row->mean += nr > 1 ? (uint64_t)((double)done.work / (double)nr) : done.work;
	__atomic_store_n(&row->count, row->count + 1, __ATOMIC_RELEASE);
}

/* Nobody is waited for in a team of one thread: the clock was read when its work ended. */
static uint64_t team_leave(const struct omp_team *team)
{
	return team->own_ended && !team->nr_others && !team->late
	               ? team->call.enter + team->own.ends
	               : process_ticks();
}

void omp_team_end(struct omp_team *team)
{
	uint64_t leave = team_leave(team);

	if (!retake_thread(&team->call))
		return;
	if (unlikely(omp_threads) && team->nr_others && team->own_ended)
		write_call(team->call.thread, RING_TEAM_WAITS + RING_WAIT_JOIN,
		           team->call.enter + team->own.ends, leave);
	pop_call(&team->call, leave);
	add_to_row(team, leave);
	release_thread(team->call.thread);
}

/* --- threads of a team ------------------------------------------------------------------------ */

static void raise(uint64_t *most, uint64_t value)
{
	uint64_t now = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (now < value && !__atomic_compare_exchange_n(most, &now, value, true,
	                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void add_to_rest(struct omp_done *rest, const struct omp_done *done)
{
	__atomic_fetch_add(&rest->ends, done->ends, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rest->work, done->work, __ATOMIC_RELAXED);
	raise(&rest->longest, done->longest);
	__atomic_fetch_add(&rest->barrier, done->barrier, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rest->critical, done->critical, __ATOMIC_RELAXED);
}

/* The barrier of the join, which comes next, orders these before the reads of who forked. */
static void add_to_team(struct omp_team *team, const struct omp_done *done)
{
	uint32_t place;

	if (team->call.thread == &this_thread) {
		team->own = *done;
		team->own_ended = true;
		return;
	}
	place = __atomic_fetch_add(&team->nr_others, 1, __ATOMIC_RELAXED);
	if (likely(place < OMP_PLACES))
		team->others[place].done = *done;
	else
		add_to_rest(&team->rest, done);
}

void omp_part_call(struct omp_part *part, uintptr_t frame)
{
	uint32_t region = part->team->site->region - RING_PARALLELS + RING_TEAM_PARTS;

	if (part->team->call.thread != &this_thread)
		begin_call(&part->call, region, part->begin, frame);
}

void omp_part_end(struct omp_part *part)
{
	uint64_t end = process_ticks();
	uint64_t work = end - part->begin - part->waits[OMP_BARRIER] - part->waits[OMP_CRITICAL];
	const struct omp_done done = {
		.ends = end - part->team->call.enter,
		.work = work,
		.longest = work,
		.barrier = part->waits[OMP_BARRIER],
		.critical = part->waits[OMP_CRITICAL],
	};

	omp_part = part->outer;
	if (unlikely(part->call.thread != NULL))
		end_call(&part->call, end);
	add_to_team(part->team, &done);
}

/* --- waits ------------------------------------------------------------------------------------ */

void omp_wait_call(struct omp_wait *wait, uintptr_t frame)
{
	static const uint32_t regions[NR_OMP_WAITS] = {
		[OMP_BARRIER] = RING_TEAM_WAITS + RING_WAIT_BARRIER,
		[OMP_CRITICAL] = RING_TEAM_WAITS + RING_WAIT_CRITICAL,
	};

	begin_call(&wait->call, regions[wait->type], wait->since, frame);
}

void omp_wait_call_end(struct omp_wait *wait, uint64_t end)
{
	end_call(&wait->call, end);
}
