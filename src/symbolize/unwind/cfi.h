/*
 * Call frame information: what the compiler wrote down, in .eh_frame or .debug_frame, of where each
 * instruction of a module finds its caller.
 *
 * Read by a reader of our own, because libdw's must not see a hostile file: it lets a program of
 * call frame instructions name register 100,000,000, which takes gigabytes, it needs whole sections
 * in memory, and a file that is truncated while mapped ends in SIGBUS. Here every question has a
 * bound in time and memory. libdw is the oracle in the tests: both agree on every row of libc.
 */
#ifndef SYMBOLIZE_UNWIND_CFI_H
#define SYMBOLIZE_UNWIND_CFI_H

#include "symbolize/modules/file_blocks.h"
#include "symbolize/unwind/rule.h"

/* The start of a function in the module's area, and where in its section it is described. */
struct cfi_index {
	uint32_t start, offset;
};

/* A section of entries. They are found through a sorted table: the linker's, or one made here. */
struct cfi_section {
	uint64_t offset, vaddr, size; /* bytes of the file, and where they are loaded */
	bool is_eh;                   /* .eh_frame; else .debug_frame */
	bool is_narrow;               /* of a file for 32 bits */
	uint64_t packed;              /* of a compressed one: bytes of the file; else 0 */
	uint8_t *unpacked; /* the contents, if in memory; a compressed one's are when asked for */
	uint64_t table, table_vaddr; /* the linker's: its offset, and what it is relative to */
	uint32_t nr;
	struct cfi_index *index; /* NULL: use the linker's */
	int32_t *tops;           /* of the linker's: see cfi_table.h */
	bool scanned;            /* no linker's table; the index, if any, is complete */
};

#define CFI_MAX_LOADS 16

struct cfi {
	struct module *module;
	uint64_t entry; /* where a program starts, or the dynamic linker */
	unsigned nr_loads;
	struct segment loads[CFI_MAX_LOADS];
	struct cfi_section eh, debug; /* size 0: there is none */
	bool is_go, is_haskell;       /* code of it was made by the compiler of Go, of Haskell */
};

/*
 * The state that all modules share: the image cache, buffers, and the memory that indexes may take.
 */
struct cfi_reader;

/* The table must outlive the reader. Returns NULL with errno on failure. */
struct cfi_reader *cfi_reader_new(struct module_table *modules);
/* Frees also the reader's data of each module, in the module's field `unwind`. */
void cfi_reader_free(struct cfi_reader *reader);

/*
 * Returns the module's call frame information, which is read at the first call. A file that is
 * invalid or for another processor gives one without rules. The result is valid until the next
 * call. Returns NULL if the module has no file or there is no memory.
 */
struct cfi *cfi_get(struct cfi_reader *reader, struct module *module);

/* Addresses: [start, end). */
struct cfi_range {
	uint64_t start, end;
};

/*
 * Makes the rule at an address. *range is set to the addresses around it that have the same rule.
 * Returns false if the module has none there, or one that is not understood. If the rule is of the
 * type RULE_NONE, use rule_cache_by_code().
 */
bool cfi_rule(struct cfi_reader *reader, struct cfi *cfi, uint64_t vaddr, struct unwind_rule *rule,
              struct cfi_range *range);

/*
 * Tells whether one entry describes both addresses: they are in one function, or in one part of it.
 */
bool cfi_same_function(struct cfi_reader *reader, struct cfi *cfi, uint64_t a, uint64_t b);

/* Copies up to `size` bytes of a loaded segment and returns how many the file has. */
size_t cfi_read(struct cfi_reader *reader, const struct cfi *cfi, uint64_t vaddr, void *to,
                size_t size);

/* Tells whether a call instruction ends at this address, which is a return address - 1. */
bool cfi_after_call(struct cfi_reader *reader, const struct cfi *cfi, uint64_t vaddr);

#endif
