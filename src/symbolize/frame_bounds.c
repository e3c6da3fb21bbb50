#include "symbolize/elf_symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <string.h>

#define MAX_EH_FRAME (256u << 20)

/* How the entries of one common part (CIE) write their addresses. */
struct encoding {
	Dwarf_Off cie;
	bool known;
	uint8_t form;
};

struct frame_section {
	unsigned char *ident;
	Elf_Data *data;
	uint64_t addr;
	unsigned word; /* bytes of an address */
	struct encoding encoding;
	uint64_t left; /* bytes of common parts to read */
};

/* The bytes that a pointer takes; 0: not a form that compilers write. */
static unsigned form_size(const struct frame_section *frames, uint8_t form)
{
	switch (form & 0x07) {
	case DW_EH_PE_absptr:
		return frames->word;
	case DW_EH_PE_udata2:
		return 2;
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata8:
		return 8;
	default:
		return 0;
	}
}

static uint64_t value_read(const uint8_t *at, unsigned size, bool is_signed)
{
	union {
		uint16_t u2;
		uint32_t u4;
		uint64_t u8;
	} value;

	memcpy(&value, at, size);
	switch (size) {
	case 2:
		return is_signed ? (uint64_t)(int16_t)value.u2 : value.u2;
	case 4:
		return is_signed ? (uint64_t)(int32_t)value.u4 : value.u4;
	default:
		return value.u8;
	}
}

/* Looks for R in an augmentation such as zPLR, past the data of the letters before it. */
static bool form_find(const struct frame_section *frames, const Dwarf_CIE *cie, uint8_t *form)
{
	const uint8_t *data = cie->augmentation_data;
	const char *letter = cie->augmentation;
	size_t at = 0, size = cie->augmentation_data_size;

	*form = DW_EH_PE_absptr;
	if (*letter != 'z')
		return !*letter;
	for (letter++; *letter; letter++) {
		if (*letter == 'S' || *letter == 'B')
			continue;
		if (at >= size)
			return false;
		if (*letter == 'R')
			*form = data[at];
		else if (*letter == 'P')
			at += form_size(frames, data[at]);
		else if (*letter != 'L')
			return true;
		at++;
	}
	return true;
}

static bool encoding_find(struct frame_section *frames, Dwarf_Off offset)
{
	struct encoding *encoding = &frames->encoding;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (encoding->known && encoding->cie == offset)
		return true;
	encoding->cie = offset;
	encoding->known = false;
	if (!frames->left ||
	    dwarf_next_cfi(frames->ident, frames->data, true, offset, &next, &entry))
		return false;
	frames->left -= next - offset < frames->left ? next - offset : frames->left;
	encoding->known = dwarf_cfi_cie_p(&entry) && form_find(frames, &entry.cie, &encoding->form);
	return encoding->known;
}

/* The range that an entry is for: its first two fields. */
static bool fde_range(struct frame_section *frames, const Dwarf_FDE *fde, uint64_t *lo,
                      uint64_t *size)
{
	unsigned width;
	uint8_t form;

	if (!encoding_find(frames, fde->CIE_pointer))
		return false;
	form = frames->encoding.form;
	width = form_size(frames, form);
	if (!width || form & DW_EH_PE_indirect || (size_t)(fde->end - fde->start) < 2 * width)
		return false;
	*lo = value_read(fde->start, width, form & DW_EH_PE_signed);
	*size = value_read(fde->start + width, width, false);
	if ((form & 0x70) == DW_EH_PE_pcrel)
		*lo += frames->addr + (uint64_t)(fde->start - (uint8_t *)frames->data->d_buf);
	else if (form & 0x70)
		return false;
	if (frames->word == 4)
		*lo = (uint32_t)*lo;
	return true;
}

static int fde_add(struct symbol_table *table, struct frame_section *frames, const Dwarf_FDE *fde)
{
	struct table_symbol symbol = {.rank = SYMBOL_SIZED};
	uint64_t lo, size;

	if (!fde_range(frames, fde, &lo, &size) || lo > UINT32_MAX)
		return 0;
	symbol.lo = (uint32_t)lo;
	symbol.hi = size < UINT32_MAX - lo ? (uint32_t)(lo + size) : UINT32_MAX;
	return symbol_table_add(table, &symbol);
}

static bool frame_section_find(struct frame_section *frames, Elf *elf)
{
	GElf_Shdr shdr;
	Elf_Scn *section;

	memset(frames, 0, sizeof(*frames));
	section = elf_section_find(elf, SHT_PROGBITS, ".eh_frame", &shdr);
	if (!section)
		section = elf_section_find(elf, SHT_X86_64_UNWIND, ".eh_frame", &shdr);
	if (!section)
		return false;
	frames->ident = (unsigned char *)elf_getident(elf, NULL);
	frames->data = elf_section_data(section, MAX_EH_FRAME);
	frames->addr = shdr.sh_addr;
	frames->left = 8 * shdr.sh_size; /* real files come to less than their size */
	frames->word = gelf_getclass(elf) == ELFCLASS32 ? 4 : 8;
	return frames->ident && frames->data;
}

int frame_bounds_add(struct symbol_table *table, Elf *elf)
{
	struct frame_section frames;
	Dwarf_CFI_Entry entry;
	Dwarf_Off offset = 0, next;
	int err = 0, got;

	if (!frame_section_find(&frames, elf))
		return 0;
	while (!err) {
		next = offset;
		got = dwarf_next_cfi(frames.ident, frames.data, true, offset, &next, &entry);
		if (got > 0 || next <= offset)
			break; /* the end, or nothing that could be passed over */
		if (!got && !dwarf_cfi_cie_p(&entry))
			err = fde_add(table, &frames, &entry.fde);
		offset = next;
	}
	return err;
}
