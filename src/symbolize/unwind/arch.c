#include "symbolize/unwind/arch.h"

#include <asm/perf_regs.h>
#include <string.h>

#define CLONE_TEST_SIZE 6

#if defined(__x86_64__)

uint64_t arch_sample_mask(void)
{
	uint64_t low = (2ull << PERF_REG_X86_IP) - 1;
	uint64_t high = (2ull << PERF_REG_X86_R15) - (1ull << PERF_REG_X86_R8);

	return low | high;
}

/* rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8-r15, rip, where perf has ax, bx, cx, dx first. */
const uint8_t arch_sample_index[ARCH_REGS] = {0,  3,  2,  1,  4,  5,  6,  7, 9,
                                              10, 11, 12, 13, 14, 15, 16, 8};

/* Offsets of rip, rbp, rbx and rsp in the kernel's struct rt_sigframe, from rsp in the handler's
 * trampoline: a ucontext whose registers start 40 bytes in. */
const struct unwind_rule arch_signal_rule = {
	.type = RULE_FOLLOW,
	.signal = 1,
	.cfa_how = RULE_CFA_LOAD,
	.cfa_base = RULE_SP,
	.cfa_offset = 160,
	.ra = {.how = RULE_AT, .base = RULE_SP, .offset = 168},
	.fp = {.how = RULE_AT, .base = RULE_SP, .offset = 120},
	.extra = {.how = RULE_AT, .base = RULE_SP, .offset = 128},
};

