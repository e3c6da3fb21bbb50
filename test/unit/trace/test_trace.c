#include "cases.h"
#include "seal.h"
#include "trace_world.h"

#include "trace/trace_file.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <xxhash.h>

extern const char __executable_start; /* the linker knows */

/* --- what is written is read ------------------------------------------------------------------ */

static void check_sample(const struct world *w, const struct trace *trace, const struct kept *k,
                         const struct trace_sample *got)
{
	uint64_t frames[MAX_DEPTH + 2];
	const struct hmb_sample *s = &k->sample;
	size_t depth = trace_stack(trace, got, frames, MAX_DEPTH + 2);

	assert_int_equal(got->time, s->time);
	assert_int_equal(got->event, s->kind);
	assert_int_equal(got->level, s->level);
	assert_int_equal(got->thread, s->thread);
	assert_int_equal(got->cpu, s->cpu);
	assert_int_equal(got->weight, (base_periods[s->kind] + s->cpu)
	                                      << hmb_floor(w->hmb, s->kind));
	assert_int_equal(frames[0], s->leaf);
	if (frames[1] == 1 && depth > 1) {
		/* folded: a part of the callers next to the leaf has no room in the tree */
		assert_true(depth <= s->path_size + 1);
		for (size_t i = 2; i < depth; i++)
			assert_int_equal(frames[depth + 1 - i], k->path[s->path_size + 1 - i]);
		return;
	}
	assert_int_equal(depth, s->path_size + 1);
	for (size_t i = 1; i < depth; i++)
		assert_int_equal(frames[i], k->path[i - 1]);
}

static void check_samples(const struct world *w, const struct trace *trace, uint32_t event)
{
	struct trace_walk *walk = trace_walk_new(trace, event);
	struct trace_sample got;

	assert_non_null(walk);
	for (size_t i = 0; i < w->nr; i++) {
		const struct kept *k = &w->all[i];

		if (!survived(w, k) || (event != TRACE_ALL_EVENTS && event != k->sample.kind))
			continue;
		assert_int_equal(trace_walk_next(walk, &got), 1);
		check_sample(w, trace, k, &got);
	}
	assert_int_equal(trace_walk_next(walk, &got), 0);
	assert_int_equal(trace_walk_next(walk, &got), 0);
	trace_walk_free(walk);
}

static void check_tables(const struct world *w, const struct trace *trace)
{
	static struct hmb_reduction reductions[HMB_MAX_REDUCTIONS];

	assert_int_equal(trace_run(trace)->nr_cpus, NR_CPUS);
	assert_string_equal(trace_string(trace, trace_run(trace)->command),
	                    "./app\x1f-x\x1f\x1b[31m");
	assert_string_equal(trace_string(trace, trace_event(trace, 1)->name), "page-faults");
	assert_null(trace_event(trace, NR_EVENTS));
	assert_string_equal(trace_string(trace, trace_module(trace, 3)->path), "/usr/lib/libx.so");
	assert_int_equal(trace_thread(trace, 5)->tid, 105);
	assert_null(trace_thread(trace, 6));
	assert_int_equal(trace_command(trace, 0)->tasks, 6);
	assert_string_equal(trace_string(trace, UINT32_MAX), "");
	assert_true(trace_run(trace)->end >= trace_run(trace)->start); /* which nobody said */
	for (uint32_t k = 0; k < NR_EVENTS; k++) {
		const struct trace_event *event = trace_event(trace, k);

		assert_int_equal(event->floor, hmb_floor(w->hmb, k));
		assert_int_equal(event->taken, w->hmb->ledger->taken[k]);
		assert_int_equal(event->stored, hmb_stored(w->hmb, k));
	}
	for (uint32_t i = 0; i < hmb_reductions(w->hmb->ledger, reductions); i++)
		assert_memory_equal(trace_reduction(trace, i), &reductions[i], sizeof(*reductions));
	assert_null(trace_reduction(trace, w->hmb->ledger->nr_reductions));
}

static void check_all(const struct world *w, const struct trace *trace)
{
	check_tables(w, trace);
	check_samples(w, trace, TRACE_ALL_EVENTS);
	check_samples(w, trace, 0);
	check_samples(w, trace, 1);
	check_samples(w, trace, 99);
}

static void write_and_compare(size_t budget, size_t nr)
{
	struct world w;
	struct trace *trace, *live;
	char why[TRACE_WHY_SIZE];
	struct stat stat_now;
	uint64_t bytes;

	world_open(&w, budget);
	put_many(&w, nr);
	live = trace_open_tables(w.tables, NULL, why);
	assert_non_null(live);
	check_all(&w, live);
	assert_int_equal(trace_write(w.path, w.tables, NULL, NULL, &bytes), 0);
	assert_int_equal(stat(w.path, &stat_now), 0);
	assert_int_equal(stat_now.st_size, bytes);
	assert_int_equal(stat_now.st_mode & 0777, 0600);
	assert_true(bytes < budget + 32768);
	trace = open_good(w.path);
	check_all(&w, trace);
	/* The recording has gone on since: what was opened is as it was. */
	assert_int_equal(live->size, trace->size);
	put_many(&w, nr);
	assert_memory_equal(live->memory, trace->memory, trace->size);
	trace_close(live);
	trace_close(trace);
	world_close(&w);
}

static void an_empty_run(void **state)
{
	(void)state;
	write_and_compare(64 << 10, 0);
}

static void a_short_run(void **state)
{
	(void)state;
	write_and_compare(256 << 10, 500);
}

