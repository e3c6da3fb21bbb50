/*
 * Entries of the table of modules: what module.c, which finds modules by what they are, and
 * module_open.c, which keeps some of their files open, have in common.
 */
#ifndef SYMBOLIZE_MODULES_MODULE_ENTRY_H
#define SYMBOLIZE_MODULES_MODULE_ENTRY_H

#include "symbolize/modules/files_aside.h"
#include "symbolize/modules/jitdump_files.h"
#include "symbolize/modules/kernel_code.h"
#include "symbolize/modules/mapped_file.h"
#include "symbolize/modules/module_index.h"
#include "symbolize/modules/mount_point.h"
#include "symbolize/modules/peer_memory.h"
#include "symbolize/modules/target_folders.h"

struct entry {
	struct module module;
	uint16_t tries;
	uint16_t older, newer; /* open files, a ring through entry 0 */
	bool foreign;          /* see mapped_file.h */
	bool replaceable;      /* the path leads to the same file, without the process */
	int errnum;            /* why there is no file, until the next mapping */
	struct file_stamp stamp;
	XXH128_hash_t key; /* MODULE_FILE: of all modules of the file */
};

#define MODULE_MAX_OPEN 512

struct module_table {
	struct entry **entries; /* by number; NULL: forgotten */
	size_t nr;
	size_t nr_new;        /* or refused, since the last time that some were forgotten */
	size_t nr_free, free; /* numbers of forgotten ones, and from where on to look for them */
	struct module_index index;
	uint64_t refused;
	unsigned nr_open, max_open, nr_irreplaceable, nr_anon;
	unsigned nr_pieces; /* modules of pieces of the kernel's code */
	struct kernel_code kernel_code;
	struct jitdump_files jitdumps;
	struct target_folders folders;
	struct peer_memory *memory;
	const struct debug_search *search; /* or NULL */
	bool only_own_files;
	struct files_aside *aside; /* or NULL */
};

/* Takes over a file that was opened for the first time, and what it says of itself. */
void module_entry_learn(struct module_table *table, struct entry *entry,
                        const struct mapped_file *found);
/* Makes the entry one more module of the file of `of`. */
void module_entry_share(struct module_table *table, struct entry *entry, const struct entry *of);
/* Does what mapped_file_open() does, in the side process if there is one. */
int module_find_file(struct module_table *table, struct mapped_file *found,
                     const struct module_file *said, const struct file_stamp *seen);
/* Closes the entry's file if it is open. */
void module_entry_close(struct module_table *table, struct entry *entry);

#endif
