/*
 * How large the output of a conversion will be: so that a user hears of a file that no viewer opens
 * while most of it is still to be written.
 */
#ifndef CLI_EXPECTED_SIZE_H
#define CLI_EXPECTED_SIZE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define EXPECTED_SIZE_LARGE ((uint64_t)1 << 30) /* browsers take a few hundred MB */

struct expected_size {
	FILE *file;   /* NULL or a pipe: what goes there takes no room */
	double share; /* of the work, done before the first bytes */
	bool told;
};

/*
 * Returns the size that the file will have, by the share of the work that is done, once if it is
 * large; else 0.
 */
uint64_t expected_size(struct expected_size *expected, double share);

#endif
