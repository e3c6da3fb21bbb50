/* The reasons why a stack does not reach its root. The trace format fixes the numbers. */
#ifndef BASE_STACK_CUT_H
#define BASE_STACK_CUT_H

enum stack_cut {
	STACK_CUT_COPY,       /* the stack is deeper than the copied part */
	STACK_CUT_DEEP,       /* the stack is deeper than the largest copy */
	STACK_CUT_FRAME,      /* one frame is larger than the largest copy */
	STACK_CUT_PAGE,       /* the copy ended at a page that was not in memory */
	STACK_CUT_NO_CFI,     /* the module of the outermost frame has no call frame information */
	STACK_CUT_NO_RULE,    /* the module has it, but no rule for that address */
	STACK_CUT_JIT,        /* JIT-compiled code without frame pointers */
	STACK_CUT_GO,         /* Go switches to another stack there */
	STACK_CUT_HASKELL,    /* Haskell keeps its stack in the heap */
	STACK_CUT_32_BIT,     /* 32-bit programs are not unwound */
	STACK_CUT_FP,         /* the chain of frame pointers ends at no valid caller */
	STACK_CUT_MAX,        /* deeper than the user's limit or the largest possible stack */
	STACK_CUT_KERNEL_MAX, /* deeper than kernel.perf_event_max_stack */
	STACK_CUT_BRANCHES,   /* deeper than the processor's call stack (LBR) */
	STACK_CUT_UNKNOWN,    /* code whose file is unknown, as where mappings cannot be read */
	STACK_CUT_NO_STACK,   /* the stack was gone, as while exec replaces the program */
	NR_STACK_CUTS,
};

#endif
