/*
 * What to call a frame: one number for all frames of a function, whatever numbers its module has.
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
	FRAME_BY_ADDRESS = 16384, /* each has a name of its own, and functions none */
};

struct frame_name {
	uint32_t symbol;   /* string; 0: none, then the frame says it */
	uint32_t module;   /* string: the path; 0: none */
	uint32_t file;     /* string; 0: not known, or no key */
	uint32_t line;     /* 0: not known, or no key */
	uint64_t frame;    /* one of it */
	uint32_t function; /* whichever place in it */
};

struct frame_names {
	const struct trace *trace;
	unsigned keys; /* enum frame_keys */
	struct frame_name *names;
	uint32_t nr;
	uint32_t *functions; /* of each its first name */
	uint32_t nr_functions;
	uint32_t *chains; /* for each frame how many names, and then these */
	uint32_t nr_chains;
	uint32_t address; /* the number that was told last, with FRAME_BY_ADDRESS */
	/* All frames of a piece have one chain; frames outside of all functions one each. */
	struct frame_pieces pieces;
	struct map64 by_frame; /* where in chains, or with FRAME_BY_ADDRESS the name */
	struct map64 by_name, by_function, by_place;
	struct map64 files; /* the first module with a path and the start of a build id */
};

void frame_names_init(struct frame_names *names, const struct trace *trace, unsigned keys);
void frame_names_fini(struct frame_names *names);

/*
 * The number of a frame's name, of several the outermost function's, and whether it is the only
 * one. UINT32_MAX: frame_names_chain() was not asked for it before.
 */
uint32_t frame_names_known(const struct frame_names *names, uint64_t frame, bool *only);

/*
 * The numbers of all names of a frame, the outermost function first, until the next call. How many;
 * 0: no memory. Without FRAME_INLINED it is one.
 */
uint32_t frame_names_chain(struct frame_names *names, uint64_t frame, const uint32_t **numbers);

/* The function of a name: in the file, or in text where it has to be made. */
#define FRAME_TEXT_SIZE 4096
const char *frame_name_symbol(const struct frame_names *names, uint32_t number,
                              char text[FRAME_TEXT_SIZE]);

/* "main", or "libx.so+0x12", or "[unknown]": the same, for a frame alone; with any bytes. */
const char *frame_symbol(const struct trace *trace, uint64_t frame, char text[FRAME_TEXT_SIZE]);

/* Where in its file code is; of the kernel's and of code without a file, where in memory. */
uint64_t frame_address(const struct trace *trace, uint64_t frame);

/* What a frame's module is called; an empty string for special frames. */
const char *frame_module_text(const struct trace *trace, uint64_t frame);

#endif
