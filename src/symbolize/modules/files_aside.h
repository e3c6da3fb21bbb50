/*
 * Files of modules, opened and read by a side process. A file system that stopped answering blocks
 * that process, which is then left behind, and not the recorder.
 */
#ifndef SYMBOLIZE_MODULES_FILES_ASIDE_H
#define SYMBOLIZE_MODULES_FILES_ASIDE_H

#include "symbolize/modules/mapped_file.h"
#include "symbolize/modules/module_code.h"

#include <sys/stat.h>

/* NULL with errno. patience_ms: how long an answer may take where another machine gives it. */
struct files_aside;
struct files_aside *files_aside_new(int patience_ms);
void files_aside_free(struct files_aside *aside);

/*
 * As mapped_file_open(). -ETIMEDOUT: the file system does not answer; from then on this is the
 * result for all files there, without trying.
 */
int files_aside_open(struct files_aside *aside, struct mapped_file *file,
                     const struct module_file *said, const struct file_stamp *seen);

/* As mapped_file_rewritten(); false where there is no answer. */
bool files_aside_rewritten(struct files_aside *aside, const struct module_file *said,
                           const struct file_stamp *seen);

/*
 * As pread() of a file that must still be what it was: see mapped_file_unchanged(). At most 4096
 * bytes; path names the file system. -1: that, or there is no answer.
 */
ssize_t files_aside_read(struct files_aside *aside, const char *path, int fd,
                         const struct file_stamp *stamp, const struct build_id *id, void *to,
                         size_t size, off_t offset);

/* As module_code_read(), or -ETIMEDOUT. */
int files_aside_code(struct files_aside *aside, struct module_code *code, const char *path,
                     const struct build_id *id, int64_t before, uint64_t lo, uint64_t hi);

/*
 * As target_file_open() of a path alone, but the descriptor is of a copy. Also -EFBIG: it has more
 * than max bytes, -ETIMEDOUT.
 */
int files_aside_copy(struct files_aside *aside, const char *path, size_t max, struct stat *st);

#endif
