/* Options that are none: one line, with those that may have been meant. */
#ifndef CLI_UNKNOWN_OPTION_H
#define CLI_UNKNOWN_OPTION_H

#include <stdbool.h>

struct argp;
struct argp_option;

/*
 * Says so if the command argv[0] has an option that is neither argp's, which are suggested, nor one
 * of more. Others that are wrong, and what stands behind them, are left to argp. In order: the
 * first word that is no option ends them.
 */
bool unknown_option(const struct argp *argp, const struct argp_option *more, int argc, char **argv,
                    bool in_order);

#endif
