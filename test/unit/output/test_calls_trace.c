/* Calls and what they refer to, in a trace and in what a killed recorder leaves. */
#include "trace_world.h"

#include "trace/call_order.h"
#include "trace/call_stream.h"
#include "output/convert/convert.h"
#include "trace/merge/merge.h"
#include "base/new_folder.h"
#include "trace/bin_positions.h"

#include <errno.h>
#include <math.h>
#include <time.h>

enum { CALLS = NR_EVENTS, NR_CALLS = 5000, NR_THREADS = 3 };

static const struct scratch nowhere = {.fd = -1};

struct job {
	struct world w;
	uint32_t regions[3], comm, process;
	uint64_t time[NR_THREADS];
};

static void job_open(struct job *job)
{
	static const uint32_t members[] = {0, 1, 2, 5};
	struct tables *t;

	*job = (struct job){0};
	world_make_tables(&job->w, 1 << 20);
	describe(&job->w);
	t = job->w.tables;
	*tables_add_event(t) =
		(struct trace_event){.name = tables_string(t, "calls"), .unit = TRACE_CALLS};
	for (uint32_t i = 0; i < 3; i++)
		job->regions[i] = tables_add_region(
			t, &(struct trace_region){.name = tables_string(t, i ? "MPI_Send" : "step"),
		                                  .region_class = i ? TRACE_MPI_POINT_TO_POINT
		                                                    : TRACE_USER_REGION});
	job->comm = tables_add_comm(
		t, &(struct trace_comm){.id = TRACE_COMM_WORLD_ID, .nr_members = 3, .nr_remote = 1},
		members);
	job->process = tables_add_process(t, &(struct trace_process){.pid = 100, .rank = 5});
	assert_int_equal(
		tables_add_instrument(t, &(struct trace_instrument){.event = CALLS, .share = 77}),
		0);
	world_make_buffer(&job->w, (struct hmb_config){.nr_kinds = CALLS + 1,
	                                               .max_path = MAX_DEPTH,
	                                               .kinds[CALLS].content = HMB_CALLS});
}

/* Calls of a thread that lie in different lists come in their order, if they end at once as well.
 */
static void test_calls_that_end_at_once(void **state)
{
	static const struct call calls[] = {{.enter = 1000, .leave = 2000}, {2000, 2000}};
	struct call_walk *walk;
	struct trace_call call;
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&job);
	assert_true(hmb_put_call(job.w.hmb, CALLS, 1, &calls[0]));
	assert_true(hmb_put_call(job.w.hmb, CALLS, 0, &calls[1]));
	trace = world_written(&job.w);
	walk = call_walk_new(trace);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(call_walk_next(walk, &call), 1);
		assert_int_equal(call.call.enter, calls[i].enter);
	}
	call_walk_free(walk);
	trace_close(trace);
	world_close(&job.w);
}

/* Returns how many calls of those that were put came after one that was left later. */
static unsigned count_late(const struct trace *trace, uint32_t room, unsigned nr)
{
	struct call_order *order = call_order_new(trace, room);
	struct trace_call call;
	uint64_t newest = 0;
	unsigned nr_late = 0;

	assert_non_null(order);
	for (; nr; nr--) {
		assert_int_equal(call_order_next(order, &call), 1);
		assert_int_equal(call.call.nr_parts, call.call.leave % 3);
		for (uint32_t i = 0; i < call.call.nr_parts; i++)
			assert_int_equal(call.call.parts[i].bytes, call.call.leave + i);
		nr_late += call.call.leave < newest;
		newest = call.call.leave > newest ? call.call.leave : newest;
	}
	assert_int_equal(call_order_next(order, &call), 0);
	call_order_free(order);
	return nr_late;
}

