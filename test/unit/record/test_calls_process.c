#include "tables_folder.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/frame.h"
#include "record/calls/calls_process.h"
#include "preload/mpi_calls.h"

/* The recorder's side of a target's memory: what a true one writes, and what a mad one does. */

struct world {
	char folder[64];
	struct tables *tables;
	struct calls_names names;
	struct calls_clock clock;
	struct calls_process *process;
	unsigned nr_calls;
	struct call last;
	struct call_part parts[RING_MAX_PARTS];
	uint32_t last_region;
};

static void sink(void *arg, struct calls_process *process, pid_t tid, uint32_t local_region,
                 struct call *call)
{
	struct world *w = arg;

	(void)process;
	(void)tid;
	assert_true(call->nr_parts <= RING_MAX_PARTS);
	assert_true(call->enter <= call->leave);
	assert_true(call->region < tables_section(w->tables, TRACE_REGIONS).nr);
	for (unsigned i = 0; i < call->nr_parts; i++) {
		assert_true(call->parts[i].type < NR_CALL_PARTS);
		assert_true(call->parts[i].comm < tables_section(w->tables, TRACE_COMMS).nr);
		w->parts[i] = call->parts[i];
	}
	w->nr_calls++;
	w->last = *call;
	w->last_region = local_region;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	int fd = -1;

	assert_non_null(w);
	w->tables = tables_in_folder(w->folder, 128 << 10);
	calls_names_init(&w->names, w->tables);
	w->clock.source = RING_CLOCK_MONOTONIC;
	calls_clock_read(&w->clock);
	w->process = calls_process_new(getpid(), &w->names, &w->clock, &fd);
	assert_non_null(w->process);
	/* Nobody takes memory away under the reader. */
	assert_int_not_equal(ftruncate(fd, 4096), 0);
	close(fd);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	calls_process_free(w->process);
	calls_names_fini(&w->names);
	tables_free(w->tables);
	rmdir(w->folder);
	free(w);
	return 0;
}

/* As a target writes: into the ring of a thread, or the definitions for RING_MAX_THREADS. */
static void produce(struct world *w, unsigned thread, const uint64_t *words, size_t nr)
{
	struct ring_process *shared = w->process->shared;
	bool definition = thread == RING_MAX_THREADS;
	struct ring_ends *ring = definition ? &shared->definitions : &shared->threads[thread];
	size_t size = definition ? RING_DEFINITION_WORDS : ring_words(thread);
	uint64_t *base = (uint64_t *)(void *)((char *)shared + (definition ? RING_DEFINITIONS_OFFSET
	                                                                   : ring_offset(thread)));

	if (ring->head % size + nr > size) {
		base[ring->head % size] = ring_head(RING_PAD, 0, 0, 0, 0);
		ring->head += size - ring->head % size;
	}
	memcpy(&base[ring->head % size], words, nr * sizeof(*words));
	ring->state = RING_USED;
	ring->head += nr;
}

static void consume(struct world *w)
{
	calls_process_look(w->process);
	calls_process_read(w->process, 1000000, &(struct calls_sink){.put = sink, .arg = w});
}

static void test_definitions_and_calls(void **state)
{
	struct world *w = *state;
	uint64_t region[4] = {ring_head(RING_REGION, 4, 0, 0, RING_USER_REGIONS + 9), 0};
	uint64_t comm[4] = {ring_head(RING_COMM, 4, 0, 0, 5), 77, 0, 3};
	uint64_t members[4] = {ring_head(RING_MEMBERS, 4, 0, 0, 5), 0, 4 | (uint64_t)2 << 32, 9};
	uint64_t call[7] = {ring_head(RING_CALL, 7, 1, 2, CALL_Isend),
	                    100,
	                    200,
	                    CALL_SEND_POSTED | 5 << 8 | (uint64_t)2 << 32,
	                    42,
	                    4096,
	                    16}; /* more than the expected one, which is 1 */
	uint64_t user[3] = {ring_head(RING_CALL, 3, 0, 0, RING_USER_REGIONS + 9), 300, 400};
	const struct trace_comm *entry;

	strcpy((char *)&region[2], "a name");
	produce(w, RING_MAX_THREADS, region, 4);
	produce(w, RING_MAX_THREADS, comm, 4);
	produce(w, RING_MAX_THREADS, members, 4);
	produce(w, 3, call, 7);
	consume(w);
	assert_int_equal(w->nr_calls, 1);
	assert_int_equal(w->last.depth, 2);
	assert_int_equal(w->parts[0].peer, 2);
	assert_int_equal(w->parts[0].tag, 42);
	assert_int_equal(w->parts[0].bytes, 4096);
	assert_int_equal(w->parts[0].request, 17);
	entry = tables_comm_at(w->tables, w->parts[0].comm);
	assert_int_equal(entry->id, 77);
	assert_int_equal(entry->nr_members, 3);
	produce(w, 3, user, 3);
	consume(w);
	assert_int_equal(w->nr_calls, 2);
	assert_int_equal(w->last.enter, 300);
	assert_int_equal(w->process->malformed, 0);
}

/* --- iterations ------------------------------------------------------------------------------- */

static struct calls_iteration iterations[8];
static unsigned nr_iterations;

static void take_iteration(void *arg, struct calls_process *process, pid_t tid,
                           const struct calls_iteration *iteration)
{
	(void)arg;
	(void)process;
	(void)tid;
	iterations[nr_iterations++] = *iteration;
}

static void consume_iterations(struct world *w)
{
	const struct calls_sink to = {.put = sink, .iteration = take_iteration, .arg = w};

	nr_iterations = 0;
	calls_process_look(w->process);
	calls_process_read(w->process, 1000000, &to);
}

static uint64_t iteration_head(unsigned pattern, unsigned flags, uint32_t calls)
{
	return ring_head(RING_ITERATION, 7, pattern | 1U << 6, flags, calls);
}

