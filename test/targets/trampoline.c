/*
 * trampoline SECONDS [FP [lie]]: computes in burn_step(), called by code made at run time as
 * CPython makes it for each of its functions: without a frame pointer, and named "made" by a perf
 * map. FP is what the frame pointer's register holds meanwhile. With "lie" the code is other code,
 * which has a return address of never() where CPython's has its own, or 0 if that is FP. Elsewhere
 * than on x86-64 it only says "unsupported".
 */
#include "burn.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__

/* enter(argument, callee, code, fp): code(argument, callee) with the register holding fp. */
__asm__(".text\n"
        ".type enter, @function\n"
        "enter:\n"
        ".cfi_startproc\n"
        "	push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "	mov %rcx, %rbp\n"
        "	call *%rdx\n"
        "	pop %rbp\n"
        ".cfi_restore %rbp\n"
        ".cfi_def_cfa_offset 8\n"
        "	ret\n"
        ".cfi_endproc\n"
        ".size enter, . - enter\n");

void enter(uint64_t until, void (*callee)(uint64_t), void *code, uint64_t fp);

NOINLINE static void work(uint64_t until)
{
	burn_until(until);
	__asm__ volatile(""); /* not a tail call */
}

/* sub $8, %rsp; call *%rsi; add $8, %rsp; ret */
static const unsigned char instructions[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6,
                                             0x48, 0x83, 0xc4, 0x08, 0xc3};

/* sub $24, %rsp; mov %rbp, 8(%rsp); call *%rsi; add $24, %rsp; ret */
static const unsigned char lies[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24,
                                     0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x18, 0xc3};

extern const char never_called[];

__attribute__((used)) NOINLINE static void never(void (*callee)(uint64_t))
{
	__asm__ volatile("call *%0\nnever_called: nop" : : "r"(callee));
}

static int name_code(const void *code)
{
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "wx");
	if (!map)
		return -1;
	fprintf(map, "%lx %zx made\n", (unsigned long)code, sizeof(instructions));
	return fclose(map);
}

int main(int argc, char **argv)
{
	uint64_t until = (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);
	uint64_t fp = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, instructions, sizeof(instructions));
	if (argc > 3) {
		memcpy(code, lies, sizeof(lies));
		fp = fp ? (uint64_t)never_called : 0;
	}
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) || name_code(code))
		return 1;
	enter(until, work, code, fp);
	printf("pid %d\n", getpid());
	return 0;
}

#else

int main(void)
{
	puts("unsupported");
	return 0;
}

#endif