/* The recorder takes a hundred calls of a thread, then as many of the next. */
static void calls_of_threads_come_by_time(void **state)
{
	enum { ROUNDS = 20, RUN = 100 };
	uint64_t time[NR_THREADS] = {0};
	struct call_part parts[2];
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&job);
	for (unsigned n = 0; n < ROUNDS * NR_THREADS * RUN; n++) {
		uint32_t thread = n / RUN % NR_THREADS;
		uint64_t leave = 5000 + (time[thread] += 1 + rnd(&job.w, 40));

		for (unsigned i = 0; i < 2; i++)
			parts[i] = (struct call_part){.type = CALL_PUT, .bytes = leave + i};
		assert_true(hmb_put_call(job.w.hmb, CALLS, n % 3,
		                         &(struct call){.enter = leave - 1,
		                                        .leave = leave,
		                                        .thread = thread,
		                                        .nr_parts = (uint32_t)(leave % 3),
		                                        .parts = parts}));
	}
	trace = world_written(&job.w);
	assert_int_equal(count_late(trace, CALL_ORDER_CALLS, ROUNDS * NR_THREADS * RUN), 0);
	/* Without room they come as in a walk, and none is lost. */
	assert_true(count_late(trace, 1, ROUNDS * NR_THREADS * RUN) > ROUNDS);
	trace_close(trace);
	world_close(&job.w);
}

/* Of a thread's calls: more than one record has, of some. */
static uint32_t nr_parts_of(uint32_t n)
{
	return n / NR_THREADS % 4 == 3 ? 0 : n % 8;
}

/* A thread's calls: three of MPI, then the region around them. */
static void put_call(struct job *job, uint32_t n)
{
	uint32_t thread = n % NR_THREADS, turn = n / NR_THREADS % 4;
	uint64_t *time = &job->time[thread];
	struct call_part parts[8];
	struct call call = {.thread = thread,
	                    .region = job->regions[turn == 3 ? 0 : 1 + turn % 2],
	                    .enter = turn == 3 ? *time - 60 : *time,
	                    .leave = *time + 10,
	                    .depth = turn != 3,
	                    .nr_parts = nr_parts_of(n),
	                    .parts = parts};

	for (uint32_t i = 0; i < call.nr_parts; i++)
		parts[i] = (struct call_part){.type = CALL_SEND,
		                              .comm = job->comm,
		                              .peer = (int32_t)(i % 3),
		                              .tag = (int32_t)n,
		                              .bytes = n * 8};
	*time += 20;
	assert_true(hmb_put_call(job->w.hmb, CALLS, n % 2, &call));
}

static void check_call(const struct trace *trace, const struct trace_call *call)
{
	for (uint32_t i = 0; i < call->call.nr_parts; i++) {
		const struct call_part *part = &call->call.parts[i];

		assert_int_equal(part->bytes, (uint64_t)part->tag * 8);
		assert_int_equal(trace_member(trace, part->comm, part->peer, false), i % 3);
		assert_int_equal((uint32_t)part->tag % NR_THREADS, call->call.thread);
		assert_int_equal(call->call.nr_parts, nr_parts_of((uint32_t)part->tag));
	}
}

static void check_trace(const struct trace *trace)
{
	struct call_walk *walk = call_walk_new(trace);
	struct trace_call call;
	uint64_t last = 0;
	uint32_t nr = 0, nr_parts = 0;

	assert_non_null(walk);
	while (call_walk_next(walk, &call) == 1) {
		check_call(trace, &call);
		nr_parts += call.call.nr_parts;
		last = call.call.leave > last ? call.call.leave : last;
		nr++;
	}
	assert_int_equal(trace_run(trace)->end, last); /* which nobody said */
	call_walk_free(walk);
	assert_int_equal(nr, NR_CALLS);
	while (nr-- > 0)
		nr_parts -= nr_parts_of(nr);
	assert_int_equal(nr_parts, 0);
	assert_null(trace_event(trace, CALLS)); /* it was not sampled */
	assert_int_equal(trace_kind(trace, CALLS)->stored, NR_CALLS);
	assert_int_equal(trace_kind(trace, CALLS)->taken, NR_CALLS);
	assert_string_equal(trace_region_name(trace, 1), "MPI_Send");
	assert_string_equal(trace_region_name(trace, 1000), "[unknown]");
	assert_int_equal(trace_member(trace, 0, 0, true), 5);
	assert_int_equal(trace_member(trace, 0, 3, false), -1);
	assert_int_equal(trace_member(trace, 7, 0, false), -1);
	assert_int_equal(trace_owner(trace, 1), 0);
	assert_int_equal(trace_process(trace, 0)->rank, 5);
	assert_int_equal(trace_instrument(trace, 0)->share, 77);
}

