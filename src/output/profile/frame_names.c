#include "output/profile/frame_names.h"

#include "base/array.h"
#include "base/frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void frame_names_init(struct frame_names *names, const struct trace *trace, unsigned keys)
{
	*names = (struct frame_names){.trace = trace, .keys = keys};
}

void frame_names_fini(struct frame_names *names)
{
	map64_fini(&names->by_frame);
	map64_fini(&names->by_name);
	map64_fini(&names->by_function);
	map64_fini(&names->by_place);
	map64_fini(&names->files);
	frame_pieces_fini(&names->pieces);
	free(names->names);
	free(names->functions);
	free(names->chains);
}

static uint32_t module_path(const struct trace *trace, uint64_t frame)
{
	const struct trace_module *module = trace_module(trace, frame_module(frame));

	return module && frame_module(frame) ? module->path : 0;
}

#define MAX_CHAINS (1U << 30) /* entries; a corrupt file may have a long chain for each address */

static int push(struct frame_names *names, uint32_t entry)
{
	if (names->nr_chains == MAX_CHAINS)
		return -ENOMEM;
	return ARRAY_ADD(names->chains, names->nr_chains, entry);
}

/* Strings are in the file once each, so equal names have equal keys; nameless functions a bit. */
#define NAMELESS ((uint64_t)1 << 63)

static bool is_same_file(const struct trace_module *a, const struct trace_module *b)
{
	return a->path == b->path && a->type == b->type && a->area == b->area &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, sizeof(a->build_id));
}

/*
 * Returns the frame in the first module with the same path and build id. Older traces may have a
 * file twice, if a process was there before the recording.
 */
static uint64_t frame_in_file(struct frame_names *names, uint64_t frame)
{
	const struct trace_module *module = trace_module(names->trace, frame_module(frame)), *first;
	uint32_t build, number;
	uint64_t key;

	if (!module || module->type != MODULE_FILE || !module->build_id_size)
		return frame;
	memcpy(&build, module->build_id, sizeof(build));
	key = (uint64_t)module->path << 32 | (build ^ (uint32_t)module->area);
	number = map64_get(&names->files, key);
	if (number == UINT32_MAX)
		map64_add(&names->files, key, number = frame_module(frame));
	first = trace_module(names->trace, number);
	return is_same_file(module, first) ? frame_make((uint16_t)number, frame_offset(frame))
	                                   : frame;
}

/* 0 or -ENOMEM. */
static int add_name(struct frame_names *names, const struct frame_name *name)
{
	struct frame_name *grown = array_grow(names->names, names->nr, sizeof(*grown));
	uint32_t *functions = array_grow(names->functions, names->nr_functions, sizeof(*functions));

	names->names = grown ? grown : names->names;
	names->functions = functions ? functions : names->functions;
	if (!grown || !functions)
		return -ENOMEM;
	if (name->function == names->nr_functions)
		functions[names->nr_functions++] = names->nr;
	grown[names->nr++] = *name;
	return 0;
}

static uint32_t find_name(struct frame_names *names, struct frame_name *name, bool named)
{
	uint64_t key = named ? (uint64_t)name->symbol << 32 | name->module
	                     : NAMELESS | frame_in_file(names, name->frame);
	uint32_t place = map64_number(&names->by_place, (uint64_t)name->file << 32 | name->line);
	uint32_t number;

	name->function = map64_number(&names->by_function, key);
	if (name->function == UINT32_MAX || place == UINT32_MAX)
		return UINT32_MAX;
	number = map64_number(&names->by_name, (uint64_t)name->function << 32 | place);
	return number == names->nr && add_name(names, name) ? UINT32_MAX : number;
}

/* --- one frame -------------------------------------------------------------------------------- */

/*
 * Returns the function of a frame, in the fields that the keys ask for. *named: it is not
 * identified by an address.
 */
static struct frame_name function_of(const struct frame_names *names, uint64_t frame, bool *named)
{
	const struct trace_symbol *symbol =
		trace_symbol(names->trace, trace_find_symbol(names->trace, frame));
	struct frame_name name = {.frame = frame};

	if (names->keys & FRAME_BY_MODULE)
		name.module = module_path(names->trace, frame);
	*named = true;
	if (!(names->keys & FRAME_BY_SYMBOL)) {
		*named = !(names->keys & FRAME_BY_MODULE) || frame_module(frame);
		return name;
	}
	if (symbol && symbol->name) {
		name.symbol = symbol->name;
		return name;
	}
	*named = false;
	if (symbol)
		name.frame = frame_make(frame_module(frame), symbol->lo);
	name.module = module_path(names->trace, frame);
	return name;
}

static void add_place(const struct frame_names *names, const struct trace_source *source,
                      struct frame_name *name)
{
	if (names->keys & (FRAME_BY_FILE | FRAME_BY_LINE))
		name->file = source->file;
	if (names->keys & FRAME_BY_LINE && source->file)
		name->line = source->line;
}

