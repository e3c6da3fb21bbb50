#include "output/views/mpi_paths.h"
#include "output/text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Skips the P of PMPI_, the name by which a program calls MPI past all tools, ours included. */
static const char *first_name(const char *name)
{
	return name + (*name == 'P' || *name == 'p');
}

static bool is_mpi_library(const char *path)
{
	const char *file = text_file_name(path);

	return !strncmp(file, "lib", 3) && strstr(file, "mpi");
}

/* MPI's names for Fortran have small letters, but so have names that are not MPI's. */
static bool is_mpi(const char *name, const char *module)
{
	name = first_name(name);
	if (strncasecmp(name, "mpi_", 4) || !isalpha((unsigned char)name[4]))
		return false;
	return *name == 'M' || is_mpi_library(module);
}

unsigned char *mpi_paths_functions(const struct paths *paths)
{
	unsigned char *found = calloc(paths->names.nr_functions + 1UL, 1);
	char text[FRAME_TEXT_SIZE];

	for (uint32_t i = 0; found && i < paths->names.nr_functions; i++)
		found[i] = is_mpi(paths_function(paths, i, text), paths_module(paths, i));
	return found;
}

uint32_t mpi_paths_outermost(const struct paths *paths, const unsigned char *functions,
                             uint32_t path)
{
	uint32_t found = PATH_NONE;

	for (; path != PATH_NONE; path = paths_caller(paths, path))
		if (functions[paths_leaf(paths, path)])
			found = path;
	return found;
}

const char *mpi_paths_call(const struct paths *paths, uint32_t path, char text[FRAME_TEXT_SIZE])
{
	return first_name(paths_function(paths, paths_leaf(paths, path), text));
}
