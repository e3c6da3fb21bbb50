/* Why a stack does not reach its root. The numbers are fixed by the format of the trace. */
#ifndef BASE_STACK_CUT_H
#define BASE_STACK_CUT_H

enum stack_cut {
	STACK_CUT_COPY,       /* it is deeper than what was copied of it */
	STACK_CUT_DEEP,       /* it is deeper than the largest copy */
	STACK_CUT_FRAME,      /* one frame is larger than the largest copy */
	STACK_CUT_PAGE,       /* the copy ended at a page that was not in memory */
	STACK_CUT_NO_CFI,     /* the module of the outermost frame has no call frame information */
	STACK_CUT_NO_RULE,    /* it has, but none that leads on from that address */
	STACK_CUT_JIT,        /* code that was made at run time, without frame pointers */
	STACK_CUT_GO,         /* Go changes to another stack there */
	STACK_CUT_HASKELL,    /* Haskell keeps its stack in the heap */
	STACK_CUT_32_BIT,     /* a 32-bit program's, which is not unwound */
	STACK_CUT_FP,         /* frame pointers lead to no caller, or to what is none */
	STACK_CUT_MAX,        /* deeper than the frames that the user wanted, or are kept at all */
	STACK_CUT_KERNEL_MAX, /* deeper than kernel.perf_event_max_stack */
	STACK_CUT_BRANCHES,   /* deeper than the processor's record of calls */
	NR_STACK_CUTS,
};

#endif