static void a_run_with_reductions(void **state)
{
	(void)state;
	write_and_compare(64 << 10, 30000);
	write_and_compare(1 << 20, 60000);
}

/* What bins have behind their records, and nothing else, whoever asks. */
static void only_nodes_are_nodes(void **state)
{
	const struct arena *arena;
	uint64_t nr = 0, frame;
	struct trace *trace;
	uint32_t parent;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 30000);
	trace = world_written(&w);
	arena = &w.hmb->arena;
	for (uint32_t node = 0; node < 2 * arena->size / NODE_UNIT; node++) {
		bool is_node = trace_node(trace, node, &frame, &parent);

		nr += is_node;
		if (is_node)
			assert_int_equal(frame, arena_frame(arena, node));
	}
	assert_true(nr > 1000);
	assert_int_equal(trace_run(trace)->contexts, nr * sizeof(struct node));
	trace_close(trace);
	world_close(&w);
}

/* Where a stream says none, that of the event's stream of any CPU, or else of the event. */
static void weights_are_the_periods_of_the_cpus(void **state)
{
	static const struct trace_stream streams[] = {
		{.event = 0, .cpu = TRACE_ANY_CPU, .base_period = 5000},
		{.event = 0, .cpu = 5},
		{.event = 0, .cpu = 6, .base_period = 7000},
		{.event = 0, .cpu = TRACE_MAX_CPUS, .base_period = 8000},
		{.event = NR_EVENTS, .cpu = 4, .base_period = 9000},
	};
	static const struct {
		uint32_t event, cpu;
		uint64_t weight;
	} rows[] = {{0, 0, 97081}, {0, 2, 97083}, {0, 4, 5000},
	            {0, 5, 5000},  {0, 6, 7000},  {0, TRACE_MAX_CPUS, 5000},
	            {1, 2, 1011},  {1, 3, 1009},  {1, TRACE_MAX_CPUS, 1009}};
	struct trace_sample sample;
	struct trace_walk *walk;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	for (unsigned i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		*tables_add_stream(w.tables) = streams[i];
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		put_next(&w, (struct hmb_sample){.kind = rows[i].event,
		                                 .cpu = rows[i].cpu,
		                                 .level = 30,
		                                 .leaf = 1});
	trace = world_written(&w);
	walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(trace_walk_next(walk, &sample), 1);
		assert_int_equal(sample.weight, rows[i].weight);
	}
	trace_walk_free(walk);
	trace_close(trace);
	world_close(&w);
}

