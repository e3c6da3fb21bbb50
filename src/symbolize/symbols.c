#include "symbolize/symbols.h"
#include "symbolize/elf/elf_symbols.h"
#include "symbolize/jit/jitdump.h"
#include "symbolize/modules/jitdump_files.h"
#include "symbolize/modules/kernel_code.h"
#include "symbolize/modules/target_file.h"
#include "symbolize/kernel_symbols.h"
#include "symbolize/elf/language_names.h"
#include "symbolize/dwarf/lines.h"
#include "symbolize/jit/perf_map.h"
#include "symbolize/elf/readable.h"
#include "symbolize/symbols_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Bounds the bytes that are read of perf maps and jitdumps: they are read again for each 4 GiB of
 * addresses with such code, and a process may have thousands of these.
 */
#define MAX_MAPS    ((uint64_t)4 << 30)
#define MAX_SOURCES ((size_t)64 << 20) /* bytes of source files that are read */

struct symbolizer {
	struct module_table *modules;
	struct symbolizer_counts counts;
	size_t sources_left;    /* of MAX_SOURCES */
	symbolizer_ask_fn *ask; /* NULL: all files */
	void *ask_arg;
	struct symbols_aside *aside; /* or NULL */
	bool no_lines;
	const char *shown; /* the raw name that the texts were made of */
	bool shown_plt;
	unsigned shown_languages;
	unsigned languages; /* of which the name at hand may be */
	struct source sources[LINES_MAX_CHAIN];
	char linkage[DEMANGLED_MAX];
	char text[DEMANGLED_MAX + 64];
};

/* One module's question: offsets in, symbols out. */
struct query {
	struct symbolizer *symbolizer;
	enum module_type type;
	const uint32_t *offsets;
	size_t n;
	symbol_fn *fn;
	void *arg;
};

struct symbolizer *symbolizer_new(struct module_table *modules)
{
	struct symbolizer *symbolizer = calloc(1, sizeof(*symbolizer));

	if (!symbolizer)
		return NULL;
	symbolizer->modules = modules;
	symbolizer->counts.maps_left = MAX_MAPS;
	symbolizer->sources_left = MAX_SOURCES;
	return symbolizer;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (symbolizer)
		symbols_aside_free(symbolizer->aside);
	free(symbolizer);
}

void symbolizer_ask(struct symbolizer *symbolizer, symbolizer_ask_fn *ask, void *arg)
{
	symbolizer->ask = ask;
	symbolizer->ask_arg = arg;
}

void symbolizer_leave_lines(struct symbolizer *symbolizer)
{
	symbolizer->no_lines = true;
}

int symbolizer_read_aside(struct symbolizer *symbolizer, symbolizer_go_on_fn *go_on, void *arg)
{
	symbolizer->aside = symbols_aside_new(go_on, arg);
	return symbolizer->aside ? 0 : -ENOMEM;
}

struct module_table *symbolizer_modules(const struct symbolizer *symbolizer)
{
	return symbolizer->modules;
}

struct symbolizer_counts *symbolizer_counts(struct symbolizer *symbolizer)
{
	return &symbolizer->counts;
}

void symbolizer_stats(const struct symbolizer *symbolizer, struct symbolizer_stats *stats)
{
	*stats = symbolizer->counts.stats;
}

/* -- names ------------------------------------------------------------------------------------- */

/* Where the name proper ends: before @@GLIBC_2.34 in a file, before " [nf_tables]" in the kernel.
 */
static size_t base_size(const char *name, enum module_type type)
{
	const bool in_file = type == MODULE_FILE || type == MODULE_VDSO;
	const char end = type == MODULE_KERNEL ? ' ' : in_file && *name != '?' ? '@' : '\0';
	const size_t size = strnlen(name, DEMANGLED_MAX);
	const char *at = memchr(name, end, size);

	return at && at > name ? (size_t)(at - name) : size;
}

