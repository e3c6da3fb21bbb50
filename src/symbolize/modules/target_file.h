/*
 * Files that a target names. What lies behind such a name may be anything, and may change at any
 * moment: a pipe that blocks its reader, a device that acts on being opened, another file than the
 * one that was meant.
 */
#ifndef SYMBOLIZE_MODULES_TARGET_FILE_H
#define SYMBOLIZE_MODULES_TARGET_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Opens a file for reading if it is a regular one with something in it; anything else is not even
 * touched. Such as /proc/kmsg, which is regular, and empty: what is read there is gone. st (may be
 * NULL) is filled in. flags: 0, or O_NOFOLLOW, which refuses a symbolic link, and takes a file that
 * is still to be filled: the name must tell what it is. The descriptor, -EINVAL: none of these, or
 * another -errno.
 */
int target_file_open(const char *path, int flags, struct stat *st);

/* The rest of a file, at most max bytes, as a string of size bytes; free it. NULL: no memory. */
char *target_file_read(int fd, size_t max, size_t *size);

/*
 * Whether a mapping of this file would be recorded with this device and inode. Where files lie in
 * layers (overlayfs, btrfs), the numbers in mapping records are not those of stat.
 */
bool target_file_maps_as(int fd, const struct stat *st, dev_t dev, ino_t ino);

/* False where a later file has taken the number of the inode. Not all file systems tell. */
bool target_file_has_generation(int fd, uint64_t generation);

/* A descriptor of a file in memory with these contents; or -errno. */
int target_file_of_image(const void *image, size_t size);

/* A descriptor of a copy of the running kernel's vdso image, an ELF file; or -errno. */
int target_file_vdso(void);

#endif
