/* What a merged trace says of the runs that it is made of. */
#include "seal.h"
#include "trace_world.h"

#include "trace/merge/merge.h"
#include "trace/merge/merge_map.h"
#include "trace/trace_calls.h"
#include "symbolize/modules/module.h"

#include <errno.h>

/* A rank's run, in which everything that is counted is a little different; its tables. */
static struct tables *rank_open(struct world *w, int rank)
{
	unsigned n = rank ? 100 : 1;
	struct trace_run *run;

	world_open(w, 64 << 10);
	put_many(w, 200);
	tables_add_process(w->tables, &(struct trace_process){.pid = 100, .rank = rank});
	run = tables_run(w->tables);
	run->flags = TRACE_RUN_CGROUP;
	run->host = tables_string(w->tables, "host");
	run->end = run->start + 1000000ULL * n;
	run->seed = (uint64_t)rank;
	run->exit_status = rank;
	run->recorder_cpu = 1 * n;
	run->late = 2 * n;
	run->malformed = 3 * n;
	run->lost_records = 4 * n;
	run->truncated_stacks = 5 * n;
	run->built_stacks = 50 * n;
	run->cut_stacks[STACK_CUT_GO] = 4 * n;
	run->max_stack = 127;
	run->stitched_stacks = 6 * n;
	run->folded_contexts = 7 * n;
	run->refused_modules = 8 * n;
	run->refused_strings = 9 * n;
	run->folded_threads = 10 * n;
	run->unobserved = 11 * n;
	run->drain_latency = 12 * n;
	run->delay = 16 * n;
	run->refused_mappings = 17 * n;
	run->unanswered_files = 18 * n;
	run->grid = 97081;
	run->median_off = 19 * n;
	run->p90_off = 20 * n;
	run->restarts = 21 * n;
	run->unsteered_cpus = 22 * n;
	run->calls_cost = 24 * n;
	run->one_cpu_cost = 25 * n;
	run->coupled_cost = 26 * n;
	run->peak_rss = 13 * n;
	run->sample_price = 14 * n;
	run->max_overhead = 15 * n;
	return w->tables;
}

static struct merge_result result;

enum { MAX_MERGED = 4 };

static void write_ranks(struct world *ranks, unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		assert_int_equal(trace_write(ranks[i].path, ranks[i].tables, NULL, NULL, NULL), 0);
}

static struct trace *merged_written(struct world *ranks, unsigned nr, char path[128])
{
	char *paths[MAX_MERGED], why[MERGE_WHY_SIZE];
	struct merge_config config = {.paths = paths, .nr = nr};

	for (unsigned i = 0; i < nr; i++)
		paths[i] = ranks[i].path;
	snprintf(path, 128, "%s/all.atr", ranks[0].folder);
	if (merge_write(path, &config, &result, why))
		fail_msg("%s", why);
	return open_good(path);
}

static struct trace *merged_some(struct world *ranks, unsigned nr, char path[128])
{
	write_ranks(ranks, nr);
	return merged_written(ranks, nr, path);
}

static struct trace *merged(struct world ranks[2], char path[128])
{
	return merged_some(ranks, 2, path);
}

static void merged_close_some(struct world *ranks, unsigned nr, struct trace *trace,
                              const char *path)
{
	trace_close(trace);
	unlink(path);
	for (unsigned i = 0; i < nr; i++)
		world_close(&ranks[i]);
}

static void merged_close(struct world ranks[2], struct trace *trace, const char *path)
{
	merged_close_some(ranks, 2, trace, path);
}

static void one_rank_tells_how_it_ended(void **state)
{
	(void)state;
	for (unsigned killed = 0; killed < 2; killed++) {
		struct world ranks[2];
		struct trace *trace;
		char path[128];

		rank_open(&ranks[0], 0);
		rank_open(&ranks[1], 1);
		tables_run(ranks[killed].tables)->flags |= TRACE_RUN_KILLED;
		tables_run(ranks[0].tables)->exit_status = 137;
		tables_run(ranks[1].tables)->exit_status = 138;
		trace = merged(ranks, path);
		assert_int_equal(trace_run(trace)->exit_status, 138);
		assert_int_equal(trace_run(trace)->flags,
		                 TRACE_RUN_CGROUP | (killed ? TRACE_RUN_KILLED : 0));
		merged_close(ranks, trace, path);
	}
}

