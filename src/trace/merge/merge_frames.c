#include "trace/merge/merge_map.h"

#include "base/frame.h"

/*
 * Notes the first input and module that can name the frame. Several modules of an input may have
 * become one, such as those of a file that two containers have.
 */
int merge_note_frame(struct merge_map *map, const struct merge_input *input, uint64_t frame)
{
	uint64_t key = merge_frame(input, frame);

	if (!frame_module(key) || map64_get(&map->frames, key) != UINT32_MAX)
		return 0;
	return map64_add(&map->frames, key,
	                 (uint32_t)(input - map->inputs) << 16 | frame_module(frame));
}

/* Whether the node was seen already, and with it all of its callers. */
static bool seen_before(struct merge_input *input, uint32_t node)
{
	uint32_t number = trace_node_number(input->trace, node);
	unsigned char bit = (unsigned char)(1 << number % 8);

	if (number == UINT32_MAX || input->seen[number / 8] & bit)
		return true;
	input->seen[number / 8] |= bit;
	return false;
}

int merge_note_frames(struct merge_map *map, struct merge_input *input,
                      const struct trace_sample *sample)
{
	uint32_t node = sample->context;
	int err = merge_note_frame(map, input, sample->leaf);
	uint64_t frame;

	while (!err && node && !seen_before(input, node) &&
	       trace_node(input->trace, node, &frame, &node))
		err = merge_note_frame(map, input, frame);
	return err;
}

/* A function as its trace knows it, and the calls that were inlined at the frame. */
static int tell_symbol(const struct trace *trace, uint64_t frame, symbol_fn *fn, void *arg)
{
	const struct trace_symbol *symbol = trace_symbol(trace, trace_find_symbol(trace, frame));
	struct trace_source chain[TRACE_MAX_CHAIN];
	struct source sources[TRACE_MAX_CHAIN];
	struct symbol found = {.sources = sources};

	if (!symbol)
		return 0;
	found.lo = symbol->lo;
	found.hi = symbol->hi;
	found.name = symbol->name ? trace_string(trace, symbol->name) : NULL;
	found.nr_sources = trace_inline_chain(trace, frame, chain);
	for (size_t i = 0; i < found.nr_sources; i++)
		sources[i] = (struct source){
			.function =
				chain[i].function ? trace_string(trace, chain[i].function) : NULL,
			.file = chain[i].file ? trace_string(trace, chain[i].file) : NULL,
			.line = chain[i].line,
		};
	return fn(arg, frame_offset(frame), &found);
}

int merge_names(void *arg, uint16_t module, const uint32_t *offsets, size_t n, symbol_fn *fn,
                void *fn_arg)
{
	const struct merge_map *map = arg;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		uint32_t number = map64_get(&map->frames, frame_make(module, offsets[i]));

		if (number != UINT32_MAX)
			err = tell_symbol(map->inputs[number >> 16].trace,
			                  frame_make((uint16_t)number, offsets[i]), fn, fn_arg);
	}
	return err;
}

/* All ranks tell of their files, whoever a frame is of: they may not have had the same ones. */
void merge_files(void *arg, source_file_fn *fn, void *fn_arg)
{
	const struct merge_map *map = arg;
	const struct trace_source_file *file;
	struct source_identity identity;

	for (uint32_t i = 0; i < map->nr_inputs; i++) {
		const struct trace *trace = map->inputs[i].trace;

		for (uint32_t k = 0; (file = trace_source_file(trace, k)); k++) {
			source_file_identity(file, &identity);
			fn(fn_arg, trace_string(trace, file->path), &identity);
		}
	}
}
