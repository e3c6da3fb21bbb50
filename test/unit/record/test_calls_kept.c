/* The calls of a history against a naive model: a list of all calls that were made. */
#include "session_world.h"

#include "random.h"
#include "record/calls/calls_put.h"
#include "trace/trace_calls.h"

enum { MOST = 60000, STEP = 1500000, NR_THREADS = 3, ROUNDS_OF_CALLS = 1200, SECOND = 1000000000 };

#define SPAN      ((uint64_t)SECOND / 5)
#define OF_BUFFER 0.2

struct made {
	pid_t tid;
	uint64_t enter, leave;
};

struct model {
	struct world *w;
	struct calls_put put;
	struct calls_process process;
	struct ring_process shared;
	struct made *all;
	size_t nr, read; /* calls so far, and those that the recorder has read */
	uint64_t now, seed;
	uint64_t start;        /* of the recording: calls that ended before are forgotten */
	unsigned turns, whole; /* turns of halves; checks at which no call was missing */
};

static uint64_t rnd(struct model *m, uint64_t below)
{
	return random_below(&m->seed, below);
}

static unsigned add_kind(struct session *s)
{
	const struct hmb_kind_config config = {
		.content = HMB_CALLS,
		.time_shift = 3,
		.share = (size_t)((double)hmb_limit(s->hmb) * OF_BUFFER),
		.by_level = true,
	};
	const int kind = hmb_add_kind(s->hmb, &config);

	assert_int_equal(kind, NR_EVENTS);
	tables_add_event(s->tables)->unit = TRACE_CALLS;
	return (unsigned)kind;
}

static struct halves halves_of(struct session *s, unsigned kind)
{
	struct halves halves = {
		.hmb = s->hmb,
		.tables = s->tables,
		.event = kind,
		.span = SPAN,
		.late = HALVES_LATE_NS,
	};

	for (unsigned half = 0; half < 2; half++) {
		const size_t share = (size_t)((double)hmb_limit(s->hmb) * OF_BUFFER);
		const int added = windows_add_kind(s, kind, share, 0);

		assert_true(added > 0);
		halves.kinds[half] = (unsigned)added;
	}
	return halves;
}

/* Begins with a history of samples, too, which readers want to see. */
static struct model *begin(struct world *w, enum trace_policy policy, uint64_t seed)
{
	struct model *m = calloc(1, sizeof(*m));
	struct session *s = &w->session;
	const unsigned kind = add_kind(s);
	const struct calls_config config = {.hmb = s->hmb,
	                                    .kind = kind,
	                                    .tables = s->tables,
	                                    .tasks = &s->tasks,
	                                    .policy = policy};
	const struct halves halves = halves_of(s, kind);

	assert_non_null(m);
	*m = (struct model){.w = w,
	                    .all = calloc(MOST, sizeof(*m->all)),
	                    .now = 1000,
	                    .start = 1000,
	                    .seed = seed,
	                    .process = {.pid = PID},
	                    .shared = {.pid = PID}};
	assert_non_null(m->all);
	m->process.shared = &m->shared;
	w->config.history = (struct history_options){.span = SPAN, .hz = 1000, .asked = true};
	s->started = true;
	s->start = m->now;
	tables_add_region(s->tables, &(struct trace_region){0});
	assert_int_equal(history_begin(s), 0);
	calls_put_begin(&m->put, &config);
	calls_put_keep(&m->put, &halves, m->now);
	return m;
}

static void end(struct model *m)
{
	free(m->all);
	free(m);
}

static void make_calls(struct model *m)
{
	const uint64_t burst = rnd(m, 20) ? 30 : 3000;

	for (uint64_t i = rnd(m, burst); i && m->nr < MOST; i--) {
		struct made *made = &m->all[m->nr++];

		m->now += 1 + rnd(m, burst > 30 ? 1000 : STEP);
		*made = (struct made){.tid = PID + (pid_t)rnd(m, NR_THREADS), .leave = m->now};
		made->enter = m->now - rnd(m, m->now - m->start + 1) % 5000;
	}
}

/* Threads are read one after the other, as they are in a round. */
static void read_calls(struct model *m)
{
	calls_put_round(&m->put, m->now + 1);
	for (pid_t tid = PID; tid < PID + NR_THREADS; tid++)
		for (size_t i = m->read; i < m->nr; i++) {
			struct call call = {.enter = m->all[i].enter, .leave = m->all[i].leave};

			if (m->all[i].tid == tid)
				m->put.sink.put(m->put.sink.arg, &m->process, tid, 0, &call);
		}
	m->read = m->nr;
}