static void what_ranks_counted_adds_up(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	const struct trace_run *run;
	char path[128];

	(void)state;
	rank_open(&ranks[0], 0);
	rank_open(&ranks[1], 1);
	trace = merged(ranks, path);
	run = trace_run(trace);
	assert_int_equal(run->recorder_cpu, 101);
	assert_int_equal(run->late, 202);
	assert_int_equal(run->malformed, 303);
	assert_int_equal(run->lost_records, 404);
	assert_int_equal(run->truncated_stacks, 505);
	assert_int_equal(run->built_stacks, 5050);
	assert_int_equal(run->cut_stacks[STACK_CUT_GO], 404);
	assert_int_equal(run->max_stack, 127);
	assert_int_equal(run->stitched_stacks, 606);
	assert_int_equal(run->folded_contexts, 707);
	assert_int_equal(run->refused_modules, 808);
	assert_int_equal(run->refused_strings, 909);
	assert_int_equal(run->folded_threads, 1010);
	assert_int_equal(run->unobserved, 1111);
	assert_int_equal(run->refused_mappings, 1717);
	assert_int_equal(run->unanswered_files, 1818);
	assert_int_equal(run->grid, 97081);
	assert_int_equal(run->restarts, 2121);
	assert_int_equal(run->unsteered_cpus, 2222);
	assert_int_equal(run->calls_cost, 2424);
	/* Of these the worst. */
	assert_int_equal(run->median_off, 1900);
	assert_int_equal(run->p90_off, 2000);
	assert_int_equal(run->one_cpu_cost, 2500);
	assert_int_equal(run->coupled_cost, 2600);
	assert_int_equal(run->drain_latency, 1200);
	assert_int_equal(run->delay, 1600);
	assert_int_equal(run->peak_rss, 1300);
	assert_int_equal(run->sample_price, 1400);
	assert_int_equal(run->max_overhead, 1500);
	assert_int_equal(run->exit_status, 1);
	assert_int_equal(run->end - run->start, 100000000);
	merged_close(ranks, trace, path);
}

/* Their weights are right, but there is no one period of all. */
static void ranks_that_began_unevenly_are_told(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	char path[128];

	(void)state;
	for (unsigned uneven = 0; uneven < 2; uneven++) {
		rank_open(&ranks[0], 0);
		rank_open(&ranks[1], 1);
		tables_event(ranks[1].tables, 1)->base_period += uneven;
		tables_stream(ranks[1].tables, 0)->base_period += uneven;
		trace = merged(ranks, path);
		assert_int_equal(result.uneven, uneven);
		assert_int_equal(trace_run(trace)->nr_cpus, NR_CPUS); /* of one host */
		merged_close(ranks, trace, path);
	}
}

/* What is doubtful of one rank is of the job. */
static void doubts_of_one_are_of_all(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	char path[128];

	(void)state;
	rank_open(&ranks[0], 0);
	rank_open(&ranks[1], 1);
	tables_run(ranks[0].tables)->flags |= TRACE_RUN_USER_ONLY;
	tables_run(ranks[1].tables)->flags = TRACE_RUN_RECOVERED;
	trace = merged(ranks, path);
	assert_int_equal(trace_run(trace)->flags, TRACE_RUN_USER_ONLY | TRACE_RUN_RECOVERED);
	merged_close(ranks, trace, path);
}

static struct trace_event *event_of(struct world *w, unsigned event)
{
	return tables_event(w->tables, event);
}

/* A total is known if it is of all ranks. */
static void exact_totals_are_of_all(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	char path[128];

	(void)state;
	rank_open(&ranks[0], 0);
	rank_open(&ranks[1], 1);
	event_of(&ranks[0], 0)->exact = 7;
	event_of(&ranks[1], 0)->exact = 8;
	event_of(&ranks[1], 1)->exact = 9;
	trace = merged(ranks, path);
	assert_int_equal(trace_event(trace, 0)->exact, 15);
	assert_int_equal(trace_event(trace, 1)->exact, 0);
	assert_int_equal(trace_event(trace, 0)->taken + trace_event(trace, 1)->taken, 400);
	assert_null(trace_kind(trace, NR_EVENTS)); /* nor calls, of which there are none */
	merged_close(ranks, trace, path);
}

