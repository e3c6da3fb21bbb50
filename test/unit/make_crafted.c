/*
 * Makes a small trace whose content is meant to be large for those who read it:
 *
 *     make_crafted FILE [KEY=NUMBER]...
 *
 *     depth      frames of each stack               cycle      1: each node calls the next for ever
 *     samples    of that stack                      leaves     leaves that they alternate between
 *     threads    that they alternate between        name       bytes of all names but the modules'
 *     inlined    functions in each frame            modules    and bytes of their paths
 *     overlap    1: all other tables lie over the names
 *     spread     1: stacks of each depth up to that
 *
 *     ends       1: names are ends of one long string, so that each is another one
 *     regions    that calls alternate between        calls      in them, one in another up to 100
 *     class      of the regions                      streams    each on all of very many CPUs
 *     seed       of the run: merge takes those of several
 */
int make_trace(int argc, char **argv);
#define main make_trace
#include "make_trace.c"
#undef main

#include "hmb/call.h"
#include "seal.h"

static unsigned depth = 1, samples = 1, leaves = 1, threads = 1, name = 10, cycle, inlined,
		modules = 3, overlap, spread, ends, regions = 1, calls, class = TRACE_MARKER,
		streams, seed;

static const struct {
	const char *key;
	unsigned *value;
} keys[] = {
	{"depth", &depth},     {"samples", &samples}, {"leaves", &leaves},   {"threads", &threads},
	{"name", &name},       {"cycle", &cycle},     {"inlined", &inlined}, {"modules", &modules},
	{"overlap", &overlap}, {"spread", &spread},   {"ends", &ends},       {"regions", &regions},
	{"calls", &calls},     {"class", &class},     {"streams", &streams}, {"seed", &seed},
};

static void take(const char *argument)
{
	const char *value = strchr(argument, '=');

	for (size_t i = 0; value && i < sizeof(keys) / sizeof(*keys); i++) {
		if (strncmp(argument, keys[i].key, (size_t)(value - argument)) != 0)
			continue;
		*keys[i].value = (unsigned)strtoul(value + 1, NULL, 10);
		return;
	}
	die("no such key");
}

/* Frames are in all modules but the first by turns, and in another function each. */
static uint64_t frame_of(unsigned i)
{
	return frame_make((uint16_t)(1 + i % (modules - 1)), i / (modules - 1) * SIZE);
}

static void put_samples(struct run *run)
{
	uint64_t *path = calloc(depth, sizeof(*path));

	for (unsigned i = 0; i < depth; i++)
		path[i] = frame_of(leaves + i);
	for (unsigned i = 0; i < samples; i++) {
		struct hmb_sample sample = {
			.time = (20000000 + i * 1600UL) << TIME_SHIFT,
			.step = 1600 << TIME_SHIFT,
			.thread = i % threads,
			.leaf = frame_of(i % leaves),
			.path = spread ? path + depth - 1 - i % depth : path,
			.path_size = spread ? i % depth + 1 : depth,
		};

		hmb_put(run->hmb, &sample);
	}
	run->n = samples;
	free(path);
}

static void put_calls(struct run *run)
{
	enum { NESTED = 100 };

	for (unsigned i = 0; i < calls; i++) {
		unsigned inside = NESTED - 1 - i % NESTED;
		uint64_t start = 20000000 + (uint64_t)(i / NESTED) * 2 * NESTED;
		struct call call = {
			.enter = (start + inside) << TIME_SHIFT,
			.leave = (start + 2 * NESTED - inside) << TIME_SHIFT,
			.thread = i / NESTED % threads,
			.region = i % regions,
			.depth = inside,
		};

		hmb_put_call(run->hmb, NR_EVENTS, 0, &call);
	}
}

/* Each node is called by the one before it in its bin, and the first by the last. */
static void close_cycle(struct run *run)
{
	struct bin *bin = run->hmb->kinds[0].levels[0].open;
	unsigned char *end = (unsigned char *)bin + bin_size(bin);
	uint32_t last = (uint32_t)((size_t)(end - run->hmb->arena.memory) / NODE_UNIT);
	uint32_t nr = bin->node_bytes / NODE_UNIT;

	for (uint32_t i = 1; i <= nr; i++)
		node_at(&run->hmb->arena, last - i)->parent = last - 1 - i % nr;
}

static unsigned char *bytes_of(struct changed_trace *trace, enum trace_section section, size_t more)
{
	const struct trace_entry *entry = &trace->head.entries[section - 1];
	unsigned char *bytes = calloc(1, entry->size + more);

	fseek(trace->file, (long)entry->offset, SEEK_SET);
	if (fread(bytes, 1, entry->size, trace->file) != entry->size)
		die("cannot read a section");
	return bytes;
}

/* The strings, and one string behind them, whose place is the result. */
static uint32_t add_name(struct changed_trace *trace)
{
	const uint32_t at = (uint32_t)trace->head.entries[TRACE_STRINGS - 1].size;
	unsigned char *strings = bytes_of(trace, TRACE_STRINGS, name + modules + 2);

	memset(strings + at, 'n', name);
	memset(strings + at + name + 1, '/', modules);
	change_section(trace, TRACE_STRINGS, strings, at + name + modules + 2);
	free(strings);
	return at;
}

static uint32_t name_of(uint32_t at, unsigned i)
{
	return ends ? at + i % name : at;
}

static void name_threads(struct changed_trace *trace, uint32_t at)
{
	struct trace_thread *entries = (void *)bytes_of(trace, TRACE_THREADS, 0);

	for (unsigned i = 0; i < threads; i++)
		entries[i].comm = name_of(at, i);
	change_section(trace, TRACE_THREADS, entries, threads * sizeof(*entries));
	free(entries);
}

