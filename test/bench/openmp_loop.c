/* Prints the ns of a parallel region, a barrier in one and a critical section, each that does
 * nothing. */
#include <omp.h>
#include <stdio.h>

#define TURNS  200
#define REPEAT 500

#define LEAST(name, ...)                                              \
	do {                                                          \
		double least = 1e18;                                  \
		for (int turn = 0; turn < TURNS; turn++) {            \
			double from = omp_get_wtime(), ns;            \
			__VA_ARGS__                                   \
			ns = (omp_get_wtime() - from) / REPEAT * 1e9; \
			least = ns < least ? ns : least;              \
		}                                                     \
		printf("%s %.1f\n", name, least);                     \
	} while (0)

static volatile int count;

static void regions(void)
{
	for (int i = 0; i < REPEAT; i++) {
#pragma omp parallel
		__asm__ volatile("");
	}
}

static void barriers(void)
{
#pragma omp parallel
	for (int i = 0; i < REPEAT; i++) {
#pragma omp barrier
	}
}

static void criticals(void)
{
#pragma omp parallel
	for (int i = 0; i < REPEAT; i++) {
#pragma omp critical
		count = i;
	}
}

int main(void)
{
	LEAST("region", regions(););
	LEAST("barrier", barriers(););
	LEAST("critical", criticals(););
	return 0;
}
