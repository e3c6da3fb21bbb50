/*
 * The call paths of a trace, each with a number: what formats with tables of stacks refer to.
 *
 *     sample → path: (path of the caller, place)
 *
 * A place is the name of a function, of a line in one, or of an address, see frame_names.h. What
 * was inlined is a place like any other, called from where it was inlined; but with
 * PATHS_BY_OUTERMOST it is the function around it, and with PATHS_BY_ADDRESS that address.
 *
 * They are the nodes of a path_tree, from 0 on without the root: a caller's path comes before its
 * callees'.
 */
#ifndef OUTPUT_PROFILE_PATHS_H
#define OUTPUT_PROFILE_PATHS_H

#include "output/profile/path_tree.h"

enum path_detail { /* enum frame_keys */
	           PATHS_BY_OUTERMOST = FRAME_BY_SYMBOL | FRAME_BY_MODULE,
	           PATHS_BY_FUNCTION = PATHS_BY_OUTERMOST | FRAME_INLINED,
	           PATHS_BY_LINE = PATHS_BY_FUNCTION | FRAME_BY_LINE,
	           PATHS_BY_ADDRESS = FRAME_BY_ADDRESS | FRAME_BY_LINE,
};

struct paths {
	const struct trace *trace;
	struct frame_names names; /* as detailed */
	struct path_tree tree;    /* a path is the node behind it: the root is none */
};

/* 0 or -ENOMEM; to be given to paths_fini() in either case. */
int paths_init(struct paths *paths, const struct trace *trace, enum path_detail detail);
void paths_fini(struct paths *paths);

/* The number of a sample's path; PATH_NONE: no memory. */
uint32_t paths_find(struct paths *paths, const struct trace_sample *sample);
/* Those of up to PATH_BATCH samples, which is faster. 0 or -ENOMEM. */
int paths_find_some(struct paths *paths, const struct trace_sample *samples, unsigned nr,
                    uint32_t *found);

static inline uint32_t paths_nr(const struct paths *paths)
{
	return paths->tree.nr - 1;
}

/* The path of the caller; PATH_NONE: there is none. */
static inline uint32_t paths_caller(const struct paths *paths, uint32_t path)
{
	return paths->tree.nodes[path + 1].parent - 1;
}

/* In names. */
static inline uint32_t paths_place(const struct paths *paths, uint32_t path)
{
	return paths->tree.nodes[path + 1].name;
}

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
	return paths->names.names[paths_place(paths, path)].function;
}

#endif