/* A thread keeps what its trace says of it; a command adds up, and is exact if it is everywhere. */
static void tasks_keep_their_totals(void **state)
{
	struct world ranks[2];
	const struct trace_command *command;
	const struct trace_thread *thread;
	struct trace *trace;
	char path[128];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tables *t = rank_open(&ranks[i], i);

		tables_thread(t, 2)->flags = TRACE_THREAD_ENDED | TRACE_THREAD_EXACT;
		tables_thread(t, 2)->end = tables_run(t)->start + 500;
		tables_thread(t, 2)->exact = 70 + (uint64_t)i;
		*tables_command(t, tables_string(t, "app")) = (struct trace_command){
			.comm = tables_string(t, "app"),
			.flags = i ? 0 : TRACE_THREAD_EXACT,
			.tasks = 6,
			.exact = 30 + (uint64_t)i,
			.unobserved = 40 + (uint64_t)i,
		};
		tables_command(t, tables_string(t, "sh"))->flags = TRACE_THREAD_EXACT;
	}
	trace = merged(ranks, path);
	for (uint32_t i = 0; i < 2; i++) {
		thread = trace_thread(trace, 2 + 6 * i);
		assert_int_equal(thread->tid, 102);
		assert_int_equal(thread->flags, TRACE_THREAD_ENDED | TRACE_THREAD_EXACT);
		assert_int_equal(thread->end, trace_run(trace)->start + 500);
		assert_int_equal(thread->exact, 70 + i);
	}
	command = trace_command(trace, 0);
	assert_int_equal(command->flags, 0);
	assert_int_equal(command->tasks, 12);
	assert_int_equal(command->exact, 61);
	assert_int_equal(command->unobserved, 81);
	assert_int_equal(trace_command(trace, 1)->flags, TRACE_THREAD_EXACT);
	merged_close(ranks, trace, path);
}

static void name_events(struct world *w, const char *first, const char *second)
{
	event_of(w, 0)->name = tables_string(w->tables, first);
	event_of(w, 1)->name = tables_string(w->tables, second);
}

static const struct trace_command *command_named(const struct trace *trace, const char *comm)
{
	const struct trace_command *command;

	for (uint32_t i = 0; (command = trace_command(trace, i)); i++)
		if (!strcmp(trace_string(trace, command->comm), comm))
			return command;
	fail_msg("no command %s", comm);
	return NULL;
}

static void expect_command(const struct trace *trace, const char *comm, uint32_t flags,
                           uint64_t exact, uint64_t tasks)
{
	const struct trace_command *command = command_named(trace, comm);

	assert_int_equal(command->flags, flags);
	assert_int_equal(command->exact, exact);
	assert_int_equal(command->tasks, tasks);
}

/*
 * Totals are of a trace's first event, which is not the job's in all of them: rank 1 has the same
 * events in another order, rank 2 has others.
 */
static void totals_of_other_events_are_not_taken(void **state)
{
	enum { NR = 4 };
	struct world ranks[NR];
	struct trace *trace;
	char path[128];

	(void)state;
	for (unsigned i = 0; i < NR; i++) {
		struct tables *t = rank_open(&ranks[i], (int)i);

		tables_thread(t, 2)->flags = TRACE_THREAD_ENDED | TRACE_THREAD_EXACT;
		tables_thread(t, 2)->exact = 70;
		set_exact(&ranks[i], i % 2 ? "odd" : "even", 10 + i)->tasks = 6;
	}
	name_events(&ranks[1], "page-faults", "cpu-clock");
	name_events(&ranks[2], "cycles", "page-faults");
	trace = merged_some(ranks, NR, path);
	for (uint32_t i = 0; i < NR; i++) {
		const struct trace_thread *thread = trace_thread(trace, 2 + 6 * i);
		bool same = i == 0 || i == 3;

		assert_int_equal(thread->flags,
		                 TRACE_THREAD_ENDED | (same ? TRACE_THREAD_EXACT : 0));
		assert_int_equal(thread->exact, same ? 70 : 0);
	}
	/* Rank 2 did not sample the event; rank 1 did, without counting it. */
	expect_command(trace, "even", TRACE_THREAD_EXACT, 10, 12);
	expect_command(trace, "odd", 0, 13, 12);
	merged_close_some(ranks, NR, trace, path);
}

/* Not even if it comes before those that have the event. */
static void ranks_without_the_event_leave_totals_exact(void **state)
{
	struct world ranks[3];
	struct trace *trace;
	char path[128];

	(void)state;
	for (int i = 0; i < 3; i++) {
		rank_open(&ranks[i], i);
		if (i)
			set_exact(&ranks[i], "worker", 20 + (uint64_t)i)->tasks = 4;
	}
	name_events(&ranks[1], "cycles", "page-faults");
	trace = merged_some(ranks, 3, path);
	expect_command(trace, "worker", TRACE_THREAD_EXACT, 22, 8);
	merged_close_some(ranks, 3, trace, path);
}

/* Whether a rank has a stream for each CPU or one for all. */
static void losses_count_once(void **state)
{
	struct world ranks[2];
	const struct trace_stream *stream;
	struct trace_stream *streams;
	uint64_t lost[NR_EVENTS] = {0}, throttled = 0;
	struct trace *trace;
	char path[128];

	(void)state;
	for (int i = 0; i < 2; i++) {
		rank_open(&ranks[i], i);
		streams = tables_stream(ranks[i].tables, 0);
		streams[0].cpu = i ? TRACE_ANY_CPU : 0;
		streams[0].lost = 5;
		streams[0].throttled = 6;
		streams[NR_CPUS].lost = 1;
	}
	trace = merged(ranks, path);
	for (uint32_t i = 0; (stream = trace_stream(trace, i)); i++) {
		lost[stream->event] += stream->lost;
		throttled += stream->throttled;
	}
	assert_int_equal(lost[0], 10);
	assert_int_equal(lost[1], 2);
	assert_int_equal(throttled, 12);
	merged_close(ranks, trace, path);
}

