/* Programs that are run instruction by instruction: from a breakpoint to the next if asked to. */
#ifndef TARGETS_STEP_H
#define TARGETS_STEP_H

#if defined(__x86_64__)
#define STEP_TRAP "int3"
#elif defined(__aarch64__)
#define STEP_TRAP "brk #0"
#else
#define STEP_TRAP ""
#endif

#define STEP_MARK(argc)                              \
	do {                                         \
		if ((argc) > 1)                      \
			__asm__ volatile(STEP_TRAP); \
	} while (0)

#endif