static void test_trace(void **state)
{
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&job);
	for (uint32_t n = 0; n < NR_CALLS; n++)
		put_call(&job, n);
	trace = world_written(&job.w);
	check_trace(trace);
	trace_close(trace);
	world_close(&job.w);
}

/* The same from the image that is left. */
static void test_recover(void **state)
{
	struct tables *left;
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&job);
	for (uint32_t n = 0; n < NR_CALLS; n++)
		put_call(&job, n);
	if (!tables_recoverable(job.w.tables)) {
		world_close(&job.w);
		skip();
	}
	tables_keep(job.w.tables);
	hmb_free(job.w.hmb);
	tables_free(job.w.tables);
	left = tables_recover(job.w.path);
	assert_non_null(left);
	assert_int_equal(trace_write(job.w.path, left, NULL, NULL, NULL), 0);
	tables_recovered(left);
	tables_free(left);
	trace = open_good(job.w.path);
	check_trace(trace);
	trace_close(trace);
	unlink(job.w.path);
	assert_int_equal(rmdir(job.w.folder), 0);
}

/* The end of a killed recorder: a record that is announced, or one that is cut in two. */
static void test_torn_bins(void **state)
{
	(void)state;
	for (unsigned cut = 0; cut < 2; cut++) {
		struct call_walk *walk;
		struct trace_call call;
		struct trace *trace;
		uint32_t nr = 0;
		struct bin *bin;
		struct job job;
		int got;

		job_open(&job);
		for (uint32_t n = 0; n < 20; n++)
			assert_true(hmb_put_call(job.w.hmb, CALLS, 0,
			                         &(struct call){.region = job.regions[1],
			                                        .enter = 50 * n,
			                                        .leave = 50 * n + 20}));
		bin = job.w.hmb->kinds[CALLS].levels[0].open;
		assert_int_equal(bin->nr_records, 20);
		bin->nr_records += !cut;
		bin->record_bytes -= cut;
		trace = world_written(&job.w);
		assert_int_equal(trace_run(trace)->malformed, cut);
		assert_int_equal(trace_kind(trace, CALLS)->stored, 20 - cut);
		walk = call_walk_new(trace);
		while ((got = call_walk_next(walk, &call)) == 1)
			assert_int_equal(call.call.leave, 50 * nr++ + 20);
		assert_int_equal(got, 0);
		assert_int_equal(nr, 20 - cut);
		call_walk_free(walk);
		trace_close(trace);
		world_close(&job.w);
	}
}

/* References that lead nowhere are found when a file is opened. */
static void test_bad_comms(void **state)
{
	char why[TRACE_WHY_SIZE];
	struct job job;

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		struct trace_comm *comm;

		job_open(&job);
		comm = tables_comm_at(job.w.tables, 0);
		if (round)
			comm->parent = 1;
		else
			comm->nr_members = UINT32_MAX;
		assert_int_equal(trace_write(job.w.path, job.w.tables, NULL, NULL, NULL), 0);
		assert_null(trace_open(job.w.path, why));
		assert_non_null(strstr(why, "communicators"));
		world_close(&job.w);
	}
}

