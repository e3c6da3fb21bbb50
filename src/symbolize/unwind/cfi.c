#include "symbolize/unwind/cfi.h"
#include "symbolize/unwind/arch.h"
#include "base/array.h"
#include "symbolize/unwind/cfi_entry.h"
#include "symbolize/unwind/cfi_table.h"
#include "symbolize/modules/file_blocks.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* A static glibc program or an old library needs a few thousand entries. */
#define INDEX_MAX_ENTRIES   65536
#define INDEX_MAX_TOTAL     (128 * 1024)
#define UNPACKED_MAX_TOTAL  (4U << 20) /* twice what large programs in Go need */
#define MAX_PROGRAM_HEADERS 64
#define MAX_SECTIONS        512
#define MAX_OPENED          1024 /* modules; when there are more, all are closed and read anew */

struct cfi_reader {
	struct module_table *modules;
	struct file_blocks *blocks;
	size_t indexed;   /* entries in the indexes of all modules */
	size_t unpacked;  /* bytes of compressed sections */
	size_t nr_opened; /* modules that were opened */
	uint8_t cie[CFI_CIE_MAX], fde[CFI_FDE_MAX];
	/* The CIE in the buffer, kept because most functions of a module refer to one of two. */
	struct {
		const struct cfi_section *section; /* NULL: the buffer is empty */
		uint64_t offset;
		struct cfi_cie cie;
	} parent;
};

struct cfi_reader *cfi_reader_new(struct module_table *modules)
{
	struct cfi_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->modules = modules;
	reader->blocks = file_blocks_new(modules);
	if (!reader->blocks) {
		free(reader);
		return NULL;
	}
	return reader;
}

static void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	free(cfi->eh.tops);
	free(cfi->eh.index);
	free(cfi->debug.index);
	free(cfi->debug.unpacked);
	free(cfi->eh.unpacked);
	free(cfi);
}

static void forget_modules(struct cfi_reader *reader)
{
	size_t i;

	for (i = 0; i < module_table_count(reader->modules); i++) {
		struct module *module = module_table_get(reader->modules, (uint16_t)i);

		if (!module)
			continue;
		cfi_free(module->unwind);
		module->unwind = NULL;
	}
	reader->indexed = 0;
	reader->unpacked = 0;
	reader->nr_opened = 0;
	reader->parent.section = NULL;
}

void cfi_reader_free(struct cfi_reader *reader)
{
	if (!reader)
		return;
	forget_modules(reader);
	file_blocks_free(reader->blocks);
	free(reader);
}

/* Finds the file offset of an address. *left: bytes of its segment from there on. */
static bool vaddr_offset(const struct cfi *cfi, uint64_t vaddr, uint64_t *offset, uint64_t *left)
{
	unsigned i;

	for (i = 0; i < cfi->nr_loads; i++) {
		const struct segment *load = &cfi->loads[i];

		if (vaddr - load->vaddr >= load->size)
			continue;
		*offset = load->offset + (vaddr - load->vaddr);
		*left = load->size - (vaddr - load->vaddr);
		return true;
	}
	return false;
}

size_t cfi_read(struct cfi_reader *reader, const struct cfi *cfi, uint64_t vaddr, void *to,
                size_t size)
{
	uint64_t offset, left;

	if (!vaddr_offset(cfi, vaddr, &offset, &left))
		return 0;
	return file_blocks_read(reader->blocks, cfi->module, offset, to, size < left ? size : left);
}

