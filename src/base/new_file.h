/*
 * A file that appears under its name only when it is whole. What has the name already is by default
 * kept as NAME.old, in one step where the file system can do that.
 *
 * Links are followed, and devices and pipes written to as they are, where only the user and root
 * can have put them there: see file_place.h.
 */
#ifndef BASE_NEW_FILE_H
#define BASE_NEW_FILE_H

#include "base/file_place.h"

#include <stddef.h>
#include <stdio.h>

/* What happens to a file that has the name when the new one is whole. */
enum new_file_existing {
	NEW_FILE_KEEP_OLD,
	NEW_FILE_REPLACE,
	NEW_FILE_REFUSE, /* it stays, and closing gives -EEXIST */
	NEW_FILE_BESIDE, /* it stays, and the new one gets a name beside it */
};

struct new_file_wish {
	const char *path;
	bool settled; /* by new_file_settle(), maybe long ago */
	enum new_file_existing existing;
	/*
	 * Where not NULL: a file whose name turns out to be taken by something that cannot be
	 * replaced becomes NAME.new, or the like, in the same folder. That path is put here, to be
	 * freed; NULL: it got its name.
	 */
	char **beside;
};

struct new_file {
	FILE *file;
	struct new_file_wish wish; /* `existing` may be changed while the file is open */
	struct file_place place;
	char temporary[FILE_PLACE_HIDDEN_SIZE]; /* empty: a device or pipe, written to as it is */
	bool nameless;                          /* so far: who is killed leaves nothing of it */
	bool displaced; /* its name was found to be taken when it was opened */
};

/* Whether both paths lead to one file, that is there. */
bool new_file_is_same(const char *path, const char *other);

/*
 * Before long work: whether a file, or character device, can be written at this path. settled gets
 * what stands for it until then, of size bytes; it leads to the same place even if something on the
 * way is replaced by a link. 0 or -errno: new_file_error() says why.
 */
int new_file_settle(const char *path, char *settled, size_t size);
/* The same, and pipes may be written to; nothing is tried. */
int new_file_check(const char *path);

/* 0 or -errno. The file is readable by its user alone. */
int new_file_open(struct new_file *file, const char *path);
int new_file_open_as(struct new_file *file, const struct new_file_wish *wish);
/* In words for a user why a path cannot be written to, for an -errno of these functions. */
const char *new_file_error(int err);
/* False: it is a device or pipe. */
bool new_file_has_temporary(const struct new_file *file);
/*
 * By what this process can open a file that has a temporary name or none yet; to be freed. NULL: no
 * memory.
 */
char *new_file_present_name(const struct new_file *file);
/* Closes the file and gives it its name; or, after an error or if refused, leaves all as it was. */
int new_file_close(struct new_file *file, int err);

/* Writes out what a stream holds: 0, or -errno, of earlier writes as well. */
int new_file_flush(FILE *file);

/* A file to write and to read that has no name, in this folder, or -errno. */
int new_file_nameless(const char *folder);

#endif