/* A short record goes on where the last one ended, with the calls and requests of its pattern. */
static void test_iterations(void **state)
{
	struct world *w = *state;
	const uint64_t words[] = {
		iteration_head(3, RING_ITERATION_STORED, 12),
		1000,
		1500,
		2 | (uint64_t)7 << 32,
		1400,
		4,
		3,
		iteration_head(5, RING_ITERATION_DROPPED, 20),
		1500,
		1800,
		2 | (uint64_t)8 << 32,
		1800,
		6,
		5,
		ring_dropped(3 | 1U << 6, 100),
		ring_dropped(5 | 1U << 6, UINT32_MAX),
	};
	const uint64_t receive[] = {ring_head(RING_CALL, 5, 1, 0, CALL_Irecv), 1u << 31, 1u << 31,
	                            CALL_RECEIVE_POSTED, 0};
	const uint64_t unknown = ring_dropped(4 | 1U << 6, 100);

	produce(w, 3, words, sizeof(words) / sizeof(*words));
	produce(w, 3, receive, 5);
	consume_iterations(w);
	assert_int_equal(w->process->malformed, 0);
	assert_int_equal(nr_iterations, 4);
	assert_int_equal(iterations[2].begin_ticks, 1800);
	assert_int_equal(iterations[2].end_ticks, 1900);
	assert_int_equal(iterations[2].ordinal, 9);
	assert_int_equal(iterations[2].phase, 2);
	assert_int_equal(iterations[2].level, 1);
	assert_int_equal(iterations[2].pattern, 3);
	assert_int_equal(iterations[2].calls, 12);
	assert_int_equal(iterations[2].flags, RING_ITERATION_DROPPED);
	assert_int_equal(iterations[3].calls, 20);
	assert_int_equal(iterations[3].end_ticks, 1900 + (uint64_t)UINT32_MAX);
	/* The calls of the stored iteration post requests of their own. */
	assert_int_equal(w->parts[0].request, 6 + 4 + 6 + 1);
	produce(w, 3, &unknown, 1);
	consume_iterations(w);
	assert_int_equal(nr_iterations, 0);
	assert_int_equal(w->process->malformed, 1);
}

static const char *name_of(struct world *w, const struct trace_comm *comm)
{
	return tables_string_at(w->tables, comm->name);
}

/* What a process says of itself, of both sides of a communicator, of its own and of a file. */
static void test_other_definitions(void **state)
{
	struct world *w = *state;
	uint64_t process[4] = {ring_head(RING_PROCESS, 4, 0, 0, 0), 3, 2 | (uint64_t)8 << 32};
	uint64_t inter[4] = {ring_head(RING_COMM, 4, 0, 0, 5), 77, RING_COMM_INTER,
	                     2 | (uint64_t)3 << 32};
	uint64_t four[4] = {ring_head(RING_MEMBERS, 4, 0, 0, 5), 0, 6 | (uint64_t)7 << 32,
	                    1 | (uint64_t)2 << 32};
	uint64_t last[3] = {ring_head(RING_MEMBERS, 3, 0, 0, 5), 4, 3};
	uint64_t self[4] = {ring_head(RING_COMM, 4, 0, 0, 6), 78, RING_COMM_SELF, 1};
	uint64_t member[3] = {ring_head(RING_MEMBERS, 3, 0, 0, 6), 0, 2};
	uint64_t file[4] = {ring_head(RING_FILE, 4, 0, 0, 7), 79, 5};
	uint64_t region[3] = {ring_head(RING_REGION, 3, 0, 0, RING_USER_REGIONS + 1),
	                      RING_REGION_MARKER};
	static const uint32_t members[] = {6, 7, 1, 2, 3};
	const struct trace_process *entry;
	const struct trace_comm *comm;

	memset(&process[3], 'M', 8); /* none of the names ends */
	memset(&file[3], 'f', 8);
	memset(&region[2], 'r', 8);
	produce(w, RING_MAX_THREADS, process, 4);
	produce(w, RING_MAX_THREADS, inter, 4);
	produce(w, RING_MAX_THREADS, four, 4);
	produce(w, RING_MAX_THREADS, last, 3);
	produce(w, RING_MAX_THREADS, self, 4);
	produce(w, RING_MAX_THREADS, member, 3);
	produce(w, RING_MAX_THREADS, file, 4);
	produce(w, RING_MAX_THREADS, region, 3);
	consume(w);
	assert_int_equal(w->process->malformed, 0);
	entry = calls_process_entry(w->process);
	assert_int_equal(entry->pid, getpid());
	assert_int_equal(entry->rank, 2);
	assert_int_equal(entry->world_size, 8);
	assert_int_equal(entry->thread_level, 3);
	assert_int_equal(entry->flags, TRACE_PROCESS_MPI);
	assert_string_equal(tables_string_at(w->tables, entry->library), "MMMMMMM");
	comm = tables_comm_at(w->tables, w->process->comms[5]);
	assert_int_equal(comm->flags, TRACE_COMM_INTER);
	assert_int_equal(comm->nr_members, 2);
	assert_int_equal(comm->nr_remote, 3);
	assert_memory_equal((const uint32_t *)tables_section(w->tables, TRACE_MEMBERS).entries +
	                            comm->first_member,
	                    members, sizeof(members));
	comm = tables_comm_at(w->tables, w->process->comms[6]);
	assert_int_equal(comm->flags, TRACE_COMM_SELF);
	assert_string_equal(name_of(w, comm), "MPI_COMM_SELF");
	comm = tables_comm_at(w->tables, w->process->comms[7]);
	assert_int_equal(comm->flags, TRACE_COMM_FILE);
	assert_int_equal(comm->parent, w->process->comms[5] + 1);
	assert_string_equal(name_of(w, comm), "fffffff");
	assert_int_equal(calls_names_region(&w->names, "rrrrrrr", TRACE_MARKER),
	                 w->process->regions[1]);
}

