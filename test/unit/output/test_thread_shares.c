/* What samples cover of the kernel's exact totals, and of whose time these are. */
#include "trace_world.h"

#include "output/profile/clock_sides.h"
#include "output/profile/profile.h"
#include "output/profile/thread_shares.h"

enum { WEIGHT = 97081 };

static struct trace_event *clock_of(struct world *w)
{
	return tables_event(w->tables, 0);
}

/* Samples of thread 0, which is "sh", and its exact total in hundredths of a sample. */
static void run_open(struct world *w, unsigned nr, uint64_t exact)
{
	world_open(w, 64 << 10);
	while (nr--)
		put_next(w, (struct hmb_sample){.step = WEIGHT, .leaf = 2ULL << 32});
	set_exact(w, "sh", exact * WEIGHT / 100);
}

static void names_tell_whose_time_a_clock_counts(void **state)
{
	static const struct {
		const char *name;
		enum clock_sides sides;
	} clocks[] = {
		{"cpu-clock", CLOCK_BOTH},
		{"cpu-clock:u", CLOCK_USER},
		{"cpu-clock:k", CLOCK_KERNEL},
		{"cpu-clock:uk", CLOCK_BOTH},
		{"cpu-clock:freq=100", CLOCK_BOTH},
		{"cpu-clock:cpu=1", CLOCK_BOTH},
		{"cpu-clock:u:freq=100", CLOCK_USER},
		{"cpu-clock:freq=100:k", CLOCK_KERNEL},
		{"software/config=0/", CLOCK_BOTH},
		{"software/config=0/u", CLOCK_USER},
	};
	struct trace *trace;
	struct world w;

	(void)state;
	run_open(&w, 1, 0);
	for (unsigned i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		clock_of(&w)->name = tables_string(w.tables, clocks[i].name);
		trace = world_written(&w);
		assert_int_equal(clock_sides(trace, trace_event(trace, 0)), clocks[i].sides);
		trace_close(trace);
	}
	clock_of(&w)->unit = TRACE_COUNT;
	trace = world_written(&w);
	assert_int_equal(clock_sides(trace, trace_event(trace, 0)), CLOCK_BOTH);
	trace_close(trace);
	world_close(&w);
}

/* It may be another event, or another of the runs that were merged. */
static void clocks_of_both_sides_stay_so_beside_others(void **state)
{
	struct trace *trace;
	struct world w;

	(void)state;
	run_open(&w, 1, 0);
	tables_run(w.tables)->flags = TRACE_RUN_USER_ONLY;
	trace = world_written(&w);
	assert_int_equal(clock_sides(trace, trace_event(trace, 0)), CLOCK_BOTH);
	trace_close(trace);
	world_close(&w);
}

static bool lacks(unsigned nr, uint64_t exact, const char *clock, struct coverage *coverage)
{
	struct trace *trace;
	struct world w;
	bool lack;

	run_open(&w, nr, exact);
	clock_of(&w)->name = tables_string(w.tables, clock);
	trace = world_written(&w);
	lack = shares_lack_samples(trace, coverage);
	trace_close(trace);
	world_close(&w);
	return lack;
}

/* From one in a hundred on. */
static void missing_samples_are_noticed(void **state)
{
	struct coverage coverage;

	(void)state;
	assert_false(lacks(99, 10000, "cpu-clock", &coverage));
	assert_true(lacks(99, 10002, "cpu-clock", &coverage));
	assert_int_equal(coverage.sampled, 99 * WEIGHT);
	assert_int_equal(coverage.exact, 10002ULL * WEIGHT / 100);
	assert_false(lacks(99, 20000, "cpu-clock:k", &coverage));
}

/* One command's samples do not make up for another's. */
static void too_many_samples_cover_no_more_than_all(void **state)
{
	struct coverage coverage;
	struct trace_command *other;
	struct trace *trace;
	struct world w;

	(void)state;
	run_open(&w, 100, 5000);
	other = tables_command(w.tables, tables_string(w.tables, "fork"));
	other->exact = 50 * WEIGHT;
	other->flags = TRACE_THREAD_EXACT;
	set_exact(&w, "app", 7 * WEIGHT);
	trace = world_written(&w);
	assert_true(shares_lack_samples(trace, &coverage));
	assert_int_equal(coverage.sampled, 50 * WEIGHT);
	assert_int_equal(coverage.exact, 107 * WEIGHT);
	trace_close(trace);
	world_close(&w);
}

/* The kernel's total of what still runs has most of it missing; samples may be of nobody known. */
static void only_whole_totals_are_covered(void **state)
{
	struct coverage coverage;
	struct trace *trace;
	struct world w;

	(void)state;
	run_open(&w, 100, 10000);
	put_next(&w, (struct hmb_sample){.thread = 1 << 24, .leaf = 2ULL << 32});
	tables_command(w.tables, tables_string(w.tables, "fork"))->exact = 50 * WEIGHT;
	trace = world_written(&w);
	assert_false(shares_lack_samples(trace, &coverage));
	assert_int_equal(coverage.sampled, 100 * WEIGHT);
	assert_int_equal(coverage.exact, 100 * WEIGHT);
	trace_close(trace);
	world_close(&w);
}

/* A place for a command that nothing came of; a sample is something. */
static void commands_without_anything_are_unused(void **state)
{
	struct shares shares;
	struct trace *trace;
	struct world w;

	(void)state;
	run_open(&w, 1, 0);
	tables_command(w.tables, tables_string(w.tables, "fork"));
	tables_command(w.tables, tables_string(w.tables, "gone"))->unobserved = 1;
	trace = world_written(&w);
	assert_int_equal(shares_init(&shares, trace), 0);
	for (uint32_t i = 0; i < 4; i++) {
		const char *comm = trace_string(trace, trace_command(trace, i)->comm);

		assert_int_equal(command_unused(&shares, trace, i), !strcmp(comm, "fork"));
	}
	shares_fini(&shares);
	trace_close(trace);
	world_close(&w);
}

static void expect_unsampled(const char *clock, uint32_t event, const char *name)
{
	struct profile_config config = {.event = event, .keys = PROFILE_BY_SYMBOL};
	struct profile *profile;
	struct trace *trace;
	struct world w;

	run_open(&w, 10, 10000);
	clock_of(&w)->name = tables_string(w.tables, clock);
	trace = world_written(&w);
	profile = profile_new(trace, &config);
	assert_int_equal(profile->nr_unsampled, name != NULL);
	if (name)
		assert_string_equal(profile_unsampled_name(&profile->unsampled[0]), name);
	profile_free(profile);
	trace_close(trace);
	world_close(&w);
}

/* The totals are of the first event, and have the kernel's time in them. */
static void what_is_missing_has_a_name(void **state)
{
	(void)state;
	expect_unsampled("cpu-clock", 0, "[unsampled]");
	expect_unsampled("cpu-clock:u", 0, "[kernel or unsampled]");
	expect_unsampled("cpu-clock:k", 0, NULL);
	expect_unsampled("cpu-clock", 1, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_tell_whose_time_a_clock_counts),
		cmocka_unit_test(clocks_of_both_sides_stay_so_beside_others),
		cmocka_unit_test(missing_samples_are_noticed),
		cmocka_unit_test(too_many_samples_cover_no_more_than_all),
		cmocka_unit_test(only_whole_totals_are_covered),
		cmocka_unit_test(commands_without_anything_are_unused),
		cmocka_unit_test(what_is_missing_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
