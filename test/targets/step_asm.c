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
        "	ret\n"
        /* The stack pointer kept in a register meanwhile, as kernels of OpenBLAS do. */
        "buffered:\n"
        "	sub $0x40, %rsp\n"
        "	mov %rbx, (%rsp)\n"
        "	mov %rbp, 8(%rsp)\n"
        "	mov %r12, 16(%rsp)\n"
        "	mov %rsp, %rbx\n"
        "	sub $0x480, %rsp\n"
        "	and $-256, %rsp\n"
        "	xor %ebp, %ebp\n"
        "0:	mov %rbp, 64(%rsp,%rbp,8)\n"
        "	add $8, %rbp\n"
        "	cmp $24, %rbp\n"
        "	jne 0b\n"
        "	call *%rdi\n"
        "	mov %rbx, %rsp\n"
        "	mov (%rsp), %rbx\n"
        "	mov 8(%rsp), %rbp\n"
        "	mov 16(%rsp), %r12\n"
        "	add $0x40, %rsp\n"
        "	ret\n"
        /* Kept in memory, as functions of x264 do; and a part that lies behind the end. */
        "aligned:\n"
        "	push %r15\n"
        "	push %r14\n"
        "	push %r13\n"
        "	push %r12\n"
        "	push %rbp\n"
        "	push %rbx\n"
        "	lea 7(%rdi), %rbp\n"
        "	mov %rdi, %rbx\n"
        "	mov %rsp, %r12\n"
        "	sub $0x60, %rsp\n"
        "	and $-64, %rsp\n"
        "	mov %r12, 0x50(%rsp)\n"
        "	call *%rbx\n"
        "	test %rbx, %rbx\n"
        "	jne 2f\n"
        "1:	xor %ebp, %ebp\n"
        "	mov 0x50(%rsp), %rsp\n"
        "	pop %rbx\n"
        "	pop %rbp\n"
        "	pop %r12\n"
        "	pop %r13\n"
        "	pop %r14\n"
        "	pop %r15\n"
        "	ret\n"
        "2:	call bare\n"
        "	vmovups (%rsp), %xmm1\n"
        "	jmp 1b\n"
        /* As GCC has it: the return address is on the stack twice, and one of them in no frame. */
        "realigned:\n"
        "	lea 8(%rsp), %r10\n"
        "	and $-32, %rsp\n"
        "	mov %rdi, %rax\n"
        "	push -8(%r10)\n"
        "	and $3, %eax\n"
        "	push %rbp\n"
        "	mov %rsp, %rbp\n"
        "	push %r10\n"
        "	push %rbx\n"
        "	sub $0x40, %rsp\n"
        "	xor %r10d, %r10d\n"
        "	call *%rdi\n"
        "	add $0x40, %rsp\n"
        "	pop %rbx\n"
        "	pop %r10\n"
        "	pop %rbp\n"
        "	lea -8(%r10), %rsp\n"
        "	nop\n"
        "	ret\n");

void buffered(void (*callback)(void));
void aligned(void (*callback)(void));
void realigned(void (*callback)(void));
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

static void buffered(void (*callback)(void))
{
	framed(callback);
}

static void aligned(void (*callback)(void))
{
	framed(callback);
}

static void realigned(void (*callback)(void))
{
	framed(callback);
}

#else

static void framed(void (*callback)(void))
{
	callback();
}

static void buffered(void (*callback)(void))
{
	callback();
}

static void aligned(void (*callback)(void))
{
	callback();
}

static void realigned(void (*callback)(void))
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

/* Where the stack is aligned to 32 bytes if it is not so in main(). */
__attribute__((noinline)) static void further_down(void)
{
	realigned(again);
	leaf(1);
}

int main(int argc, char **argv)
{
	(void)argv;
	STEP_MARK(argc);
	framed(again);
	buffered(again);
	aligned(again);
	realigned(again);
	further_down();
	STEP_MARK(argc);
	return 0;
}
