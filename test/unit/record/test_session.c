/* What a session makes of trouble that the kernel tells of, and what wakes it, without a kernel. */
#include "raw_ring.h"
#include "tables_folder.h"

#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/session.h"
#include "cli/record/status.h"
#include "record/summary.h"
#include "perf/sampler/sampler_state.h"

enum { NR_CPUS = 2, NR_RINGS = 2 * NR_CPUS, NR_EVENTS = 2, SIZE = 1 << 16, ID = 100 };

struct world {
	struct record_config config;
	struct session session;
	struct sampler sampler;
	struct merged_ring rings[NR_RINGS];
	struct raw_ring raw[NR_RINGS];
	struct sampler_id ids[NR_EVENTS];
	uint64_t lost[NR_EVENTS][NR_CPUS];
	struct cpu_event cpu_events[NR_EVENTS * NR_CPUS];
	char folder[64];
	int owners[NR_RINGS], wakers[NR_RINGS], signals[2];
};

static void open_pipe(int *reader, int *writer)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*reader = ends[0];
	*writer = ends[1];
}

static void setup_sampler(struct world *w)
{
	struct sampler *s = &w->sampler;

	*s = (struct sampler){
		.way = SAMPLER_LADDER,
		.nr_cpus = NR_CPUS,
		.nr_events = NR_EVENTS,
		.nr_ids = NR_EVENTS,
		.ids = w->ids,
		.rings = w->rings,
		.nr_rings = NR_RINGS,
		.owner_fds = w->owners,
		.side_format = {.sample_type = RECORD_ALWAYS},
		.sample_format = {.sample_type = RECORD_ALWAYS | PERF_SAMPLE_IP},
	};
	for (uint16_t e = 0; e < NR_EVENTS; e++) {
		w->ids[e] = (struct sampler_id){.id = ID + e, .event = e};
		s->events[e] =
			(struct sampler_event){.nr_rungs = 1, .nr_steps = 1, .lost = w->lost[e]};
	}
	for (unsigned i = 0; i < NR_RINGS; i++) {
		raw_ring_init(&w->raw[i], &w->rings[i].ring, SIZE, 0);
		w->rings[i].cpu = i % NR_CPUS;
		w->rings[i].format = i < NR_CPUS ? &s->side_format : &s->sample_format;
		open_pipe(&w->owners[i], &w->wakers[i]);
	}
	assert_int_equal(ring_merge_init(&s->merge, w->rings, NR_RINGS), 0);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct session *s = &w->session;

	assert_non_null(w);
	setup_sampler(w);
	w->config.nr_events = NR_EVENTS;
	s->config = &w->config;
	session_init_events(s, NR_EVENTS);
	s->sampler = &w->sampler;
	s->sampling.way = SAMPLER_LADDER;
	s->cpu_events = w->cpu_events;
	s->attached_fd = -1;
	open_pipe(&w->signals[0], &w->signals[1]);
	s->wakers.signal_fd = w->signals[0];
	s->modules = module_table_new();
	s->tables = tables_in_folder(w->folder, 64 << 10);
	assert_non_null(s->modules);
	s->stack.config = s->config;
	s->stack.modules = s->modules;
	tasks_init(&s->tasks, s->tables, s->modules, NR_EVENTS, NULL, NULL);
	s->tasks.unobserved_list.poll_fd = -1;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	tasks_fini(&w->session.tasks);
	tables_free(w->session.tables);
	module_table_free(w->session.modules);
	ring_merge_fini(&w->sampler.merge);
	for (unsigned i = 0; i < NR_RINGS; i++) {
		raw_ring_fini(&w->raw[i]);
		close(w->owners[i]);
		close(w->wakers[i]);
	}
	rmdir(w->folder);
	close(w->signals[0]);
	close(w->signals[1]);
	free(w);
	return 0;
}

/* --- trouble ---------------------------------------------------------------------------------- */

