#include "output/frame_names.h"

#include "symbolize/module.h"

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
	free(names->names);
}

static uint32_t module_path(const struct trace *trace, uint64_t frame)
{
	const struct trace_module *module = trace_module(trace, frame_module(frame));

	return module && frame_module(frame) ? module->path : 0;
}

static int names_grow(struct frame_names *names)
{
	uint32_t room = names->room ? 2 * names->room : 256;
	struct frame_name *grown;

	if (names->nr < names->room)
		return 0;
	grown = reallocarray(names->names, room, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	names->names = grown;
	names->room = room;
	return 0;
}

static uint32_t names_add(struct frame_names *names, struct map64 *map, uint64_t key,
                          const struct frame_name *name)
{
	if (names_grow(names) || map64_add(map, key, names->nr))
		return UINT32_MAX;
	names->names[names->nr] = *name;
	return names->nr++;
}

/* By strings, which are in the file once each. */
static uint32_t find_named(struct frame_names *names, const struct frame_name *name)
{
	uint64_t key = (uint64_t)name->symbol << 32 | name->module;
	uint32_t known = map64_get(&names->by_name, key);

	return known != UINT32_MAX ? known : names_add(names, &names->by_name, key, name);
}

/* By an address: frames without a name, special ones included. */
static uint32_t find_nameless(struct frame_names *names, uint64_t frame)
{
	struct frame_name name = {.module = module_path(names->trace, frame), .frame = frame};
	uint32_t known = map64_get(&names->by_frame, frame);

	return known != UINT32_MAX ? known : names_add(names, &names->by_frame, frame, &name);
}

static uint32_t find_new(struct frame_names *names, uint64_t frame)
{
	const struct trace_symbol *symbol =
		trace_symbol(names->trace, trace_find_symbol(names->trace, frame));
	struct frame_name name = {.module = module_path(names->trace, frame), .frame = frame};

	if (!(names->keys & FRAME_BY_SYMBOL)) {
		if (!(names->keys & FRAME_BY_MODULE))
			name.module = 0;
		else if (!frame_module(frame))
			return find_nameless(names, frame);
		return find_named(names, &name);
	}
	if (symbol && symbol->name) {
		name.symbol = symbol->name;
		if (!(names->keys & FRAME_BY_MODULE))
			name.module = 0;
		return find_named(names, &name);
	}
	return find_nameless(names, symbol ? frame_make(frame_module(frame), symbol->lo) : frame);
}

uint32_t frame_names_find(struct frame_names *names, uint64_t frame)
{
	uint32_t name = map64_get(&names->by_frame, frame);

	if (name != UINT32_MAX)
		return name;
	name = find_new(names, frame);
	/* A function's first byte, or a frame without a name, has entered itself. */
	if (name == UINT32_MAX || map64_get(&names->by_frame, frame) != UINT32_MAX)
		return name;
	return map64_add(&names->by_frame, frame, name) ? UINT32_MAX : name;
}

/* --- texts ------------------------------------------------------------------------------------ */

const char *frame_module_text(const struct trace *trace, uint64_t frame)
{
	const char *path = trace_string(trace, module_path(trace, frame));
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
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

/* Code without a file is told by its address. */
static uint64_t shown_offset(const struct trace *trace, uint64_t frame)
{
	const struct trace_module *module = trace_module(trace, frame_module(frame));

	if (module && (module->kind == MODULE_KERNEL || module->kind == MODULE_ANON))
		return module->window << 32 | frame_offset(frame);
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
	         (unsigned long long)shown_offset(trace, frame));
	return text;
}

void frame_symbol_text(const struct trace *trace, uint64_t frame, char text[FRAME_TEXT_SIZE])
{
	const char *symbol = frame_symbol(trace, frame, text);

	if (symbol != text)
		snprintf(text, FRAME_TEXT_SIZE, "%s", symbol);
}
