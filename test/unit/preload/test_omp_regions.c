#include "cases.h"
#include "ring_memory.h"

#include <pthread.h>

#include "preload/omp_regions.h"

/* Parallel regions in the memory of a recorder that is not there. Only times are not known. */

static char code[RING_MAX_PARALLELS + 1]; /* places that regions are at */

static int setup(void **state)
{
	(void)state;
	ring_memory_map();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ring_memory_unmap();
	omp_forked();
	omp_threads = false;
	return 0;
}

static bool begin(struct omp_team *team, unsigned place)
{
	return omp_team_begin(team, (uintptr_t)&code[place], (uintptr_t)__builtin_frame_address(0));
}

static void begin_part(struct omp_part *part, struct omp_team *team)
{
	omp_part_begin(part, team, process_ticks(), (uintptr_t)__builtin_frame_address(0));
}

static void begin_wait(struct omp_wait *wait, enum omp_wait_type type)
{
	omp_wait_begin(wait, type, (uintptr_t)__builtin_frame_address(0));
}

static void spend(uint64_t ticks)
{
	uint64_t until = process_ticks() + ticks;

	while (process_ticks() < until)
		;
}

static void work(struct omp_team *team)
{
	struct omp_part part;

	begin_part(&part, team);
	spend(20000);
	part.waits[OMP_BARRIER] += 7;
	part.waits[OMP_CRITICAL] += 3;
	omp_part_end(&part);
}

static const struct ring_team_sum *row_at(unsigned i)
{
	const char *rows = (const char *)process.shared + ring_team_sums_offset();

	return (const struct ring_team_sum *)(const void *)rows + i;
}

static void test_alone(void **state)
{
	const struct ring_team_sum *row = row_at(0);
	struct omp_team team;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_true(begin(&team, 0));
		work(&team);
		omp_team_end(&team);
	}
	assert_int_equal(process.shared->nr_team_sums, 1);
	assert_int_equal(row->region, RING_PARALLELS);
	assert_int_equal(row->count, 3);
	assert_int_equal(row->threads, 3);
	assert_int_equal(row->most_threads, 1);
	assert_int_equal(row->idle, 0); /* nobody is waited for */
	assert_int_equal(row->covered, row->ticks);
	assert_int_equal(row->barrier, 21);
	assert_int_equal(row->critical, 9);
	assert_int_equal(row->longest, row->work);
	assert_int_equal(row->mean, row->work);
	assert_true(row->work >= 60000 - 30 && row->work + 30 <= row->ticks);
	assert_int_equal(this_thread.ring->calls, 3);
	assert_int_equal(this_thread.nr_open, 0);
}

static void *work_in(void *team)
{
	work(team);
	/* The thread ends in the memory that the test takes away. */
	thread_stop(&this_thread);
	return NULL;
}

static void run_team(struct omp_team *team, unsigned nr)
{
	pthread_t threads[40];

	assert_true(begin(team, 1));
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work_in, team), 0);
	work(team);
	for (unsigned i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
	omp_team_end(team);
}

/* The sums have regions without a place of their own as well. */
static void test_many_threads(void **state)
{
	const struct ring_team_sum *row = row_at(0);
	uint64_t waits, work_ticks = 0;
	struct omp_team team;

	(void)state;
	run_team(&team, OMP_PLACES + 5);
	assert_int_equal(row->threads, OMP_PLACES + 6);
	assert_int_equal(row->most_threads, OMP_PLACES + 6);
	assert_int_equal(row->barrier, 7 * (OMP_PLACES + 6));
	assert_int_equal(row->critical, 3 * (OMP_PLACES + 6));
	waits = row->barrier + row->critical + row->idle;
	assert_true(row->work >= (20000 - 10) * (OMP_PLACES + 6));
	assert_true(row->work + waits <= row->threads * row->ticks);
	assert_true(row->longest <= row->ticks && row->longest * row->threads >= row->work);
	assert_true(row->mean <= row->longest);
	assert_int_equal(row->mean, row->work / row->threads);
	for (unsigned i = 0; i < OMP_PLACES; i++)
		work_ticks += team.others[i].done.work;
	assert_int_equal(work_ticks + team.own.work + team.rest.work, row->work);
	run_team(&team, 1);
	assert_int_equal(row->count, 2);
	assert_int_equal(row->threads, OMP_PLACES + 8);
	assert_int_equal(row->most_threads, OMP_PLACES + 6);
}

