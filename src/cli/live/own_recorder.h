/*
 * A recorder that adaptrace top starts for a command, or for a process that nobody records. Trace
 * and messages go into a folder of their own, and so does all that the command prints: the screen
 * has the terminal. Its input is empty.
 */
#ifndef CLI_LIVE_OWN_RECORDER_H
#define CLI_LIVE_OWN_RECORDER_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct own_recorder {
	pid_t pid;     /* 0: there is none, or it has ended */
	int ended_by;  /* signal that came while it was waited for; 0 or less: none */
	bool attached; /* to a process that runs on without it */
	char *folder, *trace, *output;
	char *processes;  /* that it is attached to, as -p takes them */
	const char *name; /* of what it records */
};

struct own_request {
	char **command;    /* NULL: attach to `pid` */
	const char *pid;   /* as it was given */
	const char *event; /* NULL: the default */
};

/*
 * Starts it. False after reporting why not. Signals that end programs are blocked from here on, so
 * that none ends this one with the recorder left alone; own_recorder_end() and a screen, which has
 * handlers for them, let them through.
 */
bool own_recorder_start(struct own_recorder *own, const struct own_request *request);
/*
 * Waits until there is something to look at. False: it has ended, and may have left a trace, or a
 * signal came.
 */
bool own_recorder_await(struct own_recorder *own);
/*
 * After the screen: asks what becomes of the program and of the trace. signal: the one that ended
 * the screen, which the recorder gets and after which nothing is asked; 0: none.
 */
void own_recorder_end(struct own_recorder *own, int signal);
void own_recorder_free(struct own_recorder *own);

#endif
