#include "record/calls/calls_thread.h"

#include "record/calls/calls_openmp.h"
#include "record/calls/calls_ring.h"
#include "record/calls/calls_sums.h"
#include "hmb/call_run.h"
#include "preload/mpi_calls.h"

#include <stdlib.h>

/* A call that stands for a slot. */
struct calls_slot {
	struct call call; /* but its thread and times; alike is 0 where nobody has the slot */
	uint32_t number;  /* of the region, as the process knows it */
	uint32_t nr_requests;
	struct {
		uint64_t difference; /* to the expected one */
		uint32_t part;
		uint8_t fields; /* of its part */
	} requests[RING_SLOT_PARTS];
	struct call_part parts[RING_SLOT_PARTS];
};

/* State that is decoded from the records of a thread so far. */
struct calls_thread {
	uint64_t ticks; /* the last leave */
	uint64_t last;  /* the same, ns */
	struct {
		uint64_t ticks, ns; /* its entry */
		bool continued;     /* more of it follows, perhaps in another round */
	} entry;
	struct call_requests requests;
	struct calls_iteration iteration; /* the last one */
	struct {
		uint32_t calls;
		struct call_requests requests; /* posted and done in it */
	} patterns[1 << 8];                    /* the last iteration of each level and pattern */
	uint64_t levelled;    /* ticks up to which some calls had levels that the target wanted */
	uint8_t wanted_level; /* of the calls that follow, as of struct calls_iteration */
	uint8_t given_level;  /* the same, but for a call that has not ended */
	/*
	 * Identify the calls of a slot in a run; 0: they cannot be in a run. Slot 0 is never used.
	 */
	uint32_t alikes[RING_SLOTS];
	struct calls_slot slots[RING_SLOTS];
};

/* One round of reading. */
struct reader {
	struct calls_process *process;
	struct calls_thread *thread;
	struct calls_stretch time;
	pid_t tid;
	const struct calls_sink *sink;
};

/* The trace says when a rank was up. */
static void note_world(struct calls_process *process, uint32_t number, const struct call *call)
{
	struct trace_process *entry = calls_process_entry(process);

	if (!entry)
		return;
	if (number == CALL_Init || number == CALL_Init_thread ||
	    (number == CALL_Session_init && !entry->start))
		entry->start = call->leave;
	if (number == CALL_Finalize || number == CALL_Session_finalize) {
		entry->end = call->enter;
		entry->flags |= TRACE_PROCESS_FINALIZED;
	}
}

/* Gives the call its times. */
static inline void set_times(const struct reader *reader, struct call *call, uint64_t enter,
                             uint64_t leave)
{
	struct calls_thread *thread = reader->thread;

	if (thread->entry.continued) {
		thread->entry.continued = call->flags & CALL_CONTINUED;
		if (enter == thread->entry.ticks && leave == thread->ticks) {
			call->enter = thread->entry.ns;
			call->leave = thread->last;
			return;
		}
	}
	call->enter = calls_stretch_ns(&reader->time, enter);
	call->leave = calls_stretch_ns(&reader->time, leave);
	/* Another reading of the clock may have come between, and may be a few ns off. */
	if (call->leave < thread->last)
		call->leave = thread->last;
	if (call->enter > call->leave)
		call->enter = call->leave;
	thread->last = call->leave;
	thread->ticks = leave;
	if (call->flags & CALL_CONTINUED) {
		thread->entry.continued = true;
		thread->entry.ticks = enter;
		thread->entry.ns = call->enter;
	}
}

static inline void give(const struct reader *reader, struct call *call, uint32_t number)
{
	struct calls_thread *thread = reader->thread;

	reader->sink->put(reader->sink->arg, reader->process, reader->tid, number, call);
	if (!thread->entry.continued)
		reader->process->wanted_level = thread->wanted_level;
}

/* --- calls that were written whole ------------------------------------------------------------ */

static size_t first_part(uint64_t head)
{
	return ring_head_record(head) == RING_CALL_AT ? 4 : 3;
}

/*
 * Decodes the parts behind the first words of a call; their requests stay differences. How many
 * there are, or -1.
 */
static int decode_parts(const struct calls_process *process, const uint64_t *record, size_t nr,
                        struct call_part *parts)
{
	unsigned nr_parts = ring_head_parts(record[0]);
	size_t at = first_part(record[0]);

