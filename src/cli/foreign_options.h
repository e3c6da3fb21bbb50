/*
 * What people type who come from other profilers: commands and options that are none here are
 * answered by one line that names the way. Options that ask for what is always so are accepted.
 */
#ifndef CLI_FOREIGN_OPTIONS_H
#define CLI_FOREIGN_OPTIONS_H

struct argp;

/* The way to what others call by this name; NULL: it is nobody's. */
const char *habit_command(const char *name);

/*
 * argp_parse() of the options of the command argv[0], which argp tells without children: those of
 * other profilers end the program as wrong ones do, with this status, and -h shows the help.
 */
int habits_parse(const struct argp *argp, int argc, char **argv, int status, unsigned flags,
                 void *input);

#endif
