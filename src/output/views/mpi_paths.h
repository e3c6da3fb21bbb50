/* Where paths go through functions of MPI. */
#ifndef OUTPUT_VIEWS_MPI_PATHS_H
#define OUTPUT_VIEWS_MPI_PATHS_H

#include "output/profile/paths.h"

/*
 * By function, of those that paths have now: whether it is one of MPI's, in C, or of a library of
 * MPI in Fortran, by its name. NULL: no memory.
 */
unsigned char *mpi_paths_functions(const struct paths *paths);
/* The outermost one on a path; PATH_NONE: there is none. */
uint32_t mpi_paths_outermost(const struct paths *paths, const unsigned char *functions,
                             uint32_t path);
/*
 * What was called at the leaf of such a path, by the name that programs use: PMPI_Send() is
 * MPI_Send(). It is the file's, or in text.
 */
const char *mpi_paths_call(const struct paths *paths, uint32_t path, char text[FRAME_TEXT_SIZE]);

#endif
