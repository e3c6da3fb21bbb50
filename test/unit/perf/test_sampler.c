#include "raw_ring.h"

#include <errno.h>

#include "perf/sampler/sampler_state.h"

/* What a sampler makes of the records in its rings, without a kernel that writes them. */

enum { NR_CPUS = 2, NR_RINGS = 2 * NR_CPUS, SIZE = 1 << 16, ID = 100 };

struct world {
	struct sampler sampler;
	struct merged_ring rings[NR_RINGS];
	struct raw_ring raw[NR_RINGS];
	struct sampler_id ids[2];
	uint64_t lost[NR_CPUS];
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct sampler *s = &w->sampler;

	assert_non_null(w);
	*s = (struct sampler){
		.way = SAMPLER_LADDER,
		.nr_cpus = NR_CPUS,
		.nr_events = 1,
		.nr_ids = 2,
		.ids = w->ids,
		.rings = w->rings,
		.nr_rings = NR_RINGS,
		.side_format = {.sample_type = RECORD_ALWAYS},
		.sample_format = {.sample_type = RECORD_ALWAYS | PERF_SAMPLE_IP},
	};
	for (unsigned rung = 0; rung < 2; rung++)
		w->ids[rung] = (struct sampler_id){.id = ID + rung, .rung = (uint16_t)rung};
	s->events[0] = (struct sampler_event){.nr_rungs = 2, .nr_steps = 1, .lost = w->lost};
	for (unsigned i = 0; i < NR_RINGS; i++) {
		raw_ring_init(&w->raw[i], &w->rings[i].ring, SIZE, 0);
		w->rings[i].cpu = i % NR_CPUS;
		w->rings[i].format = i < NR_CPUS ? &s->side_format : &s->sample_format;
	}
	assert_int_equal(ring_merge_init(&s->merge, w->rings, NR_RINGS), 0);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	ring_merge_fini(&w->sampler.merge);
	for (unsigned i = 0; i < NR_RINGS; i++)
		raw_ring_fini(&w->raw[i]);
	free(w);
	return 0;
}

static void write_raw(struct world *w, enum sampler_ring ring, unsigned cpu, struct raw *raw)
{
	size_t size = raw_end(raw);

	assert_true(raw_ring_write(&w->raw[ring_index(&w->sampler, ring, cpu)], raw->words, size));
}

