/* Reads short text files of /proc and /sys, and lists their folders. */
#ifndef BASE_TEXT_FILE_H
#define BASE_TEXT_FILE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reads the start of the file, at most size - 1 bytes, without newlines at its end. Returns 0 or
 * -errno.
 */
int text_file_read(const char *path, char *buf, size_t size);

/*
 * Reads the decimal number at the start of a file. Returns 0 or -errno; -EINVAL: there is no
 * number.
 */
int text_file_number(const char *path, int64_t *value);

/* Like text_file_number(), but returns the number, or `otherwise` after an error. */
int64_t text_file_number_or(const char *path, int64_t otherwise);

/*
 * Calls fn in alphabetical order for the names of those entries of a folder that select() accepts.
 * Stops with fn's result if that is not 0.
 */
int text_folder_walk(const char *path, int (*select)(const struct dirent *entry),
                     int (*fn)(void *arg, const char *name), void *arg);

/*
 * Parses a text that consists of one unsigned number in C syntax. Returns false for anything else.
 */
bool text_number(const char *text, uint64_t *value);

#endif
