/*
 * contexts COUNT SECONDS: calls a function by COUNT different call paths in turn, for so much CPU
 * time ("explore"), then computes for as long in one place ("settle"). A path is the bits of its
 * number: left() or right() at each step.
 *
 * contexts -r DEPTH SECONDS: recursion to that depth and back, over and over.
 */
#include "burn.h"

#include <string.h>

static volatile uint64_t sink;

static void left(unsigned path, unsigned depth);
static void right(unsigned path, unsigned depth);

static inline void turn(unsigned path, unsigned depth)
{
	if (!depth)
		sink = burn_step(sink);
	else if (path & 1)
		left(path >> 1, depth - 1);
	else
		right(path >> 1, depth - 1);
	sink++; /* not a tail call */
}

NOINLINE static void left(unsigned path, unsigned depth)
{
	turn(path, depth);
}

NOINLINE static void right(unsigned path, unsigned depth)
{
	turn(path, depth);
}

NOINLINE static void explore(unsigned count, uint64_t until)
{
	unsigned depth = 1;

	while (depth < 31 && 1U << depth < count)
		depth++;
	for (unsigned path = 0; path % 256 || look() < until; path++)
		turn(path % count, depth);
}

NOINLINE static void settle(uint64_t until)
{
	burn_until(until);
}

NOINLINE static void recurse(unsigned depth)
{
	if (depth % 8 == 0)
		sink = burn_step(sink);
	if (depth)
		recurse(depth - 1);
	sink++;
}

int main(int argc, char **argv)
{
	bool recursion = argc > 1 && !strcmp(argv[1], "-r");
	unsigned count = argc > 1 + recursion ? (unsigned)atoi(argv[1 + recursion]) : 1000;
	uint64_t ns = (uint64_t)(atof(argc > 2 + recursion ? argv[2 + recursion] : "1") * 1e9);

	if (recursion) {
		while (look() < ns)
			recurse(count);
	} else {
		explore(count, ns);
		settle(2 * ns);
	}
	print_used();
	return 0;
}