/* Appends the names of a frame to the chains, the outermost function first. */
static int add_chain(struct frame_names *names, uint64_t frame)
{
	struct trace_source sources[TRACE_MAX_CHAIN];
	size_t nr = trace_inline_chain(names->trace, frame, sources), i;
	uint32_t first = names->nr_chains, number;
	struct frame_name name;
	bool named;

	if (!(names->keys & (FRAME_INLINED | FRAME_BY_FILE | FRAME_BY_LINE)))
		nr = 0;
	if (push(names, 0))
		return -ENOMEM;
	for (i = nr ? nr : 1; i-- > 0;) {
		name = function_of(names, frame, &named);
		if (i + 1 < nr) {
			name.symbol = names->keys & FRAME_BY_SYMBOL ? sources[i].function : 0;
			named = true;
		}
		if (nr)
			add_place(names, &sources[names->keys & FRAME_INLINED ? i : 0], &name);
		number = find_name(names, &name, named);
		if (number == UINT32_MAX || push(names, number))
			return -ENOMEM;
		if (!(names->keys & FRAME_INLINED))
			break;
	}
	names->chains[first] = names->nr_chains - first - 1;
	return 0;
}

/* --- known ones ------------------------------------------------------------------------------- */

static int find_alone(struct frame_names *names, uint64_t frame, uint32_t *first)
{
	int err = 0;

	*first = map64_get(&names->by_frame, frame);
	if (*first != UINT32_MAX)
		return 0;
	*first = names->nr_chains;
	err = add_chain(names, frame);
	return err ? err : map64_add(&names->by_frame, frame, *first);
}

static int find_in_piece(struct frame_names *names, struct frame_piece *piece, uint64_t frame,
                         uint32_t *first)
{
	int err = 0;

	*first = piece->chain - 1;
	if (piece->chain)
		return 0;
	*first = names->nr_chains;
	err = add_chain(names, frame);
	if (!err)
		piece->chain = *first + 1;
	return err;
}

/* Returns the number of an address; UINT32_MAX if there is no memory. */
static uint32_t find_address(struct frame_names *names, uint64_t frame)
{
	uint32_t number = map64_get(&names->by_frame, frame);
	struct trace_source sources[TRACE_MAX_CHAIN];
	struct frame_name name = {.frame = frame};
	size_t nr;

	if (number != UINT32_MAX)
		return number;
	nr = trace_inline_chain(names->trace, frame, sources);
	if (nr)
		add_place(names, &sources[nr - 1], &name);
	number = names->nr;
	return add_name(names, &name) || map64_add(&names->by_frame, frame, number) ? UINT32_MAX
	                                                                            : number;
}

uint32_t frame_names_chain(struct frame_names *names, uint64_t frame, const uint32_t **numbers)
{
	uint32_t first, before = names->nr_chains;
	struct frame_piece *piece;

	if (names->keys & FRAME_BY_ADDRESS) {
		names->address = find_address(names, frame);
		*numbers = &names->address;
		return names->address != UINT32_MAX;
	}
	if (!names->pieces.pieces && frame_pieces_init(&names->pieces, names->trace))
		return 0;
	piece = frame_pieces_find(&names->pieces, frame);
	if (piece ? find_in_piece(names, piece, frame, &first) : find_alone(names, frame, &first)) {
		names->nr_chains = before;
		return 0;
	}
	*numbers = &names->chains[first + 1];
	return names->chains[first];
}

uint32_t frame_names_known(const struct frame_names *names, uint64_t frame, bool *only)
{
	const struct frame_piece *piece = frame_pieces_find(&names->pieces, frame);
	uint32_t chain = piece ? piece->chain - 1 : map64_get(&names->by_frame, frame);

	*only = true;
	if (chain == UINT32_MAX || names->keys & FRAME_BY_ADDRESS)
		return chain;
	*only = names->chains[chain] == 1;
	return names->chains[chain + 1];
}

/* --- texts ------------------------------------------------------------------------------------ */

const char *frame_module_text(const struct trace *trace, uint64_t frame)
{
	return frame_module(frame) ? trace_module_name(trace, frame_module(frame)) : "";
}

static const char *special_text(uint64_t frame)
{
	static const char *const texts[NR_FRAME_SPECIAL] = {
		[FRAME_UNKNOWN] = "[unknown]",
		[FRAME_TRUNCATED] = "[truncated]",
		[FRAME_UNOBSERVED] = "[unobserved]",
	};

	return frame < NR_FRAME_SPECIAL ? texts[frame] : "[unknown]";
}

uint64_t frame_address(const struct trace *trace, uint64_t frame)
{
	const struct trace_module *module = trace_module(trace, frame_module(frame));

	if (module && module->type != MODULE_VDSO)
		return module->area << 32 | frame_offset(frame);
	return frame_offset(frame);
}

const char *frame_symbol(const struct trace *trace, uint64_t frame, char text[FRAME_TEXT_SIZE])
{
	const struct trace_symbol *symbol = trace_symbol(trace, trace_find_symbol(trace, frame));

	if (!frame_module(frame))
		return special_text(frame);
	if (symbol && symbol->name)
		return trace_string(trace, symbol->name);
	if (symbol)
		frame = frame_make(frame_module(frame), symbol->lo);
	snprintf(text, FRAME_TEXT_SIZE, "%s+0x%llx", frame_module_text(trace, frame),
	         (unsigned long long)frame_address(trace, frame));
	return text;
}

const char *frame_name_symbol(const struct frame_names *names, uint32_t number,
                              char text[FRAME_TEXT_SIZE])
{
	const struct frame_name *name = &names->names[number];

	if (name->symbol)
		return trace_string(names->trace, name->symbol);
	return frame_symbol(names->trace, name->frame, text);
}
