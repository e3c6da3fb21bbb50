#include "cases.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/calls/calls_process.h"
#include "hmb/call_run.h"
#include "hmb/hmb.h"
#include "random_bins.h"
#include "preload/mpi_calls.h"

/* What calls leave in the buffer when they come in runs is what they leave one by one. */

enum { MEMORY = 1 << 20, NR_THREADS = 3, NR_KINDS_OF_CALLS = 60 };

/* One of two recorders that read the same. */
struct side {
	struct tables *tables;
	struct calls_names names;
	struct calls_clock clock;
	struct calls_process *process;
	struct hmb *hmb;
	void *memory;
	struct calls_sink sink;
	pid_t last_tid;
	uint64_t nr_in_runs;
};

/* Two threads of the target are one in the trace, as in a PID namespace that nobody sees into. */
static uint32_t thread_of(pid_t tid)
{
	return (uint32_t)tid / 2;
}

static void put(void *arg, struct calls_process *process, pid_t tid, uint32_t local_region,
                struct call *call)
{
	struct side *side = arg;

	(void)process;
	(void)local_region;
	side->last_tid = tid;
	call->thread = thread_of(tid);
	hmb_put_call(side->hmb, 0, 0, call);
}

static bool begin(void *arg, struct calls_process *process, pid_t tid, uint64_t time,
                  const struct call_requests *last, struct call_run *run)
{
	struct side *side = arg;

	(void)process;
	return tid == side->last_tid &&
	       hmb_begin_run(side->hmb, 0, 0, run, thread_of(tid), time, last);
}

static void end(void *arg, const struct call_run *run)
{
	struct side *side = arg;

	side->nr_in_runs += run->nr;
	hmb_end_run(side->hmb, 0, run);
}

static void side_open(struct side *side, bool runs, size_t share)
{
	struct hmb_config config = {
		.size = MEMORY,
		.nr_kinds = 1,
		.max_path = 8,
		.kinds[0] = {.content = HMB_CALLS, .time_shift = 3, .share = share},
	};
	int fd = -1;

	*side = (struct side){.clock.source = RING_CLOCK_COUNTER};
	side->sink = (struct calls_sink){
		.put = put, .begin = runs ? begin : NULL, .end = end, .arg = side};
	side->tables = tables_new(128 << 10, "test.atr");
	assert_non_null(side->tables);
	calls_names_init(&side->names, side->tables);
	side->clock.distance = 1000000;
	calls_clock_note(&side->clock, 1, 1000);
	side->process = calls_process_new(getpid(), &side->names, &side->clock, &fd);
	assert_non_null(side->process);
	close(fd);
	side->memory =
		mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(side->memory, MAP_FAILED);
	config.memory = side->memory;
	side->hmb = hmb_new(&config);
	assert_non_null(side->hmb);
	for (unsigned i = 0; i < NR_THREADS; i++) {
		side->process->shared->threads[i].tid = i;
		side->process->shared->threads[i].state = RING_USED;
	}
}

static void side_close(struct side *side)
{
	hmb_free(side->hmb);
	munmap(side->memory, MEMORY);
	calls_process_free(side->process);
	calls_names_fini(&side->names);
	tables_free(side->tables);
}

static void produce(struct side *side, unsigned thread, const uint64_t *words, size_t nr)
{
	struct ring_ends *ring = &side->process->shared->threads[thread];
	size_t size = ring_words(thread);
	uint64_t *base = (uint64_t *)(void *)((char *)side->process->shared + ring_offset(thread));

	if (ring->head % size + nr > size) {
		base[ring->head % size] = ring_head(RING_PAD, 0, 0, 0, 0);
		ring->head += size - ring->head % size;
	}
	memcpy(&base[ring->head % size], words, nr * sizeof(*words));
	ring->head += nr;
}

static size_t add_part(uint64_t *at, unsigned kind)
{
	size_t nr = ring_part_words(kind);

	at[0] = kind | (rnd() % 3) << 8 | (rnd() % 4) << 32;
	for (size_t i = 1; i < nr; i++)
		at[i] = rnd() % 8 * 24;
	if (ring_part_fields(kind) & PART_REQUEST) /* mostly the one that is expected */
		at[nr - 1] = rnd() % 8 ? 0 : rnd() % 5;
	return nr;
}

/* A call that takes a slot, or none. */
static size_t whole(uint64_t *words, uint64_t ticks, uint64_t duration)
{
	unsigned kind_of_call = (unsigned)(rnd() % NR_KINDS_OF_CALLS), nr_parts = kind_of_call % 4;
	uint64_t slot = rnd() % 4 ? 1 + kind_of_call : 0;
	size_t nr = 3;

	for (unsigned i = 0; i < nr_parts; i++)
		nr += add_part(&words[nr], (unsigned)(rnd() % NR_CALL_PARTS));
	words[0] = ring_head(RING_CALL, nr, nr_parts,
	                     (unsigned)(rnd() % 3) | (rnd() % 32 ? 0 : RING_CONTINUED),
	                     (uint32_t)(rnd() % NR_MPI_CALLS)) |
	           slot << RING_SLOT_SHIFT;
	words[1] = ticks;
	words[2] = ticks + duration;
	return nr;
}

