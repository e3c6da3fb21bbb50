/* Assembly without call frame information: with a frame pointer, without, and calling back. */
#pragma GCC optimize("omit-frame-pointer")
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

#else

static void framed(void (*callback)(void))
{
	callback();
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
