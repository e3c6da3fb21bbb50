/*
 * jitdump SECONDS: computes in a copy of burn_step() as made at run time, which jit-PID.dump in its
 * folder calls "made", with lines 7 and 8 of made.js. Where code may not be moved so easily it only
 * says "unsupported".
 */
#include "burn.h"

#include <fcntl.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)

enum { CODE_SIZE = 256, PAGE = 4096 };

struct head {
	uint32_t magic, version, size, elf_machine, pad, pid;
	uint64_t time, flags;
};

struct line {
	uint64_t address;
	uint32_t line, column;
	char file[8];
};

struct lines {
	uint32_t id, size;
	uint64_t time, address, nr;
	struct line lines[2];
};

struct load {
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, address, code_size, index;
	char name[8];
	unsigned char code[CODE_SIZE];
};

static int write_dump(int fd, const void *code)
{
	const uint64_t address = (uintptr_t)code;
	const uint32_t pid = (uint32_t)getpid();
	const struct head head = {
		.magic = 0x4a695444, .version = 1, .size = sizeof(head), .pid = pid};
	const struct lines lines = {
		.id = 2,
		.size = sizeof(lines),
		.address = address,
		.nr = 2,
		.lines = {{address, 7, 0, "made.js"}, {address + 4, 8, 0, "made.js"}},
	};
	struct load load = {
		.size = sizeof(load),
		.pid = pid,
		.tid = pid,
		.vma = address,
		.address = address,
		.code_size = CODE_SIZE,
		.name = "made\0\0",
	};

	/* Names end where the next part begins. */
	load.size -= (uint32_t)(sizeof(load.name) - strlen("made") - 1);
	memmove(load.name + strlen("made") + 1, code, CODE_SIZE);
	return write(fd, &head, sizeof(head)) != sizeof(head) ||
	       write(fd, &lines, sizeof(lines)) != sizeof(lines) ||
	       write(fd, &load, load.size) != load.size;
}

int main(int argc, char **argv)
{
	const uint64_t until = (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t (*volatile made)(uint64_t) = (uint64_t(*)(uint64_t))code;
	volatile uint64_t x = 1;
	char path[64];
	int fd;

	if (code == MAP_FAILED)
		return 1;
	memcpy(code, (const void *)burn_step, CODE_SIZE);
	__builtin___clear_cache((char *)code, (char *)code + CODE_SIZE);
	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write_dump(fd, code) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return 1;
	while (thread_ns() < until)
		for (unsigned i = 0; i < 200; i++)
			x = made(x);
	return 0;
}

#else

int main(void)
{
	puts("unsupported");
	return 0;
}

#endif
