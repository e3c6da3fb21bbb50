#include "cli/expected_size.h"

/*
 * The beginning of an output does not represent the rest: it has headers and the short-lived first
 * commands of a build. Estimates start after ENOUGH bytes and leave out the first HEAD bytes.
 */
#define ENOUGH ((int64_t)64 << 20)
#define HEAD   ((int64_t)1 << 20)

uint64_t expected_size(struct expected_size *expected, double share)
{
	int64_t written = expected->file && !expected->told ? ftello(expected->file) : 0;
	double all;

	if (written < HEAD)
		expected->share = share;
	if (written < ENOUGH || share <= expected->share)
		return 0;
	all = (double)written * (1 - expected->share) / (share - expected->share);
	expected->told = all >= (double)EXPECTED_SIZE_LARGE;
	return expected->told ? (uint64_t)all : 0;
}