static void write_sample(struct world *w, unsigned cpu, uint64_t id, uint64_t time)
{
	struct raw raw;

	raw_start(&raw, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	raw_word(&raw, id);
	raw_word(&raw, 0x401000);
	raw_pair(&raw, 10, 11);
	raw_word(&raw, time);
	write_raw(w, RING_SAMPLES, cpu, &raw);
}

static void write_exit(struct world *w, unsigned cpu, uint64_t time)
{
	struct raw raw;

	raw_start(&raw, PERF_RECORD_EXIT, 0);
	raw_pair(&raw, 10, 1);
	raw_pair(&raw, 11, 1);
	raw_word(&raw, time);
	raw_trailer(&raw, 10, 11, time, 7);
	write_raw(w, RING_SIDE, cpu, &raw);
}

static void write_lost(struct world *w, enum sampler_ring ring, unsigned cpu, uint64_t id,
                       uint64_t count)
{
	struct raw raw;

	raw_start(&raw, PERF_RECORD_LOST, 0);
	raw_word(&raw, id);
	raw_word(&raw, count);
	raw_trailer(&raw, 0, 0, 1000, id);
	write_raw(w, ring, cpu, &raw);
}

static void records_of_all_rings_come_in_the_order_of_time(void **state)
{
	struct world *w = *state;
	struct sampler_origin origin;
	struct record record;
	uint64_t seed = 1, times[NR_RINGS] = {0}, time = 0;
	unsigned nr = 0;

	for (unsigned i = 0; i < 2000; i++) {
		unsigned ring = raw_random(&seed) % NR_RINGS;

		times[ring] += 1 + raw_random(&seed) % 100;
		if (ring < NR_CPUS)
			write_exit(w, ring, times[ring]);
		else
			write_sample(w, ring % NR_CPUS, ID, times[ring]);
	}
	sampler_drain(&w->sampler, true);
	for (; sampler_next(&w->sampler, &record, &origin) == 1; nr++) {
		assert_true(record.time >= time);
		assert_int_equal(origin.event, record.type == RECORD_SAMPLE ? 0 : -1);
		time = record.time;
	}
	assert_int_equal(nr, 2000);
	assert_int_equal(sampler_late(&w->sampler), 0);
	/* What comes behind all the same is taken, and counted. */
	write_sample(w, 0, ID, time - 1);
	sampler_drain(&w->sampler, true);
	assert_int_equal(sampler_next(&w->sampler, &record, &origin), 1);
	assert_int_equal(sampler_next(&w->sampler, &record, &origin), 0);
	assert_int_equal(sampler_late(&w->sampler), 1);
}

/* What is younger than the slack may still be overtaken by what another CPU writes. */
static void nothing_comes_before_the_slack_is_over(void **state)
{
	struct world *w = *state;
	struct sampler_origin origin;
	struct record record;

	for (unsigned i = 0; i < 20; i++) {
		uint64_t time = sampler_now();

		write_sample(w, 0, ID, time);
		do
			sampler_drain(&w->sampler, false);
		while (!sampler_next(&w->sampler, &record, &origin));
		assert_int_equal(record.time, time);
		assert_true(sampler_now() - time >= SAMPLER_SLACK_NS);
		assert_int_equal(sampler_next(&w->sampler, &record, &origin), 0);
		/* What time passes without a drain has not come out. */
		assert_in_range(sampler_drained(&w->sampler), time + 1,
		                sampler_now() - SAMPLER_SLACK_NS);
	}
	assert_true(sampler_latency(&w->sampler) >= SAMPLER_SLACK_NS);
}

/* While rungs change both sample: one time decides which is in force, and the other's are stale. */
static void each_time_has_one_rung(void **state)
{
	static const struct {
		uint64_t time;
		unsigned rung, shift;
		bool stale;
	} rows[] = {
		{1500, 0, 0, false}, {1600, 1, 0, true},  {1999, 0, 0, false}, {2000, 1, 2, false},
		{2001, 0, 2, true},  {2500, 1, 2, false}, {3000, 1, 4, false},
	};
	struct world *w = *state;
	struct sampler_event *event = &w->sampler.events[0];
	struct sampler_origin origin;
	struct record record;

	event->steps[event->nr_steps++] =
		(struct sampler_step){.time = 2000, .shift = 2, .rung = 1};
	event->steps[event->nr_steps++] =
		(struct sampler_step){.time = 3000, .shift = 4, .rung = 1};
	for (unsigned way = 0; way < 2; way++) {
		w->sampler.way = way ? SAMPLER_CGROUP : SAMPLER_LADDER;
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
			write_sample(w, i % NR_CPUS, ID + rows[i].rung, rows[i].time);
		sampler_drain(&w->sampler, true);
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
			assert_int_equal(sampler_next(&w->sampler, &record, &origin), 1);
			assert_int_equal(origin.shift, rows[i].shift);
			assert_int_equal(origin.rung, rows[i].rung);
			assert_int_equal(origin.stale, !way && rows[i].stale);
		}
		assert_int_equal(sampler_next(&w->sampler, &record, &origin), 0);
	}
}

static void losses_belong_to_their_event_and_cpu(void **state)
{
	struct world *w = *state;
	struct sampler_origin origin;
	struct record record;

	write_lost(w, RING_SAMPLES, 0, ID, 3);
	write_lost(w, RING_SAMPLES, 1, ID + 1, 40);
	write_lost(w, RING_SAMPLES, 1, 12345, 500); /* of nobody known: the first event's */
	write_lost(w, RING_SIDE, 1, 7, 6000);
	sampler_drain(&w->sampler, true);
	while (sampler_next(&w->sampler, &record, &origin) == 1)
		assert_int_equal(record.type, RECORD_LOST);
	assert_int_equal(sampler_lost(&w->sampler, 0, 0), 3);
	assert_int_equal(sampler_lost(&w->sampler, 0, 1), 540);
	assert_int_equal(sampler_lost_records(&w->sampler), 6000);
}

