/*
 * The short text files of /proc and /sys, and the folders that they are in.
 */
#ifndef BASE_TEXT_FILE_H
#define BASE_TEXT_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The start of the file, at most size - 1 bytes, without newlines at its end. 0 or -errno. */
int text_file_read(const char *path, char *buf, size_t size);

/* A file that starts with a decimal number. 0 or -errno; -EINVAL: it does not. */
int text_file_number(const char *path, int64_t *value);

/* The same; `otherwise` where there is none. */
int64_t text_file_number_or(const char *path, int64_t otherwise);

/*
 * Calls fn for the names of a folder's entries that select takes, in their order. Stops with fn's
 * result where that is not 0.
 */
int text_folder_walk(const char *path, int (*select)(const struct dirent *entry),
                     int (*fn)(void *arg, const char *name), void *arg);

/* Text that is one number, as C writes them, and nothing else; no sign. */
bool text_number(const char *text, uint64_t *value);

#endif
