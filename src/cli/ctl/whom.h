/* Finds the recorder that a command line names. */
#ifndef CLI_CTL_WHOM_H
#define CLI_CTL_WHOM_H

#include <stdbool.h>
#include <sys/types.h>

struct whom {
	char *image_file, *trace_path; /* to be freed by whom_free() */
	pid_t pid;                     /* 0: unknown */
};

/*
 * whom: the PID of a recorder, of its target or of a process that descends from one of these, or
 * the name of the trace that it will write; NULL: adaptrace.atr, or else the only recorder. Those
 * of this user are looked at; for root, those of all users. Returns 0, or -ENOENT after reporting
 * that there is none, or several.
 */
int whom_find(struct whom *recorder, const char *whom);
/* Whether there is exactly one; reports nothing. */
bool whom_is_recorded(const char *whom);
/* The PID that is meant; 0: it is no number. */
pid_t whom_pid(const char *whom);
void whom_free(struct whom *recorder);

#endif
