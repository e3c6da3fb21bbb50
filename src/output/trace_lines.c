#include "output/trace_file.h"

#include "symbolize/module.h"

/* The last line at or below a frame. */
static const struct trace_line *find_line(const struct trace *trace, uint64_t frame)
{
	const struct section *lines = &trace->sections[TRACE_LINES];
	uint32_t low = 0, high = lines->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const struct trace_line *line = section_entry(lines, middle);

		if (((uint64_t)line->module << 32 | line->offset) <= frame)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? section_entry(lines, low - 1) : NULL;
}

size_t trace_inline_chain(const struct trace *trace, uint64_t frame, struct trace_source *chain,
                          size_t max)
{
	const struct trace_symbol *symbol = trace_symbol(trace, trace_find_symbol(trace, frame));
	const struct trace_line *line = find_line(trace, frame);
	const struct trace_source *source;
	size_t nr = 0;
	uint32_t next;

	if (!symbol || !line || line->module != frame_module(frame) || line->offset < symbol->lo)
		return 0;
	for (next = line->source; next && nr < max; next = source->caller) {
		source = section_entry(&trace->sections[TRACE_SOURCES], next - 1);
		chain[nr] = *source;
		if (!source->caller)
			chain[nr].function = symbol->name;
		nr++;
	}
	return nr;
}
