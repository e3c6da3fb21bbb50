#include "symbolize/dwarf/dwarf.h"

#include "base/array.h"
#include "symbolize/dwarf/dwarf_unit.h"
#include "symbolize/elf/elf_sections.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[NR_DWARF_SECTIONS] = {
	[DWARF_INFO] = "info",
	[DWARF_ABBREV] = "abbrev",
	[DWARF_LINE] = "line",
	[DWARF_STR] = "str",
	[DWARF_LINE_STR] = "line_str",
	[DWARF_RANGES] = "ranges",
	[DWARF_RNGLISTS] = "rnglists",
	[DWARF_ADDR] = "addr",
	[DWARF_STR_OFFSETS] = "str_offsets",
};

/* Whether a section begins with a unit of a type; what is compressed is not looked into. */
static bool has_type_unit(Elf *elf, const GElf_Shdr *shdr)
{
	const size_t most = 4 + 8 + 2 + 1;
	Elf_Data *data;
	struct cursor cursor = {0};
	unsigned type;

	if (shdr->sh_flags & SHF_COMPRESSED || shdr->sh_size < most || shdr->sh_offset > INT64_MAX)
		return false;
	data = elf_getdata_rawchunk(elf, (int64_t)shdr->sh_offset, most, ELF_T_BYTE);
	if (!data || !data->d_buf)
		return false;
	cursor.at = data->d_buf;
	cursor.end = cursor.at + data->d_size;
	if (cursor_uint(&cursor, 4) == UINT32_MAX)
		cursor_uint(&cursor, 8);
	if (cursor_uint(&cursor, 2) != 5)
		return false;
	type = (unsigned)cursor_uint(&cursor, 1);
	return type == DW_UT_type || type == DW_UT_split_type;
}

/*
 * In version 5 each type that was split off, too, has a section of this name, before the one with
 * the functions. Nothing of theirs is needed: a function that is a member of a type is declared
 * in the unit that it is in, by name.
 */
static Elf_Scn *split_info_find(Elf *elf, GElf_Shdr *shdr)
{
	const char *const name = ".debug_info.dwo";
	Elf_Scn *section = elf_section_find(elf, SHT_PROGBITS, name, shdr);

	while (section && has_type_unit(elf, shdr))
		section = elf_section_next(elf, section, SHT_PROGBITS, name, shdr);
	return section;
}

/* ".debug_info", or ".zdebug_info" where older tools have compressed it. suffix: ".dwo" or "". */
static Elf_Scn *section_find(Elf *elf, enum dwarf_section section, const char *suffix,
                             GElf_Shdr *shdr, bool *old)
{
	char name[40];
	Elf_Scn *found;

	*old = false;
	snprintf(name, sizeof(name), ".debug_%s%s", names[section], suffix);
	found = section == DWARF_INFO && *suffix ? split_info_find(elf, shdr) : NULL;
	if (!found)
		found = elf_section_find(elf, SHT_PROGBITS, name, shdr);
	if (found)
		return found;
	*old = true;
	snprintf(name, sizeof(name), ".zdebug_%s%s", names[section], suffix);
	return elf_section_find(elf, SHT_PROGBITS, name, shdr);
}

/* The size that an old compressed section will have: "ZLIB" and the highest byte first. */
static uint64_t old_size(Elf_Scn *section)
{
	Elf_Data *data = elf_rawdata(section, NULL);
	uint64_t size = 0;
	unsigned i;

	if (!data || !data->d_buf || data->d_size < 12 || memcmp(data->d_buf, "ZLIB", 4))
		return UINT64_MAX;
	for (i = 4; i < 12; i++)
		size = size << 8 | ((const uint8_t *)data->d_buf)[i];
	return size;
}

/*
 * Real sections are 2 to 10 times as large when they are unpacked; what is nothing but the same may
 * be a thousand times as large, and takes that long to read.
 */
#define MOST_PACKED  64
#define SMALL_ENOUGH (4U << 20)

static bool is_too_large(uint64_t unpacked, uint64_t packed, size_t max)
{
	return unpacked > max || (unpacked > SMALL_ENOUGH && unpacked / MOST_PACKED > packed);
}

