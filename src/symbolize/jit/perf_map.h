/*
 * Perf maps: the names that a process gives to code it made at run time, in /tmp/perf-PID.map.
 * A line is "START SIZE name", numbers in hexadecimal. The file is appended to while the process
 * runs and reuses its memory, so a later line replaces what earlier ones said of its addresses.
 */
#ifndef SYMBOLIZE_JIT_PERF_MAP_H
#define SYMBOLIZE_JIT_PERF_MAP_H

#include "symbolize/modules/module.h"
#include "symbolize/symbols.h"

/*
 * Who may name the code of a process, and the number that it has in the name of its map: the one
 * that it knows itself by, in its container. For a process that is gone the user of this one,
 * except root; uid is then -1.
 */
void perf_map_owner(pid_t pid, uid_t *uid, pid_t *ns_pid);

/*
 * The /tmp of containers, opened when code of a process there is met first, as later the container
 * may be gone. At most 64.
 */
struct perf_map_folders {
	struct perf_map_folder {
		dev_t dev;
		ino_t ino;
		int fd;
	} folders[64];
	unsigned nr;
};

/* That of a process; NULL: it is ours, or cannot be had. It lives until folders are closed. */
const struct perf_map_folder *perf_map_folder(struct perf_map_folders *folders, pid_t pid);
void perf_map_folders_close(struct perf_map_folders *folders);

/*
 * The text of a MODULE_ANON's perf map, to be freed; NULL with errno: there is none, or it is not
 * to be trusted: not a regular file of the process's own user or of root. left is how many bytes
 * may still be read; EFBIG: the map has more.
 */
char *perf_map_read(const struct module *module, uint64_t *left);

/* Answers from the text, which is changed. 0, -ENOMEM, or what the query's fn returned. */
int perf_map_lookup(char *text, const struct made_query *query);

#endif
