/* Deep and indirect calls, callbacks from libc, calls through a lazily bound PLT, and the vdso. */
#pragma GCC optimize("omit-frame-pointer")
#include "step.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile int sink;

#if defined(__x86_64__)
/* As in Go: it calls on another stack, which its call frame information does not say. */
__asm__(".text\n"
        ".type on_other_stack, @function\n"
        "on_other_stack:\n"
        ".cfi_startproc\n"
        "mov %rsi, %rsp\n"
        "call *%rdi\n"
        "hlt\n"
        ".cfi_endproc\n"
        ".size on_other_stack, . - on_other_stack\n");
#endif

__attribute__((noinline)) static int leaf(int a, int b)
{
	return a * 7 + b;
}

__attribute__((noinline)) static int small(int depth);

__attribute__((noinline)) static int big(int depth, int a, int b, int c, int d, int e, int f, int g)
{
	volatile char room[600];
	int r;

	room[depth * 7] = (char)a;
	r = small(depth - 1) + leaf(b, c) + d + e;
	return r + room[depth * 7] + f + g;
}

static int (*const table[2])(int) = {small, small};

static int small(int depth)
{
	if (depth <= 0)
		return leaf(depth, 1);
	if (depth % 3 == 0)
		return 1 + big(depth, 1, 2, 3, 4, 5, 6, 7);
	return table[depth & 1](depth - 1) * 3;
}

static int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a, 0) - leaf(*(const int *)b, 0);
}

int main(int argc, char **argv)
{
	int numbers[8] = {5, 3, 8, 1, 9, 2, 7, 4};
	struct timeval now;
	char text[64];

	(void)argv;
	STEP_MARK(argc);
	sink = small(24);
	qsort(numbers, 8, sizeof(numbers[0]), compare);
	snprintf(text, sizeof(text), "%d %s %.3f", numbers[0], "text", 1.5);
	sink += (int)strlen(text) + atoi(text);
	gettimeofday(&now, NULL);
	sink += (int)time(NULL);
	free(malloc(100000));
	STEP_MARK(argc);
	return 0;
}