static void write_trouble(struct world *w, enum sampler_ring ring, unsigned cpu, uint32_t type,
                          uint64_t id, uint64_t count)
{
	struct raw raw;
	bool lost = type == PERF_RECORD_LOST;
	size_t size;

	raw_start(&raw, type, 0);
	raw_word(&raw, lost ? id : 1000); /* id, or time */
	raw_word(&raw, lost ? count : id);
	if (!lost)
		raw_word(&raw, id); /* of the stream */
	raw_trailer(&raw, 10, 10, 1000, id);
	size = raw_end(&raw);
	assert_true(raw_ring_write(&w->raw[ring_index(&w->sampler, ring, cpu)], raw.words, size));
}

static int answering(const void *answer, size_t size)
{
	int fd = memfd_create("count", MFD_CLOEXEC);

	assert_int_equal(pwrite(fd, answer, size, 0), size);
	return fd;
}

/* What the kernel answers to who reads an event that counted this. */
static int counted(uint64_t value, uint64_t running)
{
	const uint64_t values[3] = {value, running};

	return answering(values, sizeof(values));
}

/* Of an event that is open on the first so many CPUs. */
static uint64_t total_on(struct world *w, unsigned e, bool is_clock, enum sampler_way way,
                         unsigned nr_cpus)
{
	struct sampler *s = &w->sampler;
	int fds[NR_CPUS] = {counted(10, 0), nr_cpus > 1 ? counted(20, 0) : -1};
	int sides[NR_CPUS] = {counted(0, 50), counted(0, 51)};
	uint64_t total;

	s->way = way;
	s->started = true;
	s->nr_targets = s->nr_first = 1;
	s->ran_before = 1;
	s->side_fds = sides;
	s->events[0].fds = s->events[e].fds = fds;
	s->events[e].is_clock = is_clock;
	total = sampler_total(s, e);
	for (unsigned c = 0; c < NR_CPUS; c++) {
		close(fds[c]);
		close(sides[c]);
	}
	return total;
}

static uint64_t total_of(struct world *w, unsigned e, bool is_clock, enum sampler_way way)
{
	return total_on(w, e, is_clock, way, NR_CPUS);
}

/* What was not counted meanwhile is missing in a total. */
static void throttling_stops_counting(void **state)
{
	struct world *w = *state;

	assert_int_equal(total_of(w, 1, true, SAMPLER_CGROUP), 30);
	assert_int_equal(total_of(w, 1, false, SAMPLER_CGROUP), 30);
	write_trouble(w, RING_SAMPLES, 1, PERF_RECORD_THROTTLE, ID + 1, 0);
	session_drain(&w->session, true);
	assert_int_equal(total_of(w, 1, true, SAMPLER_CGROUP), 100);
	assert_int_equal(total_of(w, 1, false, SAMPLER_CGROUP), 0);
	assert_int_equal(total_of(w, 1, false, SAMPLER_LADDER), 0);
	assert_int_equal(total_of(w, 0, false, SAMPLER_CGROUP), 30);
	/* Mappings and tasks are of interest on all CPUs, time where samples were asked for. */
	assert_int_equal(total_on(w, 1, true, SAMPLER_CGROUP, 1), 49);
	w->sampler.events[1].throttled = false;
	assert_int_equal(total_on(w, 1, true, SAMPLER_CGROUP, 1), 10);
	/* Rungs that take turns count twice meanwhile; a period that changes does not. */
	assert_int_equal(total_of(w, 1, false, SAMPLER_LADDER), 30);
	w->sampler.events[1].stepped = true;
	assert_int_equal(total_of(w, 1, false, SAMPLER_LADDER), 0);
	assert_int_equal(total_of(w, 1, false, SAMPLER_CGROUP), 30);
}

