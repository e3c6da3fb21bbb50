/* Finds the recorder that a command line names. */
#ifndef CLI_CTL_WHOM_H
#define CLI_CTL_WHOM_H

#include <stdbool.h>
#include <sys/types.h>

struct image_entry;

struct whom {
	char *image_file, *trace_path; /* to be freed by whom_free() */
	pid_t pid;                     /* 0: unknown */
};

/*
 * whom: the PID of a recorder or of its target, or the name of the trace that it will write; NULL:
 * adaptrace.atr, or else the only recorder of this user. Returns 0, or -ENOENT after reporting that
 * there is none, or several.
 */
int whom_find(struct whom *recorder, const char *whom);
/* Whether the recorder of an image is, or records, this process. */
typedef bool whom_match_fn(pid_t pid, const struct image_entry *entry);
/* The same among recorders of this user alone, and with a process that is known by `match`. */
int whom_find_own(struct whom *recorder, const char *whom, whom_match_fn *match);
void whom_free(struct whom *recorder);

#endif
