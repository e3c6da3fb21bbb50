/*
 * moved SECONDS [other]: puts memory in the place of its function moved_work(), copies the code
 * there as programs do that want it in huge pages, and computes in it. With "other" what lies there
 * then is not what the file has, but does the same.
 */
#include "burn.h"

#include <string.h>

#define SIZE 8192

/* Of that size, nearly, from the beginning of a page on. */
__attribute__((aligned(4096), noinline, noclone)) static void moved_work(uint64_t until)
{
	if (!until)
		__asm__ volatile(".skip 8000, 0x90");
	burn_until(until);
	__asm__ volatile(""); /* not a tail call */
}

int main(int argc, char **argv)
{
	uint64_t until = (uint64_t)(atof(argc > 1 ? argv[1] : "1") * 1e9);
	char *code = (char *)moved_work, *copy = malloc(SIZE);

	if (!copy)
		return 1;
	memcpy(copy, code, SIZE);
	if (argc > 2)
		memset(copy + SIZE / 2, 0xcc, SIZE / 8);
	if (mmap(code, SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
	         MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return 1;
	usleep(100000);
	memcpy(code, copy, SIZE);
	if (mprotect(code, SIZE, PROT_READ | PROT_EXEC))
		return 1;
	__builtin___clear_cache(code, code + SIZE);
	moved_work(until);
	return 0;
}
