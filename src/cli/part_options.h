/* The options that choose a part of a trace. Their meaning depends on the trace. */
#ifndef CLI_PART_OPTIONS_H
#define CLI_PART_OPTIONS_H

#include "trace/part.h"

/* All zeros: no part was asked for. */
struct part_options {
	const char *time;  /* FROM,TO */
	const char **only; /* words for who_init() */
	unsigned nr_only;
	struct who who;
	struct part chosen;
};

static inline bool part_wanted(const struct part_options *options)
{
	return options->time || options->nr_only;
}

enum { OPT_TIME = 0x300, OPT_ONLY }; /* larger than the option keys of all commands */

/* The options' entries in a command's option table, without the group. */
#define TIME_OPTION \
	"time", OPT_TIME, "FROM,TO", 0, "only this part: seconds since the start, or 25%"
#define ONLY_OPTION                 \
	"only", OPT_ONLY, "WHO", 0, \
		"only comm=NAME, process=PID, thread=TID, rank=N or cpu=N; may be given again"

/* Allocates room for all words of a command line. Returns 0 or -ENOMEM. */
int part_options_init(struct part_options *options, int argc);
/* Takes an option of this kind; returns ARGP_ERR_UNKNOWN for other options. */
int part_options_parse(struct part_options *options, int key, char *arg);
void part_options_fini(struct part_options *options);

/*
 * Finds the chosen part of the trace at path; *part is NULL for the whole trace and is valid as
 * long as the options. Returns 0, or after an error message -ENOMEM, -EINVAL (invalid syntax) or
 * -ENOENT (there is no such part).
 */
int part_choose(struct part_options *options, const struct trace *trace, const char *path,
                const struct part **part);

#endif
