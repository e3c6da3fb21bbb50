/*
 * Commands and options of other profilers. Those that do not exist here are answered by one line
 * that names the replacement. Options that ask for behaviour that is always on are accepted.
 */
#ifndef CLI_FOREIGN_OPTIONS_H
#define CLI_FOREIGN_OPTIONS_H

struct argp;

/* Returns the replacement for another profiler's command of this name; NULL: there is none. */
const char *foreign_command(const char *name);

/*
 * Calls argp_parse() for the command argv[0], whose argp has no children. Options of other
 * profilers end the program with this status, as wrong options do. -h shows the help.
 */
int foreign_options_parse(const struct argp *argp, int argc, char **argv, int status,
                          unsigned flags, void *input);

#endif