/* Makes the texts for a raw name, unless they are still there from the offset before. */
static void name_show(struct symbolizer *symbolizer, enum module_type type, const char *name,
                      bool plt)
{
	size_t size = base_size(name, type);
	const char *suffix = plt ? "@plt" : type == MODULE_KERNEL ? name + size : "";
	char *linkage = symbolizer->linkage, *text = symbolizer->text;

	if (symbolizer->shown == name && symbolizer->shown_plt == plt &&
	    symbolizer->shown_languages == symbolizer->languages)
		return;
	symbolizer->shown = name;
	symbolizer->shown_plt = plt;
	symbolizer->shown_languages = symbolizer->languages;
	if (size > DEMANGLED_MAX - 64)
		size = DEMANGLED_MAX - 64;
	memcpy(linkage, name, size);
	linkage[size] = '\0';
	name_readable_in(linkage, symbolizer->languages, text);
	strncat(text, suffix, 63);
}

static int query_tell(const struct query *query, uint32_t offset, const struct symbol *raw,
                      bool plt)
{
	struct symbolizer *symbolizer = query->symbolizer;
	struct symbol symbol = *raw;

	if (raw->name) {
		name_show(symbolizer, query->type, raw->name, plt);
		symbol.name = symbolizer->text;
	}
	return query->fn(query->arg, offset, &symbol);
}

/* -- files ------------------------------------------------------------------------------------- */

struct elf_names {
	struct elf_image image;
	struct symbol_table symbols, frames;
	bool have_frames;    /* read when the first offset needs them */
	struct lines *lines; /* or NULL */
};

/* The first name tells that is of one language alone. */
static unsigned languages_of(const struct symbol_table *table)
{
	unsigned languages = 0;

	for (size_t i = 0; i < table->nr && !languages; i++)
		if (table->symbols[i].name)
			languages = language_of(table->symbols[i].name);
	return languages;
}

static int elf_names_read(struct elf_names *names)
{
	Elf *const files[] = {names->image.main, names->image.debug, names->image.mini};
	bool complete = names->image.main && elf_has_symtab(names->image.main);
	size_t i;
	int err = 0;

	/* A debug file has the same symbols again. */
	for (i = 0; i < (complete ? 1 : sizeof(files) / sizeof(*files)) && !err; i++)
		if (files[i])
			err = elf_symbols_add(&names->symbols, files[i], names->image.module->area);
	if (!err && names->image.main && !complete)
		err = go_symbols_add(&names->symbols, names->image.main, names->image.module->area);
	if (!err && names->image.main)
		err = plt_symbols_add(&names->symbols, names->image.main,
		                      names->image.module->area);
	if (!err) {
		symbol_table_seal(&names->symbols);
		names->symbols.languages = languages_of(&names->symbols);
	}
	return err;
}

static int frames_read(struct elf_names *names)
{
	int err = 0;

	if (!names->have_frames && names->image.main)
		err = frame_bounds_add(&names->frames, names->image.main,
		                       names->image.module->area);
	names->have_frames = true;
	if (!err)
		symbol_table_seal(&names->frames);
	return err;
}

/*
 * A symbol of known size is the answer. One without (assembler) ends where call frame information
 * says that another function begins.
 */
static bool elf_choose(const struct table_symbol *symbol, const struct table_symbol *frame,
                       struct symbol *chosen)
{
	const struct table_symbol *best = symbol;

	if (!symbol || (frame && frame->lo > symbol->lo))
		best = frame;
	if (!best)
		return false;
	*chosen = (struct symbol){.lo = best->lo, .hi = best->hi, .name = best->name};
	if (best == symbol && frame && frame->hi < chosen->hi)
		chosen->hi = frame->hi;
	return true;
}

/* Adds the lines, and the name where debug information knows it better. */
static void sources_add(struct elf_names *names, struct source *sources, size_t index,
                        struct symbol *symbol)
{
	const char *name;

	if (!names->lines)
		return;
	symbol->nr_sources = lines_chain(names->lines, index, sources);
	symbol->sources = sources;
	name = symbol->nr_sources ? sources[symbol->nr_sources - 1].function : NULL;
	if (name && (!symbol->name || name_is_of(symbol->name, name)))
		symbol->name = name;
}

static bool chosen_is_c(const struct symbol *symbol)
{
	return symbol->nr_sources && symbol->sources[symbol->nr_sources - 1].is_c;
}