static size_t find(const struct model *m, pid_t tid, const struct call *call, size_t from)
{
	while (from < m->nr &&
	       (m->all[from].tid != tid || m->all[from].leave >> 3 != call->leave >> 3))
		from++;
	return from;
}

/* Each stored call was made, in this order, and none that ended since a time is missing. */
static void check_calls(const struct model *m, struct trace *trace, uint64_t from)
{
	struct call_walk *walk = call_walk_new(trace);
	size_t next[NR_THREADS] = {0}, nr_since = 0, wanted = 0;
	struct trace_call call;

	assert_non_null(walk);
	while (call_walk_next(walk, &call) == 1) {
		const pid_t tid = trace_thread(trace, call.call.thread)->tid;
		size_t *at = &next[tid - PID];

		*at = find(m, tid, &call.call, *at);
		assert_true(*at < m->nr);
		assert_int_equal(m->all[*at].enter >> 3, call.call.enter >> 3);
		nr_since += m->all[(*at)++].leave >= from;
	}
	call_walk_free(walk);
	for (size_t i = 0; i < m->nr; i++)
		wanted += m->all[i].leave >= from && m->all[i].leave >= m->start;
	assert_int_equal(nr_since, wanted);
}

static void check(struct model *m)
{
	const struct hmb *hmb = m->w->session.hmb;
	struct trace *trace = written(m->w);
	struct trace_window calls;

	for (unsigned k = 0; k < hmb->nr_kinds; k++)
		assert_int_equal(hmb->ledger->taken[k],
		                 hmb_stored(hmb, k) + hmb->ledger->reduced[k]);
	assert_true(trace_find_call_history(trace, &calls));
	assert_int_equal(calls.span, SPAN);
	assert_int_equal(trace_choose_history(trace), 0);
	if (calls.taken == calls.stored) {
		check_calls(m, trace, calls.from);
		m->whole++;
	}
	if (!m->put.kept.fits && m->now > m->start + SPAN)
		assert_true(calls.from + SPAN <= m->now);
	trace_close(trace);
}

static void restart(struct model *m)
{
	struct session *s = &m->w->session;

	read_calls(m);
	m->turns += m->put.kept.nr_begun;
	for (unsigned k = 0; k < s->hmb->nr_kinds; k++)
		hmb_clear(s->hmb, k);
	m->start = m->now + 1;
	m->nr = m->read = 0;
	s->start = m->start;
	history_restart(s);
	calls_put_restart(&m->put, m->start);
}

static void compare(struct world *w, enum trace_policy policy, uint64_t seed)
{
	struct model *m = begin(w, policy, seed);
	struct session *s = &w->session;

	for (unsigned i = 0; i < ROUNDS_OF_CALLS && m->nr < MOST - 3000; i++) {
		make_calls(m);
		read_calls(m);
		/* The run loses levels of its own. */
		if (!rnd(m, 40))
			hmb_close_lowest(s->hmb, NR_EVENTS, m->now, HMB_CAUSE_SHARE);
		if (!rnd(m, 300))
			restart(m);
		if (!rnd(m, 30))
			check(m);
	}
	check(m);
	assert_true(m->turns + m->put.kept.nr_begun > 5 && m->whole > 10);
	end(m);
}

static void calls_of_the_last_seconds_are_there(void **state)
{
	compare(*state, TRACE_POLICY_ALL, 3);
}

static void whatever_the_policy_drops(void **state)
{
	compare(*state, TRACE_POLICY_DURATION, 4);
}

/* Calls that were lost on their way count as taken. */
static void missing_calls_count(void **state)
{
	struct model *m = begin(*state, TRACE_POLICY_TIME, 5);
	const struct hmb_ledger *ledger = tables_ledger(m->w->session.tables);
	unsigned kind;

	make_calls(m);
	read_calls(m);
	kind = halves_kind(&m->put.kept);
	calls_put_missing(&m->put, 7);
	calls_put_missing(&m->put, 7);
	assert_int_equal(ledger->reduced[kind], 7);
	calls_put_missing(&m->put, 10);
	assert_int_equal(ledger->reduced[kind], 10);
	assert_int_equal(ledger->taken[kind], m->nr + 10);
	end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_of_the_last_seconds_are_there),
		TEST(whatever_the_policy_drops),
		TEST(missing_calls_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
