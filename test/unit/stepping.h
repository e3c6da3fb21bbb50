/* What running a program instruction by instruction has to know of the processor. */
#ifndef UNIT_STEPPING_H
#define UNIT_STEPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/user.h>

/* A call under way. */
struct call {
	uint64_t slot; /* of the stack: what the stack pointer passes when the call returns */
	uint64_t ip;   /* the return address, or where a signal came */
	bool interrupted;
	bool exact; /* ip is of the instruction itself and not behind a call */
};

/* What is known of an instruction of the program. */
struct insn {
	uint64_t pc;
	bool is_call, is_ret, is_jump_back, is_syscall, is_mark;
	unsigned checks;
};

#if defined(__x86_64__)

#define MARK_SIZE               0 /* a breakpoint stops behind itself */
#define SYS_RESTORE             15
#define SAMPLED_REGS            17
#define BELIEVED_SLOT(slot)     (slot)
#define STATIC_FROM_MARK        false
#define JUMPS_END               false
#define MAX_JUMPS               10
#define KNOWN_WRONG             0
#define RETURN_ADDRESS_ON_STACK 1

static inline uint64_t regs_pc(const struct user_regs_struct *regs)
{
	return regs->rip;
}

static inline uint64_t regs_sp(const struct user_regs_struct *regs)
{
	return regs->rsp;
}

static inline uint64_t regs_syscall(const struct user_regs_struct *regs)
{
	return regs->rax;
}

static inline uint64_t regs_link(const struct user_regs_struct *regs)
{
	(void)regs;
	return 0;
}

static inline void regs_skip(struct user_regs_struct *regs, unsigned size)
{
	regs->rip += size;
}

static inline bool syscall_maps(uint64_t number)
{
	return number >= 9 && number <= 11; /* mmap, mprotect, munmap */
}

/* In the order of a sample. */
static inline void regs_sample(const struct user_regs_struct *regs, uint64_t sample[SAMPLED_REGS])
{
	const uint64_t values[] = {regs->rax, regs->rbx, regs->rcx, regs->rdx, regs->rsi, regs->rdi,
	                           regs->rbp, regs->rsp, regs->rip, regs->r8,  regs->r9,  regs->r10,
	                           regs->r11, regs->r12, regs->r13, regs->r14, regs->r15};

	memcpy(sample, values, sizeof(values));
}

/* An indirect call is ff /2, behind prefixes; a direct one e8. */
static inline void insn_decode(struct insn *insn, const unsigned char code[16])
{
	unsigned i = 0;

	while (i < 3 && (code[i] == 0x3e || code[i] == 0xf2 || code[i] == 0xf3 || code[i] == 0x67 ||
	                 (code[i] & 0xf0) == 0x40))
		i++;
	insn->is_call = code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2);
	insn->is_ret = code[i] == 0xc3 || code[i] == 0xc2;
	insn->is_mark = code[0] == 0xcc;
	insn->is_syscall = code[0] == 0x0f && code[1] == 0x05;
}

/* Whether a return address is no more on the stack. */
static inline bool call_returned(const struct call *call, const struct user_regs_struct *regs,
                                 const struct insn *done)
{
	(void)done;
	return call->slot < regs->rsp;
}

/* Whether a return is that of this call. */
static inline bool call_expected(const struct call *call, const struct user_regs_struct *before)
{
	return call->slot == before->rsp;
}

static inline bool call_made(const struct user_regs_struct *before,
                             const struct user_regs_struct *regs, const struct insn *done)
{
	return done->is_call && regs->rsp == before->rsp - 8;
}

#elif defined(__aarch64__)

#define MARK_SIZE               4
#define SYS_RESTORE             139
#define SAMPLED_REGS            33
/* Load-exclusive loops never end under a debugger; libc has them until it knows the processor. */
/* What is known by its saved link register alone does not return here. */
#define BELIEVED_SLOT(slot)     UINT64_MAX
#define STATIC_FROM_MARK        true
#define JUMPS_END               true
#define MAX_JUMPS               30
/* At the first instruction of glibc's lazy resolver nothing says what the PLT has pushed. */
#define KNOWN_WRONG             2
#define RETURN_ADDRESS_ON_STACK 0

static inline uint64_t regs_pc(const struct user_regs_struct *regs)
{
	return regs->pc;
}

static inline uint64_t regs_sp(const struct user_regs_struct *regs)
{
	return regs->sp;
}

static inline uint64_t regs_syscall(const struct user_regs_struct *regs)
{
	return regs->regs[8];
}

static inline uint64_t regs_link(const struct user_regs_struct *regs)
{
	return regs->regs[30];
}

static inline void regs_skip(struct user_regs_struct *regs, unsigned size)
{
	regs->pc += size;
}

static inline bool syscall_maps(uint64_t number)
{
	return number == 215 || number == 222 || number == 226; /* munmap, mmap, mprotect */
}

static inline void regs_sample(const struct user_regs_struct *regs, uint64_t sample[SAMPLED_REGS])
{
	memcpy(sample, regs, SAMPLED_REGS * sizeof(sample[0]));
}

/* bl, blr, and those that authenticate; longjmp goes by br x30 */
static inline void insn_decode(struct insn *insn, const unsigned char code[16])
{
	uint32_t word;

	memcpy(&word, code, sizeof(word));
	insn->is_call = (word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000;
	insn->is_ret = (word & 0xfffff81f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff;
	insn->is_jump_back = word == 0xd61f03c0;
	insn->is_syscall = word == 0xd4000001;
	insn->is_mark = (word & 0xffe0001f) == 0xd4200000;
}

static inline bool call_returned(const struct call *call, const struct user_regs_struct *regs,
                                 const struct insn *done)
{
	if (call->slot != regs->sp)
		return call->slot < regs->sp;
	return done->is_jump_back || (done->is_ret && regs->pc == call->ip);
}

static inline bool call_expected(const struct call *call, const struct user_regs_struct *before)
{
	return call->slot == before->sp || call->slot == BELIEVED_SLOT(0);
}

static inline bool call_made(const struct user_regs_struct *before,
                             const struct user_regs_struct *regs, const struct insn *done)
{
	return done->is_call && regs->regs[30] == before->pc + 4;
}

#endif

#endif
