/* The options that choose a part of a trace. Their meaning depends on the trace. */
#ifndef CLI_SELECTION_OPTIONS_H
#define CLI_SELECTION_OPTIONS_H

#include "trace/selection.h"

/* All zeros: no part was asked for. */
struct selection_options {
	const char *time;  /* FROM,TO */
	uint32_t window;   /* its number; 0: none */
	bool history;      /* the history, and not the run */
	const char **only; /* words for thread_filter_init() */
	unsigned nr_only;
	struct thread_filter filter;
	struct selection chosen;
};

static inline bool selection_wanted(const struct selection_options *options)
{
	return options->time || options->nr_only;
}

enum { OPT_TIME = 0x300, OPT_ONLY, OPT_WINDOW }; /* larger than the option keys of all commands */

/* The options' entries in a command's option table, without the group. */
#define TIME_OPTION \
	"time", OPT_TIME, "FROM,TO", 0, "only this part: seconds since the start, or 25%"
#define ONLY_OPTION                 \
	"only", OPT_ONLY, "WHO", 0, \
		"only comm=NAME, process=PID, thread=TID, rank=N or cpu=N; may be given again"

#define WINDOW_OPTION                         \
	"window", OPT_WINDOW, "N|history", 0, \
		"the samples of window N of adaptrace ctl detail, or of record --history"

/* Allocates room for all words of a command line. Returns 0 or -ENOMEM. */
int selection_options_init(struct selection_options *options, int argc);
/* Takes one of these options; returns ARGP_ERR_UNKNOWN for other options. */
int selection_options_parse(struct selection_options *options, int key, char *arg);
void selection_options_fini(struct selection_options *options);

/*
 * Chooses the window in a trace that was just opened, if one was asked for. Returns 0, or -errno
 * after an error message.
 */
int selection_choose_window(const struct selection_options *options, struct trace *trace,
                            const char *path);
/*
 * Finds the chosen part of the trace at path, that of the window if it was chosen; *selection is
 * NULL for the whole trace and is valid
 * as long as the options. Returns 0, or after an error message -ENOMEM, -EINVAL (invalid syntax) or
 * -ENOENT (there is no such selection).
 */
int selection_choose(struct selection_options *options, const struct trace *trace, const char *path,
                     const struct selection **selection);

#endif