	for (unsigned i = 0; i < nr_parts; i++) {
		struct call_part *part = &parts[i];
		unsigned type = at < nr ? record[at] & 0xff : NR_CALL_PARTS, fields;

		if (i == RING_MAX_PARTS || type >= NR_CALL_PARTS)
			return -1;
		fields = ring_part_fields(type);
		if (at + ring_part_words(type) > nr)
			return -1;
		*part = (struct call_part){
			.type = (uint8_t)type,
			.comm = calls_process_comm(process, record[at] >> 8 & 0xffffff),
			.peer = (int32_t)(record[at] >> 32),
		};
		at++;
		if (fields & PART_TAG)
			part->tag = (int32_t)record[at++];
		if (fields & PART_BYTES)
			part->bytes = record[at++];
		if (fields & PART_BYTES_IN)
			part->bytes_in = record[at++];
		if (fields & PART_REQUEST)
			part->request = record[at++];
	}
	return at == nr ? (int)nr_parts : -1;
}

static inline bool has_request(const struct call_part *part)
{
	return call_part_fields(part->type) & PART_REQUEST;
}

static inline void find_request(struct call_requests *last, struct call_part *part,
                                uint64_t difference)
{
	unsigned fields = call_part_fields(part->type);

	part->request = *call_last_request(last, fields) + 1 + difference;
	call_note_request(last, fields, part->request);
}

static void keep_request(struct calls_slot *slot, uint32_t part)
{
	unsigned i = slot->nr_requests++;

	slot->requests[i].difference = slot->parts[part].request;
	slot->requests[i].part = part;
	slot->requests[i].fields = (uint8_t)call_part_fields(slot->parts[part].type);
}

static bool follows(const struct calls_slot *slot)
{
	for (uint32_t i = 0; i < slot->nr_requests; i++)
		if (slot->requests[i].difference)
			return false;
	return true;
}

/* From now on the call stands for the slot. Its requests are still differences. */
static void take_slot(const struct reader *reader, unsigned at, struct call *call, uint32_t number)
{
	struct calls_names *names = reader->process->names;
	struct calls_slot *slot = &reader->thread->slots[at];

	names->nr_alike += names->nr_alike == UINT32_MAX ? 2 : 1;
	call->alike = names->nr_alike;
	slot->call = *call;
	slot->call.parts = slot->parts;
	slot->number = number;
	slot->nr_requests = 0;
	for (uint32_t i = 0; i < call->nr_parts; i++) {
		slot->parts[i] = call->parts[i];
		if (has_request(&slot->parts[i]))
			keep_request(slot, i);
	}
	reader->thread->alikes[at] = follows(slot) ? call->alike : 0;
}

static uint32_t site_of(const struct calls_process *process, const uint64_t *record, size_t nr)
{
	if (ring_head_record(record[0]) != RING_CALL_AT || nr < 4 || record[3] > UINT32_MAX)
		return 0;
	return calls_process_site(process, (uint32_t)record[3]);
}

static void read_whole(const struct reader *reader, const uint64_t *record, size_t nr)
{
	struct call_part parts[RING_MAX_PARTS];
	uint32_t number = ring_head_number(record[0]);
	unsigned slot = ring_head_slot(record[0]);
	int nr_parts =
		nr >= first_part(record[0]) ? decode_parts(reader->process, record, nr, parts) : -1;
	struct call call = {
		.region = calls_process_region(reader->process, number),
		.flags = ring_head_record(record[0]) == RING_LEFT      ? CALL_UNFINISHED
	                 : ring_head_flags(record[0]) & RING_CONTINUED ? CALL_CONTINUED
	                                                               : 0,
		.depth = ring_head_flags(record[0]) & (RING_CONTINUED - 1),
		.site = site_of(reader->process, record, nr),
		.nr_parts = (uint32_t)nr_parts,
		.parts = parts,
	};

	if (nr_parts < 0 || call.region == NO_ENTRY || (slot && nr_parts > RING_SLOT_PARTS)) {
		reader->process->malformed++;
		return;
	}
	if (slot)
		take_slot(reader, slot, &call, number);
	for (int i = 0; i < nr_parts; i++)
		if (has_request(&parts[i]))
			find_request(&reader->thread->requests, &parts[i], parts[i].request);
	set_times(reader, &call, record[1], record[2]);
	if (mpi_call_bounds_world(number))
		note_world(reader->process, number, &call);
	give(reader, &call, number);
}

/* --- calls that were seen before -------------------------------------------------------------- */

