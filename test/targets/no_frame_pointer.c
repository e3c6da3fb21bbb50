/*
 * no_frame_pointer ROUNDS: works where the frame pointer's register has the address of data, as in
 * programs that are compiled without frame pointers. On x86-64; else nothing.
 */
#include <stdint.h>
#include <stdlib.h>

#if defined(__x86_64__)

__asm__(".text\n"
        "spin:\n"
        "	push %rbp\n"
        "	mov %rsi, %rbp\n"
        "1:	dec %rdi\n"
        "	jnz 1b\n"
        "	pop %rbp\n"
        "	ret\n");

void spin(uint64_t rounds, volatile uint64_t *data);

#else

static void spin(uint64_t rounds, volatile uint64_t *data)
{
	(void)rounds;
	(void)data;
}

#endif

int main(int argc, char **argv)
{
	static volatile uint64_t data[2];

	data[1] = 0x123456789; /* the kernel's walk reads only what is in memory already */
	spin(argc > 1 ? strtoull(argv[1], NULL, 10) : 1, data);
	return 0;
}
