/* Where a function is in a file, by its name. */
#ifndef SYMBOLIZE_ELF_FIND_FUNCTION_H
#define SYMBOLIZE_ELF_FIND_FUNCTION_H

#include <stdint.h>

/*
 * The offset of its first byte in an ELF file, from the file's symbol tables or its separate debug
 * file's. Names are as the linker knows them. 0, -ENOENT (no such function), or the -errno of
 * opening. Where there is none of the name, fn (NULL: nobody asks) is called with all that are.
 */
int function_find(const char *path, const char *name, uint64_t *offset,
                  void (*fn)(void *arg, const char *name), void *arg);

#endif