/* What is entered is left in the reverse order, and times do not go back. */
static void check_stream(const struct call_index *index, uint32_t thread)
{
	struct call_stream *stream = call_stream_new(index, thread);
	struct call_moment moment;
	const struct call *open[8];
	unsigned depth = 0, nr = 0;
	uint64_t time = 0;

	assert_non_null(stream);
	while (call_stream_next(stream, &moment) == 1) {
		assert_true(moment.time >= time);
		time = moment.time;
		if (moment.type == CALL_ENTERED) {
			assert_true(depth < 8);
			assert_int_equal(moment.time, moment.call->enter);
			assert_int_equal(moment.call->depth, depth);
			open[depth++] = moment.call;
			nr++;
		} else {
			assert_int_equal(moment.time, moment.call->leave);
			assert_int_equal(open[--depth]->region, moment.call->region);
		}
	}
	assert_int_equal(depth, 0);
	assert_int_equal(nr, index->nr[thread]);
	call_stream_free(stream);
}

static void test_stream(void **state)
{
	struct call_index *index;
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&job);
	for (uint32_t n = 0; n < NR_CALLS / 12 * 12; n++)
		put_call(&job, n);
	trace = world_written(&job.w);
	index = call_index_new(trace, &nowhere);
	assert_non_null(index);
	for (uint32_t thread = 0; thread < NR_THREADS; thread++)
		check_stream(index, thread);
	call_index_free(index);
	trace_close(trace);
	world_close(&job.w);
}

/* As in the trace of a merged job: who reads one thread's calls does not read all threads'. */
static void test_many_threads(void **state)
{
	enum { MANY = 500 };
	struct call_index *index;
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&job);
	for (uint32_t thread = 0; thread < MANY; thread++) {
		if (thread >= NR_THREADS)
			tables_add_thread(job.w.tables, 100, 100 + (int)thread, 0, 0);
		for (uint32_t n = 0; n < 100; n++) {
			struct call call = {.thread = thread,
			                    .region = job.regions[1],
			                    .enter = n * 100,
			                    .leave = n * 100 + 50};

			hmb_put_call(job.w.hmb, CALLS, n % 2, &call);
		}
	}
	trace = world_written(&job.w);
	index = call_index_new(trace, &nowhere);
	assert_non_null(index);
	for (uint32_t thread = 0; thread < MANY; thread++) {
		assert_in_range(index->of_thread[thread].nr, 2, 4);
		check_stream(index, thread);
	}
	call_index_free(index);
	trace_close(trace);
	world_close(&job.w);
}

static void put_in_turns(struct job *job, uint32_t nr_threads)
{
	for (uint32_t thread = NR_THREADS; thread < nr_threads; thread++)
		tables_add_thread(job->w.tables, 100, 100 + (int)thread, 0, 0);
	for (uint32_t n = 0; n < 100 * nr_threads + 2000; n++) { /* in the end one has many */
		struct call_part parts[8] = {{.type = CALL_SEND_POSTED, .request = n}};
		struct call call = {.thread = n < 100 * nr_threads ? n % nr_threads : 0,
		                    .region = job->regions[1],
		                    .enter = 100UL * n,
		                    .leave = 100UL * n + 50,
		                    .nr_parts = n / nr_threads % 8,
		                    .parts = parts};

		for (uint32_t i = 1; i < call.nr_parts; i++)
			parts[i] = (struct call_part){.type = CALL_VALUE,
			                              .bytes = (uint64_t)n << 32 | i};
		assert_true(hmb_put_call(job->w.hmb, CALLS, n / nr_threads % 2, &call));
	}
}

