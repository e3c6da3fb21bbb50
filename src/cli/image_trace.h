/* A trace of an image: of what a killed recorder left, or one at work holds. */
#ifndef CLI_IMAGE_TRACE_H
#define CLI_IMAGE_TRACE_H

#include "trace/live/tables.h"
#include "trace/live/shm_image.h"
#include <limits.h>
#include <stdbool.h>

/*
 * Writes it, with the names that can be had now, and tells how large `what` is. alive: processes
 * are still who they were; else what they made at run time has no names. False: told why.
 */
bool image_trace_write(const char *output, struct tables *tables, bool alive, const char *what);

struct live_naming;
struct live_trace;
/* Looks up names for a recording at work. 0 or -errno. */
int image_trace_name(struct live_trace *live, struct live_naming *naming);

/* The arguments of the commands that make a trace from a recorder's memory: [-o OUT] [FILE]. */
struct image_command {
	const char *path;   /* the recorder's trace */
	bool unnamed;       /* none was given, path is the default */
	const char *output; /* NULL: none was given */
};

/*
 * Parses the arguments of the command argv[0]. output_help and doc are in the form that argp wants.
 * Returns false after reporting wrong usage.
 */
bool image_command_parse(struct image_command *command, int argc, char **argv,
                         const char *output_help, const char *doc);

/*
 * Writes a trace of what the recorder of command->path holds to command->output. Returns the exit
 * status: 0, or 1 after reporting why there is none.
 */
int snapshot_write(const struct image_command *command);
/*
 * The two steps of it: copies what a recorder has at this moment, which returns NULL after
 * reporting why not; and writes a trace of the copy, which stays the caller's.
 */
struct tables *snapshot_take(const char *path);
int snapshot_store(struct tables *tables, const char *output);
/*
 * Finds the first name that is free, NAME-COUNT.atr beside the trace NAME.atr, with a count above
 * *nr, which becomes that count. False: there is none.
 */
bool snapshot_name_beside(const char *trace_path, unsigned *nr, char path[PATH_MAX]);
/*
 * Chooses snapshot.atr as the output. Returns false after reporting that the recorder itself will
 * write that file.
 */
bool snapshot_settle_output(struct image_command *command);

/*
 * For a command without a name, where nobody has or left an image of the default: takes the only
 * trace of this user whose image has this holder, which *chosen holds, to be freed. False: there
 * are several, which was told.
 */
bool image_command_choose(struct image_command *command, enum shm_image_holder holder,
                          char **chosen);

/* Reports that others may access the image of this trace: which file it is, and what to do. */
void image_command_say_foreign(const char *path);

#endif