/* The sizes that the page adaptrace-trace(5) states; grown ones are for it to learn. */
static void the_page_is_right(void **state)
{
	(void)state;
	assert_int_equal(TRACE_RUN_LEAST, 232);
	assert_int_equal(sizeof(struct trace_run), 552);
	assert_int_equal(sizeof(struct trace_event), 48);
	assert_int_equal(sizeof(struct trace_stream), 32);
	assert_int_equal(sizeof(struct trace_command), 32);
	assert_int_equal(sizeof(struct trace_source_file), 48);
	assert_int_equal(sizeof(struct trace_action), 32);
	assert_int_equal(sizeof(struct trace_gap), 24);
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *name_of(const struct trace *trace, uint64_t frame)
{
	return trace_string(trace, trace_symbol(trace, trace_find_symbol(trace, frame))->name);
}

static void names_are_found(void **state)
{
	struct module_table *modules = module_table_new();
	struct symbolizer *symbolizer = symbolizer_new(modules);
	char exe[PATH_MAX] = {0};
	struct module_file file = {.path = exe, .pid = getpid()};
	struct module *module;
	const struct trace_symbol *symbol;
	uint64_t caller;
	struct hmb_sample sample = {
		.time = 5000, .thread = 1, .step = 97081, .path = &caller, .path_size = 1};
	struct trace *trace;
	struct world w;

	(void)state;
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	module = module_table_file(modules, &file);
	assert_non_null(module);
	assert_int_equal(module->id, 1);
	world_open(&w, 64 << 10);
	sample.leaf = frame_make(
		1, (uint32_t)((uintptr_t)names_are_found - (uintptr_t)&__executable_start) + 4);
	caller = frame_make(1, (uint32_t)((uintptr_t)a_short_run - (uintptr_t)&__executable_start) +
	                               4);
	hmb_put(w.hmb, &sample);
	tables_run(w.tables)->refused_strings = 3;
	assert_int_equal(trace_write(w.path, w.tables, modules, symbolizer, NULL), 0);
	trace = open_good(w.path);
	assert_int_equal(trace_run(trace)->refused_strings, 3);
	symbol = trace_symbol(trace, trace_find_symbol(trace, sample.leaf));
	assert_non_null(symbol);
	assert_string_equal(trace_string(trace, symbol->name), "names_are_found");
	assert_string_equal(name_of(trace, caller), "a_short_run");
	assert_int_equal(trace_find_symbol(trace, frame_make(1, symbol->hi)), UINT32_MAX);
	assert_int_equal(trace_find_symbol(trace, frame_make(1, symbol->lo - 1)), UINT32_MAX);
	assert_int_equal(trace_find_symbol(trace, frame_make(2, symbol->lo)), UINT32_MAX);
	assert_int_equal(trace_find_symbol(trace, frame_make(0, symbol->lo)), UINT32_MAX);
	trace_close(trace);
	world_close(&w);
	symbolizer_free(symbolizer);
	module_table_free(modules);
}

/* --- files ------------------------------------------------------------------------------------ */

/* By the whole name, or its beginning where that can mean one only. */
static void events_are_found(void **state)
{
	struct trace_event *events;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	events = tables_event(w.tables, 0);
	events[0].name = tables_string(w.tables, "cycles:u");
	trace = world_written(&w);
	assert_int_equal(trace_find_event(trace, "cycles"), 0);
	assert_int_equal(trace_find_event(trace, "cycle"), TRACE_ALL_EVENTS);
	assert_int_equal(trace_find_event(trace, "branch"), TRACE_ALL_EVENTS);
	assert_int_equal(trace_find_event(trace, "page-faults"), 1);
	trace_close(trace);
	events[1].name = tables_string(w.tables, "cycles:k");
	trace = world_written(&w);
	assert_int_equal(trace_find_event(trace, "cycles"), TRACE_ALL_EVENTS);
	assert_int_equal(trace_find_event(trace, "cycles:k"), 1);
	trace_close(trace);
	world_close(&w);
}

static void an_older_trace_is_kept(void **state)
{
	struct world w;
	struct trace *trace;
	char old[128], link[128];
	struct stat stat_now;

	(void)state;
	world_open(&w, 64 << 10);
	snprintf(old, sizeof(old), "%s.old", w.path);
	snprintf(link, sizeof(link), "%s/link", w.folder);
	assert_int_equal(trace_write(w.path, w.tables, NULL, NULL, NULL), 0);
	put(&w);
	assert_int_equal(trace_write(w.path, w.tables, NULL, NULL, NULL), 0);
	trace = open_good(old);
	assert_int_equal(trace_event(trace, 0)->stored + trace_event(trace, 1)->stored, 0);
	trace_close(trace);
	trace = open_good(w.path);
	assert_int_equal(trace_event(trace, 0)->stored + trace_event(trace, 1)->stored, 1);
	trace_close(trace);
	/* A link stays one. */
	assert_int_equal(symlink(w.path, link), 0);
	assert_int_equal(trace_write(link, w.tables, NULL, NULL, NULL), 0);
	assert_int_equal(lstat(link, &stat_now), 0);
	assert_true(S_ISLNK(stat_now.st_mode));
	unlink(link);
	world_close(&w);
}

static void failures_leave_no_trace(void **state)
{
	struct world w;
	struct rlimit limit, old_limit;
	char path[128];

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 2000);
	snprintf(path, sizeof(path), "%s/none/x.atr", w.folder);
	assert_int_equal(trace_write(path, w.tables, NULL, NULL, NULL), -ENOENT);
	assert_int_equal(trace_write(w.folder, w.tables, NULL, NULL, NULL), -EISDIR);
	assert_int_equal(trace_write("/dev/full", w.tables, NULL, NULL, NULL), -ENOSPC);
	assert_int_equal(trace_write("/dev/null", w.tables, NULL, NULL, NULL), 0);
	assert_int_equal(access("/dev/null.old", F_OK), -1);
	assert_int_equal(trace_write(w.path, w.tables, NULL, NULL, NULL), 0);
	/* As a full disk: the older trace stays as it was. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
	limit = old_limit;
	limit.rlim_cur = 8192;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(trace_write(w.path, w.tables, NULL, NULL, NULL), -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
	trace_close(open_good(w.path));
	snprintf(path, sizeof(path), "%s.old", w.path);
	assert_int_equal(access(path, F_OK), -1);
	world_close(&w);
}

/* To the end, and as many as are said to be there. */
static void check_all_is_read(const struct trace *trace)
{
	struct trace_walk *walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	uint64_t nr[NR_EVENTS] = {0};
	struct trace_sample sample;
	int got;

	assert_non_null(walk);
	while ((got = trace_walk_next(walk, &sample)) == 1)
		nr[sample.event]++;
	assert_int_equal(got, 0);
	for (uint32_t k = 0; k < NR_EVENTS; k++)
		assert_int_equal(trace_event(trace, k)->stored, nr[k]);
	trace_walk_free(walk);
}

/* The end of a killed recorder: a record that is announced, and one that is cut in two. */
static void torn_bins_are_repaired(void **state)
{
	struct world w;
	struct trace *trace;
	unsigned torn = 0;
	uint64_t stored;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 300);
	stored = hmb_stored(w.hmb, 0);
	for (unsigned l = 0; l < NR_LEVELS; l++) {
		struct bin *bin = w.hmb->kinds[0].levels[l].open;

		if (!bin || bin->nr_records < 2)
			continue;
		if (torn++ % 2)
			bin->nr_records++;
		else
			bin->record_bytes--;
	}
	assert_true(torn > 2);
	trace = world_written(&w);
	assert_int_equal(trace_event(trace, 0)->stored, stored - (torn + 1) / 2);
	assert_int_equal(trace_run(trace)->malformed, (torn + 1) / 2);
	check_all_is_read(trace);
	trace_close(trace);
	world_close(&w);
}

/* As many bytes as a bin has, and the next ones, are any. */
static void damage(struct world *w, unsigned nr)
{
	const struct arena *arena = &w->hmb->arena;

	for (unsigned i = 0; i < nr; i++) {
		size_t at = rnd(w, (size_t)arena->fresh << arena->bin_shift);

		/* Heads of bins are small, and say most. */
		if (rnd(w, 2))
			at = (at >> arena->sub_shift << arena->sub_shift) +
			     rnd(w, sizeof(struct bin));
		arena->memory[at] = (unsigned char)(rnd(w, 2) ? 0xff : rnd(w, 256));
	}
}

