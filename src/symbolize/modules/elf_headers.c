#include "symbolize/modules/elf_headers.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Real files have some 10 to 15; the kernel itself loads no program with more than 1,170. */
#define MAX_PHDRS 1170
/* Notes of real files fill some 100 bytes. */
#define MAX_NOTES 4096

#if __BYTE_ORDER == __LITTLE_ENDIAN
#define HOST_ELFDATA ELFDATA2LSB
#else
#define HOST_ELFDATA ELFDATA2MSB
#endif

/* Entries of the dynamic section that are read. Programs have some 30. */
#define MAX_DYNAMIC 256

struct tables {
	bool is_64, is_fixed;        /* is_fixed: a program at a fixed address */
	uint64_t segments, sections; /* offsets of their headers */
	unsigned nr_segments, segment_size, nr_sections;
};

static bool read_all(int fd, void *data, size_t size, uint64_t offset)
{
	if (offset > INT64_MAX - size)
		return false;
	return pread(fd, data, size, (off_t)offset) == (ssize_t)size;
}

static int tables_find(int fd, struct tables *tables)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr e32;
		Elf64_Ehdr e64;
	} ehdr;

	if (!read_all(fd, &ehdr, sizeof(ehdr.e32), 0) || memcmp(ehdr.ident, ELFMAG, SELFMAG) ||
	    ehdr.ident[EI_DATA] != HOST_ELFDATA)
		return -ENOEXEC;
	tables->is_64 = ehdr.ident[EI_CLASS] == ELFCLASS64;
	tables->is_fixed = ehdr.e32.e_type == ET_EXEC; /* in one place in both classes */
	if (tables->is_64) {
		if (!read_all(fd, &ehdr, sizeof(ehdr.e64), 0))
			return -ENOEXEC;
		tables->segments = ehdr.e64.e_phoff;
		tables->nr_segments = ehdr.e64.e_phnum;
		tables->segment_size = ehdr.e64.e_phentsize;
		tables->sections = ehdr.e64.e_shoff;
		tables->nr_sections = ehdr.e64.e_shnum;
	} else {
		tables->segments = ehdr.e32.e_phoff;
		tables->nr_segments = ehdr.e32.e_phnum;
		tables->segment_size = ehdr.e32.e_phentsize;
		tables->sections = ehdr.e32.e_shoff;
		tables->nr_sections = ehdr.e32.e_shnum;
	}
	return 0;
}

static bool segments_valid(const struct tables *tables)
{
	return tables->segment_size == (tables->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) &&
	       tables->nr_segments <= MAX_PHDRS;
}

static bool phdr_read(int fd, const struct tables *tables, unsigned i, Elf64_Phdr *phdr)
{
	uint64_t offset;
	Elf32_Phdr p;

	if (__builtin_add_overflow(tables->segments, (uint64_t)i * tables->segment_size, &offset))
		return false;
	if (tables->is_64)
		return read_all(fd, phdr, sizeof(*phdr), offset);
	if (!read_all(fd, &p, sizeof(p), offset))
		return false;
	*phdr = (Elf64_Phdr){
		.p_type = p.p_type,
		.p_flags = p.p_flags,
		.p_offset = p.p_offset,
		.p_vaddr = p.p_vaddr,
		.p_filesz = p.p_filesz,
		.p_align = p.p_align,
	};
	return true;
}

/* Where the header has no room for the number, the first section's size is it. */
static uint64_t nr_sections_read(int fd, const struct tables *tables)
{
	Elf64_Shdr s64;
	Elf32_Shdr s32;

	if (tables->nr_sections || !tables->sections)
		return tables->nr_sections;
	if (tables->is_64)
		return read_all(fd, &s64, sizeof(s64), tables->sections) ? s64.sh_size : 0;
	return read_all(fd, &s32, sizeof(s32), tables->sections) ? s32.sh_size : 0;
}

