/* The jitdump files of a run: they are found by their mappings. See jit/jitdump.h. */
#ifndef SYMBOLIZE_MODULES_JITDUMP_FILES_H
#define SYMBOLIZE_MODULES_JITDUMP_FILES_H

#include "symbolize/modules/module.h"

#include <sys/stat.h>

struct files_aside;

/*
 * The files of the processes of a run, opened when their mapping is recorded, as later a container
 * may be gone. At most 64; only regular files of the process's own user or of root.
 */
struct jitdump_files {
	struct jitdump_file {
		pid_t pid;
		int fd;
		dev_t dev;
		bool is_handle; /* a path handle, of a foreign file: see target_file.h */
	} files[64];
	unsigned nr;
};

/* Opens the file of a mapping unless it has another owner. Returns the descriptor or -errno. */
int jitdump_open(const struct module_file *file, struct stat *st);

/*
 * Takes a file that was mapped, unless its name is not a jitdump's or it has another owner. aside
 * opens it, unless it is NULL.
 */
void jitdump_files_add(struct jitdump_files *files, const struct module_file *file,
                       struct files_aside *aside);
void jitdump_files_close(struct jitdump_files *files);
/* Returns the latest file of a process, or NULL. */
const struct jitdump_file *jitdump_files_find(const struct jitdump_files *files, pid_t pid);

#endif
