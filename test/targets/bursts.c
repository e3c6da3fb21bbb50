/*
 * bursts SECONDS COUNT: uses so much CPU time in slices of 100 ms, and has page faults meanwhile:
 * COUNT in every slice, but ten times as many in every fifth, all within a few ms. Says how many.
 */
#include "burn.h"

#define SLICE_NS 100000000

NOINLINE static void fault(size_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = count * page;
	volatile char *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	madvise((void *)memory, size, MADV_NOHUGEPAGE); /* one fault each */
	for (size_t i = 0; i < count; i++)
		memory[i * page] = 1;
	munmap((void *)memory, size);
}

int main(int argc, char **argv)
{
	uint64_t end = (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);
	size_t count = argc > 2 ? (size_t)atoi(argv[2]) : 100, faults = 0;

	for (unsigned slice = 1; thread_ns() < end; slice++) {
		size_t now = slice % 5 ? count : 10 * count;

		fault(now);
		faults += now;
		burn_until(slice * (uint64_t)SLICE_NS < end ? slice * (uint64_t)SLICE_NS : end);
	}
	printf("faults %zu\n", faults);
	print_used();
	return 0;
}
