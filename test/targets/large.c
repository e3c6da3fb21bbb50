/*
 * large SECONDS: works on arrays of 128 KiB on the stack, in the function that has them and in one
 * that it calls from three places; called from three places of one function. No frame pointers.
 */
#pragma GCC optimize("omit-frame-pointer")

#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define LENGTH   16384

static volatile double sink;

NOINLINE static void sweep(double *a, unsigned rounds)
{
	while (rounds--)
		for (int i = 1; i < LENGTH; i++)
			a[i] = 0.5 * (a[i - 1] + a[i]);
	__asm__ volatile("" ::: "memory");
}

NOINLINE static double work(double start)
{
	double a[LENGTH];

	for (int i = 0; i < LENGTH; i++)
		a[i] = start + i;
	for (int round = 0; round < 8; round++)
		for (int i = 1; i < LENGTH; i++)
			a[i] = 0.25 * (a[i - 1] + 3 * a[i]);
	sweep(a, 2);
	sweep(a, 3);
	sink = a[7];
	sweep(a, 3);
	return a[LENGTH / 2];
}

NOINLINE static double solve(double seconds)
{
	struct timespec now;
	double x = 1;

	do {
		x += work(x) * 1e-9;
		sink = x;
		x += work(x) * 1e-9;
		sink = x;
		x += work(x) * 1e-9;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds);
	return x;
}

int main(int argc, char **argv)
{
	sink = solve(argc > 1 ? atof(argv[1]) : 1);
	return 0;
}