/* Each is one malformed record, and nothing is defined by it. */
static void test_definitions_of_nothing(void **state)
{
	struct world *w = *state;
	const uint32_t regions = RING_USER_REGIONS + RING_MAX_REGIONS;
	const uint64_t rows[][4] = {
		{ring_head(RING_REGION, 2, 0, 0, RING_USER_REGIONS), 0},
		{ring_head(RING_REGION, 3, 0, 0, RING_USER_REGIONS - 1), 0},
		{ring_head(RING_REGION, 3, 0, 0, regions), 0},
		{ring_head(RING_COMM, 3, 0, 0, 1), 1, 0},
		{ring_head(RING_COMM, 4, 0, 0, 0), 1, RING_COMM_WORLD, 1},
		{ring_head(RING_COMM, 4, 0, 0, RING_MAX_COMMS), 1, RING_COMM_WORLD, 1},
		{ring_head(RING_COMM, 4, 0, 0, 1), 1, 0, UINT32_MAX / 2},
		{ring_head(RING_COMM, 4, 0, 0, 1), 1, 0, (uint64_t)(UINT32_MAX / 2) << 32},
		{ring_head(RING_MEMBERS, 3, 0, 0, 0), 0, 1},
		{ring_head(RING_FILE, 3, 0, 0, 1), 1, 0},
		{ring_head(RING_FILE, 4, 0, 0, 0), 1, 0},
		{ring_head(RING_FILE, 4, 0, 0, RING_MAX_COMMS), 1, 0},
		{ring_head(RING_PROCESS, 3, 0, 0, 0), 0, 0},
		{ring_head(RING_CALL, 3, 0, 0, 0), 1, 2},
	};
	uint64_t comm[4] = {ring_head(RING_COMM, 4, 0, 0, 5), 77, 0, 3};
	uint64_t members[][3] = {{ring_head(RING_MEMBERS, 2, 0, 0, 5), 0},
	                         {ring_head(RING_MEMBERS, 3, 0, 0, 5), 1},
	                         {ring_head(RING_MEMBERS, 3, 0, 0, 4), 0}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		produce(w, RING_MAX_THREADS, rows[i], rows[i][0] & 0xfff);
		consume(w);
		assert_int_equal(w->process->malformed, i + 1);
	}
	assert_int_equal(w->process->nr_regions, 0);
	assert_int_equal(w->process->nr_comms, 0);
	w->process->malformed = 0;
	produce(w, RING_MAX_THREADS, comm, 4);
	for (unsigned i = 0; i < 3; i++)
		produce(w, RING_MAX_THREADS, members[i], members[i][0] & 0xfff);
	consume(w);
	assert_int_equal(w->process->malformed, 3);
	assert_int_equal(w->process->nr_comms, 0);
}

/* The call of a slot again: everything is as it was, but the times, and requests go on. */
static void test_slots(void **state)
{
	struct world *w = *state;
	const unsigned slot = 200;
	uint64_t post[5] = {ring_head(RING_CALL, 5, 1, 1, CALL_Irecv) | (uint64_t)slot
	                                                                        << RING_SLOT_SHIFT,
	                    1000, 1100, CALL_RECEIVE_POSTED | (uint64_t)3 << 32, 0};
	uint64_t ask[5] = {ring_head(RING_CALL, 5, 1, 1, CALL_Test) | (uint64_t)7
	                                                                      << RING_SLOT_SHIFT,
	                   1200, 1300, CALL_TEST_FAILED, 0};
	uint64_t done[7] = {
		ring_head(RING_CALL, 7, 1, 1, CALL_Wait), 2000, 2100, CALL_RECEIVE_DONE, 5, 600, 0};
	uint64_t soon = ring_again(1, slot, 50, 20), asked = ring_again(1, 7, 10, 10);
	uint64_t later[3] = {ring_again(3, slot, 0, 0), 5000000, 9000000};

	produce(w, 0, post, 5);
	produce(w, 0, &soon, 1);
	consume(w);
	assert_int_equal(w->nr_calls, 2);
	assert_int_equal(w->last_region, CALL_Irecv);
	assert_int_equal(w->last.enter, 1150);
	assert_int_equal(w->last.leave, 1170);
	assert_int_equal(w->last.depth, 1);
	assert_int_not_equal(w->last.alike, 0);
	assert_int_equal(w->parts[0].peer, 3);
	assert_int_equal(w->parts[0].request, 2);
	produce(w, 0, ask, 5);
	produce(w, 0, &asked, 1);
	consume(w);
	assert_int_equal(w->parts[0].request, 1);
	produce(w, 0, done, 7);
	produce(w, 0, &asked, 1);
	consume(w);
	assert_int_equal(w->parts[0].request, 2);
	assert_int_equal(w->last.enter, 2110);
	produce(w, 0, later, 3);
	consume(w);
	assert_int_equal(w->last.enter, 5000000);
	assert_int_equal(w->last.leave, 9000000);
	assert_int_equal(w->parts[0].request, 3);
	assert_int_equal(w->process->malformed, 0);
}

/* However the clock is read between its records, a call of several is one call. */
static void test_continued_calls(void **state)
{
	struct world *w = *state;
	uint64_t call[3] = {ring_head(RING_CALL, 3, 0, RING_CONTINUED, CALL_Waitall), 1000000,
	                    1500000};
	struct call first;

	w->clock.source = RING_CLOCK_COUNTER;
	w->clock.distance = UINT64_MAX; /* the last point moves */
	calls_clock_note(&w->clock, 1000, 1000);
	calls_clock_note(&w->clock, 2000000, 2000000);
	produce(w, 0, call, 3);
	consume(w);
	first = w->last;
	assert_int_equal(first.flags, CALL_CONTINUED);
	for (unsigned i = 0; i < 2; i++) {
		calls_clock_note(&w->clock, 3000000 + i * 1000000, 2500000 + i * 1300000);
		if (i == 1)
			call[0] = ring_head(RING_CALL, 3, 0, 0, CALL_Waitall);
		produce(w, 0, call, 3);
		consume(w);
		assert_int_equal(w->last.enter, first.enter);
		assert_int_equal(w->last.leave, first.leave);
	}
	assert_int_equal(w->last.flags, 0);
}

