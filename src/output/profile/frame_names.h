/*
 * Names of frames. All frames of a function have one number, even if its module has several.
 *
 *     named          symbol and module            "main", "app"
 *     nameless       its function's first byte    "app+0x1234", "app"   (or its own, if no bounds)
 *     special        module 0                     "[truncated]"
 *
 * With fewer keys, names that differ only in the rest are one; with file and line, places in one
 * function are several. A frame where functions were inlined can have a name for each of them.
 */
#ifndef OUTPUT_PROFILE_FRAME_NAMES_H
#define OUTPUT_PROFILE_FRAME_NAMES_H

#include "output/profile/frame_pieces.h"
#include "base/map64.h"
#include "trace/trace.h"

#include <stdbool.h>

enum frame_keys {
	FRAME_BY_SYMBOL = 1,
	FRAME_BY_MODULE = 2,
	FRAME_BY_FILE = 32,
	FRAME_BY_LINE = 64, /* and by file */
	FRAME_INLINED = 128,
	FRAME_BY_ADDRESS = 16384, /* each address has a name of its own, and functions have none */
};

struct frame_name {
	uint32_t symbol;   /* string; 0: none, then `frame` identifies it */
	uint32_t module;   /* string: the path; 0: none */
	uint32_t file;     /* string; 0: not known, or no key */
	uint32_t line;     /* 0: not known, or no key */
	uint64_t frame;    /* one frame that has this name */
	uint32_t function; /* the same for all places in the function */
};

struct frame_names {
	const struct trace *trace;
	unsigned keys; /* enum frame_keys */
	struct frame_name *names;
	uint32_t nr;
	uint32_t *functions; /* the first name of each function */
	uint32_t nr_functions;
	uint32_t *chains; /* for each frame the number of its names, and then these names */
	uint32_t nr_chains;
	uint32_t address; /* the number that was returned last, with FRAME_BY_ADDRESS */
	/*
	 * All frames of a piece share one chain. Each frame outside of all functions has a chain of
	 * its own.
	 */
	struct frame_pieces pieces;
	struct map64 by_frame; /* the place in chains, or with FRAME_BY_ADDRESS the name */
	struct map64 by_name, by_function, by_place;
	struct map64 files; /* the first module with a path and the start of a build id */
};

void frame_names_init(struct frame_names *names, const struct trace *trace, unsigned keys);
void frame_names_fini(struct frame_names *names);

/*
 * Returns the number of a frame's name, and sets *only to whether it is the frame's only one. If
 * inlining gave the frame several names, it is that of the outermost function. UINT32_MAX:
 * frame_names_chain() was not called for the frame before.
 */
uint32_t frame_names_known(const struct frame_names *names, uint64_t frame, bool *only);

/*
 * Finds the numbers of all names of a frame, the outermost function first. They are valid until the
 * next call. Returns how many there are; 0: no memory. Without FRAME_INLINED there is one.
 */
uint32_t frame_names_chain(struct frame_names *names, uint64_t frame, const uint32_t **numbers);

/*
 * Returns the function of a name: a string of the trace, or `text` where the name has to be
 * composed.
 */
#define FRAME_TEXT_SIZE 4096
const char *frame_name_symbol(const struct frame_names *names, uint32_t number,
                              char text[FRAME_TEXT_SIZE]);

/*
 * Returns the function of a single frame: "main", "libx.so+0x12", or "[unknown]". The name may hold
 * any bytes.
 */
const char *frame_symbol(const struct trace *trace, uint64_t frame, char text[FRAME_TEXT_SIZE]);

/*
 * Returns the address of a frame in its file. For code of the kernel and code without a file it is
 * the address in memory.
 */
uint64_t frame_address(const struct trace *trace, uint64_t frame);

/* Returns the name of a frame's module; an empty string for special frames. */
const char *frame_module_text(const struct trace *trace, uint64_t frame);

#endif