static void throttling_is_counted_where_it_was(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	write_trouble(w, RING_SAMPLES, 0, PERF_RECORD_THROTTLE, ID, 0);
	write_trouble(w, RING_SAMPLES, 0, PERF_RECORD_UNTHROTTLE, ID, 0);
	write_trouble(w, RING_SAMPLES, 1, PERF_RECORD_THROTTLE, ID + 1, 0);
	write_trouble(w, RING_SAMPLES, 1, PERF_RECORD_THROTTLE, ID + 1, 0);
	write_trouble(w, RING_SAMPLES, 1, PERF_RECORD_THROTTLE, 999, 0);
	session_drain(s, true);
	assert_int_equal(s->guard.throttled, 3);
	assert_int_equal(w->cpu_events[0 * NR_CPUS + 0].throttled, 1);
	assert_int_equal(w->cpu_events[0 * NR_CPUS + 1].throttled, 0);
	assert_int_equal(w->cpu_events[1 * NR_CPUS + 0].throttled, 0);
	assert_int_equal(w->cpu_events[1 * NR_CPUS + 1].throttled, 2);
	assert_int_equal(sampler_malformed(s->sampler), 0);
}

/* Slower sampling brings lost samples back, but no lost mappings. */
static void the_guard_is_told_of_lost_samples_alone(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	write_trouble(w, RING_SAMPLES, 1, PERF_RECORD_LOST, ID, 7);
	write_trouble(w, RING_SIDE, 0, PERF_RECORD_LOST, 55, 5);
	session_drain(s, true);
	assert_int_equal(s->guard.lost, 7);
	assert_int_equal(s->guard.throttled, 0);
	assert_int_equal(w->lost[0][1], 7);
	assert_int_equal(sampler_lost_records(&w->sampler), 5);
}

/* What all but samples cost is no reason to take fewer of them. */
static void the_guard_is_told_what_others_cost(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	uint64_t before = overhead_guard_cpu_time();
	struct raw raw;

	write_trouble(w, RING_SAMPLES, 0, PERF_RECORD_COMM, ID, 0);
	raw_start(&raw, PERF_RECORD_SAMPLE, 0);
	raw_word(&raw, ID);
	raw_word(&raw, 0); /* where, and who: nobody */
	raw_word(&raw, 0);
	raw_word(&raw, 1000);
	assert_true(raw_ring_write(&w->raw[ring_index(&w->sampler, RING_SAMPLES, 0)], raw.words,
	                           raw_end(&raw)));
	session_drain(s, true);
	assert_in_range(s->guard.others_ns, 1, overhead_guard_cpu_time() - before);
	s->guard.others_ns = 0;
	write_trouble(w, RING_SAMPLES, 0, PERF_RECORD_COMM, ID, 0);
	before = overhead_guard_cpu_time();
	session_drain(s, true);
	assert_in_range(s->guard.others_ns, 1, overhead_guard_cpu_time() - before);
}

/* A CPU tells late of what it lost when we stalled, for which sampling was slowed down before. */
static void a_stall_is_trouble_once(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	s->guard.max_overhead = 0.05;
	w->cpu_events[0].heard = w->cpu_events[1].heard = 100;
	write_trouble(w, RING_SAMPLES, 0, PERF_RECORD_LOST, ID, 700);
	session_drain(s, true);
	assert_true(overhead_guard_exceeded(&s->guard, 2000000000, NR_CPUS));
	write_trouble(w, RING_SAMPLES, 1, PERF_RECORD_LOST, ID + 1, 700);
	session_drain(s, true);
	assert_false(overhead_guard_exceeded(&s->guard, 4000000000, NR_CPUS));
	w->cpu_events[0].heard = 3000000000;
	write_trouble(w, RING_SAMPLES, 0, PERF_RECORD_LOST, ID, 700);
	session_drain(s, true);
	assert_true(overhead_guard_exceeded(&s->guard, 6000000000, NR_CPUS));
}