static uint64_t some_time(void)
{
	return rnd_bits((unsigned)(rnd() % 8 ? 8 : rnd() % (RING_AGAIN_BITS + 1)));
}

/* A record as a target writes them, or, where it is mad, anything. */
static size_t record(uint64_t *words, uint64_t *ticks, bool mad)
{
	uint64_t gap = some_time(), duration = some_time();
	unsigned slot = 1 + (unsigned)(rnd() % NR_KINDS_OF_CALLS);

	if (mad && rnd() % 64 == 0) {
		words[0] = rnd();
		return 1;
	}
	if (mad && rnd() % 64 == 0)
		return whole(words, rnd_bits((unsigned)(rnd() % 65)), duration);
	*ticks += gap + duration;
	if (rnd() % 32 == 0)
		return whole(words, *ticks - duration, duration);
	words[0] = ring_again(1, slot, gap, duration);
	if (rnd() % 64)
		return 1;
	words[0] = ring_again(3, slot, 0, 0);
	words[1] = *ticks - duration;
	words[2] = *ticks;
	return 3;
}

static void consume(struct side *side, uint64_t ticks)
{
	calls_process_look(side->process);
	calls_clock_note(&side->clock, ticks, 1000 + ticks / 3);
	side->last_tid = -1;
	calls_process_read(side->process, ticks, &side->sink);
}

static void check_same(struct side *sides)
{
	assert_memory_equal(sides[0].memory, sides[1].memory, MEMORY);
	assert_int_equal(hmb_stored(sides[0].hmb, 0), hmb_stored(sides[1].hmb, 0));
	assert_int_equal(sides[0].hmb->ledger->taken[0], sides[1].hmb->ledger->taken[0]);
	assert_int_equal(hmb_floor(sides[0].hmb, 0), hmb_floor(sides[1].hmb, 0));
	assert_int_equal(sides[0].process->malformed, sides[1].process->malformed);
}

static void run(bool mad, size_t share)
{
	uint64_t words[3 + RING_SLOT_PARTS * RING_MAX_PART], ticks = 1000, all;
	struct side sides[2];

	side_open(&sides[0], false, share);
	side_open(&sides[1], true, share);
	for (unsigned round = 0; round < 60; round++) {
		for (unsigned i = 0; i < 3000; i++) {
			unsigned thread = (unsigned)(rnd() % 16) / 7;
			size_t nr = record(words, &ticks, mad);

			produce(&sides[0], thread, words, nr);
			produce(&sides[1], thread, words, nr);
		}
		consume(&sides[0], ticks + 100);
		consume(&sides[1], ticks + 100);
		check_same(sides);
	}
	all = sides[1].hmb->ledger->taken[0];
	assert_int_equal(sides[0].nr_in_runs, 0);
	if (!mad && !share) /* else little may be left */
		assert_true(sides[1].nr_in_runs > all / 8);
	side_close(&sides[0]);
	side_close(&sides[1]);
}

static void test_same(void **state)
{
	(void)state;
	run(false, 0);
}

static void test_same_where_the_share_ends(void **state)
{
	(void)state;
	run(false, MEMORY / 4);
}

static void test_same_of_the_mad(void **state)
{
	(void)state;
	run(true, 0);
}

/* A gap is never negative in a run. */
static void test_no_run_before_the_last_leave(void **state)
{
	const struct call first = {.enter = 800, .leave = 1600};
	const struct call second = {.enter = 2400, .leave = 3200, .alike = 1};
	const struct call_requests none = {0};
	struct call_run run;
	struct side side;

	(void)state;
	side_open(&side, true, 0);
	hmb_put_call(side.hmb, 0, 0, &first);
	hmb_put_call(side.hmb, 0, 0, &second);
	assert_false(hmb_begin_run(side.hmb, 0, 0, &run, 0, second.leave - 8, &none));
	assert_true(hmb_begin_run(side.hmb, 0, 0, &run, 0, second.leave, &none));
	assert_true(call_run_put(&run, 1, second.leave, 4000, NULL));
	hmb_end_run(side.hmb, 0, &run);
	assert_int_equal(hmb_stored(side.hmb, 0), 3);
	side_close(&side);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_same_where_the_share_ends),
		cmocka_unit_test(test_same_of_the_mad),
		cmocka_unit_test(test_no_run_before_the_last_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
