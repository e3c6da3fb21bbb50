/* Reports in one line why argp could not parse an option; argp itself prints three lines. */
#ifndef CLI_WRONG_OPTION_H
#define CLI_WRONG_OPTION_H

struct argp_state;

/*
 * Handles ARGP_KEY_ERROR in the parser of a command, which has at most one child parser. Ends the
 * program as wrong usage, unless all options are right.
 */
void wrong_option_tell(const struct argp_state *state, const char *command);

#endif
