/* Where paths go through functions of MPI. */
#ifndef OUTPUT_VIEWS_MPI_PATHS_H
#define OUTPUT_VIEWS_MPI_PATHS_H

#include "output/profile/paths.h"

/*
 * Returns for each function of the paths whether it is one of MPI's, in C or in a Fortran library
 * of MPI, judged by its name. The caller frees the array; NULL: no memory.
 */
unsigned char *mpi_paths_functions(const struct paths *paths);
/* Returns the outermost MPI function on a path; PATH_NONE: there is none. */
uint32_t mpi_paths_outermost(const struct paths *paths, const unsigned char *functions,
                             uint32_t path);
/*
 * Returns the name of the MPI function at the leaf of such a path, as programs call it: MPI_Send
 * for PMPI_Send. It is a string of the trace, or `text`.
 */
const char *mpi_paths_call(const struct paths *paths, uint32_t path, char text[FRAME_TEXT_SIZE]);

#endif
