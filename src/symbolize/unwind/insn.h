/*
 * Instructions of x86-64: how long they are, and of those that move stack pointers about, what they
 * do. Not a disassembler: only what it takes to follow a function to its end.
 */
#ifndef SYMBOLIZE_UNWIND_INSN_H
#define SYMBOLIZE_UNWIND_INSN_H

#include <stddef.h>
#include <stdint.h>

#define INSN_MAX 15 /* bytes */

enum insn_type {
	INSN_OTHER,
	INSN_PUSH,   /* from, or something else: INSN_REGS or above */
	INSN_POP,    /* to, likewise */
	INSN_MOVE,   /* from, to */
	INSN_LOAD,   /* the word at from + value, to */
	INSN_STORE,  /* from, to the word at to + value */
	INSN_ADD,    /* from + value, to */
	INSN_MASK,   /* to, which has something else then */
	INSN_LEAVE,  /* the frame */
	INSN_JUMP,   /* by value, from the end of the instruction */
	INSN_BRANCH, /* likewise, or not */
	INSN_RETURN,
	INSN_NONE, /* no function continues here: a breakpoint, zeros, and the like */
	INSN_HALT, /* no function continues here: only the kernel may halt */
};

struct insn {
	enum insn_type type;
	uint8_t from, to; /* registers of 64 bits, as the processor counts them */
	int32_t value;
};

enum { INSN_RBX = 3, INSN_RSP = 4, INSN_RBP = 5, INSN_REGS = 16 };

/*
 * Decodes the instruction at `code`, of which `size` bytes can be read. Returns its length, or 0 if
 * it is invalid.
 */
size_t insn_read(const uint8_t *code, size_t size, struct insn *insn);

#endif
