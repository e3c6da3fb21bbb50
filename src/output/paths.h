/*
 * The call paths of a trace, each with a number: what formats with tables of stacks refer to.
 *
 *     sample → path: (path of the caller, place)    place: a function, a line or an address in it
 *
 * A function that was inlined is a function like any other, called from where it was inlined; but
 * with PATHS_BY_ADDRESS, where an address is one place, and its function the outermost.
 *
 * Numbers are given in order of appearance, and so a caller's path comes before its callees'. A
 * stack that does not reach its root in the file hangs below [truncated].
 */
#ifndef OUTPUT_PATHS_H
#define OUTPUT_PATHS_H

#include "output/frame_names.h"
#include "output/node_table.h"

#define PATH_NONE UINT32_MAX

enum path_detail {
	PATHS_BY_OUTERMOST, /* as below, but what was inlined is the function around it */
	PATHS_BY_FUNCTION,  /* every address of a function is one place */
	PATHS_BY_LINE,      /* every address of a line in it */
	PATHS_BY_ADDRESS,   /* with all functions that were inlined there */
};

struct place {
	uint64_t frame;      /* one of it */
	uint32_t function;   /* in names */
	uint32_t file, line; /* file: string; 0: not known, and PATHS_BY_FUNCTION */
};

struct path {
	uint32_t caller; /* PATH_NONE: a root */
	uint32_t place;
};

/* Where a (context, leaf) led last time. */
struct path_cache {
	uint64_t leaf;
	uint32_t context;
	uint32_t path; /* + 1; 0: empty */
};

struct paths {
	const struct trace *trace;
	enum path_detail detail;
	struct frame_names names; /* by symbol and module */
	struct place *places;
	struct path *paths;
	uint32_t nr_places, nr_paths;
	struct map64 place_by_frame, place_by_key, line_by_key;
	struct node_table callees; /* paths, by their callers and places */
	uint32_t *place_by_piece; /* + 1, where all frames of a piece are one place; 0: not known */
	uint32_t *path_by_context; /* + 1, by number of the node; 0: not known */
	struct path_cache *cache;
	uint32_t *chain;
};

/* 0 or -ENOMEM; to be given to paths_fini() in either case. */
int paths_init(struct paths *paths, const struct trace *trace, enum path_detail detail);
/* Frees what paths are found by, when all have been: they can be looked at as before. */
void paths_settle(struct paths *paths);
void paths_fini(struct paths *paths);

/* The number of a sample's path; PATH_NONE: no memory. */
uint32_t paths_find(struct paths *paths, const struct trace_sample *sample);

/*
 * Asks for the memory that paths_find() will need for the samples, which come next: large tables
 * are all over memory, and so a batch waits for it once.
 */
#define PATHS_BATCH 64
void paths_look_ahead(const struct paths *paths, const struct trace_sample *samples, unsigned nr);

/*
 * How many functions a path has, for all of them, and at most; NULL: no memory. To be freed.
 */
uint32_t *paths_depths(const struct paths *paths, uint32_t *deepest);

/* A function's name, in the file or in text. */
static inline const char *paths_function(const struct paths *paths, uint32_t function,
                                         char text[FRAME_TEXT_SIZE])
{
	return frame_name_symbol(&paths->names, function, text);
}

/* The path of the module that a function is in; "" of special frames. */
static inline const char *paths_module(const struct paths *paths, uint32_t function)
{
	return trace_string(paths->trace, paths->names.names[function].module);
}

/* The function at the leaf of a path. */
static inline uint32_t paths_leaf(const struct paths *paths, uint32_t path)
{
	return paths->places[paths->paths[path].place].function;
}

#endif
