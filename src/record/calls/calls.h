/*
 * The calls of instrumented targets (see preload/ring.h), from the first knock of a process to its
 * last call in the buffer.
 *
 * A share of the budget is theirs. What goes when it is used up, the policy says: each call has a
 * level, and the lowest level goes first, whole. With `all` there is one level, and after it is
 * gone the targets are told to pass their calls straight through.
 *
 * With the other policies a message belongs to one call: a send to the call that begins it, a
 * receive to the call that completes it, a collective to the call that begins it. So no half of
 * one is left when one of the two calls is given up. Within one class (point to point under
 * `class`) they go together anyway, and keep their requests.
 */
#ifndef RECORD_CALLS_CALLS_H
#define RECORD_CALLS_CALLS_H

#include "record/calls/calls_process.h"
#include "record/tasks/tasks.h"

#define CALLS_MAX_PROCESSES 4096 /* alive at once */

struct calls;

struct calls_config {
	struct hmb *hmb;
	unsigned kind; /* in the buffer */
	struct tables *tables;
	struct tasks *tasks;
	enum trace_policy policy;
	uint64_t share;
	uint64_t patience; /* ns that a target may wait rather than lose a call */
};

/* Listens for processes, before there are any. NULL with errno. */
struct calls *calls_open(void);
void calls_close(struct calls *calls);

/*
 * The environment for a target: this one, so that it and all its children come to us. To be freed;
 * it lives no longer than this one. NULL: no memory.
 */
char **calls_environment(const struct calls *calls, char **environment, const char *library);

/* Where its calls go, from now on. 0 or -errno. */
int calls_begin(struct calls *calls, const struct calls_config *config);

/* Readable when there is something to do for calls_drain(). */
int calls_poll_fd(const struct calls *calls);
/* Takes in who comes and who goes and, when a round is due, what has been written. */
void calls_drain(struct calls *calls);
/* All calls of before this time have been read, ns; UINT64_MAX: there is nobody to make any. */
uint64_t calls_drained(const struct calls *calls);
/*
 * A process executed another program at this time, ns: what it was until then is over. To be told
 * while its threads are known as those of the program before.
 */
void calls_executed(struct calls *calls, pid_t pid, uint64_t time);
/* No more is drained: calls that have not returned end now. */
void calls_end(struct calls *calls);

/* Keeps what the trace says about it up to date. */
void calls_progress(struct calls *calls);

/* How many processes came. */
uint64_t calls_nr_processes(const struct calls *calls);
/* Processes that came in vain, and why the latest did: -errno; 0: there were too many. */
uint64_t calls_refused(const struct calls *calls, int *err);
/* A process mapped code: if that says so, its calls are missing because it did not reach us. */
void calls_mapped(struct calls *calls, const char *name);
uint64_t calls_unheard(const struct calls *calls);
/* Whether there were communicators or files that the trace has no room for. */
bool calls_refused_comms(const struct calls *calls);
/* Records that made no sense. */
uint64_t calls_malformed(const struct calls *calls);

/* The level of a call by a policy. */
unsigned calls_level(enum trace_policy policy, enum call_class class, const struct call *call);
/* Gives each message to one call, as above: changes parts in place. How many are left. */
unsigned calls_strip(enum trace_policy policy, struct call_part *parts, unsigned nr);

#endif
