/*
 * Kernel code that is loaded and unloaded during the recording, from the kernel's records: eBPF
 * programs and trampolines. Several of them may use an address one after the other, and
 * /proc/kallsyms names only the last one.
 */
#ifndef SYMBOLIZE_MODULES_KERNEL_CODE_H
#define SYMBOLIZE_MODULES_KERNEL_CODE_H

#include <stddef.h>
#include <stdint.h>

/* The greatest number of programs at a time, and of earlier ones; others have no names. */
#define KERNEL_CODE_MAX 16384

struct kernel_piece {
	uint64_t start, end; /* [start, end) */
	char *name;
};

/* Begin with zeroes. */
struct kernel_code {
	struct kernel_piece *pieces; /* that are there: ascending, without overlaps */
	size_t nr;
	struct kernel_piece *earlier; /* that have gone, and whose load was not recorded */
	size_t nr_earlier;
};

/* If there is no memory, a piece has no name. */
void kernel_code_come(struct kernel_code *code, uint64_t start, uint64_t size, const char *name);
void kernel_code_go(struct kernel_code *code, uint64_t start, uint64_t size, const char *name);
void kernel_code_fini(struct kernel_code *code);

/* Returns the piece that is at an address now; NULL if none is known. */
const struct kernel_piece *kernel_code_find(const struct kernel_code *code, uint64_t address);

#endif