static inline void read_again(const struct reader *reader, unsigned number, uint64_t enter,
                              uint64_t leave)
{
	struct calls_slot *slot = &reader->thread->slots[number];
	struct call_requests *requests = &reader->thread->requests;

	if (!slot->call.alike) {
		reader->process->malformed++;
		return;
	}
	for (uint32_t i = 0; i < slot->nr_requests; i++) {
		unsigned fields = slot->requests[i].fields;
		uint64_t *request = &slot->parts[slot->requests[i].part].request;

		*request = *call_last_request(requests, fields) + 1 + slot->requests[i].difference;
		call_note_request(requests, fields, *request);
	}
	set_times(reader, &slot->call, enter, leave);
	give(reader, &slot->call, slot->number);
}

static inline void read_short(const struct reader *reader, uint64_t word)
{
	uint64_t enter = reader->thread->ticks + ring_again_gap(word);

	read_again(reader, ring_head_slot(word), enter, enter + ring_again_duration(word));
}

/*
 * From here on calls are of the next iteration, or of none. A call that goes on stays with its
 * beginning.
 */
static void begin_iteration(const struct reader *reader, uint64_t ticks, unsigned wanted_level)
{
	struct calls_thread *thread = reader->thread;

	thread->ticks = ticks;
	if (thread->wanted_level)
		thread->levelled = ticks;
	thread->wanted_level = wanted_level <= NR_LEVELS ? (uint8_t)wanted_level : 0;
	if (!thread->entry.continued)
		reader->process->wanted_level = thread->wanted_level;
}

/* Gives the thread's last iteration, of which the record tells. From `ticks` on others follow. */
static void give_iteration(const struct reader *reader, uint64_t head, uint64_t ticks)
{
	struct calls_thread *thread = reader->thread;
	struct calls_iteration *iteration = &thread->iteration;
	const unsigned level_and_pattern = ring_head_parts(head);

	iteration->level = (uint8_t)(level_and_pattern >> 6);
	iteration->pattern = level_and_pattern & 63;
	iteration->wanted_level = thread->wanted_level;
	iteration->is_mixed = iteration->begin_ticks < thread->levelled;
	if (iteration->end < iteration->begin)
		iteration->end = iteration->begin;
	if (iteration->flags & RING_ITERATION_DROPPED) {
		thread->requests.posted += thread->patterns[level_and_pattern].requests.posted;
		thread->requests.done += thread->patterns[level_and_pattern].requests.done;
	}
	if (reader->sink->iteration)
		reader->sink->iteration(reader->sink->arg, reader->process, reader->tid, iteration);
	begin_iteration(reader, ticks, ring_head_slot(head));
}

static void read_iteration(const struct reader *reader, const uint64_t *record, size_t nr)
{
	struct calls_thread *thread = reader->thread;
	const unsigned level_and_pattern = ring_head_parts(record[0]);

	thread->iteration = (struct calls_iteration){
		.begin = calls_stretch_ns(&reader->time, record[1]),
		.end = calls_stretch_ns(&reader->time, record[2]),
		.begin_ticks = record[1],
		.end_ticks = record[2],
		.calls = ring_head_number(record[0]),
		.phase = (uint32_t)record[3],
		.ordinal = (uint32_t)(record[3] >> 32),
		.flags = (uint8_t)ring_head_flags(record[0]),
		.has_point = nr == 9,
	};
	if (thread->iteration.has_point) {
		thread->iteration.collectives = record[7];
		thread->iteration.balance = record[8];
	}
	thread->patterns[level_and_pattern].calls = thread->iteration.calls;
	thread->patterns[level_and_pattern].requests = (struct call_requests){record[5], record[6]};
	give_iteration(reader, record[0], record[4]);
}

static void read_dropped(const struct reader *reader, uint64_t word)
{
	struct calls_thread *thread = reader->thread;
	struct calls_iteration *iteration = &thread->iteration;

	iteration->calls = thread->patterns[ring_head_parts(word)].calls;
	if (!iteration->calls) {
		reader->process->malformed++;
		return;
	}
	iteration->begin = iteration->end;
	iteration->begin_ticks = iteration->end_ticks;
	iteration->end_ticks += ring_dropped_duration(word);
	iteration->end = calls_stretch_ns(&reader->time, iteration->end_ticks);
	iteration->ordinal++;
	iteration->flags = RING_ITERATION_DROPPED;
	iteration->has_point = false;
	give_iteration(reader, word, iteration->end_ticks);
}

