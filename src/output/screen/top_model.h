/*
 * The model of adaptrace top: functions, or threads, of the last second, beside the whole run and
 * the last minute. It is computed by the profiles of reports, tick by tick, from
 * samples that have arrived since the tick before.
 */
#ifndef OUTPUT_SCREEN_TOP_MODEL_H
#define OUTPUT_SCREEN_TOP_MODEL_H

#include "output/views/function_shares.h"
#include "output/views/query.h"
#include "trace/live/live_trace.h"
#include "trace/selection.h"

#include <stdio.h>

#define TOP_ANSWER 320

/* Commands to the recorder. */
enum top_command {
	TOP_PAUSE, /* the program, or let it go on */
	TOP_DETAIL,
	TOP_EVENT, /* text: an event that is to be sampled as well */
	TOP_MARK,  /* text */
	TOP_SNAPSHOT,
};

/* The recording. Functions are called with arg. */
struct top_recording {
	int (*update)(void *arg); /* as live_trace_update() */
	void (*choose)(void *arg, uint64_t from, uint64_t max);
	int (*choose_window)(void *arg, uint32_t number); /* as live_trace_choose_window() */
	const struct trace *(*trace)(void *arg);
	enum live_state (*state)(void *arg);
	struct recording_state (*recorder)(void *arg); /* as live_trace_recorder() */
	/*
	 * Looks up names that a profile lacks; patient: not too often. Returns whether there are
	 * new ones.
	 */
	bool (*name)(void *arg, const struct profile *profile, bool patient);
	/* Lets the next look-up have the names that a profile lacks, too. */
	void (*add_names)(void *arg, const struct profile *profile);
	/*
	 * Gives a command, and says what has become of it. hear: says it later, and returns whether
	 * there is something new. NULL: there is no recorder.
	 */
	void (*give)(void *arg, enum top_command command, const char *text,
	             char answer[TOP_ANSWER]);
	bool (*hear)(void *arg, char answer[TOP_ANSWER]);
	void *arg;
	const char *path;
	uint32_t event;
	uint64_t interval; /* ns from tick to tick */
	/* Writes text with ASCII for signs, and returns whether it did; NULL: the terminal
	 * takes UTF-8. */
	bool (*put_plain)(FILE *to, const char *text, size_t size);
};

#define TOP_COLUMNS 10 /* of the last minute */
#define TOP_MINUTE  60 /* ticks that are kept */

struct top_row {
	uint64_t key;
	char *name, *module;
	double last, error, run;    /* shares of 1 */
	double minute[TOP_COLUMNS]; /* see top_model_fill_minute() */
	double of_minute;           /* the largest of these */
	bool filled;
};

struct top_rows {
	struct top_row *at;
	uint32_t nr;
};

struct top_tick {
	uint64_t from, until;
	struct function_shares shares;
};

/* Samples of a tick, whatever rows are shown of it. */
struct top_load {
	uint64_t from, until, weight;
};

struct top_model {
	const struct top_recording *recording;
	uint32_t event;
	bool by_thread; /* rows are threads */
	bool by_run;    /* the order is that of the whole run */
	struct top_rows rows;
	uint64_t from, until;      /* of the tick, in ns of the trace's clock; 0: none yet */
	uint64_t samples, weight;  /* of the tick */
	uint64_t length;           /* ns that its shares are of */
	struct trace_event of_run; /* the event as the run has it, at the last tick */
	uint32_t window;           /* number of the window that shows the tick; 0: the run does */
	uint64_t window_period;    /* of it */
	uint64_t resident;         /* bytes of the processes that were sampled and live */
	uint64_t mpi_time, mpi_at; /* ns in MPI, and when; 0: unknown */
	double mpi; /* share of the ranks' time since the tick before; < 0: unknown */
	struct function_shares run;
	struct top_rows rows_of_run; /* the largest of them; last: their shares */
	uint64_t run_at;             /* until when it was; 0: never */
	struct top_tick ticks[TOP_MINUTE];
	unsigned nr_ticks, next;
	struct top_load loads[TOP_MINUTE];
	unsigned next_load;
};

void top_model_init(struct top_model *model, const struct top_recording *recording);
void top_model_fini(struct top_model *model);

/*
 * Takes in what is new. 0 or -errno as the recording's update(); -ENODATA: nothing has arrived.
 */
int top_model_tick(struct top_model *model);

/* Takes in the state of the recorder alone. 0 or -errno in the same way. */
int top_model_renew(struct top_model *model);

/* Whether the event was sampled at any time of the last interval. */
bool top_model_is_sampled(const struct top_model *model);

/* Makes rows of threads or of functions, and of this event, from the next tick on. */
void top_model_choose(struct top_model *model, uint32_t event, bool by_thread);
void top_model_sort(struct top_model *model, bool by_run);

/* Fills in the last minute of a row, which few rows need: those that are seen. */
void top_model_fill_minute(const struct top_model *model, struct top_row *row);

/* Fills in the mean weight of samples in a ns of each part of the last minute, oldest first. */
void top_model_minute(const struct top_model *model, double *parts, unsigned nr);

#endif
