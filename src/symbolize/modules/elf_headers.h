/*
 * ELF headers: what the program headers of a file say about its code.
 *
 * Read with a bounded number of bounded preads, so that any file may be asked: one that is cut
 * short, lies about its sizes or is no ELF file at all. Understands 32 and 64 bits in the byte
 * order of this machine.
 */
#ifndef SYMBOLIZE_MODULES_ELF_HEADERS_H
#define SYMBOLIZE_MODULES_ELF_HEADERS_H

#include "symbolize/modules/module.h"

struct elf_headers {
	struct build_id build_id; /* size 0: none, or one longer than BUILD_ID_MAX */
	uint64_t nr_sections;
	bool is_static;       /* a program that is loaded without shared libraries */
	unsigned nr_segments; /* executable, by ascending file offset */
	struct segment segments[MODULE_MAX_SEGMENTS];
};

/* 0, or -ENOEXEC: not an ELF program, library or core of this byte order, or unreadable. */
int elf_headers_read(int fd, struct elf_headers *headers);

/* How many sections any ELF file has, an object file too; -ENOEXEC as above. */
int elf_sections_count(int fd, uint64_t *nr);

#endif