/* Of more CPUs than there is room for, too. */
static void losses_of_all_cpus_count(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	char path[128];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct trace_stream *streams;

		rank_open(&ranks[i], i);
		tables_run(ranks[i].tables)->host =
			tables_string(ranks[i].tables, i ? "host" : "other host");
		tables_run(ranks[i].tables)->nr_cpus = TABLES_MAX_STREAMS / 2 + 10;
		streams = tables_stream(ranks[i].tables, 0);
		streams[1].cpu = TRACE_ANY_CPU;
		streams[2].cpu = TABLES_MAX_STREAMS / 2 + 9;
		streams[2].lost = 7;
		streams[2].throttled = 8;
	}
	trace = merged(ranks, path);
	assert_int_equal(trace_losses(trace, 0).lost, 14);
	assert_int_equal(trace_losses(trace, 0).throttled, 16);
	merged_close(ranks, trace, path);
}

static uint64_t count_samples(const struct trace *trace)
{
	struct trace_walk *walk = trace_walk_new(trace, 0);
	struct trace_sample sample;
	uint64_t nr = 0;

	while (trace_walk_next(walk, &sample) == 1) {
		uint64_t period = sample.weight >> 2; /* of its CPU */

		assert_in_range(period, base_periods[0], base_periods[0] + NR_CPUS - 1);
		nr++;
	}
	trace_walk_free(walk);
	return nr;
}

