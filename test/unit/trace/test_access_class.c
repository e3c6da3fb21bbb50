#include "cases.h"
#include "trace/trace.h"
#include "trace/write/trace_write.h"
#include "base/access_class.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef PERF_MEM_SNOOPX_PEER
#define PERF_MEM_SNOOPX_PEER 0x02
#endif

#define BITS(a, s) (((uint64_t)PERF_MEM_##a##_##s) << PERF_MEM_##a##_SHIFT)

struct access {
	uint64_t source, latency;
	const char *level, *operation, *tlb, *snoop, *latencies;
};

static const struct access accesses[] = {
	/* as the kernel's tables for Intel's load latencies have them */
	{BITS(OP, LOAD) | BITS(LVL, L1) | BITS(LVL, HIT) | BITS(SNOOP, NONE) | BITS(TLB, HIT) |
                 BITS(TLB, L1),
         7, "L1 hit", "load", "L1 hit", "none", "below 16"},
	{BITS(OP, LOAD) | BITS(LVL, LFB) | BITS(LVL, HIT), 16, "LFB hit", "load", "-", "-",
         "16-63"},
	{BITS(OP, LOAD) | BITS(LVL, L3) | BITS(LVL, HIT) | BITS(SNOOP, HITM) | BITS(TLB, HIT) |
                 BITS(TLB, L1) | BITS(TLB, L2),
         63, "L3 hit", "load", "hit", "hit modified", "16-63"},
	{BITS(OP, LOAD) | BITS(LVL, LOC_RAM) | BITS(LVL, HIT) | BITS(SNOOP, MISS) |
                 BITS(TLB, MISS) | BITS(TLB, WK),
         300, "RAM hit", "load", "walk", "miss", "256-1023"},
	{BITS(OP, LOAD) | BITS(LVL, REM_RAM1) | BITS(LVL, HIT), 1023, "remote RAM hit", "load", "-",
         "-", "256-1023"},
	{BITS(OP, STORE) | BITS(LVL, L1) | BITS(LVL, MISS) | BITS(LOCK, LOCKED), 0, "L1 miss",
         "locked store", "-", "-", "-"},
	{BITS(OP, PFETCH) | BITS(LVL, L2) | BITS(LVL, HIT) | BITS(SNOOP, HIT) | BITS(TLB, HIT) |
                 BITS(TLB, L2),
         15, "L2 hit", "prefetch", "L2 hit", "hit", "below 16"},
	{BITS(OP, STORE) | BITS(LVL, REM_CCE2) | BITS(LVL, MISS) | BITS(SNOOPX, FWD) |
                 BITS(TLB, MISS),
         255, "remote cache miss", "store", "walk", "forwarded", "64-255"},
	{BITS(OP, LOAD) | BITS(LVL, UNC) | BITS(SNOOPX, PEER) | BITS(TLB, HIT), 256, "uncached",
         "load", "hit", "peer", "256-1023"},
	{BITS(OP, LOAD) | BITS(LVL, IO), 1024, "IO", "load", "-", "-", "from 1024"},
	/* as newer ones number them */
	{BITS(OP, LOAD) | (uint64_t)PERF_MEM_LVLNUM_L4 << PERF_MEM_LVLNUM_SHIFT | BITS(LVL, HIT),
         64, "L4 hit", "load", "-", "-", "64-255"},
	{BITS(OP, LOAD) | (uint64_t)PERF_MEM_LVLNUM_RAM << PERF_MEM_LVLNUM_SHIFT | BITS(LVL, HIT) |
                 BITS(REMOTE, REMOTE),
         UINT64_MAX, "remote RAM hit", "load", "-", "-", "from 1024"},
	{BITS(OP, LOAD) | (uint64_t)PERF_MEM_LVLNUM_NA << PERF_MEM_LVLNUM_SHIFT | BITS(TLB, OS), 1,
         "data", "load", "fault", "-", "below 16"},
	{0, 0, "data", "-", "-", "-", "-"},
	{UINT64_MAX, 1024, NULL, "locked load", "fault", "hit modified", "from 1024"},
};

/* What is not numbered here is of no level. */
static const char *const numbered[16] = {
	"data", "L1",  "L2", "L3",    "L4",  "data", "data", "data",
	"data", "CXL", "IO", "cache", "LFB", "RAM",  "PMEM", "data",
};

static void check_text(uint32_t class, enum access_field field, const char *expected)
{
	char text[ACCESS_TEXT_SIZE];

	if (expected)
		assert_string_equal(access_class_text(class, field, text), expected);
	/* the part is all that the text depends on */
	assert_string_equal(access_class_text(access_class_part(class, field), field, text),
	                    access_class_text(class, field, (char[ACCESS_TEXT_SIZE]){0}));
}

