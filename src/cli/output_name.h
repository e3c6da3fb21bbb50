/* The name of the trace to write, with what tells the ranks of a job apart. */
#ifndef CLI_OUTPUT_NAME_H
#define CLI_OUTPUT_NAME_H

#include <limits.h>

#include <stdbool.h>

/* Takes an argument as the file to write a trace to. What can be none is told, as wrong usage. */
void output_name_take(const char **output, const char *arg);

/*
 * Whether writing to the output would replace this input although -o did not name it: named is what
 * -o says, NULL without it.
 */
bool output_name_takes(const char *output, const char *named, const char *input);

/*
 * Replaces %p by our PID, %h by the host's name, %r by the MPI rank and %% by %; pattern NULL means
 * adaptrace.atr. Where an MPI launcher started us, a name with neither of the three gets the rank:
 * x.atr becomes x.0.atr. NULL, or in words for a user what is wrong with the pattern.
 */
const char *output_name(const char *pattern, char name[PATH_MAX]);

/* The MPI rank that a launcher says we are; -1: none did. */
int output_rank(void);

#endif
