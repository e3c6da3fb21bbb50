/*
 * The CPU time of looking at a recording: 5,000 samples a second arrive in a full buffer of 100 MB,
 * and what adaptrace top does once a second is timed, as a whole and for its parts.
 */

#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "hmb/hmb.h"
#include "live_recording.h"
#include "random.h"
#include "trace/live/tables.h"

enum { TICKS = 30, PER_TICK = 5000, NR_PATHS = 300, NR_THREADS = 4, DEPTH = 25 };

static const size_t BUDGET = (size_t)100 << 20;
static const uint64_t SECOND = 1000000000;

struct recording {
	struct tables *tables;
	struct hmb *hmb;
	struct live_trace *live;
	uint64_t seed, time, nr;
	uint64_t paths[NR_PATHS][DEPTH];
};

static uint64_t cpu_now(void)
{
	return bench_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static void begin(struct recording *r, const char *path)
{
	struct hmb_config config = {.nr_kinds = 1, .max_path = 128, .kinds = {{.time_shift = 6}}};
	struct trace_event *event;

	r->tables = tables_new(BUDGET, path);
	if (!r->tables || !tables_recoverable(r->tables)) {
		printf("no room in /dev/shm\n");
		exit(0);
	}
	config.memory = tables_arena(r->tables);
	config.size = BUDGET;
	config.ledger = tables_ledger(r->tables);
	config.reserve = tables_reserve_arena;
	config.reserve_arg = r->tables;
	r->hmb = hmb_new(&config);
	event = tables_add_event(r->tables);
	event->name = tables_string(r->tables, "cpu-clock");
	event->base_period = SECOND / PER_TICK;
	tables_module(r->tables, 1)->path = tables_string(r->tables, "/opt/app");
	for (int i = 0; i < NR_THREADS; i++)
		tables_add_thread(r->tables, 100, 100 + i, tables_string(r->tables, "app"), 0);
	tables_run(r->tables)->start = r->time = SECOND;
	for (unsigned i = 0; i < NR_PATHS; i++)
		for (unsigned d = 0; d < DEPTH; d++)
			r->paths[i][d] = (uint64_t)1 << 32 |
			                 ((d > 5 ? 0 : random_below(&r->seed, 8)) * 64 + d * 4096);
}

/* Stores a sample: its level is open. */
static void put(struct recording *r)
{
	struct hmb_sample sample = {
		.level = hmb_floor(r->hmb, 0) + lambda(++r->nr),
		.time = r->time += SECOND / PER_TICK + random_below(&r->seed, 1000),
		.thread = (uint32_t)random_below(&r->seed, NR_THREADS),
		.leaf = (uint64_t)1 << 32 | random_below(&r->seed, 200) * 16,
		.path = r->paths[random_below(&r->seed, NR_PATHS)],
		.path_size = DEPTH,
	};

	if (sample.level >= NR_LEVELS)
		sample.level = NR_LEVELS - 1;
	sample.cpu = sample.thread;
	hmb_put(r->hmb, &sample);
	tables_run(r->tables)->end = r->time;
}

static void second(struct recording *r)
{
	for (unsigned i = 0; i < PER_TICK; i++)
		put(r);
}

static double updates(struct recording *r)
{
	uint64_t took = 0, before;

	for (unsigned i = 0; i < TICKS; i++) {
		second(r);
		before = cpu_now();
		live_trace_update(r->live);
		took += cpu_now() - before;
	}
	return (double)took / TICKS / 1e6;
}

static double ticks(struct recording *r, struct top_model *model)
{
	uint64_t took = 0, before;

	for (unsigned i = 0; i < TICKS; i++) {
		second(r);
		before = cpu_now();
		if (top_model_tick(model))
			printf("no tick\n");
		took += cpu_now() - before;
	}
	return (double)took / TICKS / 1e6;
}

int main(void)
{
	static struct recording r = {.seed = 5};
	char path[] = "/tmp/adaptrace-bench-XXXXXX.atr";
	struct top_recording recording;
	struct top_model model;
	uint64_t before;

	close(mkstemps(path, 4));
	unlink(path);
	begin(&r, path);
	while (hmb_used(r.hmb) < BUDGET / 100 * 97)
		put(&r);
	printf("%zu samples in %zu MiB, floor %u\n", (size_t)hmb_stored(r.hmb, 0),
	       hmb_used(r.hmb) >> 20, hmb_floor(r.hmb, 0));
	r.live = live_trace_open(path);
	recording = live_recording(r.live, path, SECOND);
	top_model_init(&model, &recording);
	before = cpu_now();
	top_model_tick(&model);
	printf("first picture       %6.2f ms\n", (double)(cpu_now() - before) / 1e6);
	printf("copy what is new    %6.2f ms of CPU a second\n", updates(&r));
	printf("copy, sum and sort  %6.2f ms of CPU a second\n", ticks(&r, &model));
	top_model_fini(&model);
	live_trace_close(r.live);
	hmb_free(r.hmb);
	tables_free(r.tables);
	return 0;
}
