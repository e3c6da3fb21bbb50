/* The images of a user's recorders in /dev/shm: of those at work, and of those that were killed. */
#ifndef TRACE_LIVE_IMAGE_LIST_H
#define TRACE_LIVE_IMAGE_LIST_H

#include "trace/live/shm_image.h"

#include <stdint.h>
#include <sys/types.h>

struct image_entry {
	char *file;
	/* Absolute path of the trace that the recorder writes or would have written. NULL: the
	 * image is damaged, or of another version of adaptrace. */
	char *trace_path;
	enum shm_image_holder holder;
	pid_t recorder, target; /* 0: unknown, or several targets */
	uint64_t size;          /* bytes of memory that it takes */
	int64_t end;            /* seconds since 1970: its recorder's last word */
};

struct image_list {
	struct image_entry *entries; /* by path, without one last; of one path the latest first */
	size_t nr;
};

/*
 * Lists the images that are the user's own and that nobody else may read, up to a number that no
 * honest user reaches. Files of others are passed over. 0 or -errno.
 */
int image_list_make(struct image_list *list);
/* The same; for root, those of all users. */
int image_list_make_all(struct image_list *list);
void image_list_free(struct image_list *list);

#endif