static void lost_totals_of_tasks_are_counted(void **state)
{
	struct world *w = *state;
	struct sampler *s = &w->sampler;
	const uint64_t side[3] = {0, 0, 2};
	int fds[NR_CPUS] = {counted(0, 0), counted(0, 0)};

	s->counts_lost = true;
	s->nr_targets = s->nr_first = 1;
	s->side_fds = fds;
	s->exact_fd = counted(1000, 7);
	for (unsigned c = 0; c < NR_CPUS; c++)
		assert_int_equal(pwrite(fds[c], side, sizeof(side), 0), sizeof(side));
	assert_int_equal(sampler_lost_records(s), 2 * NR_CPUS + 7);
	for (unsigned c = 0; c < NR_CPUS; c++)
		close(fds[c]);
	close(s->exact_fd);
}

/* An event that leads a counter answers for both, and says how many samples of its own were lost.
 */
static void samples_with_counters_are_lost_as_others(void **state)
{
	struct world *w = *state;
	struct sampler *s = &w->sampler;
	const uint64_t group[] = {2, 90, 80, 1000, 3, 50, 4}, cut[] = {2, 90, 80, 1000, 3};
	int fds[NR_CPUS] = {answering(group, sizeof(group)), answering(cut, sizeof(cut))};
	struct sampler_reading totals;

	s->counts_lost = true;
	s->nr_targets = s->nr_counters = 1;
	s->events[0].fds = fds;
	assert_int_equal(sampler_lost(s, 0, 0), 3);
	assert_int_equal(sampler_lost(s, 0, 1), 0);
	lseek(fds[0], 0, SEEK_SET);
	lseek(fds[1], 0, SEEK_SET);
	sampler_counter_totals(s, &totals);
	assert_int_equal(totals.nr, 2);
	assert_int_equal(totals.values[0], 1000);
	assert_int_equal(totals.values[1], 50);
	assert_int_equal(totals.enabled, 90);
	assert_int_equal(totals.running, 80);
	for (unsigned c = 0; c < NR_CPUS; c++)
		close(fds[c]);
}

static void nonsense_is_counted(void **state)
{
	struct world *w = *state;
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = 8};

	assert_true(raw_ring_write(&w->raw[ring_index(&w->sampler, RING_SAMPLES, 0)], &header, 8));
	write_trouble(w, RING_SAMPLES, 0, PERF_RECORD_THROTTLE, ID, 0);
	session_drain(&w->session, true);
	assert_int_equal(sampler_malformed(&w->sampler), 1);
	assert_int_equal(w->cpu_events[0].throttled, 1);
}

/* --- the guard -------------------------------------------------------------------------------- */

/* A buffer for what is told to slow down, with so many rungs for each event. */
static void open_buffer(struct world *w, uint64_t *period, unsigned rungs)
{
	const struct hmb_config config = {
		.memory = tables_arena(w->session.tables),
		.size = tables_budget(w->session.tables),
		.ledger = tables_ledger(w->session.tables),
		.nr_kinds = NR_EVENTS,
	};

	w->session.hmb = hmb_new(&config);
	assert_non_null(w->session.hmb);
	for (unsigned e = 0; e < NR_EVENTS; e++) {
		w->sampler.events[e].base_period = period;
		w->sampler.events[e].nr_rungs = rungs;
	}
}

/* Where no period is longer, the samples that are left are worth more than what they cost. */
static void what_cannot_slow_down_keeps_samples(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	uint64_t period = 1;

	open_buffer(w, &period, 1);
	for (unsigned interval = 0; interval < 100; interval++) {
		tables_ledger(s->tables)->taken[0] += 10;
		tables_ledger(s->tables)->taken[1] += 1000;
		session_slow_down(s);
		assert_int_equal(!s->sampling.too_expensive, interval < 4);
		assert_int_equal(hmb_floor(s->hmb, 0), interval < 4   ? 0
		                                       : interval < 8 ? interval - 3
		                                                      : 4);
		assert_int_equal(hmb_floor(s->hmb, 1), interval < 4 ? interval + 1 : 4);
	}
	hmb_free(s->hmb);
}