static void check_alike(struct call_walk *one, struct call_walk *other)
{
	struct trace_call a, b;
	int got;

	do {
		got = call_walk_next(one, &a);
		assert_int_equal(call_walk_next(other, &b), got);
		if (got != 1)
			break;
		assert_int_equal(a.level, b.level);
		assert_int_equal(a.call.enter, b.call.enter);
		assert_int_equal(a.call.leave, b.call.leave);
		assert_int_equal(a.call.nr_parts, b.call.nr_parts);
		for (uint32_t i = 0; i < a.call.nr_parts; i++) {
			assert_int_equal(a.call.parts[i].request, b.call.parts[i].request);
			assert_int_equal(a.call.parts[i].bytes, b.call.parts[i].bytes);
		}
	} while (true);
	assert_int_equal(got, 0);
	call_walk_free(one);
	call_walk_free(other);
}

static uint64_t records_read(const struct bin_positions *positions)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < positions->nr; i++)
		nr += positions->positions[i].bin->nr_records;
	return nr;
}

/* Where threads take turns, all their calls are not read for each of them. */
static void test_turns(void **state)
{
	enum { MANY = 150 };
	FILE *file = tmpfile();
	struct scratch scratch = {.from = sysconf(_SC_PAGESIZE)};
	struct call_index *shared, *own;
	struct bin_positions positions;
	struct trace *trace;
	uint64_t read = 0;
	struct job job;

	(void)state;
	job_open(&job);
	put_in_turns(&job, MANY);
	trace = world_written(&job.w);
	scratch.fd = fileno(file);
	shared = call_index_new(trace, &nowhere);
	own = call_index_new(trace, &scratch);
	assert_non_null(shared);
	assert_non_null(own);
	for (uint32_t thread = 0; thread < MANY; thread++) {
		check_alike(call_walk_thread(shared, thread), call_walk_thread(own, thread));
		read += records_read(&own->of_thread[thread]);
	}
	assert_int_equal(bin_positions_find(&positions, trace, BIN_CALLS, TRACE_ALL_EVENTS), 0);
	assert_int_equal(read, records_read(&positions));
	bin_positions_fini(&positions);
	call_index_free(shared);
	call_index_free(own);
	fclose(file);
	trace_close(trace);
	world_close(&job.w);
}

/* Calls that cross each other, as no program makes them. */
static void test_crossing(void **state)
{
	struct call_index *index;
	struct call_stream *stream;
	struct call_moment moment;
	struct trace *trace;
	struct job job;
	uint64_t time = 0;
	int depth = 0;

	(void)state;
	job_open(&job);
	for (uint32_t n = 0; n < 3000; n++) {
		uint64_t leave = n * 10 + rnd(&job.w, 500);
		struct call call = {.region = job.regions[n % 3],
		                    .leave = leave,
		                    .enter = leave - rnd(&job.w, leave + 1),
		                    .depth = (uint32_t)rnd(&job.w, 4)};

		hmb_put_call(job.w.hmb, CALLS, 0, &call);
	}
	trace = world_written(&job.w);
	index = call_index_new(trace, &nowhere);
	stream = call_stream_new(index, 0);
	while (call_stream_next(stream, &moment) == 1) {
		assert_true(moment.time >= time);
		time = moment.time;
		depth += moment.type == CALL_ENTERED ? 1 : -1;
		assert_true(depth >= 0);
	}
	assert_int_equal(depth, 0);
	call_stream_free(stream);
	call_index_free(index);
	trace_close(trace);
	world_close(&job.w);
}

/* A record of a thread's call number n, which has pieces of two parts each. */
static void put_piece(struct job *job, uint32_t thread, uint32_t n, bool last)
{
	static const struct call_part parts[2] = {{.type = CALL_SEND_DONE},
	                                          {.type = CALL_SEND_DONE}};
	struct call call = {.thread = thread,
	                    .region = job->regions[1],
	                    .enter = 1000 * n,
	                    .leave = 1000 * n + 500,
	                    .flags = last ? 0 : CALL_CONTINUED,
	                    .nr_parts = 2,
	                    .parts = parts};

	assert_true(hmb_put_call(job->w.hmb, CALLS, 0, &call));
}