static int elf_names_tell(struct elf_names *names, const struct query *query)
{
	struct symbol_sweep symbols = {.table = &names->symbols},
			    frames = {.table = &names->frames};
	const struct table_symbol *symbol, *frame;
	struct symbol chosen;
	int err = 0;
	size_t i;

	for (i = 0; i < query->n && !err; i++) {
		symbol = symbol_sweep_to(&symbols, query->offsets[i]);
		frame = NULL;
		if (!symbol || !(symbol->rank & SYMBOL_SIZED)) {
			if (!names->have_frames)
				err = frames_read(names);
			frame = err ? NULL : symbol_sweep_to(&frames, query->offsets[i]);
		}
		if (err || !elf_choose(symbol, frame, &chosen))
			continue;
		sources_add(names, query->symbolizer->sources, i, &chosen);
		query->symbolizer->languages = chosen_is_c(&chosen) ? 0 : names->symbols.languages;
		err = query_tell(query, query->offsets[i], &chosen, symbol && symbol->plt);
	}
	return err;
}

static void count_lineless(struct symbolizer_stats *stats, int err)
{
	if (err == EOPNOTSUPP)
		stats->lines_packed++;
	else if (err != ENODATA)
		stats->lines_refused++;
}

static void read_lines(struct elf_names *names, const struct query *query)
{
	struct symbolizer_stats *stats = &query->symbolizer->counts.stats;

	names->lines = lines_new(&names->image, &names->symbols, query->offsets, query->n);
	if (names->lines)
		stats->split_missing += lines_split_missing(names->lines);
	else
		count_lineless(stats, errno);
}

static int query_elf(const struct query *query, struct module *module)
{
	struct symbolizer *symbolizer = query->symbolizer;
	struct elf_names names = {0};
	int err;

	if (elf_image_open(&names.image, symbolizer->modules, module))
		return 0;
	err = elf_names_read(&names);
	if (!err) {
		if (!symbolizer->no_lines)
			read_lines(&names, query);
		err = elf_names_tell(&names, query);
	}
	lines_free(names.lines);
	symbol_table_fini(&names.symbols);
	symbol_table_fini(&names.frames);
	elf_image_close(&names.image);
	return err;
}

/* -- code without a file ----------------------------------------------------------------------- */

static int sweep_tell(struct symbol_table *table, const struct query *query)
{
	struct symbol_sweep sweep = {.table = table};
	const struct table_symbol *found;
	struct symbol symbol = {0};
	int err = 0;
	size_t i;

	for (i = 0; i < query->n && !err; i++) {
		found = symbol_sweep_to(&sweep, query->offsets[i]);
		if (!found)
			continue;
		symbol = (struct symbol){.lo = found->lo, .hi = found->hi, .name = found->name};
		err = query_tell(query, query->offsets[i], &symbol, false);
	}
	return err;
}

/* A piece that came or went is one function, of which no more is known than was sampled. */
static int query_piece(const struct query *query, const struct module *module)
{
	const struct symbol symbol = {
		.lo = query->offsets[0],
		.hi = query->offsets[query->n - 1] + 1,
		.name = module->path,
	};
	int err = 0;

	for (size_t i = 0; i < query->n && !err; i++)
		err = query_tell(query, query->offsets[i], &symbol, false);
	return err;
}

/* Adds kernel code that has gone and whose load was not recorded. */
static int add_earlier(struct symbol_table *table, const struct kernel_code *code, uint64_t area)
{
	struct table_symbol symbol = {.rank = SYMBOL_SIZED | SYMBOL_FUNCTION | SYMBOL_GLOBAL};
	int err = 0;

	for (size_t i = 0; i < code->nr_earlier && !err; i++) {
		const struct kernel_piece *piece = &code->earlier[i];

		symbol.name = piece->name;
		if (frame_area(area, piece->start, piece->end, &symbol.lo, &symbol.hi))
			err = symbol_table_add(table, &symbol);
	}
	return err;
}

