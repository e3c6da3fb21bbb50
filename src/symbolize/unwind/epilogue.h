/*
 * Epilogues: the rule of code that no call frame information describes, from what it does with the
 * stack until it returns. Kernels of numerical libraries (OpenBLAS, GMP) and of codecs (x264) are
 * assembly of this kind, and programs that use them spend most of their time there.
 *
 * Of two ways any will do, for all leave the same stack: conditional jumps are taken for not taken,
 * but where that is no way. Only behind a call that does not return there may be anything, so that
 * whoever follows the rule must look whether it leads to a return address. Where it leads straight
 * to an instruction that halts the machine, nobody called: below a coroutine lies such code.
 *
 * On x86-64 only: elsewhere such code leaves the link register alone.
 */
#ifndef SYMBOLIZE_UNWIND_EPILOGUE_H
#define SYMBOLIZE_UNWIND_EPILOGUE_H

#include "symbolize/unwind/rule.h"

/* Copies bytes of code: how many, at most size. */
typedef size_t epilogue_read_fn(void *arg, uint64_t addr, void *to, size_t size);

/*
 * The rule before the instruction at addr; it holds for those up to *end, too. False: the function
 * does not come to an end within 64 KiB, or does what nobody can follow; so do those up to *end.
 */
bool epilogue_rule(epilogue_read_fn *read, void *arg, uint64_t addr, struct unwind_rule *rule,
                   uint64_t *end);

#endif