/* mov $__NR_rt_sigreturn, %rax; syscall */
bool arch_is_trampoline(const uint8_t code[ARCH_TRAMPOLINE_SIZE])
{
	return !memcmp(code, "\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9);
}

/* mov $__NR_clone, %eax; syscall, and the same of clone3 */
static const char clone_code[2][ARCH_CLONE_SIZE + 1] = {"\xb8\x38\x00\x00\x00\x0f\x05",
                                                        "\xb8\xb3\x01\x00\x00\x0f\x05"};

/* There clone() is described no further than that. */
static bool is_clone_test(const uint8_t code[CLONE_TEST_SIZE])
{
	(void)code;
	return false;
}

#define SUB_SIZE 4 /* sub $8, %rsp, and add */

/* Where the instruction begins that starts a function around the address; or behind it. */
static unsigned bare_start(const uint8_t *code)
{
	unsigned at = ARCH_BARE_BEFORE + 1;

	while (at-- > 0) {
		if (!memcmp(code + at, "\x48\x83\xec\x08", SUB_SIZE))
			return at;
		if (at < ARCH_BARE_BEFORE && code[at] == 0xc3) /* perhaps the end of another */
			break;
	}
	return ARCH_BARE_SIZE;
}

/* Where it gives back what it took, and returns. */
static unsigned bare_end(const uint8_t *code, unsigned start)
{
	unsigned at;

	for (at = start + SUB_SIZE; at + SUB_SIZE < ARCH_BARE_SIZE && code[at] != 0xc3; at++)
		if (!memcmp(code + at, "\x48\x83\xc4\x08\xc3", SUB_SIZE + 1))
			return at;
	return ARCH_BARE_SIZE;
}

bool arch_bare_rule(const uint8_t code[ARCH_BARE_SIZE], struct unwind_rule *rule)
{
	unsigned start = bare_start(code), end = bare_end(code, start);

	/* sub $8, %rsp; call *REG; add $8, %rsp; ret */
	if (end == ARCH_BARE_SIZE || end + SUB_SIZE < ARCH_BARE_BEFORE || end != start + 6 ||
	    code[start + 4] != 0xff || (code[start + 5] & 0xf8) != 0xd0)
		return false;
	*rule = (struct unwind_rule){
		.type = RULE_FOLLOW,
		.cfa_base = RULE_SP,
		.cfa_reg = ARCH_SP,
		.cfa_offset =
			ARCH_BARE_BEFORE >= start + SUB_SIZE && ARCH_BARE_BEFORE <= end ? 16 : 8,
		.ra = {.how = RULE_AT, .base = RULE_CFA, .offset = -8},
	};
	return true;
}

/* The length of an indirect call "ff /2" by its ModRM and SIB bytes; 0: it is none. */
static size_t indirect_call_length(const uint8_t *code, size_t size)
{
	uint8_t mod = code[1] >> 6, rm = code[1] & 7;
	bool sib = rm == 4 && mod != 3;

	if (code[0] != 0xff || (code[1] >> 3 & 7) != 2 || (sib && size < 3))
		return 0;
	if (mod == 1)
		return 3 + sib;
	if (mod == 2 || (mod == 0 && (rm == 5 || (sib && (code[2] & 7) == 5))))
		return 6 + sib;
	return 2 + sib;
}

bool arch_is_call(const uint8_t code[ARCH_CALL_MAX])
{
	size_t size;

	if (code[ARCH_CALL_MAX - 5] == 0xe8)
		return true;
	for (size = 2; size <= ARCH_CALL_MAX; size++)
		if (indirect_call_length(code + ARCH_CALL_MAX - size, size) == size)
			return true;
	return false;
}

bool arch_is_return(const uint8_t code[ARCH_CODE_STEP])
{
	return code[0] == 0xc3;
}

/* mov %eax, %edi; call REL32, and mov %rax, %fs:DISP32 */
enum arch_run arch_run(const uint8_t code[ARCH_RUN_SIZE], int32_t *target)
{
	int32_t by;

	if (!memcmp(code, "\x64\x48\x89\x04\x25", 5))
		return ARCH_RUNS_THREAD;
	if (memcmp(code, "\x89\xc7\xe8", 3) != 0)
		return ARCH_RUNS_OTHER;
	memcpy(&by, code + 3, sizeof(by));
	if (by > INT32_MAX - ARCH_RUN_SIZE)
		return ARCH_RUNS_OTHER;
	*target = by + ARCH_RUN_SIZE;
	return ARCH_RUNS_MAIN;
}

#elif defined(__aarch64__)

uint64_t arch_sample_mask(void)
{
	return (2ull << PERF_REG_ARM64_PC) - 1;
}

const uint8_t arch_sample_index[ARCH_REGS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                              11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                              22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

/* Offsets of pc, x29, x30 and sp in the kernel's struct rt_sigframe, from sp in the handler's
 * trampoline: 128 bytes of siginfo, 176 of ucontext, then fault_address, regs[31], sp, pc. */
const struct unwind_rule arch_signal_rule = {
	.type = RULE_FOLLOW,
	.signal = 1,
	.cfa_how = RULE_CFA_LOAD,
	.cfa_base = RULE_SP,
	.cfa_offset = 560,
	.ra = {.how = RULE_AT, .base = RULE_SP, .offset = 568},
	.fp = {.how = RULE_AT, .base = RULE_SP, .offset = 544},
	.extra = {.how = RULE_AT, .base = RULE_SP, .offset = 552},
};

/* mov x8, #__NR_rt_sigreturn; svc #0 */
bool arch_is_trampoline(const uint8_t code[ARCH_TRAMPOLINE_SIZE])
{
	return !memcmp(code, "\x68\x11\x80\xd2\x01\x00\x00\xd4", 8);
}

/* mov x8, #__NR_clone; svc #0, and the same of clone3 */
static const char clone_code[2][ARCH_CLONE_SIZE + 1] = {"\x88\x1b\x80\xd2\x01\x00\x00\xd4",
                                                        "\x68\x36\x80\xd2\x01\x00\x00\xd4"};

/* cmp x0, #0 */
static bool is_clone_test(const uint8_t code[CLONE_TEST_SIZE])
{
	return !memcmp(code, "\x1f\x00\x00\xf1", 4);
}

/* stp x16, x30, [sp, #-16]! */
bool arch_is_plt_push(const uint8_t code[4])
{
	return !memcmp(code, "\xf0\x7b\xbf\xa9", 4);
}

const struct unwind_rule arch_plt_rule = {
	.type = RULE_FOLLOW,
	.cfa_base = RULE_SP,
	.cfa_offset = 16,
	.ra = {.how = RULE_AT, .base = RULE_CFA, .offset = -8},
};

static void move_cfa(struct rule_value *value, int32_t by)
{
	if (value->how == RULE_AT && value->base == RULE_CFA)
		value->offset -= by;
}

/*
 * glibc's lazy resolver forgets the 16 bytes that the PLT has pushed. A return address above the
 * CFA would be in the caller's frame.
 */
void arch_mend_rule(struct unwind_rule *rule)
{
	if (rule->signal || rule->ra.how != RULE_AT || rule->ra.base != RULE_CFA ||
	    rule->ra.offset != 8)
		return;
	rule->cfa_offset += 16;
	move_cfa(&rule->ra, 16);
	move_cfa(&rule->fp, 16);
}

/* bl, blr, and the forms of blr that authenticate */
bool arch_is_call(const uint8_t code[ARCH_CALL_MAX])
{
	uint32_t insn;

	memcpy(&insn, code, sizeof(insn));
	return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfefff000) == 0xd63f0000;
}

/* ret, retaa, retab */
bool arch_is_return(const uint8_t code[ARCH_CODE_STEP])
{
	uint32_t insn;

	memcpy(&insn, code, sizeof(insn));
	return insn == 0xd65f03c0 || (insn & 0xfffffbff) == 0xd65f0bff;
}

/* stp x29, x30, [sp, #N], with and without ! */
bool arch_is_frame_push(const uint8_t code[ARCH_CODE_STEP])
{
	uint32_t insn;

	memcpy(&insn, code, sizeof(insn));
	return (insn & 0xfe407fff) == 0xa8007bfd;
}

#elif defined(__riscv)

uint64_t arch_sample_mask(void)
{
	return (2ull << PERF_REG_RISCV_T6) - 1;
}

/* perf has pc where DWARF has the register that is always 0, which no rule is about. */
const uint8_t arch_sample_index[ARCH_REGS] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                              11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                              22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 0};

