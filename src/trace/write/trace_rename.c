#include "trace/write/trace_rename.h"
#include "trace/trace_file.h"
#include "base/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -- the frames of a trace --------------------------------------------------------------------- */

/* Contexts share outer nodes: each is followed outward to a node that was seen before. */
static void context_add(struct frame_set *frames, const struct trace *trace, uint8_t *known,
                        uint32_t node)
{
	uint64_t frame;
	uint32_t number, parent;

	while ((number = trace_node_number(trace, node)) != UINT32_MAX &&
	       trace_node(trace, node, &frame, &parent)) {
		if (known[number / 8] & 1u << number % 8)
			return;
		known[number / 8] |= (uint8_t)(1u << number % 8);
		frame_set_add(frames, frame);
		node = parent;
	}
}

static int frames_collect(struct frame_set *frames, const struct trace *trace)
{
	uint8_t *known = calloc(1, trace_node_limit(trace) / 8 + 1);
	struct trace_walk *walk = trace_walk_unordered(trace, TRACE_ALL_EVENTS);
	int more = known && walk ? 1 : -ENOMEM;
	struct trace_sample sample;

	while (more == 1 && (more = trace_walk_next(walk, &sample)) == 1) {
		frame_set_add(frames, sample.leaf);
		context_add(frames, trace, known, sample.context);
	}
	trace_walk_free(walk);
	free(known);
	for (uint32_t i = 1; i <= trace_nr(trace, TRACE_CALL_SITES); i++)
		frame_set_add(frames, trace_site_frame(trace, i));
	return more ? more : frame_set_finish(frames);
}

/* -- what is new ------------------------------------------------------------------------------- */

struct renaming {
	struct trace *trace;
	const struct name_provider *provider;
	bool *renewed; /* by module */
	uint32_t nr_renewed;
	struct trace_names names;
};

/* How many frames of one module have a name, and how many have a line. */
struct score {
	symbol_fn *fn;
	void *arg;
	uint64_t nr;
};

static int score_new(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct score *score = arg;

	score->nr += (symbol->name != NULL) + symbol->nr_sources;
	return score->fn(score->arg, offset, symbol);
}

static uint64_t score_old(const struct trace *trace, uint16_t module, const uint32_t *offsets,
                          size_t n)
{
	struct trace_source chain[TRACE_MAX_CHAIN];
	const struct trace_symbol *symbol;
	uint64_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t frame = frame_make(module, offsets[i]);

		symbol = trace_symbol(trace, trace_find_symbol(trace, frame));
		nr += symbol && *trace_string(trace, symbol->name);
		nr += trace_inline_chain(trace, frame, chain);
	}
	return nr;
}

static int module_ask(void *arg, uint16_t module, const uint32_t *offsets, size_t n, symbol_fn *fn,
                      void *fn_arg)
{
	struct renaming *renaming = arg;
	struct score score = {fn, fn_arg, 0};
	int err = renaming->provider->module(renaming->provider->arg, module, offsets, n, score_new,
	                                     &score);

	if (err || score.nr <= score_old(renaming->trace, module, offsets, n))
		return err;
	renaming->renewed[module] = true;
	renaming->nr_renewed++;
	return 0;
}

/* -- old and new together ---------------------------------------------------------------------- */

/* The entries of all modules, in order; each module's come from old or new names. */
struct joined {
	unsigned char *at;
	uint32_t nr;
};

/* Entries of both sections begin with their module. */
static uint32_t entry_module(const void *entry)
{
	uint32_t module;

	memcpy(&module, entry, sizeof(module));
	return module;
}

static bool is_renewed(const struct renaming *renaming, uint32_t module)
{
	return module <= UINT16_MAX && renaming->renewed[module];
}

static bool join(struct joined *joined, const struct renaming *renaming, const struct section *old,
                 const void *fresh, size_t nr_fresh, size_t size)
{
	uint32_t i = 0;
	size_t k = 0;

	joined->at = calloc((size_t)old->nr + nr_fresh + 1, size);
	if (!joined->at)
		return false;
	for (;;) {
		const void *a = section_entry(old, i);
		const void *b = k < nr_fresh ? (const char *)fresh + k * size : NULL;
		bool is_old = a && (!b || entry_module(a) <= entry_module(b));
		const void *entry = is_old ? a : b;

		if (!entry)
			break;
		i += is_old;
		k += !is_old;
		if (is_renewed(renaming, entry_module(entry)) != is_old)
			memcpy(joined->at + size * joined->nr++, entry, size);
	}
	return true;
}

