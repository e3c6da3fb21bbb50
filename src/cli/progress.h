/*
 * Long work for a user who may be watching, and may change their mind: the share that is done on a
 * terminal, and signals that end the work when it is at a place to clean up.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown, hold;
	sigset_t held, old_mask;
	uint64_t next; /* ns: when to show it again */
};

/* hold: signals that would end the program wait until progress_end(), and then do. */
void progress_begin(struct progress *progress, bool hold, bool quiet);
void progress_end(struct progress *progress);
/* Before a message: takes away what is shown. */
void progress_clear(struct progress *progress);

/* 0, or -EINTR where a signal waits. arg: the progress. */
int progress_tick(void *arg, double share);

#endif