/* However many doublings are asked for, no period is one that the kernel takes for negative. */
static void periods_stay_below_the_sign(void **state)
{
	static const uint64_t bases[] = {1, 97081, UINT64_C(1) << 40, UINT64_C(1) << 62};
	struct world *w = *state;
	struct sampler_event *event = &w->sampler.events[0];
	static uint64_t base[NR_CPUS];
	static int fds[NR_CPUS] = {-1, -1};

	w->sampler.way = SAMPLER_CGROUP;
	event->base_period = base;
	event->fds = fds;
	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++) {
		unsigned shift;

		base[0] = base[1] = bases[i];
		event->nr_steps = 1;
		shift = sampler_follow(&w->sampler, 0, 63);
		assert_true(bases[i] <= (uint64_t)INT64_MAX >> shift);
		assert_true(shift >= 10 || bases[i] > UINT64_C(1) << 50);
	}
}

/* The log of periods is bounded, and forgets what no record can ask for any more. */
static void periods_rise_and_fall_any_number_of_times(void **state)
{
	struct world *w = *state;
	struct sampler_event *event = &w->sampler.events[0];
	uint64_t base[NR_CPUS] = {97081, 97081}, before;
	static int fds[NR_CPUS] = {-1, -1};
	unsigned change;

	w->sampler.way = SAMPLER_CGROUP;
	event->base_period = base;
	event->fds = fds;
	event->first_shift = 1;
	for (unsigned i = 0; i < 1000; i++) {
		w->sampler.merge.horizon = UINT64_MAX;
		assert_int_equal(sampler_follow(&w->sampler, 0, i % 2 ? 0 : 9), i % 2 ? 1 : 9);
		assert_in_range(event->nr_steps, 1, SAMPLER_MAX_STEPS);
	}
	change = event->nr_forgotten + event->nr_steps;
	assert_in_range(change, 1000, 1001);

	/* Nothing is forgotten before it has been drained. */
	w->sampler.merge.horizon = 0;
	for (unsigned i = 0; i < 1000; i++)
		sampler_follow(&w->sampler, 0, i % 2 ? 0 : 9);
	assert_int_equal(event->nr_steps, SAMPLER_MAX_STEPS);
	before = sampler_changed(&w->sampler, 0);
	w->sampler.merge.horizon = UINT64_MAX;
	sampler_follow(&w->sampler, 0, 5);
	assert_int_equal(event->nr_steps, 2);
	assert_int_equal(event->steps[0].time, before);
	assert_int_equal(event->steps[1].shift, 5);
}

/* Every second and every 64th occurrence may all be in the same function. */
static void small_steps_are_no_powers_of_two(void **state)
{
	struct world *w = *state;
	struct sampler_event *event = &w->sampler.events[0];
	uint64_t base[NR_CPUS] = {1, 1};
	int fds[NR_CPUS] = {-1, -1};

	w->sampler.way = SAMPLER_CGROUP;
	event->base_period = base;
	event->fds = fds;
	assert_true(sampler_counts_in_small_steps(&w->sampler, 0));
	assert_int_equal(sampler_period(&w->sampler, 0, 0, 0), 1);
	assert_int_equal(sampler_follow(&w->sampler, 0, 1), 0); /* there is no prime */
	assert_int_equal(sampler_follow(&w->sampler, 0, 6), 6);
	assert_int_equal(sampler_period(&w->sampler, 0, 0, 6), 61);
	assert_in_range(sampler_period(&w->sampler, 0, 0, 30), 1030000000, 1060000000);
	assert_int_equal(sampler_period(&w->sampler, 0, 0, 30) % 2, 1);
	base[0] = 299993;
	assert_false(sampler_counts_in_small_steps(&w->sampler, 0));
	assert_int_equal(sampler_period(&w->sampler, 0, 0, 6), 299993 << 6);
	base[0] = 1;
	event->is_clock = true;
	assert_false(sampler_counts_in_small_steps(&w->sampler, 0));
}

