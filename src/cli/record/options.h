/* The command line of record. */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "record/config.h"

/*
 * Fills options from the command line; they live as long as argv. 0, or the exit status of a
 * wrong one, of which the user has been told.
 */
int record_options(struct record_config *config, int argc, char **argv);

#endif