/* Moves the reductions of a trace to its end, with two of levels that there are not. */
static void add_impossible_reductions(const char *path)
{
	static unsigned char bytes[1 << 20];
	struct trace_entry *entry = (void *)(bytes + sizeof(struct trace_header));
	FILE *file = fopen(path, "r+");
	size_t size = fread(bytes, 1, sizeof(bytes) - 3 * sizeof(struct trace_reduction), file);
	struct trace_reduction *last;

	entry += TRACE_REDUCTIONS - 1;
	assert_int_equal(entry->section, TRACE_REDUCTIONS);
	memcpy(bytes + size, bytes + entry->offset, entry->size);
	last = (void *)(bytes + size + entry->size);
	last[0] = last[1] = last[-1];
	last[0].floor = 0;
	last[1].floor = UINT32_MAX;
	entry->offset = size;
	entry->size += 2 * sizeof(*last);
	size += entry->size;
	((struct trace_header *)(void *)bytes)->size = size;
	seal(bytes, size);
	rewind(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* All samples weigh as much as those of the rank that was thinned most, and that is told. */
static void ranks_are_thinned_alike(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	const struct trace_reduction *first, *second;
	uint64_t kept = 0, left_out = 0;
	char path[128];

	(void)state;
	rank_open(&ranks[0], 0);
	rank_open(&ranks[1], 1);
	hmb_close_lowest(ranks[0].hmb, 0, 20000, HMB_CAUSE_MEMORY);
	hmb_close_lowest(ranks[0].hmb, 0, 30000, HMB_CAUSE_OVERHEAD);
	hmb_close_lowest(ranks[1].hmb, 0, 15000, HMB_CAUSE_OVERHEAD);
	for (unsigned i = 0; i < 2; i++) {
		for (size_t n = 0; n < ranks[i].nr; n++) {
			const struct hmb_sample *sample = &ranks[i].all[n].sample;

			kept += !sample->kind && sample->level >= 2;
			left_out += !sample->kind && sample->level == 1 && i; /* rank 0 has none */
		}
	}
	write_ranks(ranks, 2);
	add_impossible_reductions(ranks[1].path);
	trace = merged_written(ranks, 2, path);
	assert_int_equal(trace_event(trace, 0)->floor, 2);
	assert_int_equal(count_samples(trace), kept);
	assert_int_equal(result.thinned, left_out);
	first = trace_reduction(trace, 0);
	second = trace_reduction(trace, 1);
	assert_null(trace_reduction(trace, 2));
	assert_true(first->time == 15000 && first->floor == 1);
	assert_int_equal(first->cause, HMB_CAUSE_OVERHEAD);
	assert_true(second->time == 30000 && second->floor == 2);
	assert_int_equal(second->cause, HMB_CAUSE_OVERHEAD);
	merged_close(ranks, trace, path);
}

/* As two containers have a file: what a function is called may be known of either. */
static void one_file_in_two_places_keeps_its_names(void **state)
{
	static const struct named_range ranges[] = {{1, 0, 16, "a"}, {2, 16, 32, "b"}};
	char path[128], why[MERGE_WHY_SIZE];
	struct trace_sample sample;
	struct trace_walk *walk;
	struct trace *trace;
	struct world w;
	char *paths[] = {w.path};
	struct merge_config config = {.paths = paths, .nr = 1};
	unsigned named = 0;

	(void)state;
	world_open(&w, 64 << 10);
	for (uint32_t i = 1; i <= 2; i++) {
		struct trace_module *module = tables_module(w.tables, (uint16_t)i);

		module->path = tables_string(w.tables, "/lib/libx.so");
		module->type = MODULE_FILE;
		module->build_id_size = 20;
		put_next(&w, (struct hmb_sample){.step = 97081,
		                                 .leaf = (uint64_t)i << 32 | (i * 16 - 8)});
	}
	trace_close(world_named(&w, ranges, 2));
	snprintf(path, sizeof(path), "%s/all.atr", w.folder);
	if (merge_write(path, &config, &result, why))
		fail_msg("%s", why);
	trace = open_good(path);
	walk = trace_walk_new(trace, 0);
	while (trace_walk_next(walk, &sample) == 1) {
		uint32_t number = trace_find_symbol(trace, sample.leaf);

		assert_true(number != UINT32_MAX);
		assert_string_equal(trace_string(trace, trace_symbol(trace, number)->name),
		                    ranges[named++].name);
	}
	assert_int_equal(named, 2);
	trace_walk_free(walk);
	trace_close(trace);
	unlink(path);
	world_close(&w);
}

/* A rank's CPUs are those of its host, behind the other's; a thread that no table has stays so. */
static void samples_keep_who_and_where(void **state)
{
	enum { OWN = 40, STRANGE }; /* levels, by which they are found */
	static const uint64_t caller = 2ULL << 32 | 8;
	struct hmb_sample sample = {.leaf = 2ULL << 32 | 4, .path = &caller, .path_size = 1};
	struct world ranks[2];
	struct trace_sample got;
	struct trace_walk *walk;
	struct trace *trace;
	uint64_t frames[1];
	uint32_t nr = 0;
	char path[128];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		rank_open(&ranks[i], (int)i);
		tables_run(ranks[i].tables)->host =
			tables_string(ranks[i].tables, i ? "other" : "host");
		for (sample.level = OWN; sample.level <= STRANGE; sample.level++) {
			sample.cpu = 1;
			sample.thread = sample.level == OWN ? 2 : 1 << 20;
			put_next(&ranks[i], sample);
		}
	}
	trace = merged(ranks, path);
	walk = trace_walk_new(trace, 0);
	while (trace_walk_next(walk, &got) == 1) {
		const struct trace_thread *thread = trace_thread(trace, got.thread);

		if (got.level != OWN && got.level != STRANGE)
			continue;
		assert_int_equal(got.cpu % NR_CPUS, 1);
		nr += 1 + 10 * (got.cpu / NR_CPUS);
		assert_int_equal(thread ? thread->tid : 0, got.level == OWN ? 102 : 0);
		assert_int_equal(trace_stack(trace, &got, frames, 1), 2);
		assert_int_equal((uint32_t)frames[0], 4);
	}
	trace_walk_free(walk);
	assert_int_equal(nr, 24); /* of which two are of the second host's CPUs */
	merged_close(ranks, trace, path);
}

/* Containers of one host give the same PIDs, and what their programs compile has equal addresses.
 */
static void compiled_code_is_of_one_rank(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	char path[128];
	uint32_t nr = 0;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct trace_module *module;

		rank_open(&ranks[i], i);
		module = tables_module(ranks[i].tables, 2);
		module->type = MODULE_ANON;
		module->pid = 2;
		module->area = 0x7fff;
	}
	trace = merged(ranks, path);
	while (trace_module(trace, nr))
		nr++;
	assert_int_equal(nr, 1 + 1 + 2); /* none, the library, and what each compiled */
	merged_close(ranks, trace, path);
}

/* Of two ranks that ran a program of this build each, or of one that does not say which. */
static uint32_t merged_modules(unsigned first, unsigned second, const char *second_host)
{
	const unsigned builds[] = {first, second};
	struct world ranks[2];
	struct trace *trace;
	char path[128];
	uint32_t nr = 0;

	for (int i = 0; i < 2; i++) {
		struct trace_module *program;

		rank_open(&ranks[i], i);
		for (uint16_t m = 1; m < 4; m++) {
			tables_module(ranks[i].tables, m)->type = MODULE_FILE;
			tables_module(ranks[i].tables, m)->build_id_size = 20;
		}
		program = tables_module(ranks[i].tables, 2);
		program->build_id_size = builds[i] ? 20 : 0;
		program->build_id[19] = (uint8_t)builds[i];
	}
	tables_run(ranks[1].tables)->host = tables_string(ranks[1].tables, second_host);
	trace = merged(ranks, path);
	while (trace_module(trace, nr))
		nr++;
	merged_close(ranks, trace, path);
	return nr;
}