/* All linkers write a header of 12 bytes in these encodings, then pairs of 4-byte offsets. */
static void open_linker_table(struct cfi_reader *reader, struct cfi *cfi, const Elf64_Phdr *phdr)
{
	struct cfi_section *eh = &cfi->eh;
	uint8_t header[12];
	uint64_t most;
	int32_t frames;
	uint32_t nr;

	if (phdr->p_filesz < sizeof(header) ||
	    file_blocks_read(reader->blocks, cfi->module, phdr->p_offset, header, 12) < 12 ||
	    header[0] != 1 || header[1] != (DW_EH_PE_pcrel | DW_EH_PE_sdata4) ||
	    header[2] != DW_EH_PE_udata4 || header[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return;
	memcpy(&frames, header + 4, 4);
	memcpy(&nr, header + 8, 4);
	eh->vaddr = phdr->p_vaddr + 4 + (uint64_t)frames;
	if (!vaddr_offset(cfi, eh->vaddr, &eh->offset, &eh->size))
		return;
	most = (phdr->p_filesz - sizeof(header)) / 8;
	eh->nr = nr < most ? nr : (uint32_t)most;
	eh->table = phdr->p_offset + sizeof(header);
	eh->table_vaddr = phdr->p_vaddr;
}

/* Opens a compressed section. Go's linker compresses .debug_frame by default. */
static void open_packed(struct cfi_reader *reader, const struct cfi *cfi,
                        struct cfi_section *section, const Elf64_Shdr *shdr)
{
	Elf64_Chdr chdr;

	section->size = 0;
	if (shdr->sh_size <= sizeof(chdr) ||
	    file_blocks_read(reader->blocks, cfi->module, shdr->sh_offset, &chdr, sizeof(chdr)) <
	            sizeof(chdr) ||
	    chdr.ch_type != ELFCOMPRESS_ZLIB)
		return;
	section->offset = shdr->sh_offset + sizeof(chdr);
	section->packed = shdr->sh_size - sizeof(chdr);
	section->size = chdr.ch_size;
}

/* Tells whether .comment has a line of GHC. Each compiler of a file leaves one there. */
static bool is_by_ghc(struct cfi_reader *reader, const struct cfi *cfi, const Elf64_Shdr *shdr)
{
	char text[256];
	size_t size = shdr->sh_size < sizeof(text) ? shdr->sh_size : sizeof(text);

	size = file_blocks_read(reader->blocks, cfi->module, shdr->sh_offset, text, size);
	return memmem(text, size, "GHC ", 4) != NULL;
}

/* Notes a section if its name is that of call frame information. */
static void open_section(struct cfi_reader *reader, struct cfi *cfi, const Elf64_Shdr *shdr,
                         const char *name)
{
	struct cfi_section *section = NULL;

	if (shdr->sh_type == SHT_NOBITS)
		return;
	cfi->is_go |= !strcmp(name, ".gopclntab");
	cfi->is_haskell |= !strcmp(name, ".comment") && is_by_ghc(reader, cfi, shdr);
	if (!strcmp(name, ".eh_frame") && cfi->eh.size == 0)
		section = &cfi->eh;
	else if (!strcmp(name, ".debug_frame"))
		section = &cfi->debug;
	if (!section)
		return;
	section->offset = shdr->sh_offset;
	section->vaddr = shdr->sh_addr;
	section->size = shdr->sh_size;
	section->scanned = true;
	if (shdr->sh_flags & SHF_COMPRESSED)
		open_packed(reader, cfi, section, shdr);
}

static void open_sections(struct cfi_reader *reader, struct cfi *cfi, const Elf64_Ehdr *ehdr)
{
	struct file_blocks *blocks = reader->blocks;
	Elf64_Shdr shdr, names;
	unsigned i, nr = ehdr->e_shnum < MAX_SECTIONS ? ehdr->e_shnum : MAX_SECTIONS;

	if (ehdr->e_shentsize != sizeof(shdr) ||
	    file_blocks_read(blocks, cfi->module,
	                     ehdr->e_shoff + (uint64_t)ehdr->e_shstrndx * sizeof(names), &names,
	                     sizeof(names)) < sizeof(names))
		return;
	for (i = 1; i < nr; i++) {
		char name[16] = "";

		if (file_blocks_read(blocks, cfi->module, ehdr->e_shoff + i * sizeof(shdr), &shdr,
		                     sizeof(shdr)) < sizeof(shdr))
			return;
		file_blocks_read(blocks, cfi->module, names.sh_offset + shdr.sh_name, name,
		                 sizeof(name) - 1);
		open_section(reader, cfi, &shdr, name);
	}
}

static void open_segments(struct cfi_reader *reader, struct cfi *cfi, const Elf64_Ehdr *ehdr)
{
	unsigned i, nr = ehdr->e_phnum < MAX_PROGRAM_HEADERS ? ehdr->e_phnum : MAX_PROGRAM_HEADERS;
	Elf64_Phdr phdr, table = {0};

	for (i = 0; i < nr; i++) {
		if (file_blocks_read(reader->blocks, cfi->module, ehdr->e_phoff + i * sizeof(phdr),
		                     &phdr, sizeof(phdr)) < sizeof(phdr))
			break;
		if (phdr.p_type == PT_GNU_EH_FRAME)
			table = phdr;
		else if (phdr.p_type == PT_LOAD && cfi->nr_loads < CFI_MAX_LOADS)
			cfi->loads[cfi->nr_loads++] =
				(struct segment){phdr.p_offset, phdr.p_vaddr, phdr.p_filesz};
	}
	open_linker_table(reader, cfi, &table);
}

static void cfi_open(struct cfi_reader *reader, struct cfi *cfi)
{
	Elf64_Ehdr ehdr;

	if (file_blocks_read(reader->blocks, cfi->module, 0, &ehdr, sizeof(ehdr)) < sizeof(ehdr) ||
	    memcmp(ehdr.e_ident, ELFMAG, SELFMAG) || ehdr.e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr.e_ident[EI_DATA] != ELFDATA2LSB || ehdr.e_machine != ARCH_MACHINE ||
	    ehdr.e_phentsize != sizeof(Elf64_Phdr))
		return;
	cfi->entry = ehdr.e_entry;
	open_segments(reader, cfi, &ehdr);
	open_sections(reader, cfi, &ehdr);
}

struct cfi *cfi_get(struct cfi_reader *reader, struct module *module)
{
	struct cfi *cfi = module->unwind;

	if (cfi || (module->type != MODULE_FILE && module->type != MODULE_VDSO))
		return cfi;
	if (reader->nr_opened == MAX_OPENED)
		forget_modules(reader);
	cfi = calloc(1, sizeof(*cfi));
	if (!cfi)
		return NULL;
	reader->nr_opened++;
	cfi->module = module;
	cfi->eh.is_eh = true;
	cfi_open(reader, cfi);
	module->unwind = cfi;
	return cfi;
}

static int index_compare(const void *a, const void *b)
{
	const struct cfi_index *x = a, *y = b;

	return ORDER(x->start, y->start);
}

static bool section_unpack(struct cfi_reader *reader, const struct cfi_input *input)
{
	struct cfi_section *section = input->section;
	size_t room = UNPACKED_MAX_TOTAL - reader->unpacked;
	uint8_t *unpacked = section->size <= room ? malloc(section->size) : NULL;

	if (!unpacked || !file_blocks_unpack(reader->blocks, input->module, section->offset,
	                                     section->packed, unpacked, (uint32_t)section->size)) {
		free(unpacked);
		return false;
	}
	section->unpacked = unpacked;
	reader->unpacked += section->size;
	return true;
}

/* Counts the functions of a section, up to the room that is left for the index. */
static uint32_t section_scan(const struct cfi_input *input, struct cfi_index *index, size_t room)
{
	struct cfi_scan scan;
	uint32_t n = 0, lo, hi;

	cfi_scan_init(&scan, input, input->module->area, 2 * INDEX_MAX_ENTRIES);
	while (n < room && cfi_scan_next(&scan, &lo, &hi))
		index[n++] = (struct cfi_index){lo, (uint32_t)scan.offset};
	return n;
}

/*
 * Builds the table of a section for which the linker made none. The smallest entries have 16 bytes.
 */
static void section_index(struct cfi_reader *reader, struct cfi_section *section,
                          const struct cfi_input *input)
{
	size_t room = INDEX_MAX_TOTAL - reader->indexed, most = section->size / 16;
	struct cfi_index *index, *shrunk;

	section->scanned = false;
	if (section->packed && !section_unpack(reader, input))
		return;
	if (most > INDEX_MAX_ENTRIES)
		most = INDEX_MAX_ENTRIES;
	if (most > room)
		most = room;
	index = malloc(most * sizeof(*index));
	if (!index)
		return;
	section->nr = section_scan(input, index, most);
	reader->indexed += section->nr;
	ARRAY_SORT(index, section->nr, index_compare);
	shrunk = realloc(index, (section->nr + 1) * sizeof(*index));
	section->index = shrunk ? shrunk : index;
}

/* Returns the CIE of an entry, or NULL if it is missing or invalid. Valid until the next call. */
static const struct cfi_cie *parent_get(struct cfi_reader *reader, const struct cfi_input *input,
                                        uint64_t offset)
{
	struct cfi_entry entry;

	if (reader->parent.section == input->section && reader->parent.offset == offset)
		return &reader->parent.cie;
	reader->parent.section = NULL;
	if (!cfi_entry_read(input, offset, reader->cie, sizeof(reader->cie), &entry) ||
	    !entry.is_cie || !cfi_cie_parse(&entry, &reader->parent.cie))
		return NULL;
	reader->parent.section = input->section;
	reader->parent.offset = offset;
	return &reader->parent.cie;
}

/*
 * Reads the FDE of an address into the reader's buffer and finds where the next one begins. Returns
 * its CIE, or NULL if the address has none.
 */
static const struct cfi_cie *section_fde(struct cfi_reader *reader, struct cfi *cfi,
                                         struct cfi_section *section, uint64_t vaddr,
                                         struct cfi_fde *fde, uint64_t *next)
{
	struct cfi_input input = {reader->blocks, cfi->module, section};
	const struct cfi_cie *cie;
	struct cfi_entry entry;
	uint64_t offset;

	if (section->size == 0)
		return NULL;
	if (section->scanned)
		section_index(reader, section, &input);
	if (!cfi_table_search(&input, vaddr, &offset, next) ||
	    !cfi_entry_read(&input, offset, reader->fde, sizeof(reader->fde), &entry) ||
	    entry.is_cie || entry.size > sizeof(reader->fde))
		return NULL;
	cie = parent_get(reader, &input, entry.cie);
	if (!cie || !cfi_fde_parse(&entry, cie, fde) || vaddr < fde->start || vaddr >= fde->end)
		return NULL;
	return cie;
}

static bool section_rule(struct cfi_reader *reader, struct cfi *cfi, struct cfi_section *section,
                         uint64_t vaddr, struct unwind_rule *rule, struct cfi_range *range)
{
	const struct cfi_cie *cie;
	struct cfi_fde fde;
	uint64_t next;

	cie = section_fde(reader, cfi, section, vaddr, &fde, &next);
	if (!cie || !cfi_program_rule(cie, &fde, vaddr, rule, range))
		return false;
	if (next < range->end)
		range->end = next;
	return true;
}

bool cfi_after_call(struct cfi_reader *reader, const struct cfi *cfi, uint64_t vaddr)
{
	uint8_t code[ARCH_CALL_MAX];

	return vaddr >= ARCH_CALL_MAX &&
	       cfi_read(reader, cfi, vaddr + 1 - ARCH_CALL_MAX, code, sizeof(code)) ==
	               sizeof(code) &&
	       arch_is_call(code);
}

/*
 * Tells whether the byte at an address is the last one of a call, in a function that has nothing on
 * the stack. Go's linker describes code that way after it has switched to another stack, where it
 * has no caller. Compilers make such calls rarely, and then the code itself leads to the caller.
 */
static bool is_frameless_call(struct cfi_reader *reader, const struct cfi *cfi, uint64_t vaddr,
                              const struct unwind_rule *rule)
{
	return rule->cfa_how == RULE_CFA_PLAIN && rule->cfa_base == RULE_SP &&
	       rule->cfa_offset == 8 && cfi_after_call(reader, cfi, vaddr);
}

bool cfi_rule(struct cfi_reader *reader, struct cfi *cfi, uint64_t vaddr, struct unwind_rule *rule,
              struct cfi_range *range)
{
	if (section_rule(reader, cfi, &cfi->eh, vaddr, rule, range))
		return true;
	if (!section_rule(reader, cfi, &cfi->debug, vaddr, rule, range))
		return false;
	if (is_frameless_call(reader, cfi, vaddr, rule))
		*rule = (struct unwind_rule){.type = RULE_NONE};
	/* The other section may describe the addresses around this one. */
	*range = (struct cfi_range){vaddr, vaddr + 1};
	return true;
}

static bool section_has_both(struct cfi_reader *reader, struct cfi *cfi,
                             struct cfi_section *section, uint64_t a, uint64_t b)
{
	struct cfi_fde fde;
	uint64_t next;

	return section_fde(reader, cfi, section, a, &fde, &next) && b >= fde.start && b < fde.end;
}

bool cfi_same_function(struct cfi_reader *reader, struct cfi *cfi, uint64_t a, uint64_t b)
{
	return section_has_both(reader, cfi, &cfi->eh, a, b) ||
	       section_has_both(reader, cfi, &cfi->debug, a, b);
}
