#include "output/mpi_paths.h"

#include <ctype.h>
#include <stdlib.h>
#include <strings.h>

static bool is_mpi(const char *name)
{
	if (*name == 'P' || *name == 'p')
		name++;
	return !strncasecmp(name, "mpi_", 4) && isalpha((unsigned char)name[4]);
}

unsigned char *mpi_paths_functions(const struct paths *paths)
{
	unsigned char *found = calloc(paths->names.nr + 1UL, 1);
	char text[FRAME_TEXT_SIZE];

	for (uint32_t i = 0; found && i < paths->names.nr; i++)
		found[i] = is_mpi(paths_function(paths, i, text));
	return found;
}

uint32_t mpi_paths_outermost(const struct paths *paths, const unsigned char *functions,
                             uint32_t path)
{
	uint32_t found = PATH_NONE;

	for (; path != PATH_NONE; path = paths->paths[path].caller)
		if (functions[paths_leaf(paths, path)])
			found = path;
	return found;
}
