
#include "cases.h"
#include "record/tasks/counter_sums.h"

/* What the kernel says of one thread: counts of its events on every CPU and rung. */
struct thread {
	struct counter_sums *sums;
	uint64_t words[2 * COUNTER_MAX];
};

static const uint64_t *say(struct thread *thread, unsigned cpu, unsigned rung, uint64_t own,
                           uint64_t other)
{
	struct record record = {.type = RECORD_SAMPLE};
	struct sampler_origin origin = {.cpu = cpu, .rung = rung};

	thread->words[0] = own;
	thread->words[1] = 77; /* lost */
	thread->words[2] = other;
	record.sample.counts = thread->words;
	record.sample.count_stride = 2;
	record.sample.nr_counts = 2;
	return counter_sums_add(thread->sums, 2, &record, &origin);
}

static void check(const uint64_t *totals, uint64_t own, uint64_t other)
{
	assert_int_equal(totals[0], own);
	assert_int_equal(totals[1], other);
}

static void each_cpu_and_rung_counts_for_itself(void **state)
{
	struct thread t = {.sums = counter_sums_new()};

	(void)state;
	check(say(&t, 0, 0, 100, 7), 100, 7);
	check(say(&t, 0, 0, 250, 9), 250, 9);
	check(say(&t, 3, 0, 100, 5), 350, 14); /* went to another CPU */
	check(say(&t, 0, 0, 260, 9), 360, 14); /* and back */
	check(say(&t, 0, 1, 400, 1), 760, 15); /* sampling became slower */
	check(say(&t, 3, 1, 400, 1), 1160, 16);
	check(say(&t, 3, 0, 101, 5), 1161, 16); /* a late one */
	counter_sums_free(t.sums);
}

static void an_event_that_begins_anew_takes_nothing_away(void **state)
{
	struct thread t = {.sums = counter_sums_new()};

	(void)state;
	say(&t, 1, 0, 1000, 1000);
	check(say(&t, 1, 0, 10, 10), 1000, 1000);
	check(say(&t, 1, 0, 30, 11), 1020, 1001);
	counter_sums_free(t.sums);
}

static void what_goes_on_as_another_program_has_totals_of_its_own(void **state)
{
	struct thread t = {.sums = counter_sums_new()};

	(void)state;
	say(&t, 1, 0, 1000, 1000);
	counter_sums_restart(t.sums);
	check(say(&t, 1, 0, 1100, 1001), 100, 1);
	counter_sums_free(t.sums);
}

static void a_group_of_another_size_adds_nothing(void **state)
{
	struct thread t = {.sums = counter_sums_new()};
	struct record record = {.type = RECORD_SAMPLE};
	struct sampler_origin origin = {.cpu = 1};
	uint64_t counts[COUNTER_MAX] = {1, 2, 3};

	(void)state;
	say(&t, 1, 0, 50, 5);
	record.sample.counts = counts;
	record.sample.count_stride = 1;
	record.sample.nr_counts = 3;
	check(counter_sums_add(t.sums, 2, &record, &origin), 50, 5);
	record.sample.nr_counts = 0;
	record.sample.counts = NULL;
	check(counter_sums_add(t.sums, 2, &record, &origin), 50, 5);
	check(say(&t, 1, 0, 60, 6), 60, 6); /* nor is what was there before forgotten */
	counter_counts(counts, 2, &record);
	check(counts, 0, 0);
	counter_sums_free(t.sums);
	counter_sums_free(NULL);
}

static void a_thread_may_see_many_cpus(void **state)
{
	struct thread t = {.sums = counter_sums_new()};
	uint64_t own = 0;

	(void)state;
	for (unsigned round = 1; round <= 3; round++) {
		for (unsigned cpu = 0; cpu < 500; cpu++) {
			own += cpu;
			check(say(&t, cpu, 0, (uint64_t)round * cpu, 2), own,
			      round == 1 ? 2 * (cpu + 1) : 1000);
		}
	}
	counter_sums_free(t.sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cpu_and_rung_counts_for_itself),
		cmocka_unit_test(an_event_that_begins_anew_takes_nothing_away),
		cmocka_unit_test(what_goes_on_as_another_program_has_totals_of_its_own),
		cmocka_unit_test(a_group_of_another_size_adds_nothing),
		cmocka_unit_test(a_thread_may_see_many_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