static int query_kernel(const struct query *query, const struct module *module)
{
	struct symbolizer_stats *stats = &query->symbolizer->counts.stats;
	struct kernel_symbols kernel = {(uint32_t)module->area, query->offsets, query->n};
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC), err;

	if (fd < 0) {
		stats->kernel_hidden = true;
		return 0;
	}
	err = kernel_symbols_read(&kernel, fd);
	close(fd);
	stats->kernel_hidden |= kernel.hidden;
	if (!err)
		err = add_earlier(&kernel.table,
		                  module_table_kernel_code(query->symbolizer->modules),
		                  module->area);
	if (!err) {
		symbol_table_seal(&kernel.table);
		err = sweep_tell(&kernel.table, query);
	}
	kernel_symbols_fini(&kernel);
	return err;
}

static int map_symbol(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct query *query = arg;

	query->symbolizer->shown = NULL; /* the same place may hold another name by now */
	return query_tell(query, offset, symbol, false);
}

static int query_anon(struct query *query, const struct module *module)
{
	const struct jit_query made = {(uint32_t)module->area, query->offsets, query->n, map_symbol,
	                               query};
	struct symbolizer *symbolizer = query->symbolizer;
	const struct jitdump_file *dump =
		jitdump_files_find(module_table_jitdumps(symbolizer->modules), module->pid);
	int fd = dump ? target_file_again(dump->fd) : -1, err = -ENOENT;
	char *text;

	if (fd >= 0) {
		err = jitdump_lookup(fd, &made, &symbolizer->counts.maps_left);
		close(fd);
	}
	if (err == -EFBIG) {
		symbolizer->counts.stats.refused += query->n;
		return 0;
	}
	if (err != -ENOENT)
		return err;
	text = perf_map_read(module, &symbolizer->counts.maps_left);
	if (!text) {
		symbolizer->counts.stats.refused += errno == EFBIG ? query->n : 0;
		return 0;
	}
	err = perf_map_lookup(text, &made);
	free(text);
	return err;
}

int symbolizer_look_up(struct symbolizer *symbolizer, struct module *module,
                       const uint32_t *offsets, size_t n, symbol_fn *fn, void *arg)
{
	struct query query = {symbolizer, module->type, offsets, n, fn, arg};

	symbolizer->shown = NULL;
	symbolizer->languages = 0;
	switch (module->type) {
	case MODULE_FILE:
	case MODULE_VDSO:
		return query_elf(&query, module);
	case MODULE_KERNEL:
		return strcmp(module->path, "[kernel]") ? query_piece(&query, module)
		                                        : query_kernel(&query, module);
	case MODULE_ANON:
		return query_anon(&query, module);
	default:
		return 0;
	}
}

int symbolizer_module(struct symbolizer *symbolizer, struct module *module, const uint32_t *offsets,
                      size_t n, symbol_fn *fn, void *arg)
{
	int err = -EAGAIN;

	if (!n)
		return 0;
	if (module_is_unanswered(module) ||
	    (symbolizer->aside && symbols_aside_skips(symbolizer->aside, symbolizer, module))) {
		symbolizer->counts.stats.unanswered++;
		return 0;
	}
	if (module->type == MODULE_FILE && symbolizer->ask &&
	    !symbolizer->ask(symbolizer->ask_arg, module->path))
		return 0;
	if (symbolizer->aside && module->type != MODULE_KERNEL)
		err = symbols_aside_module(symbolizer->aside, symbolizer, module, offsets, n, fn,
		                           arg);
	return err == -EAGAIN ? symbolizer_look_up(symbolizer, module, offsets, n, fn, arg) : err;
}

void symbolizer_look_at_file(struct symbolizer *symbolizer, const char *path,
                             struct source_identity *identity)
{
	source_identity_read(identity, path, &symbolizer->sources_left);
}

int symbolizer_source_files(struct symbolizer *symbolizer, const char *const *paths, size_t n,
                            source_identity_fn *fn, void *arg)
{
	struct source_identity identity;

	if (symbolizer->aside)
		return symbols_aside_files(symbolizer->aside, symbolizer, paths, n, fn, arg);
	for (size_t i = 0; i < n; i++) {
		symbolizer_look_at_file(symbolizer, paths[i], &identity);
		fn(arg, i, &identity);
	}
	return 0;
}
