/*
 * folded STEPS [MS]: steps of MS ms (21), each of which spends 25 % of its time in first(), 40 % in
 * second() and 35 % in third(). second() touches new pages at an even rate. A step is a region of
 * adaptrace.h.
 */
#include "../../include/adaptrace.h"
#include "burn.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 64 };

static char *memory;

/* The time is spent in the function itself, and not in one that was inlined. */
#define BURN_UNTIL(end)                                       \
	while (thread_ns() < (end))                           \
		for (unsigned burn = 0; burn < 20000; burn++) \
	state = state * 6364136223846793005 + 1442695040888963407

NOINLINE static uint64_t first(uint64_t state, uint64_t end)
{
	BURN_UNTIL(end);
	return state;
}

NOINLINE static uint64_t second(uint64_t state, uint64_t begin, uint64_t end)
{
	madvise(memory, (size_t)PAGES * PAGE, MADV_DONTNEED);
	for (unsigned i = 0; i < PAGES; i++) {
		BURN_UNTIL(begin + (end - begin) * (i + 1) / PAGES);
		memory[(size_t)i * PAGE] = 1;
	}
	return state;
}

NOINLINE static uint64_t third(uint64_t state, uint64_t end)
{
	state ^= 3; /* else the compiler makes it one with first() */
	BURN_UNTIL(end);
	return state;
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 600;
	uint64_t length = (uint64_t)((argc > 2 ? atof(argv[2]) : 21) * 1e6);

	uint64_t state = 1;

	memory = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	madvise(memory, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < steps; i++) {
		uint64_t begin = thread_ns();

		ADAPTRACE_BEGIN("step");
		state = first(state, begin + length * 25 / 100);
		state = second(state, begin + length * 25 / 100, begin + length * 65 / 100);
		state = third(state, begin + length);
		ADAPTRACE_END("step");
	}
	return state == 0;
}
