/*
 * The guest's way to its host, by semihosting calls that QEMU serves:
 *   host put FILE NAME	copies a file of the guest into QEMU's working directory
 *   host exit STATUS	ends QEMU with this exit status
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SYS_OPEN = 0x01, SYS_CLOSE = 0x02, SYS_WRITE = 0x05, SYS_EXIT_EXTENDED = 0x20 };
enum { MODE_WRITE_BINARY = 5, REASON_EXIT = 0x20026 };

static long host_call(long operation, const uint64_t *arguments)
{
	register long x0 __asm__("x0") = operation;
	register const uint64_t *x1 __asm__("x1") = arguments;

	__asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
	return x0;
}

static long host_open(const char *name)
{
	return host_call(SYS_OPEN, (uint64_t[]){(uintptr_t)name, MODE_WRITE_BINARY, strlen(name)});
}

static int put(const char *from, const char *to)
{
	static char buffer[1 << 16];
	long fd = host_open(to);
	int file = open(from, O_RDONLY);
	ssize_t size;

	if (fd < 0 || file < 0)
		return 1;
	while ((size = read(file, buffer, sizeof(buffer))) > 0)
		if (host_call(SYS_WRITE, (uint64_t[]){fd, (uintptr_t)buffer, size}))
			return 1;
	host_call(SYS_CLOSE, (uint64_t[]){fd});
	return size < 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "put"))
		return put(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "exit"))
		host_call(SYS_EXIT_EXTENDED, (uint64_t[]){REASON_EXIT, atoi(argv[2])});
	fprintf(stderr, "usage: host put FILE NAME | host exit STATUS\n");
	return 2;
}
