/* The history against a naive model: a list of all samples, and the halves as the header says. */
#include "session_world.h"

#include "random.h"

enum { MOST = 40000, STEP = 2000000, HZ = 100000, SHIFT = 2 };

#define SPAN ((uint64_t)400000000)
#define LATE ((uint64_t)500000000) /* that a half lasts longer */

struct moment {
	uint64_t time;
	unsigned level;
};

/* The model knows all samples since the last reset. */
struct model {
	struct world *w;
	struct moment *all;
	size_t nr;
	uint64_t now;
	uint64_t from[2], skipped; /* of the older half, or 0, and of the current one */
	uint64_t seed;
};

static uint64_t rnd(struct model *m, uint64_t below)
{
	return random_below(&m->seed, below);
}

static struct model begin(struct world *w, uint64_t seed, size_t budget)
{
	struct model m = {.w = w, .all = calloc(MOST, sizeof(*m.all)), .seed = seed};
	struct session *s = &w->session;

	assert_non_null(m.all);
	w->config.history = (struct history_options){.span = SPAN, .hz = HZ, .asked = true};
	s->started = true;
	s->start = m.now = m.from[1] = 1000;
	hmb_set_limit(s->hmb, budget, 0);
	assert_int_equal(history_begin(s), 0);
	assert_int_equal(s->history.halves.shift, SHIFT);
	return m;
}

static unsigned kernel_shift(const struct model *m)
{
	const struct sampler_event *event = &m->w->sampler.events[0];

	return event->steps[event->nr_steps - 1].shift;
}

static void change_turn(struct model *m)
{
	const struct session *s = &m->w->session;

	if (m->all[m->nr - 1].level < s->history.halves.shift)
		return;
	/* How much memory a half has used is not known to the model. */
	if (m->now - m->from[1] < SPAN + LATE + m->skipped && s->history.halves.from != m->now)
		return;
	m->from[0] = m->from[1];
	m->from[1] = m->now;
	m->skipped = 0;
}

static void take_one(struct model *m)
{
	struct world *w = m->w;
	struct record record;
	struct sampler_origin origin = {.cpu = 1, .shift = (uint8_t)kernel_shift(m)};
	const struct stream *stream;

	m->now += 1 + rnd(m, STEP);
	record = sample_at(m->now, PID + (pid_t)rnd(m, 3));
	record.sample.ip += rnd(m, 200);
	session_sample(&w->session, &record, &origin);
	stream = &task_of(w, (pid_t)record.tid)->streams[0];
	m->all[m->nr++] = (struct moment){m->now, stream->shift + lambda(stream->n)};
	change_turn(m);
}

static void check_accounts(const struct model *m)
{
	const struct hmb *hmb = m->w->session.hmb;

	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		assert_int_equal(hmb->ledger->taken[k],
		                 hmb_stored(hmb, k) + hmb->ledger->reduced[k]);
}

/* The samples from a time and a level on are those that a trace has, in their order. */
static void check_samples(const struct model *m, const struct trace *trace, uint64_t from,
                          unsigned floor)
{
	struct trace_walk *walk = trace_walk_new(trace, 0);
	struct trace_sample sample;

	assert_non_null(walk);
	for (size_t i = 0; i < m->nr; i++) {
		if (m->all[i].time < from || m->all[i].level < floor)
			continue;
		assert_int_equal(trace_walk_next(walk, &sample), 1);
		assert_int_equal(sample.time, m->all[i].time);
		assert_int_equal(sample.level, m->all[i].level);
		assert_int_equal(sample.weight, (uint64_t)PERIOD << floor);
	}
	assert_int_equal(trace_walk_next(walk, &sample), 0);
	trace_walk_free(walk);
}

static unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static void check(const struct model *m)
{
	const struct session *s = &m->w->session;
	struct trace *trace = written(m->w);
	struct trace_window history;

	check_accounts(m);
	check_samples(m, trace, 0, hmb_floor(s->hmb, 0));
	assert_true(trace_find_history(trace, &history));
	assert_int_equal(history.span, SPAN);
	assert_int_equal(history.from, m->from[0] ? m->from[0] : m->from[1]);
	assert_int_equal(trace_history_is_full(trace), m->from[0] != 0);
	assert_int_equal(trace_choose_history(trace), 0);
	check_samples(m, trace, history.from, larger(history.shift, history.floor));
	assert_int_equal(larger(history.shift, history.floor), s->history.halves.shift);
	trace_close(trace);
}

/* The run slows down, the history does, time is missing, all begins anew. */
static void disturb(struct model *m)
{
	struct session *s = &m->w->session;
	uint64_t gap;

	if (!rnd(m, 800) && hmb_floor(s->hmb, 0) < 8)
		hmb_close_lowest(s->hmb, 0, m->now, HMB_CAUSE_MEMORY);
	if (!rnd(m, 3000) && s->history.halves.shift < SHIFT + 2)
		history_slow_down(s);
	if (!rnd(m, 500)) {
		gap = rnd(m, 20 * STEP);
		history_skip(&s->history, 0, gap);
		m->now += gap;
		m->skipped += gap;
	}
	if (rnd(m, 10000))
		return;
	assert_int_equal(session_reset(s), 0);
	s->start = s->history.halves.from = m->now;
	m->nr = 0;
	m->from[0] = m->skipped = 0;
	m->from[1] = m->now;
	history_restart(s);
}

static void compare(struct world *w, uint64_t seed, size_t budget)
{
	struct model m = begin(w, seed, budget);

	for (unsigned i = 0; i < MOST; i++) {
		take_one(&m);
		disturb(&m);
		if (!rnd(&m, MOST / 40))
			check(&m);
	}
	check(&m);
	free(m.all);
}

static void the_history_is_what_came_last(void **state)
{
	compare(*state, 7, BUDGET);
}

static void a_small_history_is_shorter(void **state)
{
	struct world *w = *state;

	compare(w, 8, hmb_least_limit(w->session.hmb));
	assert_true(w->session.history.halves.fits && w->session.history.halves.fits < SPAN);
}

/* While the run has one sample of 64, the history has one of four. */
static void the_kernel_is_as_fast_as_the_history_needs(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	struct model m = begin(w, 9, BUDGET);

	for (unsigned i = 0; i < 6; i++)
		hmb_close_lowest(s->hmb, 0, 1, HMB_CAUSE_MEMORY);
	for (unsigned i = 0; i < 100; i++)
		take_one(&m);
	assert_int_equal(s->sampling.shift[0], 6);
	assert_int_equal(kernel_shift(&m), SHIFT);
	/* The history costs too much, until it is no finer than the run. */
	for (unsigned i = SHIFT; i < 6; i++)
		assert_true(history_slow_down(s));
	assert_false(history_slow_down(s));
	assert_int_equal(kernel_shift(&m), 6);
	check(&m);
	free(m.all);
}

/* A copy may be made of the tables before a half is cleared, and of the ledger behind that. */
static void a_half_that_is_cleared_meanwhile_is_not_told(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	struct model m = begin(w, 10, BUDGET);
	struct trace_window history;
	struct trace *trace;

	while (!m.from[0])
		take_one(&m);
	take_one(&m);
	hmb_clear(s->hmb, s->history.halves.kinds[!s->history.halves.current]);
	trace = written(w);
	assert_true(trace_find_history(trace, &history));
	assert_int_equal(history.from, m.from[1]);
	assert_false(trace_history_is_full(trace));
	trace_close(trace);
	free(m.all);
}

static void no_history_takes_nothing(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	assert_int_equal(history_begin(s), 0);
	take(w, 0, sample_at(100, PID));
	assert_int_equal(s->hmb->nr_kinds, NR_EVENTS);
	assert_false(history_slow_down(s));
	assert_int_equal(history_shift(&s->history, 0, 5), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_history_is_what_came_last),
		TEST(a_small_history_is_shorter),
		TEST(the_kernel_is_as_fast_as_the_history_needs),
		TEST(a_half_that_is_cleared_meanwhile_is_not_told),
		TEST(no_history_takes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
