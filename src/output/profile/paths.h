/*
 * The call paths of a trace, each with a number: what formats with tables of stacks refer to.
 *
 *     sample → path: (path of the caller, name)
 *
 * A name stands for a function, a line in one, or an address, see frame_names.h. An
 * inlined function has names like any other and is called from where it was inlined.
 * PATHS_BY_OUTERMOST replaces it by the function that contains its code, PATHS_BY_ADDRESS by the
 * address of the code.
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
	struct frame_names names; /* with the keys of the path_detail */
	struct path_tree tree;    /* path i is node i + 1, because the root is no path */
};

/* Returns 0 or -ENOMEM; call paths_fini() in either case. */
int paths_init(struct paths *paths, const struct trace *trace, enum path_detail detail);
void paths_fini(struct paths *paths);

/* Returns the number of a sample's path; PATH_NONE: no memory. */
uint32_t paths_find(struct paths *paths, const struct trace_sample *sample);
/*
 * Finds the paths of up to PATH_BATCH samples, which is faster than one by one. Returns 0 or
 * -ENOMEM.
 */
int paths_find_some(struct paths *paths, const struct trace_sample *samples, unsigned nr,
                    uint32_t *found);

static inline uint32_t paths_nr(const struct paths *paths)
{
	return paths->tree.nr - 1;
}

/* Returns the path of the caller; PATH_NONE: there is none. */
static inline uint32_t paths_caller(const struct paths *paths, uint32_t path)
{
	return paths->tree.nodes[path + 1].parent - 1;
}

/* Returns the number of the name at a path's leaf: an index of paths->names.names. */
static inline uint32_t paths_leaf_name(const struct paths *paths, uint32_t path)
{
	return paths->tree.nodes[path + 1].name;
}

/*
 * Returns the number of functions on each path, and the largest one in *deepest. The caller frees
 * the array. NULL: no memory.
 */
uint32_t *paths_depths(const struct paths *paths, uint32_t *deepest);

/* Returns one of the names of a function. */
static inline const struct frame_name *paths_name(const struct paths *paths, uint32_t function)
{
	return &paths->names.names[paths->names.functions[function]];
}

/* Returns a function's name: a string of the trace, or `text`. */
static inline const char *paths_function(const struct paths *paths, uint32_t function,
                                         char text[FRAME_TEXT_SIZE])
{
	return frame_name_symbol(&paths->names, paths->names.functions[function], text);
}

/* Returns the path of the module that a function is in; "" for special frames. */
static inline const char *paths_module(const struct paths *paths, uint32_t function)
{
	return trace_string(paths->trace, paths_name(paths, function)->module);
}

/* Returns the function at the leaf of a path. */
static inline uint32_t paths_leaf(const struct paths *paths, uint32_t path)
{
	return paths->names.names[paths_leaf_name(paths, path)].function;
}

#endif
