#include "trace/write/trace_write.h"
#include "trace/write/live_bins.h"
#include "trace/write/region_names.h"
#include "trace/write/trace_symbols.h"
#include "base/frame.h"
#include "base/new_file.h"
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xxhash.h>

#define NR_SECTIONS (NR_TRACE_SECTIONS - 1)
#define ALIGNMENT   8

/* Everything that goes into the file, in place or as copies with what the end of a run adds. */
struct writer {
	struct tables *tables;
	struct live_bins live;
	struct trace_names names;
	struct trace_region *regions; /* NULL: those of the tables */
	struct trace_run run;
	struct trace_event events[TABLES_MAX_EVENTS];
	struct trace_window windows[TABLES_MAX_WINDOWS];
	struct hmb_reduction reductions[HMB_MAX_REDUCTIONS];
	uint32_t nr_reductions;
	struct {
		struct trace_header header;
		struct trace_entry directory[NR_SECTIONS];
	} head;
};

/* --- what the end of a run adds --------------------------------------------------------------- */

static void complete_events(struct writer *writer)
{
	struct live_table events = tables_section(writer->tables, TRACE_EVENTS);
	const struct hmb_ledger *ledger = writer->live.ledger;

	memcpy(writer->events, events.entries, events.nr * sizeof(*writer->events));
	for (unsigned k = 0; k < events.nr && k < ledger->nr_kinds; k++) {
		writer->events[k].floor = ledger->floor[k];
		writer->events[k].taken = ledger->taken[k];
		writer->events[k].stored = writer->live.stored[k];
		/* A recorder killed in the middle of a sample had not counted it yet. */
		if (writer->events[k].taken < writer->events[k].stored)
			writer->events[k].taken = writer->events[k].stored;
	}
}

static void complete_windows(struct writer *writer)
{
	const uint32_t nr = tables_windows(writer->tables, writer->windows);

	for (uint32_t i = 0; i < nr; i++) {
		struct trace_window *window = &writer->windows[i];

		if (!window->number)
			continue;
		window->stored = writer->live.stored[window->kind];
		if (window->taken < window->stored)
			window->taken = window->stored;
	}
}

static void complete_run(struct writer *writer)
{
	const struct live_bins *live = &writer->live;
	struct trace_run *run = &writer->run;

	*run = *tables_run(writer->tables);
	run->bin_shift = live->arena.bin_shift;
	run->sub_shift = live->arena.sub_shift;
	run->budget = tables_limit(writer->tables);
	run->malformed += live->cut;
	run->refused_strings += writer->names.refused;
	/* A recorder that was killed or is still running has not set these. */
	if (!run->used)
		run->used = (uint64_t)live->nr << live->arena.bin_shift;
	if (!run->contexts)
		run->contexts = live->node_bytes;
	if (run->end < run->start)
		run->end = run->start;
	if (run->end < live->last_time)
		run->end = live->last_time;
}

/* --- sections --------------------------------------------------------------------------------- */

/*
 * Returns the part of a section that is in memory in one piece. STRINGS have a second one; BINS
 * come from live_bins_each().
 */
static struct live_table section_table(const struct writer *writer, enum trace_section section)
{
	const struct live_bins *live = &writer->live;
	struct live_table table = tables_section(writer->tables, section);

	switch (section) {
	case TRACE_RUN:
		return (struct live_table){&writer->run, 1, sizeof(writer->run)};
	case TRACE_EVENTS:
		table.entries = writer->events;
		return table;
	case TRACE_REGIONS:
		if (writer->regions)
			table.entries = writer->regions;
		return table;
	case TRACE_WINDOWS:
		table.entries = writer->windows;
		return table;
	case TRACE_REDUCTIONS:
		return (struct live_table){writer->reductions, writer->nr_reductions,
		                           sizeof(struct trace_reduction)};
	case TRACE_GRANULES:
		return (struct live_table){live->granules, live->arena.nr_bins, sizeof(uint32_t)};
	case TRACE_BINS:
		return (struct live_table){NULL, live->nr, (size_t)1 << live->arena.bin_shift};
	case TRACE_SYMBOLS:
		return (struct live_table){writer->names.symbols, writer->names.nr,
		                           sizeof(struct trace_symbol)};
	case TRACE_SOURCES:
		return (struct live_table){writer->names.lines.sources,
		                           writer->names.lines.nr_sources,
		                           sizeof(struct trace_source)};
	case TRACE_LINES:
		return (struct live_table){writer->names.lines.lines, writer->names.lines.nr_lines,
		                           sizeof(struct trace_line)};
	case TRACE_SOURCE_FILES:
		return (struct live_table){writer->names.files.files, writer->names.files.nr,
		                           sizeof(struct trace_source_file)};
	default:
		return table;
	}
}

static int section_each(const struct writer *writer, enum trace_section section, live_bins_fn *fn,
                        void *arg)
{
	const struct string_pool *names = &writer->names.strings;
	struct live_table table = section_table(writer, section);
	int err = 0;

	if (section == TRACE_BINS)
		return live_bins_each(&writer->live, fn, arg);
	if (table.nr)
		err = fn(arg, table.entries, table.nr * table.entry_size);
	if (!err && section == TRACE_STRINGS && names->size)
		err = fn(arg, names->memory, names->size);
	return err;
}