static void read_record(const struct reader *reader, const uint64_t *record, size_t nr)
{
	if (ring_head_record(record[0]) == RING_CALL ||
	    ring_head_record(record[0]) == RING_CALL_AT || ring_head_record(record[0]) == RING_LEFT)
		read_whole(reader, record, nr);
	else if (ring_head_record(record[0]) == RING_REQUESTS && nr == 3)
		reader->thread->requests = (struct call_requests){record[1], record[2]};
	else if (ring_head_record(record[0]) == RING_ITERATION && (nr == 7 || nr == 9))
		read_iteration(reader, record, nr);
	else if (ring_is_dropped(record[0]))
		read_dropped(reader, record[0]);
	else if (ring_head_record(record[0]) == RING_AGAIN && nr == 3)
		read_again(reader, ring_head_slot(record[0]), record[1], record[2]);
	else if (ring_is_short_again(record[0]))
		read_short(reader, record[0]);
	else
		reader->process->malformed++;
}

/* Reads iterations that were dropped, as long as each has one word. */
static void read_dropped_ones(const struct reader *reader, struct calls_ring *ring)
{
	for (; ring->tail != ring->head; ring->tail++) {
		uint64_t word = calls_ring_peek(ring);

		if (!ring_is_dropped(word))
			return;
		read_dropped(reader, word);
	}
}

/* Reads records up to the first one that is not a short repetition of a call. */
static void read_shorts(const struct reader *reader, struct calls_ring *ring)
{
	const uint64_t *words = ring->words;
	uint64_t tail = ring->tail, head = ring->head, mask = ring->size - 1;

	for (; tail != head; tail++) {
		uint64_t word = __atomic_load_n(&words[tail & mask], __ATOMIC_RELAXED);

		if (!ring_is_short_again(word))
			break;
		read_short(reader, word);
	}
	ring->tail = tail;
}

/* --- runs of such calls ----------------------------------------------------------------------- */

/*
 * Gives a run as many of these words as it takes; returns the one behind them. What is the same for
 * all is in locals, for what is written here might be anything, as far as the compiler knows.
 */
__attribute__((noinline)) static const uint64_t *run_words(struct calls_thread *thread,
                                                           const struct calls_stretch *stretch,
                                                           struct call_run *to, const uint64_t *at,
                                                           const uint64_t *end)
{
	const struct calls_stretch time = *stretch;
	uint64_t ticks = thread->ticks - time.from.ticks;
	struct call_run run = *to;

	for (; at != end; at++) {
		uint64_t word = __atomic_load_n(at, __ATOMIC_RELAXED);
		uint64_t entered = ticks + ring_again_gap(word);
		uint64_t left = entered + ring_again_duration(word);
		unsigned slot = ring_head_slot(word);

		if (!ring_is_short_again(word) || left >= time.ticks ||
		    !call_run_put(&run, thread->alikes[slot], calls_stretch_after(&time, entered),
		                  calls_stretch_after(&time, left), thread->slots[slot].parts))
			break;
		ticks = left;
	}
	*to = run;
	if (run.nr) {
		thread->ticks = time.from.ticks + ticks;
		thread->last = calls_stretch_after(&time, ticks);
	}
	return at;
}

/* From here on, up to the end of the stretch, times never decrease. */
static bool in_stretch(const struct calls_stretch *stretch, const struct calls_thread *thread)
{
	uint64_t ticks = thread->ticks - stretch->from.ticks;

	return ticks < stretch->ticks && calls_stretch_after(stretch, ticks) >= thread->last;
}

/* Returns the stretch up to the end of the moment in which the thread's last call was. */
static struct calls_stretch stretch_of_moment(const struct reader *reader)
{
	struct calls_stretch stretch = reader->time;
	unsigned shift = reader->thread->wanted_level ? 0 : reader->sink->moment_shift;
	uint64_t end = ((reader->thread->last >> shift) + 1) << shift;
	double ticks = ((double)end - (double)stretch.from.ns) / stretch.from.rate;

	if (shift && ticks < (double)stretch.ticks)
		stretch.ticks = ticks > 0 ? (uint64_t)ticks : 0;
	return stretch;
}

static void read_run(const struct reader *reader, struct calls_ring *ring)
{
	const struct calls_sink *sink = reader->sink;
	struct calls_thread *thread = reader->thread;
	struct call_requests *requests = &thread->requests;
	const uint64_t *first = &ring->words[ring->tail & (ring->size - 1)];
	uint64_t most = ring->size - (ring->tail & (ring->size - 1));
	uint64_t left = ring->head - ring->tail;
	const uint64_t *end = first + (left < most ? left : most);
	struct calls_stretch stretch;
	struct call_run run;

	if (!in_stretch(&reader->time, thread) ||
	    !sink->begin(sink->arg, reader->process, reader->tid, thread->last, requests, &run))
		return;
	stretch = stretch_of_moment(reader);
	ring->tail += (uint64_t)(run_words(thread, &stretch, &run, first, end) - first);
	requests->posted += run.posted;
	requests->done += run.done;
	sink->end(sink->arg, &run);
}

