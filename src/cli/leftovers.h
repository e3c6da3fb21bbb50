/* Messages about images that killed recorders of this user left in /dev/shm. */
#ifndef CLI_LEFTOVERS_H
#define CLI_LEFTOVERS_H

#include "trace/live/shm_image.h"

#include <stdio.h>

struct json_writer;

/*
 * The trace to recover (SHM_IMAGE_NOBODY), or to make a snapshot of (SHM_IMAGE_RECORDER), if there
 * is only one of this user in all folders; to be freed. NULL: there is none, -ENOENT in *err, or
 * there are several, which was told, -EEXIST; -errno.
 */
char *leftovers_choose(enum shm_image_holder holder, int *err);

/* Tells a recorder of this trace the leftovers of other traces in its folder. */
void leftovers_say_beside(const char *trace_path);

/* Tells a reader that found this trace its leftover. */
void leftovers_say_own(const char *trace_path);

/* Tells a reader that did not find it its recorder, dead or alive, else leftovers beside it. */
void leftovers_say_missing(const char *trace_path);

/* All of them, with the commands that recover or remove them. Nothing is put where there is none.
 */
void leftovers_put(FILE *to);
/* The same as a JSON member, an array. */
void leftovers_json(struct json_writer *json);

#endif