static void cpus_that_are_not_sampled_have_no_time(void **state)
{
	struct world *w = *state;
	int fds[NR_CPUS] = {-1, 5};

	w->sampler.events[0].fds = fds;
	assert_int_equal(sampler_nr_sampled(&w->sampler), NR_CPUS);
	w->sampler.way = SAMPLER_CGROUP;
	assert_int_equal(sampler_nr_sampled(&w->sampler), 1);
}

static void few_tasks_use_few_cpus(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;

	for (pid_t tid = 10; tid < 10 + NR_CPUS + 1; tid++) {
		const struct record born = {.type = RECORD_FORK,
		                            .time = 1000,
		                            .pid = 10,
		                            .tid = (uint32_t)tid,
		                            .fork = {10, 10}};

		tasks_record(&s->tasks, &born);
		assert_int_equal(session_cpus_in_use(s), tid - 9 < NR_CPUS ? tid - 9 : NR_CPUS);
	}
}

static void what_can_slow_down_does(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	uint64_t period = 97081;

	open_buffer(w, &period, 5);
	w->sampler.events[1].first_shift = 3;
	tables_ledger(s->tables)->taken[0] = 100; /* once */
	for (unsigned interval = 0; interval < 100; interval++) {
		tables_ledger(s->tables)->taken[1] += 10;
		session_slow_down(s);
	}
	assert_int_equal(hmb_floor(s->hmb, 0), 1);
	assert_int_equal(hmb_floor(s->hmb, 1), 3 + 2 * 4 + 4);
	hmb_free(s->hmb);
}

/* --- a sample --------------------------------------------------------------------------------- */

/* Who looks from outside, or after a crash, finds no frame whose module is not there. */
static void modules_are_noted_before_their_samples(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	const struct record code = {
		.type = RECORD_MMAP,
		.pid = 10,
		.tid = 10,
		.mmap = {.start = 0x10000, .end = 0x20000, .path = "//anon"},
	};
	const struct record sample = {
		.type = RECORD_SAMPLE, .time = 1000, .pid = 10, .tid = 10, .sample.ip = 0x12345};
	const struct sampler_origin origin = {.event = 0};
	int cpus[NR_CPUS] = {0, 1};
	uint64_t period = 97081;

	open_buffer(w, &period, 5);
	w->sampler.cpus = cpus;
	w->config.stack.max = 10;
	tasks_record(&s->tasks, &code);
	session_sample(s, &sample, &origin);
	assert_int_equal(hmb_stored(s->hmb, 0), 1);
	assert_int_equal(tables_section(s->tables, TRACE_MODULES).nr,
	                 module_table_count(s->modules));
	hmb_free(s->hmb);
}

/* --- what the trace says of the run ----------------------------------------------------------- */

static void tell_all(struct world *w, uint64_t *periods)
{
	struct session *s = &w->session;
	int cpus[NR_CPUS] = {3, 5}, fds[NR_CPUS] = {counted(10, 0), counted(20, 0)};

	w->config.command = (char *[]){"app", NULL};
	w->config.events[0].scale = 8;
	w->config.events[1].scale = 1;
	w->sampler.cpus = cpus;
	w->sampler.events[0].base_period = w->sampler.events[1].base_period = periods;
	w->sampler.events[0].fds = w->sampler.events[1].fds = fds;
	w->sampler.nr_targets = 1;
	w->sampler.started = true;
	s->sampling.way = w->sampler.way = SAMPLER_CGROUP;
	s->before_exec[0] = 4;
	summary_start(s);
	summary_totals(s);
	for (unsigned c = 0; c < NR_CPUS; c++)
		close(fds[c]);
}