/* A region covers the regions inside of it. */
static void test_nested(void **state)
{
	struct omp_team outer, inner;
	struct omp_part part;

	(void)state;
	assert_true(begin(&outer, 2));
	begin_part(&part, &outer);
	assert_true(begin(&inner, 3));
	work(&inner);
	omp_team_end(&inner);
	assert_ptr_equal(omp_part, &part);
	omp_part_end(&part);
	omp_team_end(&outer);
	assert_null(omp_part);
	assert_int_equal(row_at(1)->count, 1);
	assert_int_equal(row_at(1)->covered, 0);
	assert_int_equal(row_at(0)->covered, row_at(0)->ticks);
	assert_true(row_at(0)->ticks >= row_at(1)->ticks);
}

static void run_task(struct omp_team *team, uint64_t ticks)
{
	struct omp_task task;

	omp_task_begin(&task, team);
	spend(ticks);
	omp_task_end(&task);
}

/* Tasks are work, also while their thread waits, and after its own work has ended. */
static void test_tasks(void **state)
{
	struct omp_wait wait, inner;
	struct omp_task around;
	struct omp_team team;
	struct omp_part part;

	(void)state;
	assert_true(begin(&team, 0));
	begin_part(&part, &team);
	begin_wait(&wait, OMP_BARRIER);
	run_task(&team, 400000);
	omp_task_begin(&around, &team);
	spend(200000);
	begin_wait(&inner, OMP_BARRIER);
	run_task(&team, 400000);
	omp_wait_end(&inner, &part);
	omp_task_end(&around);
	omp_wait_end(&wait, &part);
	assert_null(omp_waiting);
	run_task(&team, 1000);
	assert_int_equal(team.late, 0);
	omp_part_end(&part);
	run_task(&team, 300000);
	assert_true(team.late >= 300000);
	omp_team_end(&team);
	assert_true(row_at(0)->work >= 1301000);
	/* The rest is time of the test itself between regions, which may lose its CPU. */
	assert_int_equal(row_at(0)->barrier, part.waits[OMP_BARRIER]);
	assert_true(row_at(0)->work + row_at(0)->barrier + row_at(0)->idle <= row_at(0)->ticks);
}

/* A region that finds no number is not recorded, and counted. */
static void test_too_many(void **state)
{
	struct omp_team team;
	unsigned i;

	(void)state;
	for (i = 0; i < RING_MAX_PARALLELS; i++) {
		assert_true(begin(&team, i));
		work(&team);
		omp_team_end(&team);
		/* The recorder takes definitions in. */
		process.shared->definitions.tail = process.shared->definitions.head;
	}
	assert_int_equal(this_thread.ring->lost, 0);
	assert_false(begin(&team, i));
	assert_int_equal(this_thread.ring->lost, 1);
	assert_true(begin(&team, 0));
	omp_team_end(&team);
	assert_int_equal(row_at(0)->count, 2);
}

/* These are the first threads with rings. */
static uint64_t calls_of(uint32_t region)
{
	const struct ring_sum *sums;
	uint64_t calls = 0;

	for (unsigned ring = 0; ring < 3; ring++) {
		sums = (const struct ring_sum *)(const void *)((const char *)process.shared +
		                                               ring_sums_offset(ring));
		for (uint32_t i = 0; i < process.shared->threads[ring].nr_sums; i++)
			calls += sums[i].region == region ? sums[i].calls : 0;
	}
	return calls;
}

static void test_calls_of_threads(void **state)
{
	struct omp_team team;
	struct omp_wait wait;
	struct omp_part part;

	(void)state;
	run_team(&team, 1);
	assert_int_equal(process.shared->threads[1].state, RING_FREE);
	omp_forked();
	process.shared->nr_team_sums = 0;
	omp_threads = true;
	run_team(&team, 1);
	assert_int_equal(process.shared->threads[1].state, RING_USED);
	assert_int_equal(calls_of(RING_TEAM_PARTS), 1);
	assert_int_equal(calls_of(RING_TEAM_WAITS + RING_WAIT_JOIN), 1);
	assert_int_equal(calls_of(RING_PARALLELS), 2);
	assert_true(begin(&team, 1));
	begin_part(&part, &team);
	for (enum omp_wait_type type = 0; type < NR_OMP_WAITS; type++) {
		begin_wait(&wait, type);
		assert_int_equal(this_thread.nr_open, 2);
		omp_wait_end(&wait, &part);
	}
	omp_part_end(&part);
	omp_team_end(&team);
	assert_int_equal(calls_of(RING_TEAM_WAITS + RING_WAIT_BARRIER), 1);
	assert_int_equal(calls_of(RING_TEAM_WAITS + RING_WAIT_CRITICAL), 1);
	assert_int_equal(calls_of(RING_TEAM_WAITS + RING_WAIT_JOIN), 1);
	assert_int_equal(calls_of(RING_TEAM_PARTS), 1);
	assert_true(row_at(0)->barrier > 7 && row_at(0)->critical > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_alone), TEST(test_many_threads), TEST(test_nested),
		TEST(test_tasks), TEST(test_too_many),     TEST(test_calls_of_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