/* Beside none and the library, which is one: functions of one have no names of the other. */
static void programs_of_two_builds_stay_two(void **state)
{
	(void)state;
	assert_int_equal(merged_modules(1, 1, "host"), 2 + 1);
	assert_int_equal(merged_modules(1, 1, "other"), 2 + 1);
	assert_int_equal(merged_modules(1, 2, "host"), 2 + 2);
	assert_int_equal(merged_modules(0, 1, "host"), 2 + 2);
	assert_int_equal(merged_modules(0, 0, "host"), 2 + 1);
	assert_int_equal(merged_modules(0, 0, "other"), 2 + 2);
}

static void add_comm(struct tables *t, uint64_t id, const char *name, uint32_t flags,
                     const uint32_t *members, uint32_t nr, uint32_t parent)
{
	const struct trace_comm comm = {.id = id,
	                                .name = tables_string(t, name),
	                                .flags = flags,
	                                .nr_members = nr,
	                                .parent = parent};

	assert_true(tables_add_comm(t, &comm, members) != UINT32_MAX);
}

/* One that several ranks know is one; their own are each another, whatever they are called. */
static void communicators_are_joined_by_what_they_are(void **state)
{
	static const struct {
		const char *name;
		uint64_t id;
		uint32_t nr_members, last_member, parent;
	} all[] = {{"world", 7, 2, 1, 0}, {"self", 0, 1, 0, 0}, {"grid", 8, 2, 1, 1},
	           {"", 0, 1, 0, 3},      {"self", 0, 1, 1, 0}, {"row", 9, 1, 1, 1},
	           {"", 0, 1, 0, 3}};
	static const uint32_t both[] = {0, 1};
	struct world ranks[2];
	const struct trace_comm *comm;
	struct trace *trace;
	char path[128];
	uint32_t nr = 0;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct tables *t = rank_open(&ranks[i], (int)i);

		add_comm(t, 7, "world", 0, both, 2, 0);
		add_comm(t, 0, "self", TRACE_COMM_SELF, &i, 1, 0);
		if (i)
			add_comm(t, 9, "row", 0, &i, 1, 1);
		add_comm(t, 8, i ? "grid" : "", 0, both, 2, 1);
		add_comm(t, 0, "", 0, both, 1, 3 + i); /* of "grid" */
	}
	trace = merged(ranks, path);
	for (; (comm = trace_comm(trace, nr)); nr++) {
		assert_true(nr < sizeof(all) / sizeof(*all));
		assert_string_equal(trace_string(trace, comm->name), all[nr].name);
		assert_int_equal(comm->id, all[nr].id);
		assert_int_equal(comm->nr_members, all[nr].nr_members);
		assert_int_equal(comm->parent, all[nr].parent);
		assert_int_equal(trace_member(trace, nr, (int32_t)comm->nr_members - 1, false),
		                 all[nr].last_member);
	}
	assert_int_equal(nr, sizeof(all) / sizeof(*all));
	merged_close(ranks, trace, path);
}

/* Each side of an intercommunicator has its own members first, and its peers among the others. */
static void sides_of_an_intercommunicator_stay_two(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	char path[128];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		const struct trace_comm comm = {
			.id = 7, .flags = TRACE_COMM_INTER, .nr_members = 1, .nr_remote = 1};
		const uint32_t members[] = {i, 1 - i};

		tables_add_comm(rank_open(&ranks[i], (int)i), &comm, members);
	}
	trace = merged(ranks, path);
	assert_int_equal(trace_nr(trace, TRACE_COMMS), 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(trace_member(trace, i, 0, false), i);
		assert_int_equal(trace_peer(trace, i, 0), 1 - i);
	}
	merged_close(ranks, trace, path);
}

/* The offset of a frame without a module is a reason, which an offset in a file must not become. */
static void frames_of_refused_modules_are_unknown(void **state)
{
	uint16_t modules[] = {0, 0, 7};
	const struct merge_input input = {.modules = modules, .nr_modules = 3};

	(void)state;
	assert_true(merge_frame(&input, 2ULL << 32 | 1) == (7ULL << 32 | 1));
	assert_true(merge_frame(&input, 1ULL << 32 | 1) == 0);
	assert_true(merge_frame(&input, 3ULL << 32 | 1) == 0);
	assert_true(merge_frame(&input, 1) == 1);
}

