/*
 * Fuzzing of a recording: the input is what the kernel writes into the rings of two CPUs, record by
 * record, each with a byte that says in which ring it is and of what type, one of flags, and one of
 * how many words follow. What is recorded makes a trace that can be read.
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/session.h"
#include "trace/trace.h"
#include "trace/write/trace_write.h"
#include "session_tables.h"

enum { NR_CPUS = 2, NR_RINGS = 2 * NR_CPUS, NR_EVENTS = 2, ID = 100, HEAD = 3 };

#define BUDGET    ((size_t)128 << 10)
#define RING_SIZE ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* To make these anew takes longer than the rest. */
static unsigned char contents[NR_RINGS][RING_SIZE];

struct world {
	struct record_config config;
	struct session session;
	struct sampler sampler;
	int cpus[NR_CPUS];
	uint64_t periods[NR_EVENTS][NR_CPUS], lost[NR_EVENTS][NR_CPUS];
	struct sampler_id ids[NR_EVENTS];
	struct cpu_event cpu_events[NR_EVENTS * NR_CPUS];
	struct merged_ring rings[NR_RINGS];
	struct perf_event_mmap_page pages[NR_RINGS];
	unsigned char wrapped[65536];
	char path[64];
};

static void open_sampler(struct world *w)
{
	struct sampler *s = &w->sampler;

	*s = (struct sampler){
		.way = SAMPLER_LADDER,
		.nr_cpus = NR_CPUS,
		.cpus = w->cpus,
		.nr_events = NR_EVENTS,
		.nr_ids = NR_EVENTS,
		.ids = w->ids,
		.rings = w->rings,
		.nr_rings = NR_RINGS,
		.max_chain = 127,
		.side_format = {.sample_type = RECORD_ALWAYS},
		.sample_format = {.sample_type = RECORD_ALWAYS | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR |
	                                         PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
	                                         PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC,
	                          .nr_regs = (unsigned)__builtin_popcountll(unwind_regs_mask())},
	};
	for (uint16_t e = 0; e < NR_EVENTS; e++) {
		w->ids[e] = (struct sampler_id){.id = ID + e, .event = e};
		s->events[e] = (struct sampler_event){.base_period = w->periods[e],
		                                      .is_clock = !e,
		                                      .nr_rungs = 1,
		                                      .nr_steps = 1,
		                                      .lost = w->lost[e]};
		for (unsigned c = 0; c < NR_CPUS; c++)
			w->periods[e][c] = e ? 1 : 97081;
	}
	for (unsigned i = 0; i < NR_RINGS; i++) {
		ring_attach(&w->rings[i].ring, &w->pages[i], contents[i], RING_SIZE, w->wrapped);
		w->rings[i].cpu = i % NR_CPUS;
		w->rings[i].format = i < NR_CPUS ? &s->side_format : &s->sample_format;
	}
	assert(!ring_merge_init(&s->merge, w->rings, NR_RINGS));
}

static void open_tables(struct world *w)
{
	struct session *s = &w->session;

	s->tables = tables_new(BUDGET, w->path);
	assert(s->tables);
	session_tables_fill(s->tables, &w->sampler);
}