/* What stands for a slot is said first, and by the same thread; and it is small. */
static void test_slots_of_nobody(void **state)
{
	struct world *w = *state;
	uint64_t call[3] = {ring_head(RING_CALL, 3, 0, 0, CALL_Barrier) |
	                            (uint64_t)9 << RING_SLOT_SHIFT,
	                    10, 20};
	uint64_t large[3 + 2 * (RING_SLOT_PARTS + 1)] = {
		ring_head(RING_CALL, 3 + 2 * (RING_SLOT_PARTS + 1), RING_SLOT_PARTS + 1, 0,
	                  CALL_Startall) |
			(uint64_t)9 << RING_SLOT_SHIFT,
		30, 40};
	uint64_t again = ring_again(1, 9, 5, 5), none = ring_again(1, 0, 5, 5);

	for (unsigned i = 0; i <= RING_SLOT_PARTS; i++)
		large[3 + 2 * i] = CALL_SEND_DONE;
	produce(w, 1, &again, 1);
	produce(w, 1, &none, 1);
	consume(w);
	assert_int_equal(w->nr_calls, 0);
	assert_int_equal(w->process->malformed, 2);
	produce(w, 1, call, 3);
	produce(w, 1, &again, 1);
	produce(w, 2, &again, 1);
	consume(w);
	assert_int_equal(w->nr_calls, 2);
	assert_int_equal(w->process->malformed, 3);
	produce(w, 1, large, sizeof(large) / sizeof(*large));
	consume(w);
	assert_int_equal(w->process->malformed, 4);
	/* The ring's next thread begins anew. */
	w->process->shared->threads[1].state = RING_ENDED;
	consume(w);
	produce(w, 1, &again, 1);
	consume(w);
	assert_int_equal(w->nr_calls, 2);
	assert_int_equal(w->process->malformed, 5);
}

/* Who lies about the time makes no recording longer. */
static void test_nothing_is_of_later(void **state)
{
	struct world *w = *state;
	const uint64_t call[3] = {ring_head(RING_CALL, 3, 0, 0, CALL_Barrier), 10, UINT64_MAX};
	const uint64_t next[3] = {ring_head(RING_CALL, 3, 0, 0, CALL_Barrier), UINT64_MAX - 1, 30};

	produce(w, 1, call, 3);
	consume(w);
	assert_int_equal(w->last.enter, 10);
	assert_int_equal(w->last.leave, w->clock.now);
	produce(w, 1, next, 3);
	consume(w);
	assert_int_equal(w->last.enter, w->clock.now);
	assert_int_equal(w->last.leave, w->clock.now);
	assert_int_equal(w->process->malformed, 0);
}

static uint32_t first_thread(void *arg, struct calls_process *process, pid_t tid, uint64_t time)
{
	(void)arg;
	(void)process;
	(void)tid;
	(void)time;
	return 0;
}

static const struct trace_call_sum *sum_at(const struct world *w, uint32_t i)
{
	const struct trace_call_sum *sum = tables_call_sum(w->tables, i);

	assert_non_null(sum);
	return sum;
}

static void define_region(struct world *w, uint32_t number, const char *name)
{
	uint64_t region[4] = {ring_head(RING_REGION, 4, 0, 0, number), 0};

	strcpy((char *)&region[2], name);
	produce(w, RING_MAX_THREADS, region, 4);
}

static uint64_t frame_above(void *arg, const struct calls_process *process, uint64_t address)
{
	uint64_t *known = arg;

	(void)process;
	return address >= *known ? frame_make(7, (uint32_t)address) : 0;
}

/* A site gets its frame when its mapping is known; before, calls and sums have its number. */
static void test_sites(void **state)
{
	struct world *w = *state;
	uint64_t known = 0x1fff;
	const struct calls_sink sites = {.put = sink, .frame = frame_above, .arg = &known};
	uint64_t define[][2] = {
		{ring_head(RING_SITE, 2, 0, 0, 5), 0x1000},
		{ring_head(RING_SITE, 2, 0, 0, 6), 0x2000},
		{ring_head(RING_SITE, 2, 0, 0, 7), 0x2000},
		{ring_head(RING_SITE, 2, 0, 0, 0), 0x2000},
		{ring_head(RING_SITE, 2, 0, 0, (1U << RING_SITE_BITS) + 1), 0x2000}};
	const struct trace_call_site *site;
	uint64_t malformed;

	for (size_t i = 0; i < sizeof(define) / sizeof(*define); i++)
		produce(w, RING_MAX_THREADS, define[i], 2);
	malformed = w->process->malformed;
	calls_process_look(w->process);
	calls_process_read(w->process, 1000000, &sites);
	assert_int_equal(w->process->malformed - malformed, 2);
	assert_int_equal(calls_process_site(w->process, 5), 1);
	assert_int_equal(calls_process_site(w->process, 6), 2);
	assert_int_equal(calls_process_site(w->process, 7), 2);
	assert_int_equal(calls_process_site(w->process, 8), 0);
	site = tables_site(w->tables, 0);
	assert_int_equal(site->module, 0);
	known = 0;
	calls_process_sum(w->process, 100, &sites);
	assert_int_equal(site->module, 7);
	assert_int_equal(site->offset, 0xfff);
	assert_int_equal(tables_site(w->tables, 1)->offset, 0x1fff);
	assert_null(tables_site(w->tables, 2));
}

static void test_calls_from_sites(void **state)
{
	struct world *w = *state;
	uint64_t known = 0;
	const struct calls_sink sites = {.put = sink, .frame = frame_above, .arg = &known};
	uint64_t define[2] = {ring_head(RING_SITE, 2, 0, 0, 5), 0x1000};
	uint64_t call[6] = {
		ring_head(RING_CALL_AT, 6, 1, 0, CALL_Irecv), 10, 20, 5, CALL_RECEIVE_POSTED, 0};
	uint64_t cut[3] = {ring_head(RING_CALL_AT, 3, 0, 0, CALL_Barrier), 30, 40};

	produce(w, RING_MAX_THREADS, define, 2);
	calls_process_look(w->process);
	calls_process_read(w->process, 1000000, &sites);
	produce(w, 3, call, 6);
	produce(w, 3, cut, 3);
	consume(w);
	assert_int_equal(w->nr_calls, 1);
	assert_int_equal(w->last.site, 1);
	assert_int_equal(w->last.nr_parts, 1);
	assert_int_equal(w->process->malformed, 1);
}

