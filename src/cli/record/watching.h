/* The process that watches a recording for the conditions of record --on. */
#ifndef CLI_RECORD_WATCHING_H
#define CLI_RECORD_WATCHING_H

#include "record/config.h"

struct watching {
	int pidfd; /* -1: there is no such process */
};

/*
 * Starts adaptrace watch on the recording, if there are conditions. Its tables must exist. The
 * process has the recorder's user, but none of its capabilities except that of reading the kernel's
 * symbols, and no descriptor but the first three. Returns its PID, or 0.
 */
pid_t watching_start(struct watching *watching, const struct record_config *config);
/* Waits until it has written its snapshots, or SIGINT or SIGTERM is pending. */
void watching_end(struct watching *watching);

#endif
