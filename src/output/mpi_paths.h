/* Where paths go through functions of MPI. */
#ifndef OUTPUT_MPI_PATHS_H
#define OUTPUT_MPI_PATHS_H

#include "output/paths.h"

/* By function: whether it is one of MPI's, in C or Fortran, by its name. NULL: no memory. */
unsigned char *mpi_paths_functions(const struct paths *paths);
/* The outermost one on a path; PATH_NONE: there is none. */
uint32_t mpi_paths_outermost(const struct paths *paths, const unsigned char *functions,
                             uint32_t path);

#endif
