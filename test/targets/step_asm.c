/* Assembly without call frame information: with a frame pointer, without, and calling back. */
#ifndef __aarch64__ /* where it leads past what bare() has pushed */
#pragma GCC optimize("omit-frame-pointer")
#endif
#include "step.h"

static volatile int sink;

#if defined(__x86_64__)

__asm__(".text\n"
        "bare:\n"
        "	nop\n"
        "	push %rax\n"
        "	nop\n"
        "	pop %rax\n"
        "	ret\n"
        "framed:\n"
        "	push %rbp\n"
        "	mov %rsp, %rbp\n"
        "	call bare\n"
        "	call *%rdi\n"
        "	nop\n"
        "	pop %rbp\n"
        "	ret\n");

void framed(void (*callback)(void));
void bare(void);

#elif defined(__aarch64__)

__asm__(".text\n"
        "bare:\n"
        "	nop\n"
        "	str x0, [sp, #-48]!\n"
        "	nop\n"
        "	ldr x0, [sp], #48\n"
        "	ret\n"
        "framed:\n"
        "	stp x29, x30, [sp, #-32]!\n"
        "	mov x29, sp\n"
        "	str x0, [sp, #16]\n"
        "	bl bare\n"
        "	ldr x0, [sp, #16]\n"
        "	blr x0\n"
        "	nop\n"
        "	ldp x29, x30, [sp], #32\n"
        "	ret\n");

void framed(void (*callback)(void));
void bare(void);

#else

static void framed(void (*callback)(void))
{
	callback();
}

static void bare(void)
{
}

#endif

__attribute__((noinline)) static void leaf(int n)
{
	sink += n;
}

static void callback(void)
{
	volatile int room[10];
	int i;

	for (i = 0; i < 3; i++) {
		room[i] = i;
		leaf(room[i]);
	}
}

static void again(void)
{
	framed(callback);
	bare();
	leaf(1);
}

int main(int argc, char **argv)
{
	(void)argv;
	STEP_MARK(argc);
	framed(again);
	STEP_MARK(argc);
	return 0;
}