static void expect_call(struct call_walk *walk, uint32_t thread, uint32_t n, uint32_t pieces,
                        bool whole)
{
	struct trace_call got;

	assert_int_equal(call_walk_next(walk, &got), 1);
	assert_int_equal(got.call.thread, thread);
	assert_int_equal(got.call.enter, 1000 * n);
	assert_int_equal(got.call.nr_parts, 2 * pieces);
	assert_int_equal(!(got.call.flags & CALL_CONTINUED), whole);
}

/* A recorder that looks while a long call is being written finds others' calls before its rest. */
static void test_long_calls_by_turns(void **state)
{
	struct call_walk *walk;
	struct trace_call got;
	struct trace *trace;
	struct job job;

	(void)state;
	job_open(&job);
	put_piece(&job, 0, 1, false);
	put_piece(&job, 1, 1, false);
	put_piece(&job, 2, 1, true);
	put_piece(&job, 1, 1, true);
	put_piece(&job, 0, 1, false);
	put_piece(&job, 0, 1, true);
	put_piece(&job, 2, 2, false); /* the rest was lost */
	put_piece(&job, 1, 2, false);
	put_piece(&job, 2, 3, true);
	trace = world_written(&job.w);
	walk = call_walk_new(trace);
	expect_call(walk, 2, 1, 1, true);
	expect_call(walk, 1, 1, 2, true);
	expect_call(walk, 0, 1, 3, true);
	expect_call(walk, 2, 2, 1, false);
	expect_call(walk, 2, 3, 1, true);
	expect_call(walk, 1, 2, 1, false);
	assert_int_equal(call_walk_next(walk, &got), 0);
	call_walk_free(walk);
	trace_close(trace);
	world_close(&job.w);
}

/* Ranks whose regions together are more than a table takes. */
static void test_merge_without_room(void **state)
{
	struct job jobs[2];
	char *paths[] = {jobs[0].w.path, jobs[1].w.path}, path[128], name[32];
	char why[MERGE_WHY_SIZE];
	struct merge_config config = {.paths = paths, .nr = 2};
	struct merge_result result;
	struct trace *trace;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct tables *t;

		job_open(&jobs[i]);
		t = jobs[i].w.tables;
		tables_process(t, 0)->rank = (int32_t)i;
		tables_run(t)->seed = i;
		tables_instrument(t, 0)->from = 1000;
		tables_instrument(t, 0)->to = 2000;
		for (unsigned r = 3; r < TABLES_MAX_REGIONS; r++) {
			snprintf(name, sizeof(name), "%u of rank %u", r, i);
			tables_add_region(t,
			                  &(struct trace_region){.name = tables_string(t, name)});
		}
	}
	for (uint32_t i = 0; i < 3; i++) /* MPI_Send is known */
		jobs[1].regions[i] += 2;
	for (uint32_t n = 0; n < 600; n++)
		put_call(&jobs[n % 2], n / 2);
	for (unsigned i = 0; i < 2; i++)
		trace_close(world_written(&jobs[i].w));
	snprintf(path, sizeof(path), "%s/all.atr", jobs[0].w.folder);
	if (merge_write(path, &config, &result, why))
		fail_msg("%s", why);
	trace = open_good(path);
	assert_int_equal(trace_kind(trace, CALLS)->taken, 600);
	assert_int_equal(trace_kind(trace, CALLS)->stored, 600 - trace_instrument(trace, 0)->lost);
	assert_in_range(trace_instrument(trace, 0)->lost, 1, 299);
	assert_true(trace_instrument(trace, 0)->from == trace_instrument(trace, 0)->to);
	trace_close(trace);
	unlink(path);
	world_close(&jobs[0].w);
	world_close(&jobs[1].w);
}