static void open_buffer(struct session *s)
{
	const struct hmb_config config = {
		.memory = tables_arena(s->tables),
		.size = BUDGET,
		.reserve = tables_reserve_arena,
		.reserve_arg = s->tables,
		.ledger = tables_ledger(s->tables),
		.nr_kinds = NR_EVENTS,
		.max_path = SESSION_MAX_STACK,
		.truncated_frame = FRAME_TRUNCATED,
	};

	s->hmb = hmb_new(&config);
	assert(s->hmb);
}

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));
	struct session *s = &w->session;

	snprintf(w->path, sizeof(w->path), "/dev/shm/fuzz_record.%d.atr", getpid());
	w->cpus[1] = 1;
	w->config = (struct record_config){
		.nr_events = NR_EVENTS,
		.events = {{.unit = EVENT_NS, .scale = 1}, {.unit = EVENT_COUNT, .scale = 1}},
		.stack = {.mode = TRACE_STACKS_DWARF, .max = SESSION_MAX_STACK},
		.seed = 1,
		.data = true,
	};
	open_sampler(w);
	open_tables(w);
	open_buffer(s);
	s->config = &w->config;
	s->sampler = &w->sampler;
	s->sampling.way = SAMPLER_LADDER;
	s->cpu_events = w->cpu_events;
	s->modules = module_table_new();
	s->stack.config = s->config;
	s->stack.modules = s->modules;
	s->stack.unwinder = unwinder_new(s->modules, UNWIND_RULES);
	tasks_init(&s->tasks, s->tables, s->modules, NR_EVENTS, NULL, NULL);
	s->tasks.by_switches = true;
	return w;
}

static void world_free(struct world *w)
{
	struct session *s = &w->session;

	tasks_fini(&s->tasks);
	unwinder_free(s->stack.unwinder);
	module_table_free(s->modules);
	hmb_free(s->hmb);
	tables_free(s->tables);
	ring_merge_fini(&w->sampler.merge);
	unlink(w->path);
	free(w);
}

static const uint32_t types[] = {PERF_RECORD_SAMPLE, PERF_RECORD_SAMPLE,  PERF_RECORD_SAMPLE,
                                 PERF_RECORD_MMAP2,  PERF_RECORD_COMM,    PERF_RECORD_FORK,
                                 PERF_RECORD_EXIT,   PERF_RECORD_READ,    PERF_RECORD_SWITCH,
                                 PERF_RECORD_LOST,   PERF_RECORD_THROTTLE};

/* The bytes of the record's words are those of the input, whatever they say. */
static size_t put_record(struct world *w, const uint8_t *data, size_t left)
{
	size_t size = data[2] * sizeof(uint64_t);
	struct perf_event_header header = {
		.type = types[(data[0] >> 2) % (sizeof(types) / sizeof(*types))],
		.misc = (uint16_t)((data[1] & 7) | (data[1] & 0xf8) << 8),
	};
	unsigned ring = data[0] % NR_RINGS;
	uint64_t head = w->pages[ring].data_head;

	if (size > left - HEAD)
		size = left - HEAD;
	header.size = (uint16_t)(sizeof(header) + size);
	memcpy(contents[ring] + head % RING_SIZE, &header, sizeof(header));
	memcpy(contents[ring] + head % RING_SIZE + sizeof(header), data + HEAD, size);
	w->pages[ring].data_head += header.size;
	return HEAD + size;
}

static int count_sample(void *nr, const struct trace_sample *sample)
{
	assert(sample->cpu < NR_CPUS);
	++*(uint64_t *)nr;
	return 0;
}

static void read_trace(struct world *w, uint64_t stored)
{
	char why[TRACE_WHY_SIZE];
	uint64_t nr = 0;
	struct trace *trace;

	assert(!trace_write(w->path, w->session.tables, NULL, NULL, NULL));
	trace = trace_open(w->path, why);
	assert(trace);
	assert(!trace_each_sample(trace_walk_new(trace, TRACE_ALL_EVENTS), count_sample, &nr));
	assert(nr == stored);
	trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world *w = world_new();
	struct session *s = &w->session;
	uint64_t stored = 0;

	while (size > HEAD && size < RING_SIZE / 2) {
		size_t taken = put_record(w, data, size);

		data += taken;
		size -= taken;
		if (!(data[-1] & 7)) /* sooner or later */
			session_drain(s, true);
	}
	session_drain(s, true);
	tasks_end(&s->tasks);
	for (unsigned e = 0; e < NR_EVENTS; e++)
		stored += hmb_stored(s->hmb, e);
	read_trace(w, stored);
	world_free(w);
	return 0;
}
