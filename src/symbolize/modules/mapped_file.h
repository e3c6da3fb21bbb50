/*
 * Mapped files: find the file that was mapped from the kernel's record of the mapping, even if the
 * process ended long ago.
 */
#ifndef SYMBOLIZE_MODULES_MAPPED_FILE_H
#define SYMBOLIZE_MODULES_MAPPED_FILE_H

#include "symbolize/modules/elf_headers.h"

#include <stdbool.h>
#include <time.h>

/* Identifies a file, so that another one that replaced it is noticed. */
struct file_stamp {
	dev_t dev;
	ino_t ino; /* 0: never found */
	off_t size;
	struct timespec mtime;
};

struct mapped_file {
	int fd;
	bool nameless;   /* deleted: no name leads to it */
	bool foreign;    /* on a file system that another machine or a process serves */
	bool path_leads; /* the path in the record leads to it without the process's root */
	struct file_stamp stamp;
	struct elf_headers headers;
};

bool build_id_equal(const struct build_id *a, const struct build_id *b);

/*
 * Looks for the file behind the process's own mapping (which takes privileges), behind the path in
 * the process's mount namespace, behind the path in the recorder's, and at the program that the
 * process runs. Any part of the record may be missing (0). seen is the stamp of the file when it
 * was found before, or NULL. Returns 0 with file->fd open, -ESTALE if only other files were found,
 * -ENOEXEC if it is no ELF file, or another -errno.
 */
int mapped_file_open(struct mapped_file *file, const struct module_file *said,
                     const struct file_stamp *seen);

/* Tells whether the file was written to since it was found before, as far as that can be seen. */
bool mapped_file_rewritten(const struct module_file *said, const struct file_stamp *seen);

/* Tells whether an open file is unchanged. If it was written to, the build-id decides. */
bool mapped_file_unchanged(int fd, const struct file_stamp *stamp, const struct build_id *id);

#endif
