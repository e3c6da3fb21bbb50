#include "symbolize/unwind/cfi_entry.h"

#include <dwarf.h>

/* length (4 bytes, or 4 of ones and 8), then the CIE's identity or the FDE's pointer to it */
static bool entry_header(struct cursor *head, bool is_eh, struct cfi_entry *entry)
{
	uint64_t length = cursor_uint(head, 4), id, id_at;
	bool is_wide = length == UINT32_MAX;
	uint64_t start = is_wide ? 12 : 4;

	if (is_wide)
		length = cursor_uint(head, 8);
	if (head->bad || length == 0 || length > UINT64_MAX - 12)
		return false;
	entry->size = start + length;
	id_at = entry->offset + start;
	id = cursor_uint(head, is_wide && !is_eh ? 8 : 4);
	if (is_eh) {
		entry->is_cie = id == 0;
		entry->cie = id_at - id;
	} else {
		entry->is_cie = id == (is_wide ? UINT64_MAX : UINT32_MAX);
		entry->cie = id;
	}
	return !head->bad;
}

/* Gets bytes of the section, which are copied if they are not in memory, and sets their number. */
static const uint8_t *section_read(const struct cfi_input *input, uint64_t offset, uint8_t *buffer,
                                   size_t *size)
{
	const struct cfi_section *section = input->section;

	if (section->unpacked)
		return section->unpacked + offset;
	*size = section->packed ? 0
	                        : file_blocks_read(input->blocks, input->module,
	                                           section->offset + offset, buffer, *size);
	return buffer;
}

bool cfi_entry_read(const struct cfi_input *input, uint64_t offset, uint8_t *buffer, size_t size,
                    struct cfi_entry *entry)
{
	const struct cfi_section *section = input->section;
	uint64_t left = offset < section->size ? section->size - offset : 0;
	size_t have = left < 24 ? (size_t)left : 24;
	const uint8_t *bytes = section_read(input, offset, buffer, &have);
	struct cursor head = {.at = bytes, .end = bytes + have};

	*entry = (struct cfi_entry){.offset = offset};
	if (!entry_header(&head, section->is_eh, entry) || entry->size > left)
		return false;
	if (size > entry->size)
		size = entry->size;
	if (size > have)
		section_read(input, offset, buffer, &size);
	entry->body = (struct cursor){
		.at = head.at,
		.end = bytes + size,
		.vaddr_end = section->vaddr + offset + size,
		.is_narrow = section->is_narrow,
	};
	return entry->body.at <= entry->body.end;
}

static uint64_t pointer_value(struct cursor *cursor, uint8_t format)
{
	switch (format) {
	case DW_EH_PE_absptr:
		return cursor_uint(cursor, cursor->is_narrow ? 4 : 8);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_uint(cursor, 8);
	case DW_EH_PE_udata2:
		return cursor_uint(cursor, 2);
	case DW_EH_PE_udata4:
		return cursor_uint(cursor, 4);
	case DW_EH_PE_sdata2:
		return cursor_sint(cursor, 2);
	case DW_EH_PE_sdata4:
		return cursor_sint(cursor, 4);
	case DW_EH_PE_uleb128:
		return cursor_uleb(cursor);
	case DW_EH_PE_sleb128:
		return cursor_sleb(cursor);
	default:
		cursor_fail(cursor);
		return 0;
	}
}

uint64_t cfi_pointer(struct cursor *cursor, uint8_t encoding)
{
	uint64_t here = cursor->vaddr_end - cursor_left(cursor);
	uint64_t value = pointer_value(cursor, encoding & 0x0f);

	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr:
		return value;
	case DW_EH_PE_pcrel:
		return here + value;
	default:
		cursor_fail(cursor);
		return 0;
	}
}

/* The letters behind the z of an augmentation, each with its operand in the data. */
static bool cie_augmentation(const uint8_t *letter, struct cursor *data, struct cfi_cie *cie)
{
	for (; *letter; letter++) {
		switch (*letter) {
		case 'R':
			cie->encoding = (uint8_t)cursor_uint(data, 1);
			break;
		case 'P':
			pointer_value(data, (uint8_t)cursor_uint(data, 1) & 0x0f);
			break;
		case 'L':
			cursor_uint(data, 1);
			break;
		case 'S':
			cie->signal = true;
			break;
		case 'B': /* aarch64: which key signs return addresses, */
		case 'G': /* and whether the stack is tagged */
			break;
		default:
			return false;
		}
	}
	return !data->bad;
}

bool cfi_cie_parse(const struct cfi_entry *entry, struct cfi_cie *cie)
{
	struct cursor body = entry->body, data;
	uint8_t version = (uint8_t)cursor_uint(&body, 1);
	const uint8_t *letters = body.at, *end = memchr(letters, 0, cursor_left(&body));

	*cie = (struct cfi_cie){.encoding = DW_EH_PE_absptr};
	if (!end || (version != 1 && version != 3 && version != 4))
		return false;
	body.at = end + 1;
	/* An address has 8 bytes and a segment selector none: as one number, 8. */
	if (version == 4 && cursor_uint(&body, 2) != 8)
		return false;
	cie->code_align = cursor_uleb(&body);
	cie->data_align = cursor_sleb(&body);
	cie->ra = version == 1 ? cursor_uint(&body, 1) : cursor_uleb(&body);
	if (*letters == 'z') {
		uint64_t size = cursor_uleb(&body);

		data = body;
		if (!cursor_take(&body, size))
			return false;
		data.vaddr_end -= cursor_left(&body);
		data.end = body.at;
		cie->augmented = true;
		if (!cie_augmentation(letters + 1, &data, cie))
			return false;
	} else if (*letters) {
		return false;
	}
	cie->program = body;
	return !body.bad && entry->size <= CFI_CIE_MAX;
}

bool cfi_fde_parse(const struct cfi_entry *entry, const struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct cursor *body = &fde->program;

	*body = entry->body;
	fde->start = cfi_pointer(body, cie->encoding);
	fde->end = fde->start + pointer_value(body, cie->encoding & 0x0f);
	if (cie->augmented)
		cursor_take(body, cursor_uleb(body));
	return !body->bad && fde->start < fde->end;
}

void cfi_scan_init(struct cfi_scan *scan, const struct cfi_input *input, uint64_t area,
                   uint64_t left)
{
	scan->input = *input;
	scan->area = area;
	scan->left = left;
	scan->next = 0;
	scan->parent = UINT64_MAX;
}

/* Reads the CIE at the offset into the scan. Returns whether there is one. */
static bool scan_parent(struct cfi_scan *scan, uint64_t offset)
{
	struct cfi_entry entry;

	if (offset == scan->parent && offset != UINT64_MAX)
		return true;
	scan->parent = UINT64_MAX;
	if (!cfi_entry_read(&scan->input, offset, scan->bytes, sizeof(scan->bytes), &entry) ||
	    !entry.is_cie || !cfi_cie_parse(&entry, &scan->cie))
		return false;
	scan->parent = offset;
	return true;
}

bool cfi_scan_next(struct cfi_scan *scan, uint32_t *lo, uint32_t *hi)
{
	uint8_t head[64];
	struct cfi_entry entry;
	struct cfi_fde fde;

	while (scan->left-- &&
	       cfi_entry_read(&scan->input, scan->next, head, sizeof(head), &entry)) {
		scan->offset = entry.offset;
		scan->next += entry.size;
		if (!entry.is_cie && scan_parent(scan, entry.cie) &&
		    cfi_fde_parse(&entry, &scan->cie, &fde) &&
		    frame_area(scan->area, fde.start, fde.end, lo, hi))
			return true;
	}
	return false;
}