/* Offsets of pc, ra, sp and s0 in the kernel's struct rt_sigframe, from sp in the handler's
 * trampoline: 128 bytes of siginfo, 176 of ucontext, then pc and the registers from ra on. */
const struct unwind_rule arch_signal_rule = {
	.type = RULE_FOLLOW,
	.signal = 1,
	.cfa_how = RULE_CFA_LOAD,
	.cfa_base = RULE_SP,
	.cfa_offset = 320,
	.ra = {.how = RULE_AT, .base = RULE_SP, .offset = 304},
	.fp = {.how = RULE_AT, .base = RULE_SP, .offset = 368},
	.extra = {.how = RULE_AT, .base = RULE_SP, .offset = 312},
};

/* li a7, __NR_rt_sigreturn; ecall */
bool arch_is_trampoline(const uint8_t code[ARCH_TRAMPOLINE_SIZE])
{
	return !memcmp(code, "\x93\x08\xb0\x08\x73\x00\x00\x00", 8);
}

/* li a7, __NR_clone; ecall, and the same of clone3 */
static const char clone_code[2][ARCH_CLONE_SIZE + 1] = {"\x93\x08\xc0\x0d\x73\x00\x00\x00",
                                                        "\x93\x08\x30\x1b\x73\x00\x00\x00"};

/* c.beqz a0, behind bltz a0 */
static bool is_clone_test(const uint8_t code[CLONE_TEST_SIZE])
{
	return (code[4] & 0x83) == 0x01 && (code[5] & 0xe3) == 0xc1;
}

/* jal and jalr that link in ra, and c.jalr, which is half as long */
bool arch_is_call(const uint8_t code[ARCH_CALL_MAX])
{
	uint32_t insn;
	uint16_t half;

	memcpy(&insn, code, sizeof(insn));
	memcpy(&half, code + 2, sizeof(half));
	return (insn & 0xfff) == 0xef || (insn & 0x7fff) == 0xe7 ||
	       ((half & 0xf07f) == 0x9002 && half != 0x9002);
}

/* c.ret, or the first half of ret */
bool arch_is_return(const uint8_t code[ARCH_CODE_STEP])
{
	uint16_t half;

	memcpy(&half, code, sizeof(half));
	return half == 0x8082 || half == 0x8067;
}

#endif

static bool is_clone_at(const uint8_t *code)
{
	return !memcmp(code, clone_code[0], ARCH_CLONE_SIZE) ||
	       !memcmp(code, clone_code[1], ARCH_CLONE_SIZE);
}

bool arch_is_clone(const uint8_t code[ARCH_CLONE_BEFORE])
{
	for (unsigned at = 0; at + ARCH_CLONE_SIZE <= ARCH_CLONE_BEFORE; at += ARCH_CODE_STEP)
		if (is_clone_at(code + at))
			return true;
	return false;
}

bool arch_has_clone(const uint8_t *code, size_t size)
{
	for (size_t at = 0; at + ARCH_CLONE_SIZE + CLONE_TEST_SIZE <= size; at += ARCH_CODE_STEP)
		if (is_clone_at(code + at) && is_clone_test(code + at + ARCH_CLONE_SIZE))
			return true;
	return false;
}

/* Only aarch64 needs these. */
#if ARCH_PLT_HEAD == 0

bool arch_is_frame_push(const uint8_t code[ARCH_CODE_STEP])
{
	(void)code;
	return false;
}

bool arch_is_plt_push(const uint8_t code[4])
{
	(void)code;
	return false;
}

const struct unwind_rule arch_plt_rule = {.type = RULE_NONE};

void arch_mend_rule(struct unwind_rule *rule)
{
	(void)rule;
}

#endif

#if !defined(__x86_64__)

/* All such code keeps a frame pointer here. */
bool arch_bare_rule(const uint8_t code[ARCH_BARE_SIZE], struct unwind_rule *rule)
{
	(void)code;
	(void)rule;
	return false;
}

enum arch_run arch_run(const uint8_t code[ARCH_RUN_SIZE], int32_t *target)
{
	(void)code, (void)target;
	return ARCH_RUNS_OTHER;
}
#endif
