/*
 * shares ROUNDS: work that is always the same, a tenth of it in one(), three in three(), six in
 * six(): of all the same mixture of instructions. A round is some 100 million of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

static inline void work(unsigned n)
{
	uint64_t x = n;

	for (unsigned i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

NOINLINE static void one(void)
{
	work(10000);
}

NOINLINE static void three(void)
{
	work(30000);
}

NOINLINE static void six(void)
{
	work(60000);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1;

	for (unsigned i = 0; i < rounds * 200; i++) {
		one();
		three();
		six();
	}
	printf("%llu\n", (unsigned long long)sink);
	return 0;
}
