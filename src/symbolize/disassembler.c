#include "symbolize/disassembler.h"

#include <errno.h>
#include <stdlib.h>

#ifdef HAVE_CAPSTONE
#include <capstone.h>
#include <elf.h>
#include <stdio.h>

struct disassembler {
	csh handle;
	cs_insn *instruction;
	size_t smallest; /* an instruction is of any machine */
};

static int engine_open(unsigned machine, csh *handle)
{
	cs_arch arch = machine == EM_AARCH64 ? CS_ARCH_ARM64 : CS_ARCH_X86;
	cs_mode mode = machine == EM_AARCH64 ? CS_MODE_LITTLE_ENDIAN
	               : machine == EM_386   ? CS_MODE_32
	                                     : CS_MODE_64;

	if (machine != EM_X86_64 && machine != EM_386 && machine != EM_AARCH64)
		return -ENOTSUP;
	if (cs_open(arch, mode, handle) != CS_ERR_OK)
		return -ENOTSUP;
	if (arch == CS_ARCH_X86)
		cs_option(*handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return 0;
}

struct disassembler *disassembler_new(unsigned machine)
{
	struct disassembler *disassembler = calloc(1, sizeof(*disassembler));
	int err = disassembler ? engine_open(machine, &disassembler->handle) : -ENOMEM;

	if (err) {
		free(disassembler);
		errno = -err;
		return NULL;
	}
	disassembler->smallest = machine == EM_AARCH64 ? 4 : 1;
	disassembler->instruction = cs_malloc(disassembler->handle);
	if (disassembler->instruction)
		return disassembler;
	disassembler_free(disassembler);
	errno = ENOMEM;
	return NULL;
}

void disassembler_free(struct disassembler *disassembler)
{
	if (!disassembler)
		return;
	if (disassembler->instruction)
		cs_free(disassembler->instruction, 1);
	cs_close(&disassembler->handle);
	free(disassembler);
}

size_t disassembler_next(struct disassembler *disassembler, const uint8_t *code, size_t size,
                         uint64_t address, char text[INSTRUCTION_SIZE])
{
	const cs_insn *instruction = disassembler->instruction;
	size_t left = size;

	if (cs_disasm_iter(disassembler->handle, &code, &left, &address,
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
