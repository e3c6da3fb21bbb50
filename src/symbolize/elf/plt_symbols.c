#include "base/array.h"
#include "symbolize/elf/elf_symbols.h"
#include "base/frame.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RELOCATIONS (64u << 20) /* bytes, of all sections together */
#define MAX_PLT         (16u << 20)
#define MAX_DYNSYM      (256u << 20)

/* A pointer that the dynamic linker fills in with the address of a function. */
struct got_slot {
	uint64_t addr;
	uint64_t resolver; /* the function that chooses it, where that is not found by name */
	const char *name;
	uint8_t rank; /* of a resolver's name */
};

/*
 * A processor's relocations of such pointers, and its stubs. A stub's length, of size bytes of code
 * at addr, and the pointer that it jumps through; 0: none begins there.
 */
struct plt_machine {
	unsigned machine;
	uint32_t jump_slot, glob_dat, irelative;
	size_t step, size; /* stubs begin at multiples, and are no longer */
	size_t (*stub)(const unsigned char *code, size_t size, uint64_t addr, uint64_t *slot);
};

struct got {
	const struct plt_machine *machine;
	struct got_slot *slots;
	size_t nr;
	uint64_t relocations; /* bytes left to read */
	uint64_t area;
};

static int resolver_compare(const void *x, const void *y)
{
	const struct got_slot *a = x, *b = y;

	return ORDER(a->resolver, b->resolver);
}

static int slot_compare(const void *x, const void *y)
{
	const struct got_slot *a = x, *b = y;

	return ORDER(a->addr, b->addr);
}

/* The dynamic symbols that a section of relocations speaks of. */
struct dynamic {
	Elf_Data *symbols, *strings;
};

static bool dynamic_find(struct dynamic *dynamic, Elf *elf, const GElf_Shdr *relocations)
{
	Elf_Scn *section = elf_getscn(elf, relocations->sh_link);
	GElf_Shdr shdr;

	if (!section || !gelf_getshdr(section, &shdr) || shdr.sh_type != SHT_DYNSYM)
		return false;
	dynamic->symbols = elf_section_data(section, MAX_DYNSYM);
	dynamic->strings = elf_section_strings(elf, shdr.sh_link);
	return dynamic->symbols && dynamic->strings;
}

static int relocation_add(struct got *got, const struct dynamic *dynamic, const GElf_Rela *rela)
{
	struct got_slot slot = {.addr = rela->r_offset, .rank = UINT8_MAX};
	uint32_t type = (uint32_t)GELF_R_TYPE(rela->r_info);
	GElf_Sym sym;

	if (type == got->machine->jump_slot || type == got->machine->glob_dat) {
		if (!dynamic->symbols ||
		    !gelf_getsym(dynamic->symbols, (int)GELF_R_SYM(rela->r_info), &sym))
			return 0;
		slot.name = elf_string(dynamic->strings, sym.st_name);
		return ARRAY_ADD(got->slots, got->nr, slot);
	}
	if (type != got->machine->irelative)
		return 0;
	slot.resolver = (uint64_t)rela->r_addend;
	slot.rank = 0;
	return slot.resolver ? ARRAY_ADD(got->slots, got->nr, slot) : 0;
}

static int relocations_add(struct got *got, Elf *elf, Elf_Scn *section, const GElf_Shdr *shdr)
{
	struct dynamic dynamic = {0};
	Elf_Data *data = elf_section_data(section, got->relocations);
	GElf_Rela rela;
	int i, err = 0;

	if (!data)
		return 0;
	got->relocations -= data->d_size;
	if (!dynamic_find(&dynamic, elf, shdr))
		dynamic = (struct dynamic){0};
	for (i = 0; !err && gelf_getrela(data, i, &rela); i++)
		err = relocation_add(got, &dynamic, &rela);
	return err;
}

/* The first slot with this resolver; the end: none. */
static size_t resolver_find(const struct got *got, uint64_t resolver)
{
	return ARRAY_PARTITION(got->slots, got->nr, slot, slot->resolver < resolver);
}

/* A resolver has the name of the function that it chooses an implementation of. */
static void resolvers_name(struct got *got, const struct symbol_table *table)
{
	const struct table_symbol *symbol = table->symbols;
	struct got_slot *slot;
	size_t i;

	ARRAY_SORT(got->slots, got->nr, resolver_compare);
	for (; symbol < table->symbols + table->nr; symbol++) {
		i = resolver_find(got, got->area << 32 | symbol->lo);
		slot = &got->slots[i];
		if (i == got->nr || slot->resolver != (got->area << 32 | symbol->lo) ||
		    slot->rank >= symbol->rank)
			continue;
		slot->name = symbol->name;
		slot->rank = symbol->rank;
	}
	for (i = 1, slot = got->slots + 1; i < got->nr; i++, slot++)
		if (slot->resolver && slot->resolver == slot[-1].resolver)
			slot->name = slot[-1].name;
}

