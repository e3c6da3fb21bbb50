/*
 * Mapped files: from what the kernel records of a mapping to the very file that was mapped, now or
 * when the process is long gone.
 */
#ifndef SYMBOLIZE_MODULES_MAPPED_FILE_H
#define SYMBOLIZE_MODULES_MAPPED_FILE_H

#include "symbolize/modules/elf_headers.h"

#include <stdbool.h>
#include <time.h>

/* What tells a file seen before from another one that was put in its place. */
struct file_stamp {
	dev_t dev;
	ino_t ino; /* 0: never found */
	off_t size;
	struct timespec mtime;
};

struct mapped_file {
	int fd;
	bool nameless;   /* deleted, from wherever it was */
	bool foreign;    /* on a file system that another machine or a process answers for */
	bool path_leads; /* the path said leads to it, without the process */
	struct file_stamp stamp;
	struct elf_headers headers;
};

bool build_id_equal(const struct build_id *a, const struct build_id *b);

/*
 * Looks for the file behind the process's own mapping (which takes privileges), behind the path as
 * the process sees it, behind the path as we see it, and at the program that the process runs. Any
 * part of what is said of it may be missing (0). seen: when it was found before, or NULL. 0:
 * file->fd is open. -ESTALE: only other files were found. -ENOEXEC: it is no ELF file. Or another
 * -errno.
 */
int mapped_file_open(struct mapped_file *file, const struct module_file *said,
                     const struct file_stamp *seen);

/* Whether the file that was found before has been written to since, where it can be seen. */
bool mapped_file_rewritten(const struct module_file *said, const struct file_stamp *seen);

/* Whether an open file is still what it was, judged by its build-id if it was written to. */
bool mapped_file_unchanged(int fd, const struct file_stamp *stamp, const struct build_id *id);

#endif
