#include "symbolize/elf/disassembler.h"

#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_CAPSTONE
#include <capstone.h>
#include <dlfcn.h>
#include <elf.h>
#include <stdbool.h>
#include <stdio.h>

#define STRING_OF(number)   #number
#define LIBRARY_OF(version) "libcapstone.so." STRING_OF(version)

struct disassembler {
	void *library; /* not linked: each recorder would have a megabyte of it relocated */
	__typeof__(cs_open) *open;
	__typeof__(cs_close) *close;
	__typeof__(cs_option) *option;
	__typeof__(cs_malloc) *malloc;
	__typeof__(cs_free) *free;
	__typeof__(cs_disasm_iter) *disasm_iter;
	csh handle;
	cs_insn *instruction;
	size_t smallest; /* an instruction is of any machine */
};

#define LOAD(name) (engine->name = (__typeof__(engine->name))dlsym(engine->library, "cs_" #name))

static bool library_open(struct disassembler *engine)
{
	engine->library = dlopen(LIBRARY_OF(CS_API_MAJOR), RTLD_LAZY);
	return engine->library && LOAD(open) && LOAD(close) && LOAD(option) && LOAD(malloc) &&
	       LOAD(free) && LOAD(disasm_iter);
}

static int engine_open(struct disassembler *engine, unsigned machine)
{
	cs_arch arch = machine == EM_AARCH64 ? CS_ARCH_ARM64 : CS_ARCH_X86;
	cs_mode mode = machine == EM_AARCH64 ? CS_MODE_LITTLE_ENDIAN
	               : machine == EM_386   ? CS_MODE_32
	                                     : CS_MODE_64;

	if (machine != EM_X86_64 && machine != EM_386 && machine != EM_AARCH64)
		return -ENOTSUP;
	if (!library_open(engine) || engine->open(arch, mode, &engine->handle) != CS_ERR_OK)
		return -ENOTSUP;
	if (arch == CS_ARCH_X86)
		engine->option(engine->handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return 0;
}

struct disassembler *disassembler_new(unsigned machine)
{
	struct disassembler *disassembler = calloc(1, sizeof(*disassembler));
	int err = disassembler ? engine_open(disassembler, machine) : -ENOMEM;

	if (!err) {
		disassembler->smallest = machine == EM_AARCH64 ? 4 : 1;
		disassembler->instruction = disassembler->malloc(disassembler->handle);
		if (disassembler->instruction)
			return disassembler;
		err = -ENOMEM;
	}
	disassembler_free(disassembler);
	errno = -err;
	return NULL;
}

void disassembler_free(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->instruction)
		disassembler->free(disassembler->instruction, 1);
	if (disassembler->handle)
		disassembler->close(&disassembler->handle);
	if (disassembler->library)
		dlclose(disassembler->library);
	free(disassembler);
}

size_t disassembler_next(struct disassembler *disassembler, const uint8_t *code, size_t size,
                         uint64_t address, char text[INSTRUCTION_SIZE])
{
	const cs_insn *instruction = disassembler->instruction;
	size_t left = size;

	if (disassembler->disasm_iter(disassembler->handle, &code, &left, &address,
	                              disassembler->instruction)) {
		snprintf(text, INSTRUCTION_SIZE, "%s%s%s", instruction->mnemonic,
		         instruction->op_str[0] ? " " : "", instruction->op_str);
		return size - left;
	}
	snprintf(text, INSTRUCTION_SIZE, "(bad)");
	return size < disassembler->smallest ? size : disassembler->smallest;
}

#else

struct disassembler *disassembler_new(unsigned machine)
{
	(void)machine;
	errno = ENOTSUP;
	return NULL;
}

void disassembler_free(struct disassembler *disassembler)
{
	(void)disassembler;
}

size_t disassembler_next(struct disassembler *disassembler, const uint8_t *code, size_t size,
                         uint64_t address, char text[INSTRUCTION_SIZE])
{
	(void)disassembler;
	(void)code;
	(void)address;
	text[0] = 0;
	return size;
}

#endif
