/*
 * Unwinding: the calling context of a sample, from the registers and the piece of user stack that
 * the kernel copied with it, by the call frame information of the modules (.eh_frame,
 * .debug_frame), or by the code itself where there is none. No code runs in the target. Where a
 * stack is deeper than the piece, or code has no file, the memory of the process may be read;
 * nothing in it is changed or halted.
 *
 * A rule (how to find the caller's registers) is read from the file once per address and kept in a
 * set-associative cache. Where a thread's stack and registers are as its last sample had them, the
 * walk is not done again. Memory: at most 7 MiB, whatever is mapped, and up to 48 KiB for each of
 * at most 256 threads, if their stacks are deep, and 16 KiB for each of at most 256 frames that are
 * larger than any copy.
 */
#ifndef SYMBOLIZE_UNWIND_UNWIND_H
#define SYMBOLIZE_UNWIND_UNWIND_H

#include "symbolize/modules/space.h"
#include "base/stack_cut.h"

/* Deeper stacks are cut there, whatever room a caller has. */
#define UNWIND_MAX_FRAMES 1024

/*
 * Returns the value for perf_event_attr.sample_regs_user: the registers in unwind_sample.regs,
 * lowest bit first.
 */
uint64_t unwind_regs_mask(void);

enum unwind_engine {
	UNWIND_RULES,     /* our own rule executor */
	UNWIND_LIBUNWIND, /* libunwind's remote unwinder: slower; an oracle for the other */
};

struct unwind_sample {
	const uint64_t *regs;       /* popcount(unwind_regs_mask()) values */
	const unsigned char *stack; /* the bytes from the stack pointer upward */
	size_t stack_size;          /* bytes really copied: up to what was asked for, or a page that
	                               was never touched */
	pid_t tid;                  /* its last stack may complete a cut one */
	uint64_t time;              /* of CLOCK_MONOTONIC, in ns; 0: the process may not be asked */
	bool stack_full;            /* these are as many as were asked for */
};

enum unwind_end {
	UNWIND_COMPLETE,  /* reached the start of the thread or process */
	UNWIND_STITCHED,  /* cut, and completed from an earlier stack of the thread */
	UNWIND_TRUNCATED, /* stopped early: stack cut, max reached, or no rule; callers are missing
	                   */
};

struct unwinder;

/* The modules' table must outlive the unwinder, and has no other. NULL with errno. */
struct unwinder *unwinder_new(struct module_table *modules, enum unwind_engine engine);
void unwinder_free(struct unwinder *unwinder);

/*
 * Writes at most max (> 0) frames, leaf first, and returns their number, at least 1. A frame that a
 * signal interrupted is, like the leaf, the interrupted instruction. Bounded work whatever the
 * registers, the stack and the modules' contents are.
 */
unsigned unwinder_walk(struct unwinder *unwinder, const struct space *space,
                       const struct unwind_sample *sample, uint64_t *frames, unsigned max,
                       enum unwind_end *end);

/* Why the last stack that unwinder_walk() gave was UNWIND_TRUNCATED. */
enum stack_cut unwinder_cut(const struct unwinder *unwinder);

/*
 * Returns how many of the nr frames of a call chain by frame pointers, leaf first, lead to its
 * root: a frame without a caller, or one from which a C library runs main() or a thread's function.
 * The frames behind the root are not callers. Returns 0 if the chain has no root.
 */
unsigned unwinder_find_root(struct unwinder *unwinder, const uint64_t *frames, unsigned nr);

/*
 * Finds out why such a chain, of nr (> 0) frames, does not reach its root. Returns false if the
 * code of its outermost frame is unknown.
 */
bool unwinder_chain_cut(struct unwinder *unwinder, const uint64_t *frames, unsigned nr,
                        enum stack_cut *why);

/* A thread ended, or executed another program: forget its stack. */
void unwinder_forget(struct unwinder *unwinder, pid_t tid);

struct unwind_stats {
	uint64_t walks, complete, stitched, truncated;
	uint64_t rules_asked; /* cache misses: questions to the files */
};

void unwinder_stats(const struct unwinder *unwinder, struct unwind_stats *stats);

#endif
