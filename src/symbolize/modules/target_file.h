/*
 * Files that a target names. Such a name may lead to anything and may change at any moment: a pipe
 * that blocks its reader, a device that acts on being opened, or another file than the one that was
 * meant.
 */
#ifndef SYMBOLIZE_MODULES_TARGET_FILE_H
#define SYMBOLIZE_MODULES_TARGET_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Opens a file for reading if it is a regular file that is not empty. Any other file is not opened
 * at all. /proc/kmsg, for instance, is regular and empty, and reading it removes the messages. st
 * (may be NULL) is filled in. flags is 0 or O_NOFOLLOW, which refuses a symbolic link and accepts
 * an empty file that is still to be filled; the caller must recognize such a file by its name.
 * Returns the descriptor, -EINVAL for files of other types, or another -errno.
 */
int target_file_open(const char *path, int flags, struct stat *st);

/*
 * A path handle leads to a file, but nothing can be read through it, and to close it waits for
 * nothing. target_file_handle() makes one of an open file. target_file_again() returns another
 * descriptor for reading, be this one a handle or not. Both return -errno on failure.
 */
int target_file_handle(int fd);
bool target_file_is_handle(int fd);
int target_file_again(int fd);

/*
 * Returns the rest of a file, at most max bytes, as a string of size bytes; free it. Returns NULL
 * if there is no memory.
 */
char *target_file_read(int fd, size_t max, size_t *size);

/*
 * Tells whether a mapping of this file would be recorded with this device and inode. On layered
 * file systems (overlayfs, btrfs) the numbers in mapping records differ from those of stat.
 */
bool target_file_maps_as(int fd, const struct stat *st, dev_t dev, ino_t ino);

/*
 * Returns false if a later file has taken the number of the inode. Not all file systems report
 * generations.
 */
bool target_file_has_generation(int fd, uint64_t generation);

/* A descriptor of a file in memory with these contents; or -errno. */
int target_file_of_image(const void *image, size_t size);

/* A descriptor of a copy of the running kernel's vdso image, an ELF file; or -errno. */
int target_file_vdso(void);

#endif