static void section_take(struct section *section, struct joined *joined, size_t entry_size)
{
	*section = (struct section){joined->at, joined->nr, (uint32_t)entry_size, true};
	joined->at = NULL;
}

/* Old entries keep their numbers, new ones come after them. NULL: no memory. */
static void *append(struct joined *joined, const struct section *old, const void *fresh,
                    size_t nr_fresh, size_t size)
{
	const void *from;

	joined->nr = old->nr + (uint32_t)nr_fresh;
	joined->at = calloc((size_t)joined->nr + 1, size);
	for (uint32_t i = 0; joined->at && (from = section_entry(old, i)); i++)
		memcpy(joined->at + i * size, from, size);
	if (joined->at && nr_fresh)
		memcpy(joined->at + old->nr * size, fresh, nr_fresh * size);
	return joined->at;
}

static bool sources_join(struct joined *joined, const struct renaming *renaming)
{
	const struct section *old = &renaming->trace->sections[TRACE_SOURCES];
	const struct source_table *fresh = &renaming->names.lines;
	struct trace_source *sources =
		append(joined, old, fresh->sources, fresh->nr_sources, sizeof(*sources));

	for (uint32_t i = old->nr; sources && i < joined->nr; i++)
		if (sources[i].caller)
			sources[i].caller += old->nr;
	for (size_t i = 0; i < fresh->nr_lines; i++)
		if (fresh->lines[i].source)
			fresh->lines[i].source += old->nr;
	return sources;
}

static bool strings_join(struct joined *joined, const struct renaming *renaming)
{
	const struct section *old = &renaming->trace->sections[TRACE_STRINGS];
	const struct string_pool *fresh = &renaming->names.strings;

	joined->nr = old->nr + (uint32_t)fresh->size;
	joined->at = malloc((size_t)old->nr + fresh->size + 1);
	if (!joined->at)
		return false;
	memcpy(joined->at, old->at, old->nr);
	if (fresh->size)
		memcpy(joined->at + old->nr, fresh->memory, fresh->size);
	return true;
}

static int renew(struct renaming *renaming)
{
	static const struct {
		enum trace_section section;
		size_t size; /* of an entry */
	} which[NR_TRACE_RENAMED] = {
		{TRACE_STRINGS, 1},
		{TRACE_SOURCES, sizeof(struct trace_source)},
		{TRACE_SYMBOLS, sizeof(struct trace_symbol)},
		{TRACE_LINES, sizeof(struct trace_line)},
		{TRACE_SOURCE_FILES, sizeof(struct trace_source_file)},
	};
	struct section *sections = renaming->trace->sections;
	const struct trace_names *names = &renaming->names;
	struct joined joined[NR_TRACE_RENAMED] = {{0}};
	bool whole = strings_join(&joined[0], renaming) && sources_join(&joined[1], renaming) &&
	             join(&joined[2], renaming, &sections[TRACE_SYMBOLS], names->symbols, names->nr,
	                  which[2].size) &&
	             join(&joined[3], renaming, &sections[TRACE_LINES], names->lines.lines,
	                  names->lines.nr_lines, which[3].size) &&
	             /* paths of new files have larger string offsets than those of old ones */
	             append(&joined[4], &sections[TRACE_SOURCE_FILES], names->files.files,
	                    names->files.nr, which[4].size);

	for (unsigned i = 0; i < NR_TRACE_RENAMED; i++) {
		if (whole) {
			renaming->trace->renamed[i] = joined[i].at;
			section_take(&sections[which[i].section], &joined[i], which[i].size);
		}
		free(joined[i].at);
	}
	return whole ? 0 : -ENOMEM;
}

int trace_rename(struct trace *trace, const struct name_provider *provider, uint32_t *renewed)
{
	struct renaming renaming = {.trace = trace, .provider = provider};
	const struct name_provider ask = {.module = module_ask, .arg = &renaming};
	struct frame_set *frames = frame_set_new();
	int err = -ENOMEM;

	renaming.renewed = calloc(UINT16_MAX + 1, sizeof(*renaming.renewed));
	if (frames && renaming.renewed && !trace->renamed[0])
		err = frames_collect(frames, trace);
	if (!err)
		err = trace_names_init(&renaming.names, &ask, frames,
		                       trace->sections[TRACE_STRINGS].nr);
	if (!err) {
		err = renaming.nr_renewed ? renew(&renaming) : 0;
		trace_names_fini(&renaming.names);
	}
	if (renewed)
		*renewed = renaming.nr_renewed;
	frame_set_free(frames);
	free(renaming.renewed);
	return err;
}