static void words_of_the_kernel(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(accesses) / sizeof(*accesses); i++) {
		const struct access *access = &accesses[i];
		uint32_t class = access_class_make(access->source, access->latency, ACCESS_DATA);

		assert_true(class < FRAME_ACCESS);
		assert_true(frame_is_access(frame_of_access(class)));
		assert_int_equal(frame_access(frame_of_access(class)), class);
		check_text(class, ACCESS_BY_LEVEL, access->level);
		check_text(class, ACCESS_BY_OPERATION, access->operation);
		check_text(class, ACCESS_BY_TLB, access->tlb);
		check_text(class, ACCESS_BY_SNOOP, access->snoop);
		check_text(class, ACCESS_BY_LATENCY, access->latencies);
	}
	for (unsigned number = 0; number < 16; number++) {
		uint64_t source = (uint64_t)number << PERF_MEM_LVLNUM_SHIFT;

		check_text(access_class_make(source, 0, ACCESS_DATA), ACCESS_BY_LEVEL,
		           numbered[number]);
	}
	assert_false(frame_is_access(FRAME_TRUNCATED));
	assert_false(frame_is_access(frame_make(1, 0x1000000)));
}

/* What a file says is anything. */
static void any_class_has_a_text(void **state)
{
	char text[ACCESS_TEXT_SIZE];
	uint64_t random = 1;

	(void)state;
	for (unsigned i = 0; i < 100000; i++) {
		uint32_t class;

		random = random * 6364136223846793005 + 1442695040888963407;
		class = (uint32_t)(random >> 40);
		for (unsigned field = 1; field <= ACCESS_BY_OPERATION; field *= 2)
			assert_in_range(strlen(access_class_text(class, field, text)), 1,
			                ACCESS_TEXT_SIZE - 1);
		assert_int_equal(
			access_class_part(access_class_make(random, random, i % 8), 31) >> 24, 0);
	}
}

/* Classes are stored as frames, and taken off where a trace is read. */
static void classes_come_out_of_traces(void **state)
{
	char folder[] = "/tmp/test_memory.XXXXXX", path[64], why[TRACE_WHY_SIZE];
	struct tables *tables;
	struct module_table *modules = module_table_new();
	struct symbolizer *symbolizer;
	struct hmb_config config = {.nr_kinds = 1, .max_path = 8, .truncated_frame = 1};
	struct hmb *hmb;
	struct trace *trace;
	struct trace_walk *walk;
	struct trace_sample got;
	uint64_t frames[8], bytes;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.atr", folder);
	tables = tables_new(64 << 10, path);
	assert_non_null(tables);
	tables_run(tables)->flags = TRACE_RUN_DATA | TRACE_RUN_CGROUP;
	*tables_add_event(tables) = (struct trace_event){
		.name = tables_string(tables, "loads"), .unit = TRACE_COUNT, .base_period = 1};
	*tables_add_stream(tables) = (struct trace_stream){.base_period = 1};
	tables_add_thread(tables, 1, 1, 0, 0);
	config.size = 64 << 10;
	config.memory = tables_arena(tables);
	config.ledger = tables_ledger(tables);
	hmb = hmb_new(&config);
	assert_non_null(hmb);
	for (uint32_t i = 0; i < 100; i++) {
		const uint64_t callers[] = {frame_of_access(i % 5), frame_make(0, 2),
		                            frame_make(0, 1)};
		struct hmb_sample sample = {.level = 3,
		                            .time = 1000 + i,
		                            .leaf = 7,
		                            .path = callers,
		                            .path_size = i % 2 ? 1 : 3};

		assert_true(hmb_put(hmb, &sample));
	}
	tables_run(tables)->bin_shift = hmb->arena.bin_shift;
	tables_run(tables)->sub_shift = hmb->arena.sub_shift;
	tables_run(tables)->budget = 64 << 10;
	symbolizer = symbolizer_new(modules);
	assert_int_equal(trace_write(path, tables, modules, symbolizer, &bytes), 0);
	trace = trace_open(path, why);
	if (!trace)
		fail_msg("%s", why);
	walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(trace_walk_next(walk, &got), 1);
		assert_int_equal(got.memory, i % 5);
		assert_int_equal(trace_stack(trace, &got, frames, 8), i % 2 ? 1 : 3);
		assert_int_equal(frames[0], 7);
		if (i % 2 == 0)
			assert_int_equal(frames[1], frame_make(0, 2));
	}
	assert_int_equal(trace_walk_next(walk, &got), 0);
	trace_walk_free(walk);
	trace_close(trace);
	symbolizer_free(symbolizer);
	module_table_free(modules);
	hmb_free(hmb);
	tables_free(tables);
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_of_the_kernel),
		cmocka_unit_test(any_class_has_a_text),
		cmocka_unit_test(classes_come_out_of_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