/* Of a recorder that was killed for what it did to its memory: what is kept of it can be read. */
static void damaged_buffers_make_good_traces(void **state)
{
	unsigned cut = 0;

	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		struct trace *trace;
		struct world w;

		world_open(&w, 64 << 10);
		put_many(&w, i % 2 ? 3000 : 300);
		w.seed += i;
		damage(&w, 1 + i % 40);
		if (i % 8 == 7)
			w.hmb->ledger->nr_bins = UINT32_MAX;
		trace = world_written(&w);
		cut += trace_run(trace)->malformed > 0;
		check_all_is_read(trace);
		trace_close(trace);
		world_close(&w);
	}
	assert_true(cut > 100);
}

/* --- damaged files ---------------------------------------------------------------------------- */

struct bytes {
	unsigned char *at;
	size_t size;
};

static struct bytes read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	struct bytes bytes = {malloc(1 << 20), 0};

	assert_non_null(file);
	bytes.size = fread(bytes.at, 1, 1 << 20, file);
	assert_true(bytes.size < 1 << 20);
	fclose(file);
	return bytes;
}

/* A file in memory: damaged ones are many. */
struct scratch {
	int fd;
	char path[64];
};

static void scratch_open(struct scratch *scratch, const struct bytes *bytes)
{
	scratch->fd = memfd_create("trace", MFD_CLOEXEC);
	assert_true(scratch->fd >= 0);
	sprintf(scratch->path, "/proc/self/fd/%d", scratch->fd);
	assert_int_equal(pwrite(scratch->fd, bytes->at, bytes->size, 0), bytes->size);
}

static void scratch_put(const struct scratch *scratch, size_t at, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(scratch->fd, bytes, size, (off_t)at), size);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
	return XXH3_64bits_withSeed(bytes, size, hash);
}

static uint64_t digest_entries(const struct trace *trace, uint64_t hash)
{
	const void *entry;

	hash = mix(hash, trace_run(trace), sizeof(struct trace_run));
	for (uint32_t i = 0; (entry = trace_event(trace, i)); i++)
		hash = mix(hash, entry, sizeof(struct trace_event));
	for (uint32_t i = 0; (entry = trace_stream(trace, i)); i++)
		hash = mix(hash, entry, sizeof(struct trace_stream));
	for (uint32_t i = 0; (entry = trace_module(trace, i)); i++)
		hash = mix(hash, entry, sizeof(struct trace_module));
	for (uint32_t i = 0; (entry = trace_thread(trace, i)); i++)
		hash = mix(hash, trace_string(trace, trace_thread(trace, i)->comm), 1);
	for (uint32_t i = 0; (entry = trace_command(trace, i)); i++)
		hash = mix(hash, entry, sizeof(struct trace_command));
	for (uint32_t i = 0; (entry = trace_reduction(trace, i)); i++)
		hash = mix(hash, entry, sizeof(struct trace_reduction));
	return hash;
}

/* Everything that a reader can see of a trace. */
static uint64_t digest(const struct trace *trace)
{
	struct trace_walk *walk = trace_walk_new(trace, TRACE_ALL_EVENTS);
	uint64_t hash = digest_entries(trace, 1), frames[MAX_DEPTH];
	struct trace_sample sample = {0};
	size_t depth;
	int got;

	assert_non_null(walk);
	while ((got = trace_walk_next(walk, &sample)) == 1) {
		depth = trace_stack(trace, &sample, frames, MAX_DEPTH);
		hash = mix(hash, &sample.time, sizeof(sample.time));
		hash = mix(hash, frames, (depth < MAX_DEPTH ? depth : MAX_DEPTH) * sizeof(*frames));
		trace_find_symbol(trace, sample.leaf);
		if (trace_thread(trace, sample.thread))
			hash++;
	}
	assert_true(got == 0 || got == -EBADMSG);
	trace_walk_free(walk);
	return hash + (uint64_t)got;
}

static uint64_t digest_file(const char *path)
{
	struct trace *trace = open_good(path);
	uint64_t hash = digest(trace);

	trace_close(trace);
	return hash;
}

static void small_trace(struct world *w)
{
	world_open(w, 64 << 10);
	put_many(w, 60);
	assert_int_equal(trace_write(w->path, w->tables, NULL, NULL, NULL), 0);
}