/* The trace's sums grow with the target's, and have all calls in the end or count those they lack.
 */
static void test_sums(void **state)
{
	struct world *w = *state;
	const struct calls_sink sink_of_sums = {.put = sink, .arg = w, .thread = first_thread};
	struct ring_ends *ring = &w->process->shared->threads[9];
	struct ring_sum *rows =
		(struct ring_sum *)(void *)((char *)w->process->shared + ring_sums_offset(9));

	tables_add_thread(w->tables, 1, 1, 0, 0);
	ring->state = RING_USED;
	ring->nr_sums = 4;
	rows[0] = (struct ring_sum){.region = UINT32_MAX, .peer = CALL_NO_PEER};
	rows[1] = (struct ring_sum){
		.region = CALL_Send, .peer = 1, .calls = 3, .ticks = 30, .longest = 20};
	rows[1].moved[RING_SENT] = 3;
	rows[1].moved[RING_BYTES] = 24;
	/* A row of messages whose calls are in another one. */
	rows[2] = (struct ring_sum){.region = CALL_Send, .peer = 2};
	rows[2].moved[RING_RECEIVED] = 5;
	rows[3] = (struct ring_sum){
		.region = RING_USER_REGIONS + 1, .peer = CALL_NO_PEER, .calls = 7};
	calls_process_sum(w->process, 100, &sink_of_sums);
	assert_int_equal(tables_section(w->tables, TRACE_CALL_SUMS).nr, 2);
	assert_int_equal(sum_at(w, 0)->calls, 3);
	assert_int_equal(sum_at(w, 1)->received, 5);
	/* Its region is known later than it. */
	define_region(w, RING_USER_REGIONS + 1, "late");
	consume(w);
	rows[1].calls = 5;
	rows[1].ticks = 40;
	rows[1].moved[RING_BYTES] = 30;
	calls_process_sum(w->process, 100, &sink_of_sums);
	calls_process_sum(w->process, 100, &sink_of_sums);
	assert_int_equal(tables_section(w->tables, TRACE_CALL_SUMS).nr, 3);
	assert_int_equal(sum_at(w, 0)->calls, 5);
	assert_int_equal(sum_at(w, 0)->time, 40);
	assert_int_equal(sum_at(w, 0)->longest, 20);
	assert_int_equal(sum_at(w, 0)->bytes, 30);
	assert_int_equal(sum_at(w, 2)->calls, 7);
	/* Calls found no row, and there are more rows than there can be. */
	rows[0].calls = 11;
	ring->nr_sums = UINT32_MAX;
	calls_process_end(w->process, 100, &sink_of_sums);
	assert_int_equal(tables_run(w->tables)->unsummed_calls, 11);
	assert_int_equal(sum_at(w, 0)->calls + sum_at(w, 2)->calls, 12);
}

static void test_sums_of_values(void **state)
{
	struct world *w = *state;
	const struct calls_sink sink_of_sums = {.put = sink, .arg = w, .thread = first_thread};
	uint64_t region[4] = {ring_head(RING_REGION, 4, 0, 0, RING_USER_REGIONS + 2),
	                      RING_REGION_VALUE, 'v'};
	struct ring_ends *ring = &w->process->shared->threads[0];
	struct ring_sum *rows =
		(struct ring_sum *)(void *)((char *)w->process->shared + ring_sums_offset(0));

	tables_add_thread(w->tables, 1, 1, 0, 0);
	produce(w, RING_MAX_THREADS, region, 4);
	consume(w);
	ring->state = RING_USED;
	ring->nr_sums = 2;
	rows[1] = (struct ring_sum){
		.region = RING_USER_REGIONS + 2, .peer = CALL_NO_PEER, .calls = 2};
	rows[1].values = (struct ring_values){1, -4, -4, -4, -4, 10};
	calls_process_sum(w->process, 100, &sink_of_sums);
	rows[1].calls = 3;
	rows[1].values = (struct ring_values){2, 6, -4, 10, 10, 20};
	calls_process_sum(w->process, 100, &sink_of_sums);
	assert_int_equal(sum_at(w, 0)->calls, 3);
	assert_int_equal(sum_at(w, 0)->values.nr, 2);
	assert_true(sum_at(w, 0)->values.sum == 6 && sum_at(w, 0)->values.least == -4);
	assert_true(sum_at(w, 0)->values.most == 10 && sum_at(w, 0)->values.last == 10);
}

/* The same communicator of two processes is one, in the trace. */
static void test_world_is_one(void **state)
{
	struct world *w = *state;
	uint64_t comm[4] = {ring_head(RING_COMM, 4, 0, 0, 1), RING_COMM_WORLD_ID, RING_COMM_WORLD,
	                    8};

	produce(w, RING_MAX_THREADS, comm, 4);
	consume(w);
	comm[0] = ring_head(RING_COMM, 4, 0, 0, 2);
	produce(w, RING_MAX_THREADS, comm, 4);
	consume(w);
	assert_int_equal(w->process->comms[1], w->process->comms[2]);
	assert_int_equal(tables_section(w->tables, TRACE_COMMS).nr, 2);
	assert_int_equal(tables_section(w->tables, TRACE_MEMBERS).nr, 8);
}

static long nr_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

