/*
 * Jitdump files: what a process says of code that it made at run time, with source lines.
 *
 *     header | records: code load (address, size, name, the code itself), code move, debug info …
 *
 * A process maps a page of its jit-PID.dump to make itself heard: the mapping's record tells where
 * the file is. Memory is used again for other code; as frames have no time, the last load that
 * covers an address names it.
 */
#ifndef SYMBOLIZE_JIT_JITDUMP_H
#define SYMBOLIZE_JIT_JITDUMP_H

#include "symbolize/modules/module.h"
#include "symbolize/elf/symbol.h"

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

/* A file was mapped. One that is not named like a jitdump, or somebody else's, is passed over. */
void jitdump_files_add(struct jitdump_files *files, const struct module_file *file);
void jitdump_files_close(struct jitdump_files *files);
/* The descriptor of the latest file of a process; -1: it has none. */
int jitdump_files_find(const struct jitdump_files *files, pid_t pid);

/*
 * Answers from the file. 0, -ENOENT: it names no code, -ENOMEM, or what the query's fn returned.
 * left is how many bytes may still be read; -EFBIG: that is not enough.
 */
int jitdump_lookup(int fd, const struct jit_query *query, uint64_t *left);

#endif