/* Keeps the segments sorted; what does not fit into 64 bits is no segment of a real file. */
static void segment_add(struct elf_headers *headers, const Elf64_Phdr *phdr)
{
	struct segment segment = {phdr->p_offset, phdr->p_vaddr, phdr->p_filesz};
	unsigned i = headers->nr_segments;

	if (!segment.size || segment.offset > UINT64_MAX - segment.size ||
	    segment.vaddr > UINT64_MAX - segment.size || i == MODULE_MAX_SEGMENTS)
		return;
	for (; i > 0 && headers->segments[i - 1].offset > segment.offset; i--)
		headers->segments[i] = headers->segments[i - 1];
	headers->segments[i] = segment;
	headers->nr_segments++;
}

static void build_id_parse(struct build_id *id, const unsigned char *notes, size_t size,
                           size_t align)
{
	Elf64_Nhdr note; /* the same for both classes */
	size_t at = 0, name, desc;

	while (size - at >= sizeof(note)) {
		memcpy(&note, notes + at, sizeof(note));
		if (note.n_namesz > MAX_NOTES || note.n_descsz > MAX_NOTES)
			return;
		name = at + sizeof(note);
		desc = (name + note.n_namesz + align - 1) & ~(align - 1);
		if (desc > size || note.n_descsz > size - desc)
			return;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) && note.n_descsz > 0 &&
		    note.n_descsz <= BUILD_ID_MAX) {
			id->size = (uint8_t)note.n_descsz;
			memcpy(id->bytes, notes + desc, id->size);
			return;
		}
		at = (desc + note.n_descsz + align - 1) & ~(align - 1);
		if (at > size)
			return;
	}
}

static void notes_read(int fd, const Elf64_Phdr *phdr, struct build_id *id)
{
	unsigned char notes[MAX_NOTES];
	size_t size = phdr->p_filesz < MAX_NOTES ? (size_t)phdr->p_filesz : MAX_NOTES;

	if (read_all(fd, notes, size, phdr->p_offset))
		build_id_parse(id, notes, size, phdr->p_align == 8 ? 8 : 4);
}

/* Whether a dynamic section says that the file is a program: libraries look like it otherwise. */
static bool is_program(int fd, const struct tables *tables, const Elf64_Phdr *phdr)
{
	const size_t size = tables->is_64 ? sizeof(Elf64_Dyn) : sizeof(Elf32_Dyn);

	for (unsigned i = 0; i < MAX_DYNAMIC && i < phdr->p_filesz / size; i++) {
		union {
			Elf32_Dyn e32;
			Elf64_Dyn e64;
		} entry;
		int64_t tag;

		if (!read_all(fd, &entry, size, phdr->p_offset + i * size))
			return false;
		tag = tables->is_64 ? entry.e64.d_tag : entry.e32.d_tag;
		if (tag == DT_FLAGS_1)
			return (tables->is_64 ? entry.e64.d_un.d_val : entry.e32.d_un.d_val) &
			       DF_1_PIE;
	}
	return false;
}

int elf_headers_read(int fd, struct elf_headers *headers)
{
	bool has_loader = false;
	struct tables tables;
	Elf64_Phdr phdr;
	unsigned i;
	int err;

	memset(headers, 0, sizeof(*headers));
	err = tables_find(fd, &tables);
	if (err || !segments_valid(&tables))
		return -ENOEXEC;
	headers->nr_sections = nr_sections_read(fd, &tables);
	headers->is_static = tables.is_fixed;
	for (i = 0; i < tables.nr_segments; i++) {
		if (!phdr_read(fd, &tables, i, &phdr))
			return -ENOEXEC;
		if (phdr.p_type == PT_LOAD && phdr.p_flags & PF_X)
			segment_add(headers, &phdr);
		else if (phdr.p_type == PT_NOTE && !headers->build_id.size)
			notes_read(fd, &phdr, &headers->build_id);
		else if (phdr.p_type == PT_DYNAMIC)
			headers->is_static |= is_program(fd, &tables, &phdr);
		has_loader |= phdr.p_type == PT_INTERP;
	}
	headers->is_static &= !has_loader;
	return 0;
}

int elf_sections_count(int fd, uint64_t *nr)
{
	struct tables tables;
	int err = tables_find(fd, &tables);

	*nr = err ? 0 : nr_sections_read(fd, &tables);
	return err;
}
