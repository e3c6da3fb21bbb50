/*
 * A recording at work as a trace, for programs that look at it again and again. The recorder takes
 * no notice: its image in /dev/shm is mapped read-only, and what has changed in it is copied. The
 * copy is checked like a file; whatever the bytes of the image are or become, nothing is read
 * outside of it, and memory is bounded by its size.
 */
#ifndef TRACE_LIVE_LIVE_TRACE_H
#define TRACE_LIVE_LIVE_TRACE_H

#include "trace/live/tables.h"
#include "trace/trace.h"

struct live_trace;

/*
 * Opens the recording whose recorder will write this trace. It is empty until the first
 * live_trace_update(). NULL with errno, as tables_snapshot().
 */
struct live_trace *live_trace_open(const char *trace_path);
/* The same by the name of its image's file. */
struct live_trace *live_trace_open_image(const char *file);
void live_trace_close(struct live_trace *live);

enum live_state {
	LIVE_RECORDING,
	LIVE_ENDED,  /* the recorder has written its trace, or given up */
	LIVE_KILLED, /* the recorder was killed; its image is still there */
};

/*
 * Brings the copy up to date. 0, -ENOMEM, -EBADMSG: the image makes no sense, or -EAGAIN: the
 * recorder has not begun to sample. The copy stays when the recorder has ended.
 */
int live_trace_update(struct live_trace *live);
enum live_state live_trace_state(const struct live_trace *live);

/* The recorder's own word on its state, as it is now. */
struct recording_state live_trace_recorder(const struct live_trace *live);

/*
 * The trace as it was at the last update that returned 0. Functions have no names before
 * live_trace_name(). Valid until the next update.
 */
const struct trace *live_trace_of(const struct live_trace *live);

/*
 * Chooses what walks over samples visit, until the next update: bins with samples at or after a
 * time (0: all), and the highest levels of each event that have at most `max` samples together,
 * but at least one level. Samples of the levels that are left out are weighed by the others: what
 * remains is what a longer period would have sampled.
 */
void live_trace_choose(struct live_trace *live, uint64_t from, uint64_t max);

/*
 * Chooses the window whose samples the trace has instead of those of its event, with this number,
 * or the run: 0. A window stays chosen as long as it is there. 0, or -ENOMEM or -EBADMSG: nothing
 * can be read before the next update.
 */
int live_trace_choose_window(struct live_trace *live, uint32_t number);

/* Names of functions, as a file has them. Offsets of strings begin at LIVE_STRINGS. */
#define LIVE_STRINGS   ((uint32_t)8 << 20)
#define LIVE_MAX_NAMES ((size_t)64 << 20)
struct live_names {
	const struct trace_symbol *symbols; /* ascending; borrowed until other names are given */
	size_t nr;
	const char *strings; /* copied */
	size_t size;
};
/* Replaces all names at once. Strings of earlier names become others. 0 or -ENOMEM. */
int live_trace_name(struct live_trace *live, const struct live_names *names);

/* Bytes of the budget, of which bins take less. */
size_t live_trace_budget(const struct live_trace *live);

/* The tables that the trace is made of; valid until live_trace_close(). */
const struct tables *live_trace_tables(const struct live_trace *live);

#endif
