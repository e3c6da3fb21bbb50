#include "trace/live/live_trace.h"

#include "hmb/arena_snapshot.h"
#include "trace/live/tables_layout.h"
#include "trace/trace_file.h"
#include "trace/walk_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static_assert(LIVE_STRINGS == TABLES_MAX_STRINGS, "names come behind the recorder's strings");

#define STRINGS_SIZE (LIVE_STRINGS + LIVE_MAX_NAMES)

struct live_trace {
	struct tables from; /* the recorder's image, read-only */
	struct tables *to;
	struct arena_copy *arena;
	struct trace trace; /* of the copy; has no memory of its own */
	struct hmb_reduction reductions[HMB_MAX_REDUCTIONS];
	struct trace_event events[TABLES_MAX_EVENTS];
	struct trace_window windows[TABLES_MAX_WINDOWS];
	uint32_t *granules;             /* each bin has its own place in BINS */
	uint64_t (*records)[NR_LEVELS]; /* by kind and level */
	char *strings;                  /* those of the tables, then those of names */
	size_t nr_strings;              /* bytes of the tables' */
	struct live_names names;
	enum live_state state;
};

static int make_memory(struct live_trace *live)
{
	struct arena arena;
	void *strings = mmap(NULL, STRINGS_SIZE, PROT_READ | PROT_WRITE,
	                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (strings == MAP_FAILED)
		return -ENOMEM;
	live->strings = strings;
	arena_init(&arena, tables_arena(live->to), tables_budget(live->to));
	live->arena = arena_copy_new(arena.memory, tables_arena(&live->from), arena.size);
	live->trace.walks = walk_memory_new();
	live->granules = calloc(arena.nr_bins, sizeof(*live->granules));
	live->records = calloc(TABLES_MAX_EVENTS, sizeof(*live->records));
	if (!live->trace.walks || !live->arena || !live->granules || !live->records)
		return -ENOMEM;
	/* Most of the time of a first copy would go to page faults. */
	madvise(arena.memory, arena.size, MADV_HUGEPAGE);
	for (uint32_t i = 0; i < arena.nr_bins; i++)
		live->granules[i] = i + 1;
	return 0;
}

typedef int watch_fn(struct shm_image *image, const char *name);

static struct live_trace *open_by(watch_fn *watch, const char *name)
{
	struct live_trace *live = calloc(1, sizeof(*live));
	int err = -ENOMEM;

	if (!live)
		goto out;
	live->from.image.fd = -1;
	live->to = calloc(1, sizeof(*live->to));
	if (!live->to)
		goto out;
	live->to->image.fd = -1;
	err = watch(&live->from.image, name);
	if (!err)
		err = tables_copy_init(live->to, &live->from);
	if (!err)
		err = make_memory(live);
	if (!err)
		return live;
out:
	live_trace_close(live);
	errno = -err;
	return NULL;
}

struct live_trace *live_trace_open(const char *trace_path)
{
	return open_by(shm_image_watch, trace_path);
}

struct live_trace *live_trace_open_image(const char *file)
{
	return open_by(shm_image_watch_file, file);
}

void live_trace_close(struct live_trace *live)
{
	if (!live)
		return;
	trace_drop_index(&live->trace);
	walk_memory_free(live->trace.walks);
	arena_copy_free(live->arena);
	shm_image_close(&live->from.image);
	tables_free(live->to);
	free(live->granules);
	free(live->records);
	if (live->strings)
		munmap(live->strings, STRINGS_SIZE);
	free(live);
}

/* --- the trace of the copy -------------------------------------------------------------------- */

static struct section section_of(const void *at, size_t nr, size_t entry_size)
{
	return (struct section){at, (uint32_t)nr, (uint32_t)entry_size, true};
}

static void take_events(struct live_trace *live)
{
	const struct hmb_ledger *ledger = tables_ledger(live->to);
	struct live_table table = tables_section(live->to, TRACE_EVENTS);

	memcpy(live->events, table.entries, table.nr * table.entry_size);
	for (unsigned k = 0; k < table.nr; k++) {
		live->events[k].floor = ledger->floor[k] < NR_LEVELS ? ledger->floor[k] : NR_LEVELS;
		live->events[k].taken = ledger->taken[k];
	}
	live->trace.sections[TRACE_EVENTS] =
		section_of(live->events, table.nr, sizeof(*live->events));
}

static void take_windows(struct live_trace *live)
{
	const uint32_t nr = tables_windows(live->to, live->windows);

	live->trace.sections[TRACE_WINDOWS] = section_of(live->windows, nr, sizeof(*live->windows));
}

static void take_run(struct live_trace *live)
{
	struct trace_run *run = tables_run(live->to);
	struct arena arena;

	arena_init(&arena, tables_arena(live->to), tables_budget(live->to));
	run->bin_shift = arena.bin_shift;
	run->sub_shift = arena.sub_shift;
	run->budget = tables_limit(live->to);
	run->flags |= TRACE_RUN_LIVE;
	if (run->end < run->start)
		run->end = run->start;
}

/* The recorder only appends to its strings. */
static void take_strings(struct live_trace *live)
{
	struct live_table strings = tables_section(live->to, TRACE_STRINGS);

	if (strings.nr > live->nr_strings)
		memcpy(live->strings + live->nr_strings,
		       (const char *)strings.entries + live->nr_strings,
		       strings.nr - live->nr_strings);
	live->nr_strings = strings.nr;
}

static void take_names(struct live_trace *live)
{
	struct section *sections = live->trace.sections;

	sections[TRACE_STRINGS] = section_of(live->strings, LIVE_STRINGS + live->names.size, 1);
	sections[TRACE_SYMBOLS] =
		section_of(live->names.symbols, live->names.nr, sizeof(struct trace_symbol));
}

static void take_bins(struct live_trace *live)
{
	struct section *sections = live->trace.sections;
	uint32_t shift = tables_run(live->to)->bin_shift, nr = tables_ledger(live->to)->nr_bins;

	sections[TRACE_GRANULES] = section_of(live->granules, nr, sizeof(uint32_t));
	sections[TRACE_BINS] = section_of(tables_arena(live->to), nr, (size_t)1 << shift);
}

static void take_sections(struct live_trace *live)
{
	struct section *sections = live->trace.sections;

	for (unsigned s = 1; s < NR_TRACE_SECTIONS; s++) {
		struct live_table table = tables_section(live->to, s);

		if (table.entry_size)
			sections[s] = section_of(table.entries, table.nr, table.entry_size);
	}
	sections[TRACE_REDUCTIONS] = section_of(
		live->reductions, hmb_reductions(tables_ledger(live->to), live->reductions),
		sizeof(struct trace_reduction));
	live->trace.since = tables_ledger(live->to)->since;
	take_run(live);
	take_events(live);
	take_windows(live);
	take_strings(live);
	take_names(live);
	take_bins(live);
}

/* --- levels ----------------------------------------------------------------------------------- */

static void count_bin(struct live_trace *live, const struct bin *bin)
{
	if ((bin->use == BIN_SAMPLES || bin->use == BIN_CALLS) &&
	    hmb_ledger_has(tables_ledger(live->to), bin) && bin->kind < TABLES_MAX_EVENTS)
		live->records[bin->kind][bin->level] += bin->nr_records;
}

static void count_granule(struct live_trace *live, const unsigned char *at)
{
	const struct trace *trace = &live->trace;
	const struct bin *bin = (const void *)at;
	const size_t size = (size_t)1 << trace->bin_shift, sub = (size_t)1 << trace->sub_shift;

	if (bin->size_shift == trace->bin_shift)
		count_bin(live, bin);
	else
		for (const unsigned char *end = at + size; at < end; at += sub)
			count_bin(live, (const void *)at);
}

/* Counts records, and states them for each event. */
static void count_records(struct live_trace *live)
{
	const struct section *bins = &live->trace.sections[TRACE_BINS];

	memset(live->records, 0, TABLES_MAX_EVENTS * sizeof(*live->records));
	for (uint32_t i = 0; i < bins->nr; i++)
		count_granule(live, section_entry(bins, i));
	for (unsigned k = 0; k < live->trace.sections[TRACE_EVENTS].nr; k++) {
		uint64_t stored = 0;

		for (unsigned level = 0; level < NR_LEVELS; level++)
			stored += live->records[k][level];
		live->events[k].stored = stored;
		if (live->events[k].taken < stored)
			live->events[k].taken = stored;
	}
}

/* Returns the lowest level from which on there are at most so many samples. */
static uint32_t chosen_floor(const uint64_t records[NR_LEVELS], uint32_t floor, uint64_t max)
{
	uint32_t level = NR_LEVELS;
	uint64_t nr = 0;

	while (level > floor && (!nr || nr + records[level - 1] <= max))
		nr += records[--level];
	return level;
}

void live_trace_choose(struct live_trace *live, uint64_t from, uint64_t max)
{
	const struct hmb_ledger *ledger = tables_ledger(live->to);

	live->trace.from = from;
	for (unsigned e = 0; e < live->trace.nr_events && e < TABLES_MAX_EVENTS; e++) {
		const unsigned k = live->trace.kinds[e];

		live->events[k].floor = chosen_floor(live->records[k], ledger->floor[k], max);
	}
	trace_weigh(&live->trace);
}

/* --- windows ---------------------------------------------------------------------------------- */

int live_trace_choose_window(struct live_trace *live, uint32_t number)
{
	const struct trace_window *chosen = trace_chosen_window(&live->trace);

	if (!trace_find_window(&live->trace, number))
		number = 0;
	return (chosen ? chosen->number : 0) == number ? 0
	                                               : trace_choose_window(&live->trace, number);
}

/* --- updates ---------------------------------------------------------------------------------- */

static void find_state(struct live_trace *live)
{
	bool named;

	if (!shm_image_is_alive(&live->from.image, &named))
		live->state = named ? LIVE_KILLED : LIVE_ENDED;
}

int live_trace_update(struct live_trace *live)
{
	const struct trace_run *run;
	const char *wrong;
	int err;

	/* Found before copying: after the recorder's end nothing changes any more. */
	find_state(live);
	trace_drop_index(&live->trace);
	err = tables_copy_update(live->to, &live->from, live->arena);
	if (err)
		return err;
	run = tables_run(live->to);
	if (!tables_have_events(live->to) || run->end <= run->start)
		return -EAGAIN;
	live->trace.from = 0;
	take_sections(live);
	err = trace_index(&live->trace, &wrong);
	if (!err)
		count_records(live);
	return err;
}

struct recording_state live_trace_recorder(const struct live_trace *live)
{
	const struct recording_state *state = tables_state(&live->from);

	return (struct recording_state){
		.recorder = __atomic_load_n(&state->recorder, __ATOMIC_RELAXED),
		.flags = __atomic_load_n(&state->flags, __ATOMIC_RELAXED),
		.stored = __atomic_load_n(&state->stored, __ATOMIC_RELAXED),
		.lost = __atomic_load_n(&state->lost, __ATOMIC_RELAXED),
	};
}

enum live_state live_trace_state(const struct live_trace *live)
{
	return live->state;
}

const struct trace *live_trace_of(const struct live_trace *live)
{
	return &live->trace;
}

int live_trace_name(struct live_trace *live, const struct live_names *names)
{
	if (names->size > LIVE_MAX_NAMES)
		return -ENOMEM;
	memcpy(live->strings + LIVE_STRINGS, names->strings, names->size);
	live->names = *names;
	take_names(live);
	return 0;
}

size_t live_trace_budget(const struct live_trace *live)
{
	return tables_budget(live->to);
}

const struct tables *live_trace_tables(const struct live_trace *live)
{
	return live->to;
}