/* Four words that speak of millions of members are no work for megabytes when said again. */
static void test_large_worlds_are_cheap(void **state)
{
	struct world *w = *state;
	uint64_t comm[4] = {ring_head(RING_COMM, 4, 0, 0, 1), RING_COMM_WORLD_ID, RING_COMM_WORLD,
	                    TABLES_MAX_MEMBERS / 2};
	const uint32_t *members;
	long before;

	produce(w, RING_MAX_THREADS, comm, 4);
	consume(w);
	assert_int_equal(w->process->comms[1], 1);
	assert_int_equal(tables_section(w->tables, TRACE_MEMBERS).nr, TABLES_MAX_MEMBERS / 2);
	members = tables_section(w->tables, TRACE_MEMBERS).entries;
	assert_int_equal(members[TABLES_MAX_MEMBERS / 2 - 1], TABLES_MAX_MEMBERS / 2 - 1);
	before = nr_faults();
	for (unsigned i = 0; i < 100; i++) {
		comm[0] = ring_head(RING_COMM, 4, 0, 0, 2 + i);
		comm[3] = i % 2 ? TABLES_MAX_MEMBERS / 2 : TABLES_MAX_MEMBERS / 2 + i + 1;
		produce(w, RING_MAX_THREADS, comm, 4);
		consume(w);
		assert_int_equal(w->process->comms[2 + i], i % 2);
	}
	assert_true(nr_faults() - before < 200);
	assert_int_equal(w->process->malformed, 0);
}

static void test_rounds_wrap(void **state)
{
	struct world *w = *state;
	uint64_t call[6] = {ring_head(RING_CALL, 6, 1, 0, CALL_Send),
	                    0,
	                    0,
	                    CALL_SEND | (uint64_t)1 << 32,
	                    0,
	                    0};

	for (unsigned i = 0; i < 100000; i++) {
		call[1] = call[2] = i;
		call[4] = i;
		produce(w, RING_LARGE_THREADS, call, 6);
		if (i % 100 == 99) {
			consume(w);
			assert_int_equal(w->nr_calls, i + 1);
			assert_int_equal(w->parts[0].tag, i);
		}
	}
	assert_int_equal(w->process->malformed, 0);
}

static void test_open_calls_end(void **state)
{
	struct world *w = *state;
	struct ring_process *shared = w->process->shared;
	uint64_t call[3] = {ring_head(RING_CALL, 3, 0, 0, CALL_Barrier), 10, 20};
	const struct trace_process *entry;

	produce(w, 0, call, 3);
	shared->threads[1].state = RING_USED;
	shared->threads[1].nr_open = 2;
	shared->open[1][0] = (struct ring_open){50, CALL_Barrier};
	shared->open[1][1] = (struct ring_open){60, CALL_Recv};
	shared->lost = 3;
	shared->untracked = 4;
	w->clock.error = 5;
	entry = calls_process_entry(w->process);
	calls_process_look(w->process);
	calls_process_end(w->process, 500, &(struct calls_sink){.put = sink, .arg = w});
	assert_int_equal(w->nr_calls, 3); /* one of them had come when nobody looked */
	assert_int_equal(w->last_region, CALL_Barrier);
	assert_int_equal(w->last.flags, CALL_UNFINISHED);
	assert_int_equal(w->last.enter, 50);
	assert_int_equal(w->last.leave, 500);
	assert_int_equal(entry->lost, 7);
	assert_int_equal(entry->clock_error, 5);
}

/* What a ring holds is thrown away where it makes no sense, and the reader goes on behind it. */
static void test_records_of_no_size(void **state)
{
	struct world *w = *state;
	struct ring_ends *ring = &w->process->shared->threads[3];
	uint64_t *words = (uint64_t *)(void *)((char *)w->process->shared + ring_offset(3));
	const uint64_t size = ring_words(3);
	uint64_t call[3] = {ring_head(RING_CALL, 3, 0, 0, CALL_Barrier), 10, 20};
	uint64_t none[3] = {ring_head(RING_CALL, 0, 0, 0, CALL_Barrier), 10, 20};
	uint64_t more[3] = {ring_head(RING_CALL, 4, 0, 0, CALL_Barrier), 10, 20};

	produce(w, 3, none, 3);
	consume(w);
	assert_int_equal(w->process->malformed, 1);
	produce(w, 3, more, 3);
	consume(w);
	assert_int_equal(w->process->malformed, 2);
	/* beyond the ring's end */
	ring->head = ring->tail = size - 2;
	words[size - 2] = call[0];
	ring->head += 3;
	consume(w);
	assert_int_equal(w->process->malformed, 3);
	/* more than it holds */
	ring->head += size + 1;
	consume(w);
	assert_int_equal(w->process->malformed, 4);
	assert_int_equal(w->nr_calls, 0);
	assert_int_equal(ring->tail, ring->head);
	produce(w, 3, call, 3);
	consume(w);
	assert_int_equal(w->nr_calls, 1);
}

/* A thread that has ended leaves its ring to the next, when all of it was read. */
static void test_rings_are_given_back(void **state)
{
	struct world *w = *state;
	uint64_t call[3] = {ring_head(RING_CALL, 3, 0, 0, CALL_Barrier), 10, 20};

	produce(w, 2, call, 3);
	w->process->shared->threads[2].state = RING_ENDED;
	consume(w);
	assert_int_equal(w->nr_calls, 1);
	assert_int_equal(w->process->shared->threads[2].state, RING_FREE);
}

static uint64_t rnd(void)
{
	static uint64_t seed = 1;

	seed = seed * 6364136223846793005 + 1442695040888963407;
	return seed ^ seed >> 32;
}

/* A word that is more dangerous than a random one. */
static uint64_t mad_word(void)
{
	switch (rnd() % 8) {
	case 0:
		return ring_head(rnd() % 8, rnd() % 12, rnd() % 5, (unsigned)(rnd() & 255),
		                 (uint32_t)(rnd() % 1300));
	case 1:
		return ring_head(RING_CALL, 3 + rnd() % 40, rnd() % 256, 0,
		                 (uint32_t)(rnd() % 400));
	case 2:
		return rnd() % NR_CALL_PARTS | (rnd() % 8) << 8;
	case 3:
		return rnd() % 4096;
	case 4:
		return UINT64_MAX - rnd() % 3;
	case 5:
		return ring_again(rnd() % 3 ? 1 : 3, (unsigned)(rnd() % 4), rnd() % 1000,
		                  rnd() % 1000);
	case 6:
		return ring_head(RING_CALL, 3, 0, 0, CALL_Barrier) | (uint64_t)(rnd() % 4)
		                                                             << RING_SLOT_SHIFT;
	default:
		return rnd();
	}
}