/* What all ranks dropped of their calls, and when and why the first one did. */
static void test_merge_of_thinned(void **state)
{
	struct job jobs[2];
	char *paths[] = {jobs[0].w.path, jobs[1].w.path}, path[128], why[MERGE_WHY_SIZE];
	struct merge_config config = {.paths = paths, .nr = 2};
	struct merge_result result;
	const struct trace_reduction *reduction;
	struct trace *trace;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		job_open(&jobs[i]);
		tables_process(jobs[i].w.tables, 0)->rank = (int32_t)i;
		tables_run(jobs[i].w.tables)->seed = i;
		tables_run(jobs[i].w.tables)->end = 3000;
		for (uint32_t n = 0; n < 60; n++)
			put_call(&jobs[i], n);
		hmb_close_lowest(jobs[i].w.hmb, CALLS, i ? 1500 : 2000,
		                 i ? HMB_CAUSE_SHARE : HMB_CAUSE_MEMORY);
		trace_close(world_written(&jobs[i].w));
	}
	snprintf(path, sizeof(path), "%s/all.atr", jobs[0].w.folder);
	if (merge_write(path, &config, &result, why))
		fail_msg("%s", why);
	trace = open_good(path);
	reduction = trace_reduction(trace, 0);
	assert_non_null(reduction);
	assert_int_equal(reduction->event, CALLS);
	assert_int_equal(reduction->floor, 1);
	assert_int_equal(reduction->time, 1500);
	assert_int_equal(reduction->cause, HMB_CAUSE_SHARE);
	assert_null(trace_reduction(trace, 1));
	trace_close(trace);
	unlink(path);
	world_close(&jobs[0].w);
	world_close(&jobs[1].w);
}

static int count_tick(void *arg, double share)
{
	(void)share;
	++*(unsigned *)arg;
	return 0;
}

static unsigned ticks_of(const struct converter *converter, const struct world *w, uint32_t nr)
{
	unsigned ticks = 0;
	struct trace *trace = world_written(w);
	struct conversion conversion = {
		.trace = trace, .scratch = w->folder, .tick = count_tick, .arg = &ticks};
	char *memory = NULL, folder[128];
	size_t size;
	FILE *file = open_memstream(&memory, &size);
	struct new_folder archive;

	assert_int_equal(trace_kind(trace, CALLS)->stored, nr);
	if (converter->to_folder) {
		snprintf(folder, sizeof(folder), "%s/folder", w->folder);
		assert_int_equal(new_folder_open(&archive, folder, false, NULL), 0);
		assert_int_equal(converter->to_folder(&conversion, archive.temporary), 0);
		new_folder_close(&archive, -ECANCELED);
	} else {
		assert_int_equal(converter->to_file(&conversion, file), 0);
	}
	fclose(file);
	free(memory);
	trace_close(trace);
	return ticks;
}

/* NULL: this program was built without it. */
static const struct converter *find_converter(const char *name)
{
	const struct converter *converter;

	for (unsigned i = 0; (converter = converter_at(i)); i++)
		if (!strcmp(converter->name, name))
			return converter->to_file || converter->to_folder ? converter : NULL;
	fail_msg("no converter %s", name);
	return NULL;
}

/* Who shows calls can be interrupted while it goes through them. */
static void test_ticks(void **state)
{
	static const char *const names[] = {"otf2", "speedscope", "firefox", "chrome"};
	enum { NR_NAMES = 4, FEW = 100, MANY = 70000 };
	unsigned few[NR_NAMES];
	uint32_t n = 0;
	struct job job;

	(void)state;
	job_open(&job);
	for (; n < FEW; n++)
		put_call(&job, n * 8 * NR_THREADS); /* of one thread */
	for (unsigned k = 0; k < NR_NAMES; k++)
		if (find_converter(names[k]))
			few[k] = ticks_of(find_converter(names[k]), &job.w, n);
	for (; n < MANY; n++)
		put_call(&job, n * 8 * NR_THREADS);
	for (unsigned k = 0; k < NR_NAMES; k++)
		if (find_converter(names[k]))
			assert_true(ticks_of(find_converter(names[k]), &job.w, n) > few[k]);
	world_close(&job.w);
}

