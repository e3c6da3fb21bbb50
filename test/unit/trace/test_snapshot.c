/* Snapshots of a recorder whose levels go while they are made. */
#include "hmb/call_code.h"
#include "hmb/code.h"
#include "cases.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/live/tables.h"

enum { BUDGET = 4 << 20, NR_TASKS = 40000, NR_LATER = 4000, NR_CLOSED = 24 };

/* A sample by a task of its own, whose number is its address, and a call that it makes. */
static void put_task(struct tables *tables, struct hmb *hmb, uint32_t number)
{
	struct hmb_sample sample = {
		.level = hmb_floor(hmb, 0) + lambda(number),
		.time = number,
		.leaf = number,
	};
	struct call call = {.enter = number, .leave = number, .region = number % 7};

	call.thread = 1;
	hmb_put_call(hmb, 1, 0, &call);
	sample.thread = tables_add_thread(tables, 1, (pid_t)number, 0, number);
	if (hmb_put(hmb, &sample))
		tables_thread_stored(tables, sample.thread, 0, sample.level);
	tables_thread_ended(tables, sample.thread, number);
}

/* Slots of the table of threads go to others, again and again. */
static _Noreturn void record(const char *path)
{
	struct tables *tables = tables_new(BUDGET, path);
	struct hmb_config config = {
		.size = BUDGET,
		.nr_kinds = 2,
		.max_path = 1,
		.kinds[1] = {.content = HMB_CALLS, .share = BUDGET / 2}, /* holds them all */
	};
	struct hmb *hmb;
	uint32_t number = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	config.memory = tables_arena(tables);
	config.ledger = tables_ledger(tables);
	config.reserve = tables_reserve_arena;
	config.reserve_arg = tables;
	hmb = hmb_new(&config);
	while (number < NR_TASKS)
		put_task(tables, hmb, ++number);
	for (unsigned i = 0; i < NR_CLOSED; i++) {
		hmb_close_lowest(hmb, 0, number, HMB_CAUSE_OVERHEAD);
		for (unsigned n = 0; n < NR_LATER; n++)
			put_task(tables, hmb, ++number);
	}
	hmb_free(hmb);
	tables_free(tables);
	_exit(0);
}

static uint64_t nr_calls(const struct bin *bin)
{
	struct call_cursor *cursor = malloc(sizeof(*cursor));
	struct call call;
	uint64_t nr = 0;

	assert_int_equal(call_code_open(cursor, bin, bin_size(bin)), 0);
	while (call_code_next(cursor, &call) == 1) {
		assert_int_equal(call.region, call.enter % 7);
		nr++;
	}
	free(cursor);
	return nr;
}

/* The number of calls in it. */
static uint64_t check_bin(const struct tables *tables, const struct arena *arena,
                          const struct bin *bin)
{
	const struct hmb_ledger *ledger = tables_ledger(tables);
	struct code_sample sample;
	struct code_cursor cursor;

	if (bin->use == BIN_CALLS)
		return nr_calls(bin);
	if (bin->use != BIN_SAMPLES || bin->level < ledger->floor[0])
		return 0;
	assert_int_equal(code_open(&cursor, bin, bin_size(bin), arena_nodes(arena)), 0);
	while (code_next(&cursor, &sample) == 1)
		assert_int_equal(tables_thread(tables, sample.thread)->tid, sample.leaf);
	return 0;
}

static void check(struct tables *tables)
{
	const struct hmb_ledger *ledger = tables_ledger(tables);
	unsigned char *memory = tables_arena(tables);
	struct arena arena;
	uint64_t calls = 0;

	/* A reduction is told before its floor rises. */
	for (uint32_t l = 0; l < ledger->floor[0]; l++)
		assert_int_equal(ledger->reductions[0][l].floor, l + 1);

	arena_init(&arena, memory, BUDGET);
	arena.fresh = ledger->nr_bins;
	for (uint32_t i = 0; i < ledger->nr_bins; i++) {
		const unsigned char *whole = memory + ((size_t)i << arena.bin_shift);
		const struct bin *first = (const void *)whole;
		size_t step = (size_t)1 << first->size_shift;

		for (size_t at = 0; first->size_shift && at < (size_t)1 << arena.bin_shift;
		     at += step)
			calls += check_bin(tables, &arena, (const void *)(whole + at));
	}
	/* One may be on its way. */
	assert_true(calls + 1 >= ledger->taken[1]);
}

/* How many there were. */
static unsigned take_snapshots(const char *path, pid_t pid)
{
	struct tables *tables;
	unsigned nr = 0;

	while (!waitpid(pid, NULL, WNOHANG)) {
		tables = tables_snapshot(path);
		if (!tables)
			continue;
		check(tables);
		tables_free(tables);
		nr++;
	}
	return nr;
}

static void samples_stay_with_their_threads(void **state)
{
	char folder[] = "/tmp/adaptrace-test-XXXXXX", path[PATH_MAX];
	unsigned nr = 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.atr", folder);
	for (unsigned i = 0; i < 3; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid)
			record(path);
		nr += take_snapshots(path, pid);
	}
	rmdir(folder);
	if (!nr) /* no room in /dev/shm */
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(samples_stay_with_their_threads)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