static void test_madness(void **state)
{
	struct world *w = *state;
	struct ring_process *shared = w->process->shared;

	for (unsigned round = 0; round < 3000; round++) {
		unsigned thread = (unsigned)(rnd() % (RING_MAX_THREADS + RING_MAX_THREADS / 4));
		struct ring_ends *ring;
		uint64_t words[64];

		thread = thread < RING_MAX_THREADS ? thread : RING_MAX_THREADS;
		ring = thread == RING_MAX_THREADS ? &shared->definitions : &shared->threads[thread];
		for (unsigned i = 0; i < 64; i++)
			words[i] = mad_word();
		produce(w, thread, words, 1 + rnd() % 64);
		ring->nr_open = (uint32_t)rnd();
		ring->state = rnd() % 4;
		if (thread < RING_MAX_THREADS)
			shared->open[thread][rnd() % RING_MAX_OPEN] =
				(struct ring_open){mad_word(), mad_word()};
		if (rnd() % 50 == 0)
			ring->head = rnd();
		if (rnd() % 50 == 0)
			ring->tail = rnd();
		consume(w);
	}
	assert_true(w->process->malformed > 0);
	calls_process_look(w->process);
	calls_process_end(w->process, 1000, &(struct calls_sink){.put = sink, .arg = w});
}

/* --- parallel regions ------------------------------------------------------------------------- */

static uint64_t frame_of(void *arg, const struct calls_process *process, uint64_t address)
{
	(void)arg;
	(void)process;
	return frame_make(3, (uint32_t)address);
}

static struct ring_team_sum *team_rows(struct world *w)
{
	char *rows = (char *)w->process->shared + ring_team_sums_offset();

	return (struct ring_team_sum *)(void *)rows;
}

static void define_parallel(struct world *w, uint32_t number, uint64_t address, const char *name)
{
	uint64_t words[5] = {ring_head(RING_PARALLEL, 5, 0, 0, number), address};

	strcpy((char *)&words[2], name);
	produce(w, RING_MAX_THREADS, words, 5);
}

static void read_teams(struct world *w, uint64_t now)
{
	const struct calls_sink teams = {
		.put = sink, .thread = first_thread, .frame = frame_of, .arg = w};

	consume(w);
	calls_process_sum(w->process, now, &teams);
}

static const struct trace_openmp *openmp_at(struct world *w, uint32_t nr, uint32_t i)
{
	const struct live_table sums = tables_section(w->tables, TRACE_OPENMP);

	assert_int_equal(sums.nr, nr);
	return (const struct trace_openmp *)sums.entries + i;
}

static void test_teams(void **state)
{
	struct world *w = *state;
	struct ring_team_sum *rows = team_rows(w);
	const struct trace_openmp *sum;

	tables_add_thread(w->tables, 1, 1, 0, 0);
	w->process->shared->threads[2].tid = 77;
	w->process->shared->threads[2].state = RING_USED;
	define_parallel(w, RING_PARALLELS + 4, 0x123, "parallel a+0x1");
	rows[0] = (struct ring_team_sum){
		.region = RING_PARALLELS + 4,
		.thread = 2,
		.count = 2,
		.ticks = 100,
		.covered = 90,
		.threads = 8,
		.most_threads = 4,
		.idle = 30,
		.barrier = 20,
		.critical = 10,
		.work = 300,
		.longest = 80,
		.mean = 75,
	};
	w->process->shared->nr_team_sums = 1;
	read_teams(w, 1000000);
	read_teams(w, 1000001);
	sum = openmp_at(w, 1, 0);
	assert_int_equal(sum->count, 2);
	assert_int_equal(sum->time, 100);
	assert_int_equal(sum->covered, 90);
	assert_int_equal(sum->threads, 8);
	assert_int_equal(sum->most_threads, 4);
	assert_int_equal(sum->idle, 30);
	assert_int_equal(sum->barrier_wait, 20);
	assert_int_equal(sum->critical_wait, 10);
	assert_int_equal(sum->work, 300);
	assert_int_equal(sum->longest_work, 80);
	assert_int_equal(sum->mean_work, 75);
	assert_int_equal(sum->module, 3);
	assert_int_equal(sum->offset, 0x123);
	assert_int_equal(sum->to, 1000001);
	rows[0].count = 3;
	rows[0].ticks = 150;
	read_teams(w, 1000002);
	assert_int_equal(openmp_at(w, 1, 0)->count, 3);
	assert_int_equal(openmp_at(w, 1, 0)->time, 150);
	/* Keys that name nothing, and more rows than there can be. */
	rows[1] = (struct ring_team_sum){.region = RING_PARALLELS + 5, .thread = 2, .count = 1};
	rows[2] = (struct ring_team_sum){.region = RING_TEAM_PARTS, .thread = 2, .count = 1};
	rows[3] = (struct ring_team_sum){
		.region = RING_PARALLELS + 4, .thread = RING_MAX_THREADS, .count = 1};
	w->process->shared->nr_team_sums = UINT32_MAX;
	read_teams(w, 1000003);
	openmp_at(w, 1, 0);
	assert_int_equal(w->process->malformed, 0);
}

static uint32_t class_of(struct world *w, uint32_t number)
{
	const struct live_table regions = tables_section(w->tables, TRACE_REGIONS);
	uint32_t i = calls_process_region(w->process, number);

	assert_true(i < regions.nr);
	return ((const struct trace_region *)regions.entries)[i].region_class;
}

