/*
 * Files of modules, opened and read by a side process. A file system that stopped answering blocks
 * that process, which is then left behind, and not the recorder.
 */
#ifndef SYMBOLIZE_MODULES_FILES_ASIDE_H
#define SYMBOLIZE_MODULES_FILES_ASIDE_H

#include "symbolize/modules/mapped_file.h"
#include "symbolize/modules/module_code.h"

#include <sys/stat.h>

/*
 * Returns NULL with errno on failure. patience_ms is the time to wait for a file system that
 * another machine or a process serves.
 */
struct files_aside;
struct files_aside *files_aside_new(int patience_ms);
void files_aside_free(struct files_aside *aside);

/*
 * Does what mapped_file_open() does, but the descriptor of a foreign file is a path handle: see
 * target_file_again(). Returns -ETIMEDOUT if the file system does not answer; all
 * later calls for files on it return that at once.
 */
int files_aside_open(struct files_aside *aside, struct mapped_file *file,
                     const struct module_file *said, const struct file_stamp *seen);

/* Does what mapped_file_rewritten() does. Returns false if there is no answer. */
bool files_aside_rewritten(struct files_aside *aside, const struct module_file *said,
                           const struct file_stamp *seen);

/*
 * Does what pread() does, up to 4096 bytes, if the file is unchanged: see mapped_file_unchanged().
 * path identifies the file system. Returns -1 if the file was changed or there is no answer.
 */
ssize_t files_aside_read(struct files_aside *aside, const char *path, int fd,
                         const struct file_stamp *stamp, const struct build_id *id, void *to,
                         size_t size, off_t offset);

/* Does the same as module_code_read(); -ETIMEDOUT: no answer came. */
int files_aside_code(struct files_aside *aside, struct module_code *code, const char *path,
                     const struct build_id *id, int64_t before, uint64_t lo, uint64_t hi);

/*
 * Does what target_file_open() does with a path, but the descriptor is of a copy. Also -EFBIG: it
 * has more than max bytes, and -ETIMEDOUT.
 */
int files_aside_copy(struct files_aside *aside, const char *path, size_t max, struct stat *st);

/*
 * Do what jitdump_open() and target_folder_open() do; a foreign jitdump is a path handle. Return
 * the descriptor or -errno; -ETIMEDOUT: no answer came.
 */
int files_aside_jitdump(struct files_aside *aside, const struct module_file *said, struct stat *st);
int files_aside_folder(struct files_aside *aside, pid_t pid, struct stat *st);

#endif