static int section_hash(void *arg, const void *bytes, size_t size)
{
	return XXH3_64bits_update(arg, bytes, size) == XXH_OK ? 0 : -EINVAL;
}

static int section_describe(struct writer *writer, enum trace_section section, uint64_t offset,
                            XXH3_state_t *hash)
{
	struct trace_entry *entry = &writer->head.directory[section - 1];
	struct live_table table = section_table(writer, section);
	int err;

	XXH3_64bits_reset(hash);
	err = section_each(writer, section, section_hash, hash);
	*entry = (struct trace_entry){
		.section = section,
		.entry_size = table.entry_size ? (uint32_t)table.entry_size : 1,
		.offset = offset,
		.size = table.nr * table.entry_size,
		.checksum = XXH3_64bits_digest(hash),
	};
	if (section == TRACE_STRINGS)
		entry->size += writer->names.strings.size;
	return err;
}

static uint64_t align(uint64_t offset)
{
	return (offset + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
}

static int describe(struct writer *writer)
{
	XXH3_state_t *hash = XXH3_createState();
	struct trace_header *header = &writer->head.header;
	uint64_t offset = sizeof(writer->head);
	int err = hash ? 0 : -ENOMEM;

	for (unsigned s = 1; s <= NR_SECTIONS && !err; s++) {
		err = section_describe(writer, s, offset, hash);
		offset = align(offset + writer->head.directory[s - 1].size);
	}
	XXH3_freeState(hash);
	*header = (struct trace_header){
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.nr_sections = NR_SECTIONS,
		.size = offset,
	};
	header->checksum = XXH3_64bits(&writer->head, sizeof(writer->head));
	return err;
}

/* --- the file --------------------------------------------------------------------------------- */

static int file_put(void *arg, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, arg) == size ? 0 : errno ? -errno : -EIO;
}

static int write_sections(const struct writer *writer, live_bins_fn *put, void *arg)
{
	static const char zeros[ALIGNMENT];
	int err = put(arg, &writer->head, sizeof(writer->head));

	for (unsigned s = 1; s <= NR_SECTIONS && !err; s++) {
		uint64_t size = writer->head.directory[s - 1].size;

		err = section_each(writer, s, put, arg);
		if (!err)
			err = put(arg, zeros, align(size) - size);
	}
	return err;
}

/* Checks the written file. Output to a pipe cannot be read again, so it is not checked. */
static int file_check(const struct new_file *file)
{
	int err = new_file_flush(file->file);
	char why[TRACE_WHY_SIZE], *name;
	struct trace *trace;

	if (err || !new_file_has_temporary(file))
		return err;
	name = new_file_present_name(file);
	if (!name)
		return -ENOMEM;
	trace = trace_open(name, why);
	free(name);
	if (!trace)
		return -EBADMSG;
	trace_close(trace);
	return 0;
}

/* Calling sites get names like the frames of samples. */
static void add_sites(struct writer *writer)
{
	struct live_table table = tables_section(writer->tables, TRACE_CALL_SITES);
	const struct trace_call_site *sites = table.entries;

	for (size_t i = 0; i < table.nr; i++)
		if (sites[i].module && sites[i].module < FRAME_MAX_MODULES)
			frame_set_add(writer->live.frames,
			              frame_make((uint16_t)sites[i].module, sites[i].offset));
}

/* Collects the contents of the tables, with names from provider. Returns 0 or -errno. */
static int writer_init(struct writer *writer, struct tables *tables,
                       const struct name_provider *provider)
{
	int err;

	writer->tables = tables;
	tables_drop_lease(tables);
	err = live_bins_init(&writer->live, tables_arena(tables), tables_budget(tables),
	                     tables_ledger(tables));
	if (err)
		return err;
	region_names_add_frames(writer->live.frames, tables);
	add_sites(writer);
	err = frame_set_finish(writer->live.frames);
	if (!err)
		err = trace_names_init(&writer->names, provider, writer->live.frames,
		                       (uint32_t)tables_section(tables, TRACE_STRINGS).nr);
	if (!err)
		err = region_names_init(&writer->regions, &writer->names, tables);
	if (err)
		return err;
	complete_events(writer);
	complete_windows(writer);
	writer->nr_reductions = hmb_reductions(tables_ledger(tables), writer->reductions);
	complete_run(writer);
	return describe(writer);
}

static void writer_free(struct writer *writer)
{
	trace_names_fini(&writer->names);
	live_bins_fini(&writer->live);
	free(writer->regions);
	free(writer);
}

static int write_trace(const struct new_file_wish *wish, struct tables *tables,
                       const struct name_provider *provider, bool checked, uint64_t *bytes)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	struct new_file file = {0};
	int err;

	if (!writer)
		return -ENOMEM;
	/* First of all: a folder that cannot be written to is known before the work is done. */
	err = new_file_open_as(&file, wish);
	if (err)
		goto out;
	err = writer_init(writer, tables, provider);
	if (!err)
		err = write_sections(writer, file_put, file.file);
	if (!err && checked)
		err = file_check(&file);
	err = new_file_close(&file, err);
	if (!err && bytes)
		*bytes = writer->head.header.size;
