/* The name of the trace to write. It may contain the rank of an MPI job. */
#ifndef CLI_OUTPUT_NAME_H
#define CLI_OUTPUT_NAME_H

#include <limits.h>

#include <stdbool.h>

/* Takes an argument as the file to write a trace to. Reports an invalid name as wrong usage. */
void output_name_take(const char **output, const char *arg);

/*
 * Tells whether writing to the output would replace this input although the user did not name it
 * with -o. named: the argument of -o; NULL without -o.
 */
bool output_name_takes(const char *output, const char *named, const char *input);

/*
 * Replaces %p by our PID, %h by the host's name, %r by the MPI rank and %% by %. A NULL pattern
 * means adaptrace.atr. If an MPI launcher started us, a name without %p, %h and %r gets the rank:
 * x.atr becomes x.0.atr. Returns NULL, or a message for the user if the pattern is invalid.
 */
const char *output_name(const char *pattern, char name[PATH_MAX]);

/* Returns the MPI rank that the launcher set; -1: no launcher did. */
int output_rank(void);

/* Returns the number of ranks that the launcher started on this node; 0: it does not tell. */
unsigned output_nr_local_ranks(void);

#endif