/* After it was checked. */
static void what_others_write_is_not_seen(void **state)
{
	struct trace *trace;
	struct world w;
	uint64_t hash;
	FILE *file;

	(void)state;
	small_trace(&w);
	assert_int_equal(chmod(w.path, 0606), 0);
	trace = open_good(w.path);
	hash = digest(trace);
	file = fopen(w.path, "r+");
	assert_non_null(file);
	for (uint64_t at = 0; at < trace_run(trace)->budget; at++)
		fputc(0xff, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(digest(trace), hash);
	assert_int_equal(truncate(w.path, 0), 0);
	assert_int_equal(digest(trace), hash);
	trace_close(trace);
	world_close(&w);
}

static void every_byte_flipped(void **state)
{
	char why[TRACE_WHY_SIZE];
	struct scratch scratch;
	struct bytes bytes;
	unsigned refused = 0;
	uint64_t hash;
	struct world w;

	(void)state;
	small_trace(&w);
	hash = digest_file(w.path);
	bytes = read_file(w.path);
	scratch_open(&scratch, &bytes);
	for (size_t i = 0; i < bytes.size; i++) {
		unsigned char flipped = bytes.at[i] ^ 0x41;
		struct trace *trace;

		scratch_put(&scratch, i, &flipped, 1);
		trace = trace_open(scratch.path, why);
		if (trace)
			assert_int_equal(digest(trace), hash);
		else
			assert_true(strlen(why) > 20);
		refused += !trace;
		trace_close(trace);
		scratch_put(&scratch, i, &bytes.at[i], 1);
	}
	/* Only the padding between sections says nothing. */
	assert_true(refused + 11 * 7 >= bytes.size);
	close(scratch.fd);
	free(bytes.at);
	world_close(&w);
}

static void every_length(void **state)
{
	char why[TRACE_WHY_SIZE];
	struct scratch scratch;
	struct bytes bytes;
	struct world w;

	(void)state;
	small_trace(&w);
	bytes = read_file(w.path);
	scratch_open(&scratch, &bytes);
	for (size_t size = bytes.size; size-- > 0;) {
		assert_int_equal(ftruncate(scratch.fd, (off_t)size), 0);
		assert_null(trace_open(scratch.path, why));
		assert_true(strlen(why) > 20);
	}
	close(scratch.fd);
	free(bytes.at);
	world_close(&w);
}

/* A word of a section, or of its entry in the directory, and what is then said of the trace. */
struct patch {
	enum trace_section section;
	size_t at;
	uint32_t value;
	const char *why;
};

static void expect_refusal(const struct scratch *scratch, const struct bytes *bytes, size_t at,
                           uint32_t value, const char *what)
{
	unsigned char *copy = malloc(bytes->size);
	char why[TRACE_WHY_SIZE];

	memcpy(copy, bytes->at, bytes->size);
	memcpy(copy + at, &value, sizeof(value));
	seal(copy, bytes->size);
	scratch_put(scratch, 0, copy, bytes->size);
	assert_null(trace_open(scratch->path, why));
	if (!strstr(why, what))
		fail_msg("\"%s\" in place of \"%s\"", why, what);
	free(copy);
}

/* With an entry of everything that is checked. */
static void full_trace(struct world *w)
{
	static const struct named_range ranges[] = {{1, 10, 20, "a"}, {1, 30, 40, "b"}};
	static const struct trace_source sources[] = {{.line = 1}, {.line = 2}};
	static const struct trace_line lines[] = {{1, 10, 1}, {1, 20, 2}};
	static const uint32_t members[] = {0, 1};

	world_open(w, 64 << 10);
	tables_add_event(w->tables);
	tables_add_counter(w->tables);
	tables_add_counter(w->tables);
	tables_add_region(w->tables, &(struct trace_region){0});
	tables_add_comm(w->tables, &(struct trace_comm){0}, members);
	tables_add_comm(w->tables, &(struct trace_comm){.nr_members = 1, .nr_remote = 1}, members);
	tables_add_process(w->tables, &(struct trace_process){0});
	tables_add_instrument(w->tables, &(struct trace_instrument){0});
	put_many(w, 60);
	trace_close(world_named(w, ranges, 2));
	assert_true(add_sections(w->path, sources, 2, lines, 2));
	trace_close(open_good(w->path));
}

#define CHECKED(section, type, field, value, why)                                 \
	{                                                                         \
		TRACE_##section, offsetof(struct trace_##type, field), value, why \
	}
#define SECOND(section, type, field, value, why)                                                   \
	{                                                                                          \
		TRACE_##section,                                                                   \
			sizeof(struct trace_##type) + offsetof(struct trace_##type, field), value, \
			why                                                                        \
	}

static void sections_that_do_not_fit_are_refused(void **state)
{
	static const struct patch patches[] = {
		CHECKED(EVENTS, event, floor, NR_LEVELS + 1, "events make no sense"),
		CHECKED(EVENTS, event, initial_shift, NR_LEVELS, "events make no sense"),
		CHECKED(EVENTS, event, unit, TRACE_CALLS, "events make no sense"),
		{TRACE_STRINGS, 0, 1, "strings make no sense"},
		CHECKED(RUN, run, bin_shift, 8, "impossible size"),
		CHECKED(RUN, run, bin_shift, 25, "impossible size"),
		CHECKED(RUN, run, bin_shift, 11, "not of the size"),
		CHECKED(RUN, run, sub_shift, 7, "impossible size"),
		CHECKED(RUN, run, sub_shift, 10, "impossible size"),
		{TRACE_GRANULES, 0, 2, "bins are out of order"},
		CHECKED(SYMBOLS, symbol, lo, 20, "symbols make no sense"),
		CHECKED(SYMBOLS, symbol, module, 2, "symbols are out of order"),
		CHECKED(SYMBOLS, symbol, hi, 31, "symbols are out of order"),
		CHECKED(COUNTERS, counter, event, 1, "counters of nothing"),
		CHECKED(COUNTERS, counter, unit, TRACE_COUNT + 1, "counters of nothing"),
		SECOND(COUNTERS, counter, event, 1, "counters of nothing"),
		CHECKED(SOURCES, source, caller, 1, "sources are out of order"),
		CHECKED(LINES, line, source, 3, "sources that are missing"),
		CHECKED(LINES, line, module, 2, "lines are out of order"),
		CHECKED(LINES, line, offset, 20, "lines are out of order"),
		SECOND(COMMS, comm, first_member, 1, "members that are missing"),
		SECOND(COMMS, comm, nr_members, 2, "members that are missing"),
		SECOND(COMMS, comm, nr_remote, 2, "members that are missing"),
		SECOND(COMMS, comm, nr_members, UINT32_MAX, "members that are missing"),
		CHECKED(COMMS, comm, nr_members, 1, "members that are missing"), /* another's */
		SECOND(COMMS, comm, parent, 2, "communicators are out of order"),
	};
	static const char *const missing[NR_TRACE_SECTIONS] = {
		[TRACE_RUN] = "what was run",
		[TRACE_STRINGS] = "strings make no sense",
		[TRACE_EVENTS] = "events make no sense",
		[TRACE_STREAMS] = "a table is missing",
		[TRACE_MODULES] = "a table is missing",
		[TRACE_THREADS] = "a table is missing",
		[TRACE_COMMANDS] = "a table is missing",
		[TRACE_REDUCTIONS] = "a table is missing",
		[TRACE_GRANULES] = "a table is missing",
		[TRACE_BINS] = "not of the size",
		[TRACE_SYMBOLS] = "a table is missing",
		[TRACE_SOURCES] = "lines have sources",
		[TRACE_MEMBERS] = "members that are missing",
	};
	static const char *const other_kinds[NR_TRACE_SECTIONS] = {
		[TRACE_SOURCES] = "lines have entries of another kind",
		[TRACE_LINES] = "lines have entries of another kind",
		[TRACE_COUNTERS] = "counters make no sense",
		[TRACE_SOURCE_FILES] = "source files have entries of another kind",
		[TRACE_REGIONS] = "calls has entries of another kind",
		[TRACE_COMMS] = "calls has entries of another kind",
		[TRACE_MEMBERS] = "calls has entries of another kind",
		[TRACE_PROCESSES] = "calls has entries of another kind",
		[TRACE_OWNERS] = "calls has entries of another kind",
		[TRACE_INSTRUMENTS] = "calls has entries of another kind",
		[TRACE_CALL_SUMS] = "calls has entries of another kind",
		[TRACE_OPENMP] = "calls has entries of another kind",
		[TRACE_ACTIONS] = "conditions or gaps have entries of another kind",
		[TRACE_GAPS] = "conditions or gaps have entries of another kind",
		[TRACE_CONDITIONS] = "conditions or gaps have entries of another kind",
		[TRACE_WINDOWS] = "conditions or gaps have entries of another kind",
		[TRACE_ITERATIONS] = "calls has entries of another kind",
		[TRACE_CALL_SITES] = "calls has entries of another kind",
	};
	const struct trace_entry *entries;
	struct scratch scratch;
	struct bytes bytes;
	struct world w;

	(void)state;
	full_trace(&w);
	bytes = read_file(w.path);
	scratch_open(&scratch, &bytes);
	entries = (const void *)(bytes.at + sizeof(struct trace_header));
	for (unsigned i = 0; i < sizeof(patches) / sizeof(*patches); i++)
		expect_refusal(&scratch, &bytes,
		               entries[patches[i].section - 1].offset + patches[i].at,
		               patches[i].value, patches[i].why);
	for (unsigned s = 1; s < NR_TRACE_SECTIONS; s++) {
		size_t at = sizeof(struct trace_header) + (s - 1) * sizeof(*entries);
		const char *other = other_kinds[s] ? other_kinds[s] : missing[s];

		assert_int_equal(entries[s - 1].section, s);
		if (s == TRACE_EVENTS)
			expect_refusal(&scratch, &bytes, at + offsetof(struct trace_entry, size), 0,
			               missing[s]);
		if (missing[s])
			expect_refusal(&scratch, &bytes, at, NR_TRACE_SECTIONS, missing[s]);
		for (unsigned i = 0; i < 2; i++) { /* too small, and odd or not */
			uint32_t size = i ? 8 : 2;

			if (s == TRACE_STRINGS)
				size = (uint32_t)entries[s - 1].size;
			if (s == TRACE_STRINGS || size < entries[s - 1].entry_size)
				expect_refusal(&scratch, &bytes,
				               at + offsetof(struct trace_entry, entry_size), size,
				               other);
		}
		expect_refusal(&scratch, &bytes, at, s == 1 ? 2 : s - 1, "is there twice");
	}
	close(scratch.fd);
	free(bytes.at);
	world_close(&w);
}

/* A run that does not say yet what later ones do, and one that says more than is known here. */
static void sections_of_later_versions_are_left_out(void **state)
{
	struct trace_entry *entries;
	struct scratch scratch;
	struct trace *trace;
	struct bytes bytes;
	struct world w;

	(void)state;
	full_trace(&w);
	bytes = read_file(w.path);
	entries = (void *)(bytes.at + sizeof(struct trace_header));
	entries[TRACE_SOURCES - 1].section = entries[TRACE_LINES - 1].section = NR_TRACE_SECTIONS;
	seal(bytes.at, bytes.size);
	scratch_open(&scratch, &bytes);
	trace = open_good(scratch.path);
	assert_int_equal(trace_nr(trace, TRACE_LINES), 0);
	assert_int_equal(trace_nr(trace, TRACE_SYMBOLS), 2);
	trace_close(trace);
	close(scratch.fd);
	free(bytes.at);
	world_close(&w);
}

/* What is said of a trace with one entry more than this, which are right. */
static const char *one_too_many(enum trace_section section, const void *entries, uint32_t most,
                                uint32_t size)
{
	struct trace *trace, many;
	const char *wrong;
	struct world w;

	world_open(&w, 64 << 10);
	trace = world_written(&w);
	many = *trace;
	many.sections[section] = (struct section){entries, most, size, true};
	assert_null(trace_check(&many));
	many.sections[section].nr++;
	wrong = trace_check(&many);
	trace_close(trace);
	world_close(&w);
	return wrong;
}

/* Nor is what is behind the strings one of them. */
static void strings_have_an_end(void **state)
{
	struct trace *trace, cut;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	trace = world_written(&w);
	cut = *trace;
	cut.sections[TRACE_STRINGS].nr = 1;
	assert_string_not_equal(trace_string(trace, 1), "");
	assert_string_equal(trace_string(&cut, 1), "");
	trace_close(trace);
	world_close(&w);
}

/* No recorder has more, and what looks for one of them looks at all. */
static void commands_have_an_end(void **state)
{
	static const struct trace_command commands[TRACE_MAX_COMMANDS + 1];

	(void)state;
	assert_string_equal(
		one_too_many(TRACE_COMMANDS, commands, TRACE_MAX_COMMANDS, sizeof(*commands)),
		"it has more commands than are recorded");
}

/* A record counts the event and them. */
static void counters_have_an_end(void **state)
{
	static const struct trace_counter counters[COUNTER_MAX];

	(void)state;
	assert_non_null(one_too_many(TRACE_COUNTERS, counters, COUNTER_MAX - 1, sizeof(*counters)));
}

/* Where it has room to grow. */
static void move_run_to_end(struct bytes *bytes, uint32_t more)
{
	struct trace_header *header = (void *)bytes->at;
	struct trace_entry *run = (void *)(header + 1);

	memcpy(bytes->at + bytes->size, bytes->at + run->offset, run->size);
	memset(bytes->at + bytes->size + run->size, 0, more);
	run->offset = bytes->size;
	run->entry_size += more;
	run->size = run->entry_size;
	bytes->size += run->size;
	header->size = bytes->size;
}

static void runs_of_other_sizes_are_read(void **state)
{
	char why[TRACE_WHY_SIZE];
	struct trace_entry *entries;
	struct scratch scratch;
	struct bytes bytes;
	struct trace *trace;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	tables_run(w.tables)->unobserved = 3;
	tables_run(w.tables)->delay = 5;
	trace = world_written(&w);
	assert_int_equal(trace_run(trace)->delay, 5);
	trace_close(trace);
	bytes = read_file(w.path);
	entries = (void *)(bytes.at + sizeof(struct trace_header));
	assert_int_equal(entries[0].section, TRACE_RUN);
	move_run_to_end(&bytes, 64);
	seal(bytes.at, bytes.size);
	scratch_open(&scratch, &bytes);
	trace = open_good(scratch.path);
	assert_int_equal(trace_run(trace)->delay, 5);
	trace_close(trace);
	entries[0].size = entries[0].entry_size = TRACE_RUN_LEAST;
	seal(bytes.at, bytes.size);
	scratch_put(&scratch, 0, bytes.at, bytes.size);
	trace = open_good(scratch.path);
	assert_int_equal(trace_run(trace)->unobserved, 3);
	assert_int_equal(trace_run(trace)->delay, 0);
	trace_close(trace);
	entries[0].size = entries[0].entry_size = TRACE_RUN_LEAST - 8;
	seal(bytes.at, bytes.size);
	scratch_put(&scratch, 0, bytes.at, bytes.size);
	assert_null(trace_open(scratch.path, why));
	assert_non_null(strstr(why, "does not say what was run"));
	close(scratch.fd);
	free(bytes.at);
	world_close(&w);
}

static void other_files_are_named(void **state)
{
	char why[TRACE_WHY_SIZE];
	struct trace_header *header;
	struct scratch scratch;
	struct bytes bytes;
	struct world w;

	(void)state;
	small_trace(&w);
	bytes = read_file(w.path);
	header = (void *)bytes.at;
	header->version = TRACE_VERSION + 1;
	scratch_open(&scratch, &bytes);
	assert_null(trace_open(scratch.path, why));
	assert_non_null(strstr(why, "newer adaptrace (format 12, this one knows up to 11)"));
	header->version = 1;
	scratch_put(&scratch, 0, bytes.at, sizeof(*header));
	assert_null(trace_open(scratch.path, why));
	assert_non_null(strstr(why, "older adaptrace (format 1, this one reads 11)"));
	header->version = TRACE_VERSION;
	header->size--;
	scratch_put(&scratch, 0, bytes.at, sizeof(*header));
	assert_null(trace_open(scratch.path, why));
	assert_non_null(strstr(why, "damaged: 1 bytes too many"));
	/* Its first bytes, which say that there are no more: the directory's end is missing. */
	header->size = sizeof(*header) + header->nr_sections * sizeof(struct trace_entry) - 8;
	scratch_put(&scratch, 0, bytes.at, sizeof(*header));
	assert_int_equal(ftruncate(scratch.fd, (off_t)header->size), 0);
	assert_null(trace_open(scratch.path, why));
	assert_non_null(strstr(why, "its directory makes no sense"));
	assert_null(trace_open(w.folder, why));
	assert_non_null(strstr(why, "it is a folder; adaptrace merge joins"));
	assert_null(trace_open("/dev/null", why));
	assert_non_null(strstr(why, "not a regular file"));
	assert_null(trace_open("/none/such", why));
	assert_string_equal(why, "cannot read '/none/such': No such file or directory; record a "
	                         "trace first: adaptrace record COMMAND");
	assert_null(trace_open("/dev/null/such", why));
	assert_string_equal(why, "cannot read '/dev/null/such': Not a directory");
	assert_null(trace_open("/proc/self/status", why));
	assert_non_null(strstr(why, "empty"));
	scratch_put(&scratch, 0, "PERFILE2", 8);
	assert_null(trace_open(scratch.path, why));
	assert_non_null(strstr(why, "not a trace of adaptrace"));
	close(scratch.fd);
	free(bytes.at);
	world_close(&w);
}

/* --- files that lie --------------------------------------------------------------------------- */

static void mutate(struct world *w, struct bytes bytes)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	size_t nr = 1 + rnd(w, 8), head = sizeof(struct trace_header);

	for (size_t i = 0; i < nr; i++) {
		size_t at = head + rnd(w, bytes.size - head);

		if (rnd(w, 2))
			bytes.at[at] = (unsigned char)rnd(w, 256);
		else
			bytes.at[at] = values[rnd(w, sizeof(values))];
	}
	seal(bytes.at, bytes.size);
}

/* The checksums are right and the rest is anything. */
static void lies_do_no_harm(void **state)
{
	char why[TRACE_WHY_SIZE];
	struct scratch scratch;
	struct bytes good, bad;
	unsigned opened = 0;
	struct world w;

	(void)state;
	small_trace(&w);
	good = read_file(w.path);
	bad = read_file(w.path);
	scratch_open(&scratch, &good);
	for (unsigned i = 0; i < ROUNDS(4000); i++) {
		struct trace *trace;

		memcpy(bad.at, good.at, good.size);
		mutate(&w, bad);
		scratch_put(&scratch, 0, bad.at, bad.size);
		trace = trace_open(scratch.path, why);
		if (trace)
			digest(trace);
		opened += trace != NULL;
		trace_close(trace);
	}
	assert_true(opened > ROUNDS(1000));
	close(scratch.fd);
	free(good.at);
	free(bad.at);
	world_close(&w);
}

/* Nodes that are their own callers: a stack ends all the same. */
static void endless_stacks_end(void **state)
{
	struct world w;
	struct trace *trace;
	struct trace_walk *walk;
	struct trace_sample sample;
	uint64_t frames[2];
	size_t deepest = 0;

	(void)state;
	world_open(&w, 64 << 10);
	put_many(&w, 60);
	for (unsigned l = 0; l < NR_LEVELS; l++) {
		struct bin *bin = w.hmb->kinds[0].levels[l].open;

		for (uint32_t n = 0; bin && n < bin->node_bytes; n += sizeof(struct node)) {
			unsigned char *at =
				(unsigned char *)bin + bin_size(bin) - n - sizeof(struct node);

			((struct node *)(void *)at)->parent =
				(uint32_t)((size_t)(at - w.hmb->arena.memory) / NODE_UNIT);
		}
	}
	trace = world_written(&w);
	walk = trace_walk_new(trace, 0);
	while (trace_walk_next(walk, &sample) == 1) {
		size_t depth = trace_stack(trace, &sample, frames, 2);

		if (depth > deepest)
			deepest = depth;
	}
	assert_int_equal(deepest, TRACE_MAX_STACK);
	trace_walk_free(walk);
	trace_close(trace);
	world_close(&w);
}

/* Beyond, numbers of nodes begin again, and readers have arrays of what they know of nodes. */
static void an_arena_ends_where_numbers_of_nodes_do(void **state)
{
	const uint32_t nr = (uint32_t)(ARENA_MAX_SIZE >> 24);
	uint32_t *granules = calloc(nr + 1UL, sizeof(*granules));
	struct trace *trace, huge;
	struct world w;

	(void)state;
	world_open(&w, 64 << 10);
	trace = world_written(&w);
	huge = *trace;
	huge.run.bin_shift = 24;
	huge.sections[TRACE_GRANULES].at = (const void *)granules;
	huge.sections[TRACE_BINS].entry_size = 1 << 24;
	for (uint32_t i = 0; i <= nr; i++)
		granules[i] = i + 1;
	for (uint32_t beyond = 0; beyond < 2; beyond++) {
		huge.sections[TRACE_GRANULES].nr = huge.sections[TRACE_BINS].nr = nr + beyond;
		if (beyond)
			assert_non_null(trace_check(&huge));
		else
			assert_null(trace_check(&huge));
	}
	huge.sections[TRACE_BINS].nr = nr;
	huge.bin_shift = 24;
	assert_true(trace_node_limit(&huge) == 1ULL << 32);
	free(granules);
	trace_close(trace);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_run),
		cmocka_unit_test(a_short_run),
		cmocka_unit_test(a_run_with_reductions),
		cmocka_unit_test(only_nodes_are_nodes),
		cmocka_unit_test(weights_are_the_periods_of_the_cpus),
		cmocka_unit_test(the_page_is_right),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(events_are_found),
		cmocka_unit_test(an_older_trace_is_kept),
		cmocka_unit_test(failures_leave_no_trace),
		cmocka_unit_test(torn_bins_are_repaired),
		cmocka_unit_test(damaged_buffers_make_good_traces),
		cmocka_unit_test(every_byte_flipped),
		cmocka_unit_test(every_length),
		cmocka_unit_test(other_files_are_named),
		cmocka_unit_test(lies_do_no_harm),
		cmocka_unit_test(endless_stacks_end),
		cmocka_unit_test(sections_that_do_not_fit_are_refused),
		cmocka_unit_test(an_arena_ends_where_numbers_of_nodes_do),
		cmocka_unit_test(sections_of_later_versions_are_left_out),
		cmocka_unit_test(strings_have_an_end),
		cmocka_unit_test(commands_have_an_end),
		cmocka_unit_test(counters_have_an_end),
		cmocka_unit_test(runs_of_other_sizes_are_read),
		cmocka_unit_test(what_others_write_is_not_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
