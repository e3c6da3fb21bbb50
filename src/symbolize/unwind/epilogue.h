/*
 * Epilogues: make a rule for code without call frame information from the instructions up to its
 * return. Kernels of numerical libraries (OpenBLAS, GMP) and of codecs (x264) are such assembly,
 * and programs that use them spend most of their time there.
 *
 * All paths to the return leave the same stack, so any of them will do: conditional jumps are
 * treated as not taken, unless that path does not return. Anything may follow a call that does not
 * return, so the user of the rule must check that it leads to a return address. If the path leads
 * straight to an instruction that halts the machine, the code has no caller: such code lies below a
 * coroutine.
 *
 * This is needed on x86-64 only. On other machines such code leaves the link register alone.
 */
#ifndef SYMBOLIZE_UNWIND_EPILOGUE_H
#define SYMBOLIZE_UNWIND_EPILOGUE_H

#include "symbolize/unwind/rule.h"

/* Copies up to `size` bytes of code and returns their number. */
typedef size_t epilogue_read_fn(void *arg, uint64_t addr, void *to, size_t size);

/*
 * Makes the rule before the instruction at addr. It is valid for instructions up to *end, too.
 * Returns false if no return is found within 64 KiB, or an instruction cannot be followed. That is
 * true up to *end, too.
 */
bool epilogue_rule(epilogue_read_fn *read, void *arg, uint64_t addr, struct unwind_rule *rule,
                   uint64_t *end);

#endif
