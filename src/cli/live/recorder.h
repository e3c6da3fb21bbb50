/* Finds the recorder that a command line names. */
#ifndef CLI_LIVE_RECORDER_H
#define CLI_LIVE_RECORDER_H

struct recorder {
	char *trace_path; /* to be freed by recorder_free() */
};

/*
 * whom: the PID of a recorder, of its target or of a descendant of it, or the name of the trace
 * that it will write; NULL: adaptrace.atr, or else the only recorder of this user. Returns 0, or
 * -ENOENT after reporting that there is none, or several.
 */
int recorder_find(struct recorder *recorder, const char *whom);
void recorder_free(struct recorder *recorder);

#endif
