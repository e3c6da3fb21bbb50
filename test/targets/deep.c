/*
 * deep SECONDS: uses CPU time, now and then for a short while below some 24 KiB of stack, each time
 * by another path of calls.
 */
#include "burn.h"

#include <stdlib.h>

#define SHALLOW_NS 2000000
#define DEEP_NS    200000
#define STEPS      44

static uint64_t until;
static volatile unsigned sink;

static void descend(uint64_t path, unsigned steps);

__attribute__((noinline)) static void left(uint64_t path, unsigned steps)
{
	volatile char room[400];

	room[steps] = 1;
	descend(path >> 1, steps - 1);
	sink += (unsigned)room[steps];
}

__attribute__((noinline)) static void right(uint64_t path, unsigned steps)
{
	volatile char room[600];

	room[steps] = 1;
	descend(path >> 1, steps - 1);
	sink += (unsigned)room[steps];
}

__attribute__((noinline)) static void descend(uint64_t path, unsigned steps)
{
	if (!steps)
		burn_until(until);
	else if (path & 1)
		left(path, steps);
	else
		right(path, steps);
	sink++;
}

int main(int argc, char **argv)
{
	uint64_t end = (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);

	while (until < end) {
		until += SHALLOW_NS;
		burn_until(until);
		until += DEEP_NS;
		descend((uint64_t)rand() << 31 ^ (uint64_t)rand(), STEPS);
	}
	return 0;
}
