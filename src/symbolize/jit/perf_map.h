/*
 * Perf maps: the names that a process gives to code it made at run time, in /tmp/perf-PID.map.
 * A line is "START SIZE name", numbers in hexadecimal. The file is appended to while the process
 * runs and reuses its memory, so a later line replaces what earlier ones said of its addresses.
 */
#ifndef SYMBOLIZE_JIT_PERF_MAP_H
#define SYMBOLIZE_JIT_PERF_MAP_H

#include "symbolize/modules/module.h"
#include "symbolize/elf/symbol.h"

/*
 * Finds the user who may name the code of a process, and the process's number in the name of its
 * map, which is its PID in its own container. For a process that has ended, uid is the recorder's
 * user, or -1 if that is root.
 */
void perf_map_owner(pid_t pid, uid_t *uid, pid_t *ns_pid);

/*
 * The /tmp folders of containers. A folder is opened when the first code of a process there is met,
 * because the container may be gone later. At most 64 are kept.
 */
struct perf_map_folders {
	struct perf_map_folder {
		dev_t dev;
		ino_t ino;
		int fd;
	} folders[64];
	unsigned nr;
};

/*
 * Returns the /tmp of a process. NULL means that it is the recorder's own or cannot be opened. The
 * result is valid until the folders are closed.
 */
const struct perf_map_folder *perf_map_folder(struct perf_map_folders *folders, pid_t pid);
void perf_map_folders_close(struct perf_map_folders *folders);

/*
 * The text of a MODULE_ANON's perf map, to be freed; NULL with errno: there is none, or it is not
 * to be trusted: not a regular file of the process's own user or of root. left is how many bytes
 * may still be read; EFBIG: the map has more.
 */
char *perf_map_read(const struct module *module, uint64_t *left);

/* Answers from the text, which is changed. 0, -ENOMEM, or what the query's fn returned. */
int perf_map_lookup(char *text, const struct jit_query *query);

#endif
