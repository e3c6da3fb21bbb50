#include "trace/trace_file.h"

#include "base/array.h"
#include "base/frame.h"

const struct trace_line *trace_line(const struct trace *trace, uint32_t index)
{
	return section_entry(&trace->sections[TRACE_LINES], index);
}

static uint64_t line_frame(const struct trace_line *line)
{
	return (uint64_t)line->module << 32 | line->offset;
}

/* Returns the index + 1 of the last line at or below a frame. */
static uint32_t find_line(const struct trace *trace, uint64_t frame)
{
	return (uint32_t)PARTITION(trace_nr(trace, TRACE_LINES), i,
	                           line_frame(trace_line(trace, (uint32_t)i)) <= frame);
}

uint32_t trace_find_line(const struct trace *trace, uint64_t frame, uint32_t symbol)
{
	const struct trace_symbol *around = trace_symbol(trace, symbol);
	uint32_t found = find_line(trace, frame);
	const struct trace_line *line;

	if (!around || !found)
		return UINT32_MAX;
	line = section_entry(&trace->sections[TRACE_LINES], found - 1);
	return line->module == frame_module(frame) && line->offset >= around->lo ? found - 1
	                                                                         : UINT32_MAX;
}

size_t trace_inline_chain(const struct trace *trace, uint64_t frame,
                          struct trace_source chain[TRACE_MAX_CHAIN])
{
	uint32_t symbol = trace_find_symbol(trace, frame), next;
	const struct trace_line *line =
		section_entry(&trace->sections[TRACE_LINES], trace_find_line(trace, frame, symbol));
	const struct trace_source *source;
	size_t nr = 0;

	if (!line)
		return 0;
	for (next = line->source; next && nr < TRACE_MAX_CHAIN; next = source->caller) {
		source = section_entry(&trace->sections[TRACE_SOURCES], next - 1);
		chain[nr] = *source;
		if (!source->caller)
			chain[nr].function = trace_symbol(trace, symbol)->name;
		nr++;
	}
	return nr;
}