/* Whether the next call may well be one for a run. */
static bool may_run(const struct reader *reader, const struct calls_ring *ring)
{
	uint64_t word = ring->tail != ring->head ? calls_ring_peek(ring) : 0;

	return ring_is_short_again(word) && reader->thread->alikes[ring_head_slot(word)];
}

static void read_records(const struct reader *reader, struct calls_ring *ring)
{
	bool runs = reader->sink->begin && reader->time.ticks;
	uint64_t record[RING_MAX_RECORD + 1];
	size_t nr;

	do {
		read_dropped_ones(reader, ring);
		if (!runs)
			read_shorts(reader, ring);
		else if (may_run(reader, ring))
			read_run(reader, ring);
		nr = calls_ring_next(reader->process, ring, record);
		if (nr)
			read_record(reader, record, nr);
	} while (nr);
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Returns when a call began that has not ended, as far as it counts, ns. 0: its time was not read.
 */
static uint64_t open_since(const struct calls_process *process, unsigned thread, uint64_t ticks)
{
	uint64_t enter =
		ticks ? calls_clock_ns(process->clock, ticks) : process->costs[thread].changed;

	return enter > process->restarted ? enter : process->restarted;
}

void calls_thread_end(struct calls_process *process, unsigned thread, uint64_t now,
                      const struct calls_sink *sink)
{
	struct ring_ends *ring = &process->shared->threads[thread];
	uint32_t nr_open = __atomic_load_n(&ring->nr_open, __ATOMIC_RELAXED);

	for (uint32_t n = nr_open < RING_MAX_OPEN ? nr_open : RING_MAX_OPEN; n > 0; n--) {
		const struct ring_open *open = &process->shared->open[thread][n - 1];
		uint32_t region = (uint32_t)__atomic_load_n(&open->region, __ATOMIC_RELAXED);
		uint64_t enter = __atomic_load_n(&open->enter, __ATOMIC_RELAXED);
		struct call call = {
			.enter = open_since(process, thread, enter),
			.leave = now,
			.region = calls_process_region(process, region),
			.flags = CALL_UNFINISHED,
			.depth = n - 1,
		};

		if (call.region == NO_ENTRY || call.enter > now)
			continue;
		sink->put(sink->arg, process, (pid_t)ring->tid, region, &call);
		calls_sums_add_unfinished(process, thread, call.region, now - call.enter, sink);
	}
	ring->nr_open = 0;
	calls_openmp_end(process, thread, now, sink);
	calls_sums_end(process, thread, now, sink);
}

static bool have_thread(struct calls_process *process, unsigned thread)
{
	if (!process->threads[thread])
		process->threads[thread] = calloc(1, sizeof(*process->threads[thread]));
	return process->threads[thread];
}

void calls_thread_read(struct calls_process *process, unsigned thread, uint64_t now,
                       const struct calls_sink *sink)
{
	struct ring_ends *ring = &process->shared->threads[thread];
	uint32_t state = __atomic_load_n(&ring->state, __ATOMIC_ACQUIRE);
	struct calls_ring view = calls_ring_open(process, ring, ring_offset(thread),
	                                         ring_words(thread), process->heads[thread]);

	if (have_thread(process, thread)) {
		/* The target writes to this part of the ring all the time: it is not looked at
		 * for each call. */
		const struct reader reader = {
			.process = process,
			.thread = process->threads[thread],
			.time = calls_clock_stretch(process->clock),
			.tid = (pid_t)ring->tid,
			.sink = sink,
		};

		process->wanted_level = reader.thread->given_level;
		read_records(&reader, &view);
		reader.thread->given_level = process->wanted_level;
		process->wanted_level = 0;
	}
	__atomic_store_n(&ring->tail, view.tail, __ATOMIC_RELEASE);
	if (state != RING_ENDED || view.tail != ring->head)
		return;
	calls_thread_end(process, thread, now, sink);
	free(process->threads[thread]);
	process->threads[thread] = NULL;
	__atomic_store_n(&ring->state, RING_FREE, __ATOMIC_RELEASE);
}