/* Replaces the contents in memory by what they stand for, if that is not beyond max. */
static int unpack(Elf_Scn *section, const GElf_Shdr *shdr, bool old, size_t max)
{
	GElf_Chdr chdr;

	if (shdr->sh_size > max)
		return -EFBIG;
	if (old) {
		if (is_too_large(old_size(section), shdr->sh_size, max))
			return -EFBIG;
		return elf_compress_gnu(section, 0, 0) > 0 ? 0 : -EBADMSG;
	}
	if (!(shdr->sh_flags & SHF_COMPRESSED))
		return 0;
	if (!gelf_getchdr(section, &chdr))
		return -EBADMSG;
	if (is_too_large(chdr.ch_size, shdr->sh_size, max))
		return -EFBIG;
	if (elf_compress(section, 0, 0) > 0)
		return 0;
	return chdr.ch_type == ELFCOMPRESS_ZLIB ? -EBADMSG : -EOPNOTSUPP;
}

static int section_read(struct dwarf *dwarf, Elf *elf, enum dwarf_section section,
                        const char *suffix, size_t *max)
{
	struct dwarf_bytes *bytes = &dwarf->sections[section];
	GElf_Shdr shdr;
	bool old;
	Elf_Scn *found = section_find(elf, section, suffix, &shdr, &old);
	Elf_Data *data;
	int err;

	if (!found || !shdr.sh_size)
		return 0;
	err = unpack(found, &shdr, old, *max);
	if (err == -EFBIG || err == -EOPNOTSUPP)
		return err;
	data = err ? NULL : elf_section_data(found, *max);
	if (!data)
		return 0;
	*max -= data->d_size;
	*bytes = (struct dwarf_bytes){data->d_buf, data->d_size};
	if (section != DWARF_STR && section != DWARF_LINE_STR)
		return 0;
	while (bytes->size && bytes->data[bytes->size - 1])
		bytes->size--;
	return 0;
}

#define LEAST_UNIT 8 /* bytes: nothing but zeroes would be units of none */

/* Stops at the first unit whose size is invalid; the units before it are kept. */
int dwarf_units_find(struct dwarf *dwarf)
{
	const uint8_t *info = dwarf->sections[DWARF_INFO].data;
	struct cursor cursor = dwarf_cursor(dwarf, DWARF_INFO, 0);
	uint64_t offset = 0;
	int err = 0;

	free(dwarf->units);
	dwarf->units = NULL;
	dwarf->nr_units = 0;
	while (!err && dwarf_length(&cursor, NULL) && dwarf_step(dwarf, 1)) {
		if (cursor_left(&cursor) >= LEAST_UNIT)
			err = ARRAY_ADD(dwarf->units, dwarf->nr_units, offset);
		offset = (uint64_t)(cursor.end - info);
		cursor = dwarf_cursor(dwarf, DWARF_INFO, offset);
	}
	return err;
}

static int sections_read(struct dwarf *dwarf, Elf *elf, const char *suffix, size_t max)
{
	unsigned section;
	int err = 0;

	*dwarf = (struct dwarf){.work = 1 << 20};
	for (section = 0; section < NR_DWARF_SECTIONS && !err; section++) {
		err = section_read(dwarf, elf, section, suffix, &max);
		/* Real files come to less than one step a byte. */
		dwarf->work += 8 * (uint64_t)dwarf->sections[section].size;
	}
	if (!err && !dwarf->sections[DWARF_INFO].size)
		err = -ENODATA;
	return err ? err : dwarf_units_find(dwarf);
}

int dwarf_open(struct dwarf *dwarf, Elf *elf, size_t max)
{
	return sections_read(dwarf, elf, "", max);
}

int dwarf_open_split(struct dwarf *dwarf, Elf *elf, size_t max)
{
	return sections_read(dwarf, elf, ".dwo", max);
}

void dwarf_close(struct dwarf *dwarf)
{
	dwarf_abbrevs_put(dwarf->recent);
	free(dwarf->units);
	*dwarf = (struct dwarf){0};
}

struct cursor dwarf_cursor(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset)
{
	const struct dwarf_bytes *bytes = &dwarf->sections[section];
	struct cursor cursor = {.at = bytes->data, .end = bytes->data + bytes->size};

	cursor_take(&cursor, offset);
	return cursor;
}

const char *dwarf_string(const struct dwarf *dwarf, enum dwarf_section section, uint64_t offset)
{
	const struct dwarf_bytes *bytes = &dwarf->sections[section];

	return offset < bytes->size ? (const char *)bytes->data + offset : NULL;
}