/* In units, of which an occurrence may be several; and each CPU has its own period. */
static void what_was_measured_is_told(void **state)
{
	struct world *w = *state;
	struct session *s = &w->session;
	uint64_t periods[NR_CPUS] = {1000, 1010};
	const struct trace_stream *stream;

	open_buffer(w, periods, 1);
	w->sampler.lost_records = 9;
	w->sampler.merge.late = 2;
	w->sampler.latency = 77;
	w->lost[1][1] = 5;
	w->cpu_events[1 * NR_CPUS + 1].throttled = 6;
	w->sampler.malformed = 3;
	s->cpu_start = overhead_guard_cpu_time();
	tell_all(w, periods);
	assert_int_equal(tables_run(s->tables)->lost_records, 9);
	assert_int_equal(tables_run(s->tables)->late, 2);
	assert_int_equal(tables_run(s->tables)->malformed, 3);
	assert_int_equal(tables_run(s->tables)->drain_latency, 77);
	assert_in_range(tables_run(s->tables)->recorder_cpu, 1,
	                overhead_guard_cpu_time() - s->cpu_start);
	assert_int_equal(tables_event(s->tables, 0)->base_period, 8000);
	assert_int_equal(tables_event(s->tables, 0)->exact, 8 * (30 - 4));
	assert_int_equal(tables_event(s->tables, 1)->base_period, 1000);
	for (uint32_t i = 0; (stream = tables_stream(s->tables, i)); i++) {
		assert_int_equal(stream->event, i / NR_CPUS);
		assert_int_equal(stream->cpu, i % NR_CPUS ? 5 : 3);
		assert_int_equal(stream->base_period,
		                 periods[i % NR_CPUS] * w->config.events[i / NR_CPUS].scale);
		assert_int_equal(stream->lost, i == 3 ? 5 : 0);
		assert_int_equal(stream->throttled, i == 3 ? 6 : 0);
	}
	hmb_free(s->hmb);
}

/* --- the last lines --------------------------------------------------------------------------- */

enum { NR_STORED = 7, LINES_SIZE = 500 };

static void last_lines(struct world *w, char lines[LINES_SIZE])
{
	int here = dup(STDERR_FILENO), fd = memfd_create("lines", MFD_CLOEXEC);
	struct record_status status = {.config = &w->config};
	struct session_state now;

	session_state_read(&w->session, &now);
	now.lost = sampler_all_lost(&w->sampler);
	dup2(fd, STDERR_FILENO);
	status_final(&status, &now, w->config.output, 1000);
	dup2(here, STDERR_FILENO);
	lines[pread(fd, lines, LINES_SIZE - 1, 0)] = '\0';
	close(here);
	close(fd);
}

static void expect_last(struct world *w, const char *part)
{
	char lines[LINES_SIZE];

	last_lines(w, lines);
	if (!strstr(lines, part))
		fail_msg("'%s' is not in '%s'", part, lines);
}

/* Some samples of the first event, a clock; of the second none. */
static void setup_last(struct world *w, struct hmb *hmb, struct hmb_ledger *ledger,
                       uint64_t *period)
{
	struct trace_run *run = tables_run(w->session.tables);

	for (unsigned e = 0; e < NR_EVENTS; e++) {
		assert_non_null(tables_add_event(w->session.tables));
		w->config.events[e].scale = 1;
		w->sampler.events[e].base_period = period;
	}
	*ledger = (struct hmb_ledger){0};
	*hmb = (struct hmb){.ledger = ledger};
	hmb->kinds[0].levels[NR_LEVELS - 1].nr_before = NR_STORED;
	w->session.hmb = hmb;
	w->config.events[0].unit = EVENT_NS;
	w->config.events[1].unit = EVENT_COUNT;
	w->config.output[0] = 'x';
	run->end = run->start + 2500000000;
}

