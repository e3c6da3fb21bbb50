/*
 * Loads two libraries with parallel regions, each of which has an OpenMP library of its own, by
 * dlopen(), as an interpreter loads extension modules. Each region is run COUNT times; the regions
 * of the second library are inside of those of the first one.
 *
 *     loads_two FIRST SECOND COUNT
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef int region_fn(int (*inner)(void));
static region_fn *second;

static int call_second(void)
{
	return second(NULL);
}

static region_fn *load(const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	void *function = library ? dlsym(library, "run_region") : NULL;

	if (!function)
		fprintf(stderr, "%s\n", dlerror());
	return (region_fn *)function;
}

int main(int argc, char **argv)
{
	region_fn *first = argc > 3 ? load(argv[1]) : NULL;
	int sum = 0;

	second = first ? load(argv[2]) : NULL;
	if (!second)
		return 1;
	for (int i = 0; i < atoi(argv[3]); i++)
		sum += first(call_second) + second(NULL);
	printf("%d\n", sum);
	return 0;
}