static void name_regions(struct changed_trace *trace, uint32_t at)
{
	struct trace_region *entries = calloc(regions, sizeof(*entries));

	for (unsigned i = 0; i < regions; i++)
		entries[i] = (struct trace_region){.name = name_of(at, i), .region_class = class};
	change_section(trace, TRACE_REGIONS, entries, calls ? regions * sizeof(*entries) : 0);
	free(entries);
}

/* Readers believe in 65535 CPUs. */
static void add_streams(struct changed_trace *trace)
{
	struct trace_stream *entries = calloc(streams, sizeof(*entries));
	struct trace_run *entry = (void *)bytes_of(trace, TRACE_RUN, 0);

	for (unsigned i = 0; i < streams; i++)
		entries[i] = (struct trace_stream){
			.event = i % NR_EVENTS, .cpu = TRACE_ANY_CPU, .base_period = 1000 + i};
	entry->nr_cpus = UINT16_MAX;
	change_section(trace, TRACE_RUN, entry, sizeof(*entry));
	change_section(trace, TRACE_STREAMS, entries, streams * sizeof(*entries));
	free(entries);
	free(entry);
}

static void name_modules(struct changed_trace *trace, uint32_t at)
{
	struct trace_module *entries = calloc(modules, sizeof(*entries));

	for (unsigned i = 1; i < modules; i++)
		entries[i] = (struct trace_module){.path = ends ? at + i : at, .type = MODULE_FILE};
	change_section(trace, TRACE_MODULES, entries, modules * sizeof(*entries));
	free(entries);
}

static void name_functions(struct changed_trace *trace, uint32_t at)
{
	const unsigned nr = leaves + depth;
	struct trace_symbol *symbols = calloc(nr, sizeof(*symbols));
	struct trace_line *lines = calloc(nr, sizeof(*lines));
	struct trace_source *sources = calloc(inlined + 1, sizeof(*sources));
	unsigned n = 0;

	for (unsigned module = 1; module < modules; module++)
		for (unsigned i = module - 1; i < nr; i += modules - 1, n++) {
			uint32_t offset = frame_offset(frame_of(i));

			symbols[n] = (struct trace_symbol){module, offset, offset + SIZE,
			                                   name_of(at, i)};
			lines[n] = (struct trace_line){module, offset, inlined};
		}
	for (unsigned i = 0; i < inlined; i++)
		sources[i] = (struct trace_source){name_of(at, i), name_of(at, i), i, i};
	change_section(trace, TRACE_SYMBOLS, symbols, nr * sizeof(*symbols));
	change_section(trace, TRACE_SOURCES, sources, inlined * sizeof(*sources));
	change_section(trace, TRACE_LINES, lines, inlined ? nr * sizeof(*lines) : 0);
	free(symbols);
	free(lines);
	free(sources);
}

/* Tables that need no order get the bytes of the names for entries. */
static void lay_over(struct changed_trace *trace)
{
	static const struct {
		enum trace_section section;
		uint32_t size;
	} tables[] = {
		{TRACE_STREAMS, sizeof(struct trace_stream)},
		{TRACE_THREADS, sizeof(struct trace_thread)},
		{TRACE_REDUCTIONS, sizeof(struct trace_reduction)},
		{TRACE_REGIONS, sizeof(struct trace_region)},
		{TRACE_MEMBERS, sizeof(uint32_t)},
		{TRACE_PROCESSES, sizeof(struct trace_process)},
		{TRACE_OWNERS, sizeof(uint32_t)},
		{TRACE_INSTRUMENTS, sizeof(struct trace_instrument)},
	};
	const struct trace_entry *strings = &trace->head.entries[TRACE_STRINGS - 1];

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		struct trace_entry *entry = &trace->head.entries[tables[i].section - 1];

		entry->entry_size = tables[i].size;
		entry->offset = strings->offset;
		entry->size = strings->size - strings->size % tables[i].size;
	}
}

static void seal_file(const char *path)
{
	FILE *file = fopen(path, "r+");
	unsigned char *bytes;
	size_t size;

	if (!file || fseek(file, 0, SEEK_END))
		die("cannot open the trace");
	size = (size_t)ftell(file);
	bytes = malloc(size);
	rewind(file);
	if (fread(bytes, 1, size, file) != size)
		die("cannot read the trace");
	seal(bytes, size);
	rewind(file);
	fwrite(bytes, 1, size, file);
	fclose(file);
	free(bytes);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"f"}, *const comms[] = {"app"};
	struct run run = {.names = names, .comms = comms, .nr_names = 1, .nr_comms = 1};
	struct changed_trace trace;
	uint32_t at;

	if (argc < 2)
		die("usage: make_crafted FILE [KEY=NUMBER]...");
	for (int i = 2; i < argc; i++)
		take(argv[i]);
	run.path = argv[1];
	run.nr_threads = threads;
	run.max_path = depth + 1;
	run.calls = calls;
	run_open(&run, (size_t)64 << 20);
	tables_run(run.tables)->seed = seed;
	put_samples(&run);
	put_calls(&run);
	if (cycle)
		close_cycle(&run);
	run_write(&run);
	if (!change_begin(&trace, run.path))
		die("cannot change the trace");
	at = add_name(&trace);
	name_threads(&trace, at);
	name_modules(&trace, at + name + 1);
	name_functions(&trace, at);
	name_regions(&trace, at);
	if (streams)
		add_streams(&trace);
	if (overlap)
		lay_over(&trace);
	if (!change_end(&trace))
		die("cannot change the trace");
	seal_file(run.path);
	return 0;
}
