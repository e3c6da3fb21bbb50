/* The jitdump files of a run: they are found by their mappings. See jit/jitdump.h. */
#ifndef SYMBOLIZE_MODULES_JITDUMP_FILES_H
#define SYMBOLIZE_MODULES_JITDUMP_FILES_H

#include "symbolize/modules/module.h"

/*
 * The files of the processes of a run, opened when their mapping is recorded, as later a container
 * may be gone. At most 64; only regular files of the process's own user or of root.
 */
struct jitdump_files {
	struct jitdump_file {
		pid_t pid;
		int fd;
	} files[64];
	unsigned nr;
};

/* Takes a file that was mapped, unless its name is not a jitdump's or it has another owner. */
void jitdump_files_add(struct jitdump_files *files, const struct module_file *file);
void jitdump_files_close(struct jitdump_files *files);
/* Returns the descriptor of the latest file of a process, or -1. */
int jitdump_files_find(const struct jitdump_files *files, pid_t pid);

#endif