static void test_classes_of_teams(void **state)
{
	struct world *w = *state;
	static const uint32_t waits[] = {TRACE_TEAM_BARRIER, TRACE_TEAM_CRITICAL, TRACE_TEAM_JOIN};

	define_parallel(w, RING_PARALLELS + 1, 1, "parallel a");
	define_parallel(w, RING_TEAM_PARTS + 1, 0, "thread of parallel a");
	for (uint32_t i = 0; i < NR_RING_TEAM_WAITS; i++) {
		uint64_t words[4] = {ring_head(RING_REGION, 4, 0, 0, RING_TEAM_WAITS + i), 0};

		strcpy((char *)&words[2], "a wait");
		produce(w, RING_MAX_THREADS, words, 4);
	}
	consume(w);
	assert_int_equal(class_of(w, RING_PARALLELS + 1), TRACE_PARALLEL);
	assert_int_equal(class_of(w, RING_TEAM_PARTS + 1), TRACE_TEAM_PART);
	for (uint32_t i = 0; i < NR_RING_TEAM_WAITS; i++)
		assert_int_equal(class_of(w, RING_TEAM_WAITS + i), waits[i]);
	assert_int_equal(w->process->malformed, 0);
	/* Numbers that no library has. */
	define_parallel(w, RING_TEAM_WAITS, 1, "none");
	consume(w);
	assert_int_equal(w->process->malformed, 1);
	produce(w, RING_MAX_THREADS,
	        (uint64_t[4]){ring_head(RING_REGION, 4, 0, 0, RING_TEAM_WAITS + 100)}, 4);
	consume(w);
	assert_int_equal(w->process->malformed, 2);
}

/* Levels of calls, and iterations, that a sink was given. */
struct told {
	uint8_t levels[16];
	unsigned nr_calls;
	struct calls_iteration iterations[8];
	unsigned nr;
};

static void tell_call(void *arg, struct calls_process *process, pid_t tid, uint32_t local_region,
                      struct call *call)
{
	struct told *told = arg;

	(void)tid;
	(void)local_region;
	(void)call;
	assert_true(told->nr_calls < 16);
	told->levels[told->nr_calls++] = process->wanted_level;
}

static void tell_iteration(void *arg, struct calls_process *process, pid_t tid,
                           const struct calls_iteration *iteration)
{
	struct told *told = arg;

	(void)process;
	(void)tid;
	assert_true(told->nr < 8);
	told->iterations[told->nr++] = *iteration;
}

static void produce_iteration(struct world *w, uint64_t begin, uint64_t end, uint64_t last,
                              uint64_t next_level)
{
	const uint64_t words[7] = {ring_head(RING_ITERATION, 7, 0, RING_ITERATION_STORED, 1) |
	                                   next_level << RING_SLOT_SHIFT,
	                           begin, end, 1, last};

	produce(w, 0, words, 7);
}

static void produce_send(struct world *w, uint64_t enter)
{
	produce(w, 0, (uint64_t[3]){ring_head(RING_CALL, 3, 0, 0, CALL_Send), enter, enter + 5}, 3);
}

/* The record before an iteration says at which level its calls are wanted, also in another round.
 */
static void test_levels_of_iterations(void **state)
{
	static const uint8_t levels[] = {0, 8, 8, 0, 64, 0, 0};
	struct world *w = *state;
	struct told told = {0};
	const struct calls_sink teller = {
		.put = tell_call, .iteration = tell_iteration, .arg = &told};

	produce_send(w, 100);
	produce_iteration(w, 100, 200, 200, 8);
	produce_send(w, 200);
	calls_process_look(w->process);
	calls_process_read(w->process, 1000000, &teller);
	produce_send(w, 210);
	/* Two calls of the next iteration were written before. */
	produce_iteration(w, 200, 220, 240, 0);
	produce_send(w, 250);
	produce_iteration(w, 220, 300, 300, NR_LEVELS);
	produce_send(w, 300);
	/* No such level. */
	produce_iteration(w, 300, 400, 400, NR_LEVELS + 1);
	produce_send(w, 400);
	produce_iteration(w, 400, 500, 500, 255);
	produce_send(w, 500);
	calls_process_look(w->process);
	calls_process_read(w->process, 1000000, &teller);
	assert_int_equal(told.nr_calls, sizeof(levels));
	assert_memory_equal(told.levels, levels, sizeof(levels));
	assert_int_equal(w->process->wanted_level, 0);
	assert_int_equal(told.nr, 5);
	assert_int_equal(told.iterations[0].wanted_level, 0);
	assert_int_equal(told.iterations[1].wanted_level, 8);
	assert_int_equal(told.iterations[2].wanted_level, 0);
	assert_int_equal(told.iterations[3].wanted_level, NR_LEVELS);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(told.iterations[i].is_mixed, i == 2);
}

/* It has more parts than a record holds, and an iteration begins with it. */
static void test_continued_call_has_one_level(void **state)
{
	static const uint8_t levels[] = {5, 5, 5, 5, 9};
	struct world *w = *state;
	struct told told = {0};
	const struct calls_sink teller = {
		.put = tell_call, .iteration = tell_iteration, .arg = &told};

	produce_iteration(w, 50, 100, 100, 5);
	produce_send(w, 100);
	for (unsigned i = 0; i < 3; i++) {
		produce(w, 0,
		        (uint64_t[3]){ring_head(RING_CALL, 3, 0, i < 2 ? RING_CONTINUED : 0,
		                                CALL_Waitall),
		                      200, 205},
		        3);
		if (i == 1)
			produce_iteration(w, 100, 200, 205, 9);
	}
	produce_send(w, 300);
	calls_process_look(w->process);
	calls_process_read(w->process, 1000000, &teller);
	assert_int_equal(told.nr_calls, sizeof(levels));
	assert_memory_equal(told.levels, levels, sizeof(levels));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_definitions_and_calls),
		TEST(test_iterations),
		TEST(test_other_definitions),
		TEST(test_definitions_of_nothing),
		TEST(test_sites),
		TEST(test_calls_from_sites),
		TEST(test_sums),
		TEST(test_sums_of_values),
		TEST(test_world_is_one),
		TEST(test_large_worlds_are_cheap),
		TEST(test_rounds_wrap),
		TEST(test_open_calls_end),
		TEST(test_records_of_no_size),
		TEST(test_rings_are_given_back),
		TEST(test_nothing_is_of_later),
		TEST(test_madness),
		TEST(test_slots),
		TEST(test_slots_of_nobody),
		TEST(test_continued_calls),
		TEST(test_teams),
		TEST(test_classes_of_teams),
		TEST(test_levels_of_iterations),
		TEST(test_continued_call_has_one_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
