/*
 * held_stack: runs on a stack of which the upper part is gone, and who reads it waits until the
 * program ends: nobody fills in what is missing. Says "held" when that is so; 77 where it may not.
 */
#include <alloca.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define SIZE ((size_t)1 << 20)
#define PAGE ((size_t)4096)

static char *stack;

static int hold(void *from, size_t size)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(unsigned long)from, size},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	return fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &range) ||
	       madvise(from, size, MADV_DONTNEED);
}

static __attribute__((noinline)) void spin(char *frame)
{
	char *above = (char *)(((unsigned long)frame + 2 * PAGE) & -PAGE);

	if (hold(above, (size_t)(stack + SIZE - above)))
		_exit(77);
	if (write(1, "held\n", 5) != 5)
		_exit(1);
	for (volatile unsigned long n = 0;; n++)
		;
}

static void run(void)
{
	char *frame = alloca(8 * PAGE);

	spin(frame);
	frame[0] = 1;
}

int main(void)
{
	static ucontext_t context;

	stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = SIZE;
	makecontext(&context, run, 0);
	setcontext(&context);
	return 1;
}
