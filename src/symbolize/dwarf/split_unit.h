/*
 * Split units: debug information that the compiler kept out of the program (-gsplit-dwarf).
 *
 * The program has skeletons: the addresses and lines of a unit, and the name of the file that has
 * the rest of it, functions above all. That is a .dwo file beside the object file, or all of them
 * are packed into one .dwp beside the program. Both go by a number that the compiler made of what
 * is in the unit; a file without that number is not the one that was meant, whatever its name.
 *
 *     program   skeleton {low_pc, stmt_list, dwo_name "a.dwo", dwo_id, addr_base} .debug_addr
 *     a.dwo     unit {dwo_id, subprogram {name, low_pc: number 3 of .debug_addr} ...}
 */
#ifndef SYMBOLIZE_DWARF_SPLIT_UNIT_H
#define SYMBOLIZE_DWARF_SPLIT_UNIT_H

#include "symbolize/dwarf/dwarf_unit.h"
#include "symbolize/elf/elf_image.h"

/* A file with split units. */
struct split_file {
	int fd; /* -1: none */
	Elf *elf;
	struct dwarf dwarf;
};

/* The split files of one program. They are read when its skeletons need them. */
struct split_files {
	int fds[2];     /* the program and its debug file, whose folders are searched; -1: none */
	uint64_t left;  /* bytes that may still be read */
	unsigned tries; /* skeletons that may still be looked for */
	uint64_t nr_missing; /* skeletons whose file was not found */
	bool have_package;   /* the package was searched for */
	struct split_file package;
	struct dwarf_bytes index; /* of the package */
};

/* The other half of a skeleton. */
struct split_unit {
	struct dwarf dwarf;
	struct dwarf_unit unit;
	struct split_file file; /* where it is not in the package */
	struct dwarf *main;
};

/* Reads at most max bytes in all. */
void split_files_init(struct split_files *files, const struct elf_image *image, size_t max);
void split_files_fini(struct split_files *files);

bool dwarf_unit_is_skeleton(const struct dwarf_unit *unit);

/*
 * Opens the split unit of a skeleton. Until it is closed, its steps are taken from those that the
 * program's DWARF has left. Returns 0, -ENOENT: not found, or -ENOMEM.
 */
int split_unit_open(struct split_unit *split, struct split_files *files,
                    const struct dwarf_unit *skeleton);
void split_unit_close(struct split_unit *split);

#endif
