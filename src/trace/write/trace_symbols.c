#include "trace/write/trace_symbols.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Limits of what names add to a trace. Later functions have bounds but no name. */
#define MAX_NAME_BYTES ((size_t)64 << 20)
#define MAX_NAMES      (1 << 20)

/* The functions of one module while they are added to the table. */
struct namer {
	struct trace_names *names;
	uint32_t module;
};

static uint32_t name_offset(struct trace_names *names, const char *name)
{
	uint32_t offset;

	if (!name || !*name)
		return 0;
	if (!string_pool_put(&names->strings, name, &offset)) {
		names->refused++;
		return 0;
	}
	return names->string_base + offset;
}

static struct trace_symbol *names_add(struct trace_names *names)
{
	struct trace_symbol *symbols = array_grow(names->symbols, names->nr, sizeof(*symbols));

	if (!symbols)
		return NULL;
	names->symbols = symbols;
	return &symbols[names->nr++];
}

/*
 * Functions come in ascending order; where two overlap, the later one keeps what is left of it. But
 * where nothing but call frame information told of the earlier one, that may be of a whole PLT, or
 * of other code with one description: it ends where a name begins.
 */
static int name_function(struct namer *namer, uint32_t offset, const struct symbol *symbol)
{
	struct trace_names *names = namer->names;
	struct trace_symbol *last = names->nr ? &names->symbols[names->nr - 1] : NULL;
	struct trace_symbol *added;
	uint32_t lo = symbol->lo;

	if (last && last->module == namer->module && lo < last->hi) {
		if (symbol->name && !last->name && lo > last->lo)
			last->hi = lo;
		else
			lo = last->hi;
	}
	if (offset < lo || offset >= symbol->hi)
		return 0;
	added = names_add(names);
	if (!added)
		return -ENOMEM;
	*added = (struct trace_symbol){
		.module = namer->module,
		.lo = lo,
		.hi = symbol->hi,
		.name = name_offset(names, symbol->name),
	};
	return 0;
}

/* The MD5 of a file is known where the debug information has it. */
static int note_file(struct trace_names *names, uint32_t file, const uint8_t *md5)
{
	struct source_identity identity = {.known = SOURCE_HAS_MD5};
	int err = source_files_add(&names->files, file);

	if (err || !md5)
		return err;
	memcpy(identity.md5, md5, sizeof(identity.md5));
	source_files_tell(&names->files, file, &identity);
	return 0;
}

/* Goes from the function inward, so that each source can refer to its caller. */
static int name_sources(struct trace_names *names, const struct symbol *symbol, uint32_t *number)
{
	size_t i = symbol->nr_sources;
	int err = 0;

	*number = 0;
	while (i-- > 0 && !err) {
		const struct source *from = &symbol->sources[i];
		struct trace_source source = {
			.file = name_offset(names, from->file),
			.line = from->line,
			.caller = *number,
		};

		if (i + 1 < symbol->nr_sources)
			source.function = name_offset(names, from->function ? from->function : "?");
		err = note_file(names, source.file, from->md5);
		if (!err)
			err = source_table_put(&names->lines, &source, number);
	}
	return err;
}

static int name_frame(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct namer *namer = arg;
	struct trace_names *names = namer->names;
	struct trace_line line = {.module = namer->module, .offset = offset};
	int err = name_function(namer, offset, symbol);

	if (!err)
		err = name_sources(names, symbol, &line.source);
	if (err || !names->nr || names->symbols[names->nr - 1].module != line.module ||
	    names->symbols[names->nr - 1].lo > offset)
		return err;
	return source_table_line(&names->lines, &line, names->symbols[names->nr - 1].lo);
}

/*
 * Stores the offsets of the frames from `first` on that belong to its module. Returns their number.
 */
static size_t module_offsets(const struct frame_set *frames, size_t first, uint32_t *offsets)
{
	uint16_t module = frame_module(frames->frames[first]);
	size_t nr = 0;

	for (size_t i = first; i < frames->nr; i++, nr++) {
		if (frame_module(frames->frames[i]) != module)
			break;
		offsets[nr] = frame_offset(frames->frames[i]);
	}
	return nr;
}

static int name_all(struct trace_names *names, const struct name_provider *provider,
                    const struct frame_set *frames)
{
	uint32_t *offsets = calloc(frames->nr + 1, sizeof(*offsets));
	int err = offsets ? 0 : -ENOMEM;
	size_t nr;

	for (size_t i = 0; i < frames->nr && !err; i += nr) {
		uint16_t id = frame_module(frames->frames[i]);
		struct namer namer = {names, id};

		nr = module_offsets(frames, i, offsets);
		if (id)
			err = provider->module(provider->arg, id, offsets, nr, name_frame, &namer);
	}
	free(offsets);
	return err;
}

/* --- source files ----------------------------------------------------------------------------- */

/* The files for which the debug information has no MD5. */
struct unknown_files {
	struct trace_names *names;
	const char **paths;
	uint32_t *offsets; /* of the paths, in the strings */
	size_t nr;
};

static void add_identity(void *arg, size_t index, const struct source_identity *identity)
{
	const struct unknown_files *unknown = arg;

	source_files_tell(&unknown->names->files, unknown->offsets[index], identity);
}

/* A trace is written without identities if there is no memory for them. */
static void ask_of_files(struct trace_names *names, const struct name_provider *provider)
{
	struct unknown_files unknown = {.names = names};

	unknown.paths = calloc(names->files.nr + 1, sizeof(*unknown.paths));
	unknown.offsets = calloc(names->files.nr + 1, sizeof(*unknown.offsets));
	for (size_t i = 0; unknown.paths && unknown.offsets && i < names->files.nr; i++) {
		const struct trace_source_file *file = &names->files.files[i];

		if (file->known & SOURCE_HAS_MD5)
			continue;
		unknown.offsets[unknown.nr] = file->path;
		unknown.paths[unknown.nr++] =
			names->strings.memory + (file->path - names->string_base);
	}
	if (unknown.paths && unknown.offsets)
		provider->identify(provider->arg, unknown.paths, unknown.nr, add_identity,
		                   &unknown);
	free(unknown.paths);
	free(unknown.offsets);
}

static void tell_file(void *arg, const char *path, const struct source_identity *identity)
{
	struct trace_names *names = arg;
	uint32_t offset;

	if (string_pool_find(&names->strings, path, &offset))
		source_files_tell(&names->files, names->string_base + offset, identity);
}

static void identify_files(struct trace_names *names, const struct name_provider *provider)
{
	if (provider->identify)
		ask_of_files(names, provider);
	if (provider->files)
		provider->files(provider->arg, tell_file, names);
	source_files_seal(&names->files);
}

/* --- the whole -------------------------------------------------------------------------------- */

int trace_names_init(struct trace_names *names, const struct name_provider *provider,
                     const struct frame_set *frames, uint32_t string_base)
{
	void *memory;
	int err;

	*names = (struct trace_names){.string_base = string_base};
	if (!provider)
		return 0;
	memory = mmap(NULL, MAX_NAME_BYTES, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	string_pool_init(&names->strings, memory, MAX_NAME_BYTES, MAX_NAMES);
	err = name_all(names, provider, frames);
	names->refused += names->lines.refused;
	if (err)
		trace_names_fini(names);
	else
		identify_files(names, provider);
	return err;
}

void trace_names_fini(struct trace_names *names)
{
	if (names->strings.memory)
		munmap(names->strings.memory, MAX_NAME_BYTES);
	string_pool_fini(&names->strings);
	source_table_fini(&names->lines);
	source_files_fini(&names->files);
	free(names->symbols);
	*names = (struct trace_names){0};
}