/* Larger copies of stacks are a rung of their own, which changed periods must reach ever after. */
static void a_change_of_period_keeps_the_rung(void **state)
{
	struct world *w = *state;
	struct sampler_event *event = &w->sampler.events[0];
	uint64_t base[NR_CPUS] = {97081, 97081};
	int fds[2 * NR_CPUS] = {-1, -1, -1, -1};

	w->sampler.way = SAMPLER_CGROUP;
	event->base_period = base;
	event->fds = fds;
	event->rung = 1;
	for (unsigned shift = 1; shift < 4; shift++) {
		assert_int_equal(sampler_follow(&w->sampler, 0, shift), shift);
		assert_int_equal(event->rung, 1);
		assert_int_equal(event->steps[shift].rung, 1);
	}
}

/* Else the one in force would go on beside the next one. */
static void each_step_of_a_ladder_ends_the_one_before(void **state)
{
	struct world *w = *state;
	struct sampler_event *event = &w->sampler.events[0];
	uint64_t base[NR_CPUS] = {97081, 97081};
	int fds[3 * NR_CPUS] = {-1, -1, -1, -1, -1, -1};

	w->sampler.way = SAMPLER_LADDER;
	event->base_period = base;
	event->fds = fds;
	event->nr_rungs = 3;
	for (unsigned rung = 1; rung < 3; rung++) {
		assert_int_equal(sampler_follow(&w->sampler, 0, 2 * rung), 2 * rung);
		assert_int_equal(event->rung, rung);
		assert_int_equal(event->steps[rung].rung, rung);
	}
}

static void what_makes_no_sense_is_skipped(void **state)
{
	struct world *w = *state;
	struct sampler_origin origin;
	struct record record;
	struct raw raw;

	write_sample(w, 0, ID, 1000);
	raw_start(&raw, PERF_RECORD_SAMPLE, 0);
	raw_word(&raw, ID); /* and no more */
	write_raw(w, RING_SAMPLES, 0, &raw);
	write_sample(w, 0, ID, 3000);
	sampler_drain(&w->sampler, true);
	assert_int_equal(sampler_next(&w->sampler, &record, &origin), 1);
	assert_int_equal(sampler_next(&w->sampler, &record, &origin), 1);
	assert_int_equal(record.time, 3000);
	assert_int_equal(sampler_next(&w->sampler, &record, &origin), 0);
	assert_int_equal(sampler_malformed(&w->sampler), 1);
}

/* A full ring into which nothing more fits until its bad contents are given back. */
static void a_broken_ring_has_room_again(void **state)
{
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = 4};
	struct world *w = *state;
	struct raw_ring *raw = &w->raw[ring_index(&w->sampler, RING_SAMPLES, 0)];
	struct sampler_origin origin;
	struct record record;

	while (raw_ring_write(raw, &header, sizeof(header)))
		continue;
	sampler_drain(&w->sampler, true);
	assert_int_equal(sampler_next(&w->sampler, &record, &origin), 0);
	assert_int_equal(sampler_malformed(&w->sampler), 1);
	write_sample(w, 0, ID, 1000);
	sampler_drain(&w->sampler, true);
	assert_int_equal(sampler_next(&w->sampler, &record, &origin), 1);
	assert_int_equal(record.time, 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(records_of_all_rings_come_in_the_order_of_time),
		TEST(nothing_comes_before_the_slack_is_over),
		TEST(each_time_has_one_rung),
		TEST(losses_belong_to_their_event_and_cpu),
		TEST(periods_stay_below_the_sign),
		TEST(periods_rise_and_fall_any_number_of_times),
		TEST(small_steps_are_no_powers_of_two),
		TEST(a_change_of_period_keeps_the_rung),
		TEST(each_step_of_a_ladder_ends_the_one_before),
		TEST(what_makes_no_sense_is_skipped),
		TEST(a_broken_ring_has_room_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