static void the_last_line_tells_of_losses(void **state)
{
	struct world *w = *state;
	uint64_t period = 1000000;
	struct hmb_ledger ledger;
	struct hmb hmb;

	setup_last(w, &hmb, &ledger, &period);
	expect_last(w, "\nadaptrace: 7 samples in 2.500 s, 0 bytes of 0 bytes, ");
	expect_last(w, "1000 Hz now, 0 lost \u2192 x (1000 bytes)\n");
	w->lost[1][1] = 2;
	w->cpu_events[2].throttled = 1;
	expect_last(w, " 2 lost, throttled 1 time \u2192");
	w->cpu_events[0].throttled = 6;
	expect_last(w, " 2 lost, throttled 7 times \u2192");
	hmb.kinds[0].levels[NR_LEVELS - 1].nr_before = 0;
	hmb.kinds[1].levels[NR_LEVELS - 1].nr_before = 1;
	expect_last(w, "adaptrace: 1 sample in 2.500 s, ");
}

static void reduce(struct world *w, uint32_t kind, uint32_t floor, enum hmb_cause cause)
{
	struct hmb_ledger *ledger = tables_ledger(w->session.tables);

	ledger->reductions[kind][floor - 1] =
		(struct hmb_reduction){.kind = kind, .floor = floor, .cause = cause};
	ledger->floor[kind] = floor;
	w->session.hmb->ledger->floor[kind] = floor;
}

/* A rate that the user did not ask for has its reason in a line of its own. */
static void the_rate_has_a_reason(void **state)
{
	struct world *w = *state;
	uint64_t period = 1000000;
	struct hmb_ledger ledger;
	char lines[LINES_SIZE];
	struct hmb hmb;

	setup_last(w, &hmb, &ledger, &period);
	w->config.nr_events = 1;
	expect_last(w, "adaptrace: 1000 Hz: close to the default of 10000 Hz; round periods are ");
	w->config.frequency = 980;
	expect_last(w, "adaptrace: 1000 Hz: close to the 980 Hz asked for; round periods are ");
	w->config.frequency = 0;
	w->config.period = period;
	last_lines(w, lines);
	assert_int_equal(strncmp(lines, "adaptrace: 7 samples", 20), 0);
	reduce(w, 0, 1, HMB_CAUSE_MEMORY);
	expect_last(w, "adaptrace: 500 Hz: 1000 Hz at first, halved once, as the buffer was full "
	               "(-m)\n");
	reduce(w, 0, 2, HMB_CAUSE_OVERHEAD);
	reduce(w, 0, 3, HMB_CAUSE_MEMORY);
	expect_last(w, "halved 2 times, as the buffer was full (-m), halved once, as sampling cost "
	               "too much (--max-overhead)\n");
	/* Levels that were closed before the start are no halvings. */
	tables_event(w->session.tables, 0)->initial_shift = 2;
	w->config.max_overhead = 0.05;
	w->session.guard =
		(struct overhead_guard){.max_overhead = 0.05, .price = 60000, .nr_clocks = 1};
	expect_last(w, "adaptrace: 125 Hz: 1000 Hz would cost the program more than 5 % "
	               "(--max-overhead), as a sample takes 60.00 \u00b5s of its time; 250 Hz at "
	               "first, halved once, as the buffer was full (-m)\n");
	w->session.guard.price = 1;
	expect_last(w,
	            "1000 Hz is more than the kernel permits (kernel.perf_event_max_sample_rate)");
	/* With several events, the one that was thinned most is named. */
	w->config.nr_events = 2;
	expect_last(w, ", 125 Hz: ");
	w->config.period = 0;
	ledger.floor[0] = 2;
	reduce(w, 1, 1, HMB_CAUSE_OVERHEAD);
	period = 1009;
	expect_last(w, ", 1 in 2018: 1 in 1009 at first, halved once, as sampling cost too much");
	ledger.floor[1] = 0;
	tables_ledger(w->session.tables)->floor[0] = 0;
	w->config.nr_events = 1;
	w->config.events[0].unit = EVENT_COUNT;
	tables_event(w->session.tables, 0)->initial_shift = ledger.floor[0] = 0;
	expect_last(w, "adaptrace: 1 in 1009: the default; -c sets another\n");
}

