/*
 * The call paths of a trace, each with a number: what formats with tables of stacks refer to.
 *
 *     sample → path: (path of the caller, place)
 *
 * A place is the name of a function, of a line in one, or of an address, see frame_names.h. What
 * was inlined is a place like any other, called from where it was inlined; but with
 * PATHS_BY_OUTERMOST it is the function around it, and with PATHS_BY_ADDRESS that address.
 *
 * Numbers are given in order of appearance, and so a caller's path comes before its callees'. A
 * stack that does not reach its root in the file hangs below [truncated].
 */
#ifndef OUTPUT_PATHS_H
#define OUTPUT_PATHS_H

#include "output/frame_names.h"
#include "output/node_table.h"

#define PATH_NONE UINT32_MAX

enum path_detail { /* enum frame_keys */
	           PATHS_BY_OUTERMOST = FRAME_BY_SYMBOL | FRAME_BY_MODULE,
	           PATHS_BY_FUNCTION = PATHS_BY_OUTERMOST | FRAME_INLINED,
	           PATHS_BY_LINE = PATHS_BY_FUNCTION | FRAME_BY_LINE,
	           PATHS_BY_ADDRESS = FRAME_BY_ADDRESS | FRAME_BY_LINE,
};

struct path {
	uint32_t caller; /* PATH_NONE: a root */
	uint32_t place;  /* in names */
};

/* Where a (context, leaf) led last time. */
struct path_cache {
	uint64_t leaf;
	uint32_t context;
	uint32_t path; /* + 1; 0: empty */
};

struct paths {
	const struct trace *trace;
	struct frame_names names; /* as detailed */
	struct path *paths;
	uint32_t nr_paths;
	struct node_table callees; /* paths, by their callers and places */
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

/* A function, at any place of it. */
static inline const struct frame_name *paths_name(const struct paths *paths, uint32_t function)
{
	return &paths->names.names[paths->names.functions[function]];
}

/* A function's name, in the file or in text. */
static inline const char *paths_function(const struct paths *paths, uint32_t function,
                                         char text[FRAME_TEXT_SIZE])
{
	return frame_name_symbol(&paths->names, paths->names.functions[function], text);
}

/* The path of the module that a function is in; "" of special frames. */
static inline const char *paths_module(const struct paths *paths, uint32_t function)
{
	return trace_string(paths->trace, paths_name(paths, function)->module);
}

/* The function at the leaf of a path. */
static inline uint32_t paths_leaf(const struct paths *paths, uint32_t path)
{
	return paths->names.names[paths->paths[path].place].function;
}

#endif