out:
	writer_free(writer);
	return err;
}

/* --- without a file --------------------------------------------------------------------------- */

static int memory_put(void *arg, const void *bytes, size_t size)
{
	unsigned char **at = arg;

	memcpy(*at, bytes, size);
	*at += size;
	return 0;
}

/* Returns mapped memory, which trace_close() unmaps, or NULL with errno. */
static void *copy_sections(const struct writer *writer)
{
	void *memory = mmap(NULL, writer->head.header.size, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *at = memory;
	int err = memory == MAP_FAILED ? -errno : write_sections(writer, memory_put, &at);

	if (!err)
		return memory;
	if (memory != MAP_FAILED)
		munmap(memory, writer->head.header.size);
	errno = -err;
	return NULL;
}

struct trace *trace_open_tables(struct tables *tables, const struct name_provider *provider,
                                char why[TRACE_WHY_SIZE])
{
	struct writer *writer = calloc(1, sizeof(*writer));
	int err = writer ? writer_init(writer, tables, provider) : -ENOMEM;
	void *memory = err ? NULL : copy_sections(writer);
	struct trace *trace = NULL;

	if (memory)
		trace = trace_open_memory(memory, writer->head.header.size, "the recording", why);
	else
		snprintf(why, TRACE_WHY_SIZE, "cannot read the recording: %s",
		         strerror(err ? -err : errno));
	if (writer)
		writer_free(writer);
	return trace;
}

int trace_write_named(const char *path, struct tables *tables, const struct name_provider *provider,
                      uint64_t *bytes)
{
	const struct new_file_wish wish = {.path = path};

	return write_trace(&wish, tables, provider, false, bytes);
}

/* --- names of a run that just ended ----------------------------------------------------------- */

struct live_names {
	struct tables *tables;
	struct module_table *modules;
	struct symbolizer *symbolizer;
	struct symbolizer_stats told; /* of it so far */
};

uint32_t trace_unseen(const struct symbolizer_stats *stats)
{
	return (stats->kernel_hidden ? TRACE_RUN_KERNEL_HIDDEN : 0) |
	       (stats->split_missing ? TRACE_RUN_SPLIT_MISSING : 0) |
	       (stats->lines_packed ? TRACE_RUN_LINES_PACKED : 0) |
	       (stats->lines_refused ? TRACE_RUN_LINES_REFUSED : 0);
}

/* Adds the symbolizer's failures to the run, which is written after the names. */
static int live_module(void *arg, uint16_t id, const uint32_t *offsets, size_t n, symbol_fn *fn,
                       void *fn_arg)
{
	struct live_names *live = arg;
	struct module *module = module_table_get(live->modules, id);
	const struct trace_module *entry = tables_module(live->tables, id);
	struct symbolizer_stats stats;
	int err;

	if (!module || (entry && entry->flags & TRACE_MODULE_UNSEEN))
		return 0;
	err = symbolizer_module(live->symbolizer, module, offsets, n, fn, fn_arg);
	symbolizer_stats(live->symbolizer, &stats);
	tables_run(live->tables)->flags |= trace_unseen(&stats);
	tables_run(live->tables)->refused_strings += stats.refused - live->told.refused;
	tables_run(live->tables)->unanswered_files += stats.unanswered - live->told.unanswered;
	live->told = stats;
	return err;
}

static int live_identify(void *arg, const char *const *paths, size_t n, source_identity_fn *fn,
                         void *fn_arg)
{
	const struct live_names *live = arg;

	return symbolizer_source_files(live->symbolizer, paths, n, fn, fn_arg);
}

static int write_run(const struct new_file_wish *wish, struct tables *tables,
                     struct module_table *modules, struct symbolizer *symbolizer, bool checked,
                     uint64_t *bytes)
{
	struct live_names live = {tables, modules, symbolizer, {0}};
	const struct name_provider provider = {live_module, &live, live_identify, NULL};

	if (modules)
		tables_run(tables)->refused_modules = module_table_refused(modules);
	return write_trace(wish, tables, modules && symbolizer ? &provider : NULL, checked, bytes);
}

int trace_write(const char *path, struct tables *tables, struct module_table *modules,
                struct symbolizer *symbolizer, uint64_t *bytes)
{
	const struct new_file_wish wish = {.path = path};

	return write_run(&wish, tables, modules, symbolizer, false, bytes);
}

int trace_write_as(const struct new_file_wish *wish, struct tables *tables,
                   struct module_table *modules, struct symbolizer *symbolizer, uint64_t *bytes)
{
	return write_run(wish, tables, modules, symbolizer, false, bytes);
}

int trace_write_checked(const char *path, struct tables *tables, struct module_table *modules,
                        struct symbolizer *symbolizer, uint64_t *bytes)
{
	const struct new_file_wish wish = {.path = path};

	return write_run(&wish, tables, modules, symbolizer, true, bytes);
}
