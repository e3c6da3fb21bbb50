/* Programs that are run instruction by instruction: from a breakpoint to the next if asked to. */
#ifndef TARGETS_STEP_H
#define TARGETS_STEP_H

#if defined(__x86_64__)
#define STEP_MARK(argc)                           \
	do {                                      \
		if ((argc) > 1)                   \
			__asm__ volatile("int3"); \
	} while (0)
#else
#define STEP_MARK(argc) ((void)(argc))
#endif

#endif
