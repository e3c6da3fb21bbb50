/* A recorder, for a program that watches its recording: what it is asked to do. */
#ifndef CLI_WATCH_STEERING_H
#define CLI_WATCH_STEERING_H

#include "cli/watch/condition.h"

#include <stdbool.h>
#include <sys/types.h>

#define STEERING_MAX_CHILDREN 16

struct steering {
	char *trace_path; /* absolute */
	char *image_file;
	pid_t target;                          /* 0: none, or several */
	pid_t children[STEERING_MAX_CHILDREN]; /* they write snapshots or run commands; 0: none */
	unsigned nr_snapshots;                 /* the highest number that one has got */
	bool writes[STEERING_MAX_CHILDREN];    /* the child writes a snapshot */
};

/* 0, or -errno after reporting that there is no recorder to steer. */
int steering_init(struct steering *steering, const char *trace_path);
/* Waits for snapshots that are being written; commands go on. */
void steering_fini(struct steering *steering);

/*
 * Sends a packet. Reports a refusal in the name of `whose`; NULL: reports nothing. Returns whether
 * it was done.
 */
bool steering_send(struct steering *steering, const char *packet, size_t size, const char *whose);

/* Enters in the trace that a condition has come true, and does what it says. */
void steering_fire(struct steering *steering, const struct condition *condition, double value);

/* Notices children that have ended. */
void steering_reap(struct steering *steering);

#endif
