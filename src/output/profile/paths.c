#include "output/profile/paths.h"

#include <stdlib.h>

int paths_init(struct paths *paths, const struct trace *trace, enum path_detail detail)
{
	int err;

	*paths = (struct paths){.trace = trace};
	frame_names_init(&paths->names, trace, detail);
	err = path_tree_init(&paths->tree, &paths->names, &(struct path_tree_config){0});
	paths->tree.whole = true;
	return err;
}

void paths_fini(struct paths *paths)
{
	path_tree_fini(&paths->tree);
	frame_names_fini(&paths->names);
	*paths = (struct paths){0};
}

int paths_find_some(struct paths *paths, const struct trace_sample *samples, unsigned nr,
                    uint32_t *found)
{
	int err = path_tree_find(&paths->tree, samples, nr, NULL, found);

	for (unsigned i = 0; i < nr && !err; i++)
		found[i]--;
	return err;
}

uint32_t paths_find(struct paths *paths, const struct trace_sample *sample)
{
	uint32_t path;

	return paths_find_some(paths, sample, 1, &path) ? PATH_NONE : path;
}

uint32_t *paths_depths(const struct paths *paths, uint32_t *deepest)
{
	uint32_t *depths = calloc(paths->tree.nr, sizeof(*depths));

	*deepest = 0;
	for (uint32_t i = 0; depths && i < paths_nr(paths); i++) {
		uint32_t caller = paths_caller(paths, i);

		depths[i] = caller == PATH_NONE ? 1 : depths[caller] + 1;
		if (depths[i] > *deepest)
			*deepest = depths[i];
	}
	return depths;
}