/* Whatever a process found no room for would be told of another one. */
static void too_many_processes_are_refused(void **state)
{
	struct world ranks[2];
	char *paths[] = {ranks[0].path, ranks[1].path}, path[128], why[MERGE_WHY_SIZE];
	struct merge_config config = {.paths = paths, .nr = 2};
	struct trace_process process = {.rank = -1};

	(void)state;
	for (int i = 0; i < 2; i++) {
		rank_open(&ranks[i], i);
		for (process.pid = 1; process.pid < TABLES_MAX_PROCESSES / 2; process.pid++)
			tables_add_process(ranks[i].tables, &process);
	}
	trace_close(merged(ranks, path)); /* as many as there may be */
	tables_add_process(ranks[0].tables, &process);
	trace_close(world_written(&ranks[0]));
	assert_int_equal(merge_write(path, &config, &result, why), -E2BIG);
	assert_string_equal(why, "more than 65536 processes; merge fewer traces");
	merged_close(ranks, NULL, path);
}

/* Samples that cannot be read would be missing in silence. */
static void half_a_trace_is_refused(void **state)
{
	struct world ranks[2];
	char *paths[] = {ranks[0].path, ranks[1].path}, path[128], why[MERGE_WHY_SIZE];
	struct merge_config config = {.paths = paths, .nr = 2};

	(void)state;
	for (int i = 0; i < 2; i++) {
		rank_open(&ranks[i], i);
		trace_close(world_written(&ranks[i]));
	}
	announce_more(ranks[1].path);
	snprintf(path, sizeof(path), "%s/all.atr", ranks[0].folder);
	assert_int_equal(merge_write(path, &config, &result, why), -EBADMSG);
	merged_close(ranks, NULL, path);
}

/* The number of the thread with this pid; of those of one rank only the first is asked for. */
static uint32_t find_thread(const struct trace *trace, int32_t pid, const char *comm)
{
	const struct trace_thread *thread;

	for (uint32_t i = 0; (thread = trace_thread(trace, i)); i++)
		if (thread->pid == pid && !strcmp(trace_string(trace, thread->comm), comm))
			return i;
	fail_msg("no thread of %s", comm);
	return UINT32_MAX;
}

/* PIDs repeat on other hosts, and what stands for the idle tasks of all hosts is nobody's. */
static void who_is_of_no_rank_stays_so(void **state)
{
	struct world ranks[2];
	struct trace *trace;
	char path[128];

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct tables *t = rank_open(&ranks[i], i);

		tables_process(t, 0)->pid = 100 + 100 * i;
		tables_add_thread(t, 0, 0, tables_string(t, "idle"), 0);
		tables_set_owner(t, 6, 0);
		tables_add_thread(t, 100, 100, tables_string(t, i ? "launcher" : "rank"), 0);
	}
	trace = merged(ranks, path);
	assert_int_equal(trace_owner(trace, find_thread(trace, 100, "rank")), 0);
	assert_int_equal(trace_owner(trace, find_thread(trace, 100, "launcher")), UINT32_MAX);
	assert_int_equal(trace_owner(trace, find_thread(trace, 0, "idle")), UINT32_MAX);
	merged_close(ranks, trace, path);
}

/* What was counted with the samples of a thread. */
static uint64_t counted_with(const struct trace *trace, int32_t tid)
{
	struct trace_walk *walk = trace_walk_new(trace, 0);
	struct trace_sample sample;
	uint64_t sum = 0;

	while (trace_walk_next(walk, &sample) == 1)
		if (sample.nr_counters && trace_thread(trace, sample.thread)->tid == tid)
			sum += sample.counters[1];
	trace_walk_free(walk);
	return sum;
}

/* Those of CPUs are known of the idle tasks, too, which are one thread for all CPUs. */
static void counters_of_idle_tasks_stay(void **state)
{
	char path[128], why[MERGE_WHY_SIZE];
	struct world w;
	char *paths[] = {w.path};
	struct merge_config config = {.paths = paths, .nr = 1};
	struct hmb_config buffer = {.nr_kinds = NR_EVENTS, .max_path = MAX_DEPTH};
	uint64_t totals[NR_CPUS][2] = {0};
	struct trace *trace;
	uint32_t idle;

	(void)state;
	world_make_tables(&w, 64 << 10);
	describe(&w);
	*tables_add_counter(w.tables) =
		(struct trace_counter){.name = tables_string(w.tables, "migrations")};
	idle = tables_add_thread(w.tables, 0, 0, tables_string(w.tables, "idle"), 0);
	buffer.kinds[0].nr_counters = 2;
	buffer.kinds[0].stream_owner = STREAM_OF_CPU;
	world_make_buffer(&w, buffer);
	for (uint32_t n = 0; n < 100; n++) {
		uint32_t cpu = n % NR_CPUS;

		totals[cpu][0] += 97081;
		totals[cpu][1] += n % 2 ? 3 : 5;
		put_next(&w, (struct hmb_sample){.thread = n % 2 ? idle : 0,
		                                 .cpu = cpu,
		                                 .leaf = 1ULL << 32,
		                                 .step = 97081,
		                                 .counters = totals[cpu]});
	}
	trace = world_written(&w);
	assert_int_equal(counted_with(trace, 0), 50 * 3);
	assert_int_equal(counted_with(trace, 100), 50 * 5);
	trace_close(trace);
	snprintf(path, sizeof(path), "%s/all.atr", w.folder);
	if (merge_write(path, &config, &result, why))
		fail_msg("%s", why);
	trace = open_good(path);
	assert_int_equal(counted_with(trace, 0), 50 * 3);
	assert_int_equal(counted_with(trace, 100), 50 * 5);
	trace_close(trace);
	unlink(path);
	world_close(&w);
}

