/*
 * Fuzzing of all that reads programs: the input is a file that a target has mapped. Its functions,
 * lines, inlined calls and rules are asked for at addresses throughout its code.
 */

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/cfi.h"
#include "symbolize/symbols.h"

#define MOST_ADDRESSES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct addresses {
	uint32_t at[MOST_ADDRESSES];
	size_t nr, named;
};

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
	}
	module_table_free(modules);
	close(fd);
	return 0;
}
