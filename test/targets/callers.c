/*
 * callers TURNS: two functions use CPU time by turns, 30 ms the one and 60 ms the other, below the
 * same 26 KiB of stack.
 */
#include "burn.h"

#include <stdlib.h>

#define NS    30000000
#define STEPS 24

static volatile unsigned sink;

__attribute__((noinline)) static void descend(uint64_t ns, unsigned steps)
{
	volatile char room[1100];

	room[steps] = 1;
	if (steps)
		descend(ns, steps - 1);
	else
		burn(ns);
	sink += (unsigned)room[steps];
}

__attribute__((noinline)) static void third(void)
{
	descend(NS, STEPS);
	sink++;
}

__attribute__((noinline)) static void two_thirds(void)
{
	descend(2 * NS, STEPS);
	sink++;
}

int main(int argc, char **argv)
{
	for (int i = atoi(argc > 1 ? argv[1] : "20"); i > 0; i--) {
		third();
		two_thirds();
	}
	return 0;
}
