/*
 * Fuzzing of all that reads programs: the input is a file that a target has mapped. Its functions,
 * lines, inlined calls and rules are asked for at addresses throughout its code, and stacks are
 * unwound from there.
 */

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/unwind/cfi.h"
#include "fuzz_mutate.h"
#include "symbolize/unwind/arch.h"
#include "symbolize/symbols.h"
#include "symbolize/unwind/unwind.h"

#define MOST_ADDRESSES 64
#define BASE           0x100000000ULL
#define STACK          0x7ffd00000000ULL
#define STACK_WORDS    64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct addresses {
	uint32_t at[MOST_ADDRESSES];
	size_t nr, named;
};

/* Changes a section, or the table of sections. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint64_t random = seed, offset, bytes;
	Elf64_Shdr section;
	Elf64_Ehdr elf;

	if (size < sizeof(elf))
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(&elf, data, sizeof(elf));
	offset = elf.e_shoff + random_below(&random, elf.e_shnum + 1UL) * sizeof(section);
	if (offset > size || size - offset < sizeof(section))
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(&section, data + offset, sizeof(section));
	bytes = sizeof(section);
	if (random_below(&random, 8) && section.sh_size && section.sh_offset <= size &&
	    section.sh_size <= size - section.sh_offset) {
		offset = section.sh_offset;
		bytes = section.sh_size;
	}
	change_part(data + offset, bytes, &random);
	return size;
}

static void addresses_spread(struct addresses *addresses, const struct module *module)
{
	const struct segment *code = &module->segments[0];
	uint64_t step = code->size / MOST_ADDRESSES + 1;

	if (!module->nr_segments)
		return;
	for (uint64_t at = code->vaddr; at - code->vaddr < code->size && at <= UINT32_MAX;
	     at += step)
		addresses->at[addresses->nr++] = (uint32_t)at;
}

static int look(void *arg, uint32_t offset, const struct symbol *symbol)
{
	struct addresses *addresses = arg;
	size_t letters = symbol->name ? strlen(symbol->name) : 0;

	assert(offset >= symbol->lo && offset < symbol->hi);
	for (size_t i = 0; i < symbol->nr_sources; i++)
		if (symbol->sources[i].file)
			letters += strlen(symbol->sources[i].file);
	addresses->named += letters > 0;
	return 0;
}

static void name(struct module_table *modules, struct module *module, struct addresses *addresses)
{
	struct symbolizer *symbolizer = symbolizer_new(modules);

	if (!symbolizer)
		return;
	symbolizer_module(symbolizer, module, addresses->at, addresses->nr, look, addresses);
	assert(addresses->named <= addresses->nr);
	symbolizer_free(symbolizer);
}

static void find_rules(struct module_table *modules, struct module *module,
                       const struct addresses *addresses)
{
	struct cfi_reader *reader = cfi_reader_new(modules);
	struct cfi *cfi = reader ? cfi_get(reader, module) : NULL;
	struct unwind_rule rule;
	struct cfi_range range;

	for (size_t i = 0; cfi && i < addresses->nr; i++)
		if (cfi_rule(reader, cfi, addresses->at[i], &rule, &range))
			assert(range.start <= addresses->at[i] && addresses->at[i] < range.end);
	cfi_reader_free(reader);
}

/* Stacks of return addresses, and of addresses in the stack. */
static void unwind(struct module_table *modules, struct module *module,
                   const struct addresses *addresses)
{
	struct unwinder *unwinder = unwinder_new(modules, UNWIND_RULES);
	struct space *space = space_new(1);
	struct mapping mapping = {BASE, BASE + UINT32_MAX, BASE, module};
	uint64_t stack[STACK_WORDS], regs[ARCH_REGS], frames[STACK_WORDS];
	struct unwind_sample sample = {regs, (unsigned char *)stack, sizeof(stack), 1, 0, false};
	enum unwind_end end;

	assert(!space_map(space, &mapping));
	for (size_t i = 0; i < STACK_WORDS; i++)
		stack[i] = i % 2 ? BASE + addresses->at[i] : STACK + 16 * i;
	for (size_t i = 0; i < ARCH_REGS; i++)
		regs[i] = STACK + 8 * (i % 4);
	regs[arch_sample_index[ARCH_SP]] = STACK;
	for (size_t i = 0; i < addresses->nr; i++) {
		regs[arch_sample_index[ARCH_PC]] = BASE + addresses->at[i];
		unwinder_walk(unwinder, space, &sample, frames, STACK_WORDS, &end);
	}
	space_put(space);
	unwinder_free(unwinder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct module_table *modules = module_table_new();
	int fd = memfd_create("module", MFD_CLOEXEC);
	struct module_file file = {.pid = getpid()};
	struct addresses addresses = {.nr = 0};
	struct module *module;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file.path = path;
	assert(modules && write(fd, data, size) == (ssize_t)size);
	module = module_table_file(modules, &file);
	if (module) {
		addresses_spread(&addresses, module);
		name(modules, module, &addresses);
		find_rules(modules, module, &addresses);
		unwind(modules, module, &addresses);
	}
	module_table_free(modules);
	close(fd);
	return 0;
}