static void set_counter(const struct tables *t, uint32_t number, uint32_t flags, uint64_t total)
{
	struct trace_counter *counter = tables_counter(t, number);

	counter->flags = flags;
	counter->total = total;
	counter->enabled = 10 * total;
	counter->running = 9 * total;
}

/*
 * Over all ranks that have the event; of the kernel, and known, is what is so of all. Rank 1
 * samples another event, which nothing was counted with.
 */
static void counters_add_up(void **state)
{
	enum { BOTH = TRACE_COUNTER_KERNEL | TRACE_COUNTER_TOTAL };
	struct world ranks[3];
	const struct trace_counter *counter;
	struct trace *trace;
	char path[128];

	(void)state;
	for (unsigned other = 0; other < 2; other++) {
		for (unsigned i = 0; i < 3; i++) {
			struct tables *t = rank_open(&ranks[i], (int)i);

			if (i == 1) {
				name_events(&ranks[i], "cycles", "page-faults");
				continue;
			}
			tables_add_counter(t)->name = tables_string(t, "migrations");
			tables_add_counter(t)->name =
				tables_string(t, i && other ? "flops" : "instructions");
			tables_counter(t, 1)->unit = TRACE_COUNT;
			set_counter(t, 0, BOTH, 100 + i);
			set_counter(t, 1, i ? TRACE_COUNTER_TOTAL : BOTH, 7000 + i);
		}
		trace = merged_some(ranks, 3, path);
		assert_int_equal(result.uncounted, other);
		counter = trace_counter(trace, 0);
		if (other) { /* they are not the same */
			assert_null(counter);
			merged_close_some(ranks, 3, trace, path);
			continue;
		}
		assert_string_equal(trace_string(trace, counter->name), "migrations");
		assert_int_equal(counter->flags, BOTH);
		assert_int_equal(counter->total, 202);
		assert_int_equal(counter->enabled, 2020);
		assert_int_equal(counter->running, 1818);
		counter = trace_counter(trace, 1);
		assert_string_equal(trace_string(trace, counter->name), "instructions");
		assert_int_equal(counter->unit, TRACE_COUNT);
		assert_int_equal(counter->flags, TRACE_COUNTER_TOTAL);
		assert_int_equal(counter->total, 14002);
		assert_null(trace_counter(trace, 2));
		merged_close_some(ranks, 3, trace, path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rank_tells_how_it_ended),
		cmocka_unit_test(what_ranks_counted_adds_up),
		cmocka_unit_test(ranks_that_began_unevenly_are_told),
		cmocka_unit_test(doubts_of_one_are_of_all),
		cmocka_unit_test(exact_totals_are_of_all),
		cmocka_unit_test(tasks_keep_their_totals),
		cmocka_unit_test(totals_of_other_events_are_not_taken),
		cmocka_unit_test(ranks_without_the_event_leave_totals_exact),
		cmocka_unit_test(losses_count_once),
		cmocka_unit_test(losses_of_all_cpus_count),
		cmocka_unit_test(ranks_are_thinned_alike),
		cmocka_unit_test(one_file_in_two_places_keeps_its_names),
		cmocka_unit_test(samples_keep_who_and_where),
		cmocka_unit_test(compiled_code_is_of_one_rank),
		cmocka_unit_test(programs_of_two_builds_stay_two),
		cmocka_unit_test(communicators_are_joined_by_what_they_are),
		cmocka_unit_test(sides_of_an_intercommunicator_stay_two),
		cmocka_unit_test(frames_of_refused_modules_are_unknown),
		cmocka_unit_test(too_many_processes_are_refused),
		cmocka_unit_test(half_a_trace_is_refused),
		cmocka_unit_test(counters_of_idle_tasks_stay),
		cmocka_unit_test(counters_add_up),
		cmocka_unit_test(who_is_of_no_rank_stays_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
