/*
 * Debug files: the symbols that distributions take out of programs and libraries, installed under
 * /usr/lib/debug or packed into the file itself.
 */
#ifndef SYMBOLIZE_ELF_DEBUG_FILE_H
#define SYMBOLIZE_ELF_DEBUG_FILE_H

#include "symbolize/modules/module.h"

#include <libelf.h>
#include <stdbool.h>

/*
 * Opens the debug file of a module: by its build-id, else by the name and checksum in the
 * .gnu_debuglink of its file (NULL: none at hand), both here, then in the container of its process,
 * if that still runs; then in other places (may be NULL), where a copy of the program will do, too;
 * a stripped one only if that is not at hand. A file with another build-id is never taken. The
 * descriptor, or -ENOENT.
 */
int debug_file_open(const struct module *module, Elf *elf, const struct debug_search *search);

/*
 * Opens the file that dwz moved common debug information to, by the build-id or the name in the
 * .gnu_debugaltlink of an ELF file of the module that is open as fd, in the same two places. One
 * with another build-id is never taken.
 * The descriptor, or -ENOENT.
 */
int debug_alt_open(const struct module *module, Elf *elf, int fd);

/*
 * Unpacks .gnu_debugdata, the symbol table that some distributions leave in stripped files. A
 * descriptor of an ELF file, or -errno.
 */
int mini_debug_open(Elf *elf);

/*
 * Tells whether the library of debuginfod is installed. It asks servers for debug files, at the
 * addresses in DEBUGINFOD_URLS, and keeps answers in the user's cache.
 */
bool debuginfod_present(void);

/* Returns a descriptor of the debug file that a server has for a build-id, or -errno. */
int debuginfod_fetch(const struct build_id *id);

#endif
