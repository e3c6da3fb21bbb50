/* Stacks that functions arrange by themselves: alloca, realigned frames, setjmp and longjmp. */
#pragma GCC optimize("omit-frame-pointer")
#include "step.h"

#include <alloca.h>
#include <setjmp.h>

static volatile int sink;
static jmp_buf back;

__attribute__((noinline)) static void use(volatile char *p, int n)
{
	p[0] = (char)n;
	sink += p[n - 1];
}

__attribute__((noinline)) static void by_alloca(int n)
{
	use(alloca(n), n);
	use(alloca(2 * n), n);
}

/* The frame is realigned and has variable size: its CFA was saved in memory. */
__attribute__((noinline)) static void realigned(int n, int a, int b, int c, int d, int e, int f,
                                                int g)
{
	volatile char line[128] __attribute__((aligned(64)));

	line[0] = (char)(a + b + c + d);
	use(alloca(n), n);
	by_alloca(n + 1);
	use(line, 128);
	sink += e + f + g + line[0];
}

__attribute__((noinline)) static void aligned(int n)
{
	volatile char line[64] __attribute__((aligned(64)));

	use(line, 64);
	realigned(n, 1, 2, 3, 4, 5, 6, 7);
}

__attribute__((noinline)) static void jump(int depth)
{
	if (depth == 0)
		longjmp(back, 1);
	jump(depth - 1);
	sink++;
}

/* Saves every register that a call preserves, and restores some before others. */
__attribute__((noinline)) static int many(int a, int b, int c, int d)
{
	int i, t = a, u = b, v = c, w = d;

	for (i = 0; i < 2; i++) {
		use(&(volatile char){0}, 1);
		t += u * v;
		u ^= w + i;
		v -= t;
		w += v;
	}
	return t + u + v + w;
}

int main(int argc, char **argv)
{
	int i;

	(void)argv;
	STEP_MARK(argc);
	for (i = 1; i < 3; i++)
		aligned(i * 100);
	if (!setjmp(back))
		jump(3);
	sink += many(1, 2, 3, 4);
	STEP_MARK(argc);
	return 0;
}
