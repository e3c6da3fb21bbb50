/*
 * Code of the kernel that comes and goes while it is sampled, as the kernel's records tell: eBPF
 * programs, trampolines. An address may have been one's and then another's, and /proc/kallsyms
 * names only who has it in the end.
 */
#ifndef SYMBOLIZE_MODULES_KERNEL_CODE_H
#define SYMBOLIZE_MODULES_KERNEL_CODE_H

#include <stddef.h>
#include <stdint.h>

/* Programs at a time, and those that were there before and have gone; others have no names. */
#define KERNEL_CODE_MAX 16384

struct kernel_piece {
	uint64_t start, end; /* [start, end) */
	char *name;
};

/* Begin with zeroes. */
struct kernel_code {
	struct kernel_piece *pieces; /* that are there: ascending, without overlaps */
	size_t nr;
	struct kernel_piece *earlier; /* that have gone and were not told of when they came */
	size_t nr_earlier;
};

/* Without memory a piece has no name. */
void kernel_code_come(struct kernel_code *code, uint64_t start, uint64_t size, const char *name);
void kernel_code_go(struct kernel_code *code, uint64_t start, uint64_t size, const char *name);
void kernel_code_fini(struct kernel_code *code);

/* The piece that is at an address now; NULL: none that is known. */
const struct kernel_piece *kernel_code_find(const struct kernel_code *code, uint64_t address);

#endif
