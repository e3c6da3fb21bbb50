/* The options that choose a part of a trace, which only the trace can give their meaning. */
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

enum { OPT_TIME = 0x300, OPT_ONLY }; /* behind the keys of all commands */

/* What they are in a command's table of options, but for the group. */
#define TIME_OPTION \
	"time", OPT_TIME, "FROM,TO", 0, "only this part: seconds since the start, or 25%"
#define ONLY_OPTION                 \
	"only", OPT_ONLY, "WHO", 0, \
		"only comm=NAME, process=PID, thread=TID, rank=N or cpu=N; may be given again"

/* Room for all words of a command line; 0 or -ENOMEM. */
int part_options_init(struct part_options *options, int argc);
/* Takes one of them; else ARGP_ERR_UNKNOWN. */
int part_options_parse(struct part_options *options, int key, char *arg);
void part_options_fini(struct part_options *options);

/*
 * The part of the trace at path that is meant, valid as long as the options; NULL: all of it. 0,
 * -ENOMEM, -EINVAL: it is written wrong, -ENOENT: there is none; after a complaint.
 */
int part_choose(struct part_options *options, const struct trace *trace, const char *path,
                const struct part **part);

#endif
