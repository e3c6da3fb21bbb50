/* Machine code as text, by Capstone; without it nothing is known of any machine. */
#ifndef SYMBOLIZE_ELF_DISASSEMBLER_H
#define SYMBOLIZE_ELF_DISASSEMBLER_H

#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_SIZE 256

struct disassembler;

/* For code of an ELF file of this machine (EM_X86_64). NULL with errno: ENOTSUP. */
struct disassembler *disassembler_new(unsigned machine);
void disassembler_free(struct disassembler *disassembler);

/*
 * The instruction at the start of the code, as assemblers of this machine are used to write it.
 * Returns its size; what is no instruction is "(bad)" and as small as one can be. size is not 0.
 */
size_t disassembler_next(struct disassembler *disassembler, const uint8_t *code, size_t size,
                         uint64_t address, char text[INSTRUCTION_SIZE]);

#endif
