/*
 * Processor architectures: everything in the unwinder that differs between them is in this file and
 * in arch.c.
 *
 * Three registers are followed from frame to frame: the stack pointer, the frame pointer, and an
 * extra one. These suffice in practice. The extra one is rbx on x86-64, from which the lazy symbol
 * resolver finds its frame, and the link register on aarch64 and riscv64.
 */
#ifndef SYMBOLIZE_UNWIND_ARCH_H
#define SYMBOLIZE_UNWIND_ARCH_H

#include "symbolize/unwind/rule.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers of registers as DWARF counts them; ARCH_REGS of them are in a sample. */
#if defined(__x86_64__)
#define ARCH_MACHINE EM_X86_64
enum { ARCH_FP = 6, ARCH_SP = 7, ARCH_EXTRA = 3, ARCH_RA = 16, ARCH_PC = 16, ARCH_REGS = 17 };
enum { ARCH_RESULT = 0 };      /* of a system call */
#define ARCH_CLONE_SIZE      7 /* bytes that make a thread */
#define ARCH_TRAMPOLINE_SIZE 9
#define ARCH_TRAMPOLINE_STEP 7 /* the offset of its second instruction */
#define ARCH_CALL_MAX        7
#define ARCH_CODE_MASK       UINT64_MAX
#define ARCH_VSYSCALL        0xffffffffff600000 /* a page of the kernel's half that programs call */
#define ARCH_FRAME_RECORD    0 /* from the frame pointer to the caller's, and the return address */
#define ARCH_RECORD_BELOW    false /* the caller's frame does not begin behind that record */
#define ARCH_CODE_STEP       1     /* instructions begin at multiples */
#define ARCH_PLT_HEAD        0     /* bytes in which the head of a PLT pushes and has no rules */
#define ARCH_HIDDEN_CALLER   false /* the caller of a leaf is in a register, and in no call chain */
#elif defined(__aarch64__)
#define ARCH_MACHINE         EM_AARCH64
enum { ARCH_FP = 29, ARCH_SP = 31, ARCH_EXTRA = 30, ARCH_RA = 30, ARCH_PC = 32, ARCH_REGS = 33 };
enum { ARCH_RESULT = 0 };
#define ARCH_CLONE_SIZE      8
#define ARCH_TRAMPOLINE_SIZE 8
#define ARCH_TRAMPOLINE_STEP 4
#define ARCH_CALL_MAX        4
/* A signed return address carries its signature above the 48 bits of the address. */
#define ARCH_CODE_MASK       0x0000ffffffffffffull
#define ARCH_VSYSCALL        0 /* there is none */
#define ARCH_FRAME_RECORD    0
#define ARCH_RECORD_BELOW    true
#define ARCH_CODE_STEP       4
#define ARCH_PLT_HEAD        32
#define ARCH_HIDDEN_CALLER   true
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH_MACHINE         EM_RISCV
enum { ARCH_FP = 8, ARCH_SP = 2, ARCH_EXTRA = 1, ARCH_RA = 1, ARCH_PC = 32, ARCH_REGS = 33 };
enum { ARCH_RESULT = 10 };
#define ARCH_CLONE_SIZE      8
#define ARCH_TRAMPOLINE_SIZE 8
#define ARCH_TRAMPOLINE_STEP 4
#define ARCH_CALL_MAX        4
#define ARCH_CODE_MASK       UINT64_MAX
#define ARCH_VSYSCALL        0 /* there is none */
#define ARCH_FRAME_RECORD    (-16)
#define ARCH_RECORD_BELOW    false
#define ARCH_CODE_STEP       2
#define ARCH_PLT_HEAD        0
#define ARCH_HIDDEN_CALLER   false /* the kernel looks */
#else
#error "adaptrace unwinds on x86-64, aarch64 and riscv64 only"
#endif

/* The registers to sample, as perf_event_attr.sample_regs_user wants them. */
uint64_t arch_sample_mask(void);

/* The index of a register in a sample, by its DWARF number. */
extern const uint8_t arch_sample_index[ARCH_REGS];

static inline uint64_t arch_sample_reg(const uint64_t *regs, unsigned reg)
{
	return regs[arch_sample_index[reg]];
}

/* The rule for the frame of a signal handler's trampoline. */
extern const struct unwind_rule arch_signal_rule;

/*
 * Tells whether an instruction is the push at the head of a PLT. arch_plt_rule is the rule behind
 * it.
 */
bool arch_is_plt_push(const uint8_t code[4]);
extern const struct unwind_rule arch_plt_rule;

/* Corrects rules that C libraries are known to describe wrongly. */
void arch_mend_rule(struct unwind_rule *rule);

/* Tells whether these are the instructions that return from a signal handler. */
bool arch_is_trampoline(const uint8_t code[ARCH_TRAMPOLINE_SIZE]);

/*
 * Tells whether these bytes end with the system call that makes a thread. Both the old and the new
 * thread return from it.
 */
#define ARCH_CLONE_BEFORE 16
bool arch_is_clone(const uint8_t code[ARCH_CLONE_BEFORE]);

/*
 * Tells whether this code contains that system call and then tests which of the two threads it is.
 * On aarch64 and riscv64 the call frame information of glibc is right for the old thread alone.
 * vfork() makes the system call without the test: there both return to the caller.
 */
#define ARCH_CLONE_MAX 128
bool arch_has_clone(const uint8_t *code, size_t size);

/*
 * Makes a rule for the trampolines that CPython generates for each function at run time, which keep
 * no frame pointer. `code` is the code around an address, from ARCH_BARE_BEFORE bytes before it,
 * with zeros where there is none. Returns false for other code.
 */
#define ARCH_BARE_BEFORE 64
#define ARCH_BARE_SIZE   128
bool arch_bare_rule(const uint8_t code[ARCH_BARE_SIZE], struct unwind_rule *rule);

/* Tells whether a call instruction ends where these bytes of code end. */
bool arch_is_call(const uint8_t code[ARCH_CALL_MAX]);

/*
 * Tells from the code behind a call whether the call was one of main() or of a thread's function. A
 * C library passes the result of main() to exit(), which is at the offset *target, and stores that
 * of a thread's function in the thread's descriptor. On x86-64 only: elsewhere C libraries have
 * frame pointers.
 */
#define ARCH_RUN_SIZE 7
enum arch_run { ARCH_RUNS_OTHER, ARCH_RUNS_MAIN, ARCH_RUNS_THREAD };
enum arch_run arch_run(const uint8_t code[ARCH_RUN_SIZE], int32_t *target);

/* Tell whether an instruction returns, or saves the frame pointer and the link register. */
bool arch_is_return(const uint8_t code[ARCH_CODE_STEP]);
bool arch_is_frame_push(const uint8_t code[ARCH_CODE_STEP]);

#endif
