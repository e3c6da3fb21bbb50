/* The name of the trace to write, with what tells the ranks of a job apart. */
#ifndef CLI_OUTPUT_NAME_H
#define CLI_OUTPUT_NAME_H

#include <limits.h>

/* Takes an argument as the file to write a trace to. What can be none is told, as wrong usage. */
void output_name_take(const char **output, const char *arg);

/*
 * Replaces %p by our PID, %h by the host's name, %r by the MPI rank and %% by %; pattern NULL means
 * adaptrace.atr, or adaptrace.%r.atr where an MPI launcher started us. NULL, or in words for a user
 * what is wrong with the pattern.
 */
const char *output_name(const char *pattern, char name[PATH_MAX]);

/* The MPI rank that a launcher says we are; -1: none did. */
int output_rank(void);

#endif
