/* How a recording stands, read from its image alone: its recorder takes no notice. */
#ifndef TRACE_LIVE_IMAGE_STATUS_H
#define TRACE_LIVE_IMAGE_STATUS_H

#include "trace/live/tables.h"

struct image_event {
	char name[64]; /* cut if longer */
	uint32_t unit; /* enum trace_unit; calls are not among the events */
	uint32_t floor;
	uint64_t period; /* in force, in the unit */
	bool sampled;    /* it has no gap now; in a pause no event is sampled */
};

struct image_window {
	uint32_t number, event; /* event: its place among the events */
	uint64_t from, to;      /* ns; to 0: it is open */
	uint64_t period, taken;
};

/* All zero: there is none. */
struct image_history {
	uint64_t wanted; /* ns */
	/* Its samples, and its calls: */
	struct image_part {
		bool there;
		uint64_t from; /* ns: start of the older half, or of the only one */
		bool full;     /* it holds as much as it may: one half has ended */
	} samples, calls;
	uint64_t from; /* from when on it has all that it is to have, ns */
	bool full;     /* all of it is */
};

struct image_status {
	struct recording_state state;
	bool sampling; /* sampling has started */
	uint64_t taken;
	uint64_t budget, used; /* bytes: what the buffer may take now, and takes */
	unsigned nr_events;
	struct image_event events[TABLES_MAX_EVENTS];
	unsigned nr_windows;
	struct image_window windows[TABLES_MAX_WINDOWS];
	struct image_window lease; /* the window of those who look on; number 0: none */
	struct image_history history;
	uint64_t end; /* ns: of what the recorder has said so far */
};

/* Reads it from an image's file. 0, -ENOENT, -EACCES, -EBADMSG, -errno. */
int image_status_read(const char *image_file, struct image_status *status);

#endif