/* --- what wakes it ---------------------------------------------------------------------------- */

static bool wakes(struct world *w, unsigned ring)
{
	struct epoll_event events[16];
	int nr = epoll_wait(w->session.wakers.poll_fd, events, 16, 0);
	bool found = false;

	for (int i = 0; i < nr; i++)
		found |= events[i].data.fd == w->owners[ring];
	return found;
}

/* A tick after so many tasks ended. */
static void tick(struct world *w, unsigned nr_ended)
{
	w->session.tasks.nr_ended += nr_ended;
	session_pace(&w->session);
}

static void open_loop(struct world *w)
{
	w->session.control.poll_fd = w->session.pause.lease_fd = -1;
	w->session.windows.timer_fd = -1;
	assert_int_equal(session_open_loop(&w->session), 0);
	for (unsigned i = 0; i < NR_RINGS; i++) {
		assert_false(wakes(w, i));
		assert_int_equal(write(w->wakers[i], "x", 1), 1);
		assert_true(wakes(w, i));
	}
	assert_false(w->session.wakers.naps);
}

static void close_loop(struct world *w)
{
	close(w->session.wakers.poll_fd);
	close(w->session.wakers.pace_fd);
}

static void naps_replace_rings_while_many_tasks_end(void **state)
{
	struct world *w = *state;

	open_loop(w);
	tick(w, 19);
	assert_true(wakes(w, 0) && !w->session.wakers.naps);
	for (unsigned again = 0; again < 2; again++) {
		tick(w, 20);
		for (unsigned i = 0; i < NR_RINGS; i++)
			assert_false(wakes(w, i));
		assert_true(w->session.wakers.naps);
	}
	tick(w, 19);
	for (unsigned i = 0; i < NR_RINGS; i++)
		assert_true(wakes(w, i));
	assert_false(w->session.wakers.naps);
	close_loop(w);
}

/* Rings that fill up are not left to the next tick. */
static void a_crowded_ring_ends_naps(void **state)
{
	struct world *w = *state;

	open_loop(w);
	tick(w, 100);
	session_drain(&w->session, true);
	assert_false(wakes(w, 0));
	while (w->raw[1].page->data_head - w->raw[1].page->data_tail < SIZE / 2)
		write_trouble(w, RING_SIDE, 1, PERF_RECORD_LOST, 55, 1);
	session_drain(&w->session, true);
	assert_true(wakes(w, 0));
	assert_false(w->session.wakers.naps);
	close_loop(w);
}

/* Nobody is woken by the end of tasks there. */
static void a_cgroup_needs_no_naps(void **state)
{
	struct world *w = *state;

	w->session.sampling.way = SAMPLER_CGROUP;
	open_loop(w);
	tick(w, 1000);
	assert_true(wakes(w, 0) && !w->session.wakers.naps);
	close_loop(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(throttling_is_counted_where_it_was),
		TEST(throttling_stops_counting),
		TEST(the_guard_is_told_of_lost_samples_alone),
		TEST(the_guard_is_told_what_others_cost),
		TEST(a_stall_is_trouble_once),
		TEST(lost_totals_of_tasks_are_counted),
		TEST(samples_with_counters_are_lost_as_others),
		TEST(nonsense_is_counted),
		TEST(what_cannot_slow_down_keeps_samples),
		TEST(what_can_slow_down_does),
		TEST(cpus_that_are_not_sampled_have_no_time),
		TEST(few_tasks_use_few_cpus),
		TEST(modules_are_noted_before_their_samples),
		TEST(what_was_measured_is_told),
		TEST(the_last_line_tells_of_losses),
		TEST(the_rate_has_a_reason),
		TEST(naps_replace_rings_while_many_tasks_end),
		TEST(a_crowded_ring_ends_naps),
		TEST(a_cgroup_needs_no_naps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
