/*
 * Entries of call frame information: CIEs (what functions have in common) and FDEs (one function),
 * and the programs in them.
 */
#ifndef SYMBOLIZE_UNWIND_CFI_ENTRY_H
#define SYMBOLIZE_UNWIND_CFI_ENTRY_H

#include "symbolize/unwind/cfi.h"
#include "base/cursor.h"

struct cfi_entry {
	uint64_t offset, size; /* in its section, with the length field */
	bool is_cie;
	uint64_t cie;       /* FDE: the offset of its CIE */
	struct cursor body; /* what follows the header */
};

struct cfi_cie {
	uint64_t code_align, data_align; /* data_align: signed */
	uint64_t ra;                     /* the register that stands for the return address */
	uint8_t encoding;                /* of the addresses in its FDEs */
	bool augmented, signal;
	struct cursor program;
};

struct cfi_fde {
	uint64_t start, end;
	struct cursor program;
};

/* A section's bytes, and a buffer into which entries are copied. */
struct cfi_input {
	struct file_blocks *blocks;
	struct module *module;
	struct cfi_section *section;
};

/* Longer ones exist in no compiler's output seen so far: the longest in cc1plus has 7 KiB. */
#define CFI_CIE_MAX 1024
#define CFI_FDE_MAX 32768

/*
 * Reads an entry. The body of an entry that is longer than the buffer is cut there. Returns false
 * if there is no entry.
 */
bool cfi_entry_read(const struct cfi_input *input, uint64_t offset, uint8_t *buffer, size_t size,
                    struct cfi_entry *entry);
/* Parses an entry as one of this type. Returns false if it is invalid. */
bool cfi_cie_parse(const struct cfi_entry *entry, struct cfi_cie *cie);
bool cfi_fde_parse(const struct cfi_entry *entry, const struct cfi_cie *cie, struct cfi_fde *fde);

/*
 * A scan over the functions that a section describes, entry by entry, up to the first invalid one.
 * Only the first bytes of entries are read.
 */
struct cfi_scan {
	struct cfi_input input;
	uint64_t area;         /* the high half of addresses */
	uint64_t left;         /* entries to look at */
	uint64_t offset, next; /* of the last function's entry, and of what follows */
	uint64_t parent; /* of the CIE that was read last; UINT64_MAX: none that makes sense */
	struct cfi_cie cie;
	uint8_t bytes[CFI_CIE_MAX];
};

/* Begins a scan over the functions with code in an area of addresses. */
void cfi_scan_init(struct cfi_scan *scan, const struct cfi_input *input, uint64_t area,
                   uint64_t left);
/* Returns false at the end. lo and hi are offsets in the area. The entry's program is cut. */
bool cfi_scan_next(struct cfi_scan *scan, uint32_t *lo, uint32_t *hi);

/*
 * Runs the programs of a function up to vaddr, which is in it, and makes a rule of the row that
 * they leave. range: the addresses of the row.
 */
bool cfi_program_rule(const struct cfi_cie *cie, const struct cfi_fde *fde, uint64_t vaddr,
                      struct unwind_rule *rule, struct cfi_range *range);

/* Reads an address in the encoding of a CIE. */
uint64_t cfi_pointer(struct cursor *cursor, uint8_t encoding);

#endif