static int got_init(struct got *got, Elf *elf, const struct symbol_table *table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr shdr;
	int err = 0;

	while (!err && (section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &shdr) && shdr.sh_type == SHT_RELA)
			err = relocations_add(got, elf, section, &shdr);
	if (got->nr && !err) {
		resolvers_name(got, table);
		ARRAY_SORT(got->slots, got->nr, slot_compare);
	}
	return err;
}

/* ff 25 and the distance from the next instruction */
static size_t stub_x86(const unsigned char *code, size_t size, uint64_t addr, uint64_t *slot)
{
	int32_t distance;
	size_t i;

	for (i = 0; i + 6 <= size && i < 6; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&distance, code + i + 2, sizeof(distance));
		*slot = addr + i + 6 + (uint64_t)(int64_t)distance;
		return size;
	}
	return 0;
}

/* perhaps bti c; adrp x16, PAGE; ldr x17, [x16, #N]; and to its end br x17 */
static size_t stub_aarch64(const unsigned char *code, size_t size, uint64_t addr, uint64_t *slot)
{
	uint32_t insn[6] = {0}, at, end;

	memcpy(insn, code, size);
	at = insn[0] == 0xd503245f;
	if ((insn[at] & 0x9f00001f) != 0x90000010 || (insn[at + 1] & 0xffc003ff) != 0xf9400211)
		return 0;
	*slot = (addr + at * 4) & ~0xfffull;
	*slot += (uint64_t)((int64_t)((uint64_t)(insn[at] >> 5) << 45) >> 31);
	*slot += (insn[at] >> 29 & 3) << 12;
	*slot += (insn[at + 1] >> 10 & 0xfff) * 8;
	for (end = at + 2; end < 6; end++)
		if (insn[end] == 0xd61f0220)
			return (end + 1) * 4;
	return 0;
}

static const struct plt_machine plt_machines[] = {
	{EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, 16, 16, stub_x86},
	{EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, 8, 24,
         stub_aarch64},
};

static int stubs_add(struct symbol_table *table, const struct got *got, const Elf_Data *data,
                     const GElf_Shdr *shdr)
{
	bool small = shdr->sh_entsize == 8;
	size_t step = small ? 8 : got->machine->step, size = small ? 8 : got->machine->size;
	size_t at, length;
	struct table_symbol symbol = {.rank = SYMBOL_SIZED, .plt = 1};
	struct got_slot key, *slot;
	int err = 0;

	for (at = 0; at < data->d_size && !err; at += step) {
		if (size > data->d_size - at)
			size = data->d_size - at;
		length = got->machine->stub((unsigned char *)data->d_buf + at, size,
		                            shdr->sh_addr + at, &key.addr);
		slot = length ? ARRAY_FIND(got->slots, got->nr, &key, slot_compare) : NULL;
		if (!slot || !slot->name || !*slot->name)
			continue;
		symbol.name = slot->name;
		if (frame_area(got->area, shdr->sh_addr + at, shdr->sh_addr + at + length,
		               &symbol.lo, &symbol.hi))
			err = symbol_table_add(table, &symbol);
	}
	return err;
}

static const struct plt_machine *machine_of(Elf *elf)
{
	GElf_Ehdr ehdr;

	for (size_t i = 0; gelf_getehdr(elf, &ehdr) && i < 2; i++)
		if (plt_machines[i].machine == ehdr.e_machine)
			return &plt_machines[i];
	return NULL;
}

int plt_symbols_add(struct symbol_table *table, Elf *elf, uint64_t area)
{
	static const char *const names[] = {".plt", ".plt.sec", ".plt.got"};
	struct got got = {.machine = machine_of(elf), .relocations = MAX_RELOCATIONS, .area = area};
	GElf_Shdr shdr;
	Elf_Scn *section;
	Elf_Data *data;
	size_t i;
	int err;

	if (!got.machine)
		return 0;
	err = got_init(&got, elf, table);
	for (i = 0; i < sizeof(names) / sizeof(*names) && !err && got.nr; i++) {
		section = elf_section_find(elf, SHT_PROGBITS, names[i], &shdr);
		data = section ? elf_section_data(section, MAX_PLT) : NULL;
		if (data)
			err = stubs_add(table, &got, data, &shdr);
	}
	free(got.slots);
	return err;
}
