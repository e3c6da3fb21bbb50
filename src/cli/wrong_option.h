/* What is wrong with an option that argp could not parse, in one line; argp itself takes three. */
#ifndef CLI_WRONG_OPTION_H
#define CLI_WRONG_OPTION_H

struct argp_state;

/*
 * For ARGP_KEY_ERROR of a command's parser, which has at most one child: ends the program as wrong
 * usage, unless all options are right.
 */
void wrong_option_tell(const struct argp_state *state, const char *command);

#endif