/* As a program's values are when it has gone wrong; JSON has no such numbers. */
static void test_values_that_are_no_numbers(void **state)
{
	static const double values[] = {1.5, NAN, -INFINITY};
	struct job job;
	struct trace *trace;
	struct conversion conversion = {.scratch = job.w.folder};
	char *memory = NULL;
	size_t size;
	FILE *file = open_memstream(&memory, &size);
	uint32_t region;

	(void)state;
	job_open(&job);
	region = tables_add_region(job.w.tables,
	                           &(struct trace_region){.region_class = TRACE_VALUE});
	for (unsigned i = 0; i < 3; i++) {
		struct call_part part = {.type = CALL_VALUE};
		struct call call = {.region = region,
		                    .enter = 1000 * (i + 1),
		                    .leave = 1000 * (i + 1),
		                    .nr_parts = 1,
		                    .parts = &part};

		memcpy(&part.bytes, &values[i], sizeof(part.bytes));
		assert_true(hmb_put_call(job.w.hmb, CALLS, 0, &call));
	}
	conversion.trace = trace = world_written(&job.w);
	assert_int_equal(chrome_write(&conversion, file), 0);
	fclose(file);
	assert_non_null(strstr(memory, "\"args\":{\"value\":1.5}"));
	assert_non_null(strstr(memory, "\"args\":{\"value\":\"nan\"}"));
	assert_non_null(strstr(memory, "\"args\":{\"value\":\"-inf\"}"));
	free(memory);
	trace_close(trace);
	world_close(&job.w);
}

/* Each number has two processes, and threads beyond them are of the last one. */
static void check_owners(const struct trace *trace, uint32_t first, uint32_t nr_processes)
{
	uint32_t nr = trace_nr(trace, TRACE_THREADS);

	for (uint32_t i = first; i < nr; i++) {
		uint32_t process = 2 * (i - first);

		assert_int_equal(trace_owner(trace, i),
		                 process < nr_processes ? process : nr_processes);
	}
	assert_int_equal(trace_owner(trace, 0), nr_processes);
	assert_int_equal(trace_owner(trace, nr), UINT32_MAX);
}

/* As many threads as processes are found in a moment, not each among all of these. */
static void test_owners(void **state)
{
	enum { PROCESSES = 60000, THREADS = 50000, TIMES = 5 };
	struct trace_process process = {.rank = -1};
	struct trace *trace;
	struct world w;
	clock_t since;
	uint32_t first;

	(void)state;
	world_open(&w, 64 << 10);
	for (int i = 0; i < PROCESSES; i++) {
		process.pid = 100000 - i / 2;
		tables_add_process(w.tables, &process);
	}
	process = (struct trace_process){.pid = 1, .flags = TRACE_PROCESS_ALL};
	tables_add_process(w.tables, &process);
	first = tables_add_thread(w.tables, 100000, 100000, 0, 0);
	for (int i = 1; i < THREADS; i++)
		tables_add_thread(w.tables, 100000 - i, 100000 - i, 0, 0);
	trace = world_written(&w);
	assert_int_equal(trace_nr(trace, TRACE_THREADS), first + THREADS);
	since = clock();
	for (unsigned i = 0; i < TIMES; i++)
		check_owners(trace, first, PROCESSES);
	assert_true(clock() - since < 2 * CLOCKS_PER_SEC);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_recover),
		cmocka_unit_test(test_calls_that_end_at_once),
		cmocka_unit_test(calls_of_threads_come_by_time),
		cmocka_unit_test(test_torn_bins),
		cmocka_unit_test(test_bad_comms),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_long_calls_by_turns),
		cmocka_unit_test(test_merge_without_room),
		cmocka_unit_test(test_merge_of_thinned),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_values_that_are_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
