/*
 * A fixed amount of work, 20 frames deep, that ends by writing what it cost: user and system
 * seconds, into the file named. fixed_work FILE [ROUNDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile double sink;

NOINLINE static double work(unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += i * 1.0001;
	return sum;
}

NOINLINE static double descend(unsigned depth)
{
	double result = depth ? descend(depth - 1) : work(1000000);

	sink = result;
	return result + 1;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 1000;
	struct rusage usage;
	FILE *f;

	for (unsigned i = 0; i < rounds; i++)
		sink = descend(18);
	getrusage(RUSAGE_SELF, &usage);
	f = argc > 1 ? fopen(argv[1], "w") : NULL;
	if (!f)
		return 1;
	fprintf(f, "%ld.%06ld %ld.%06ld\n", usage.ru_utime.tv_sec, usage.ru_utime.tv_usec,
	        usage.ru_stime.tv_sec, usage.ru_stime.tv_usec);
	return fclose(f) != 0;
}
