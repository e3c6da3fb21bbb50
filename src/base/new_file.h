/*
 * A file that appears under its name only when it is complete. By default an existing file of that
 * name is kept as NAME.old, in one atomic step where the file system supports that.
 *
 * Links are followed, and existing devices and pipes are written to, only where no other user but
 * root can have put them there: see file_place.h.
 */
#ifndef BASE_NEW_FILE_H
#define BASE_NEW_FILE_H

#include "base/file_place.h"

#include <stddef.h>
#include <stdio.h>

/* The handling of an existing file of the same name when the new file is complete. */
enum new_file_existing {
	NEW_FILE_KEEP_OLD,
	NEW_FILE_REPLACE,
	NEW_FILE_REFUSE, /* the existing file stays; closing returns -EEXIST */
	NEW_FILE_BESIDE, /* the existing file stays; the new one gets a similar name */
};

struct new_file_wish {
	const char *path;
	bool settled; /* path comes from new_file_settle(), maybe long ago */
	enum new_file_existing existing;
	/*
	 * If not NULL, a file whose name is taken by something that cannot be replaced is called
	 * NAME.new or similar, in the same folder. *beside is then that path, which the caller
	 * frees, and NULL if the file got its own name.
	 */
	char **beside;
};

struct new_file {
	FILE *file;
	struct new_file_wish wish; /* `existing` may be changed while the file is open */
	struct file_place place;
	char temporary[FILE_PLACE_HIDDEN_SIZE]; /* empty: a device or pipe is written directly */
	bool nameless;                          /* no name yet: killing leaves no file */
	bool displaced; /* its name was found to be taken when it was opened */
};

/* Whether both paths lead to the same existing file. */
bool new_file_is_same(const char *path, const char *other);

/*
 * Checks before long work whether a file or a character device can be written at this path.
 * settled, a buffer of size bytes, gets an equivalent path for new_file_open(): it leads to the
 * same place even if a component of the original path is replaced by a link. Returns 0 or -errno,
 * which new_file_error() explains.
 */
int new_file_settle(const char *path, char *settled, size_t size);
/* Like new_file_settle(), but pipes are accepted as well, and no file is created for a test. */
int new_file_check(const char *path);

/* Open a new file, which only its user can read. Return 0 or -errno. */
int new_file_open(struct new_file *file, const char *path);
int new_file_open_as(struct new_file *file, const struct new_file_wish *wish);
/* Explains to a user why a path cannot be written to. err is an -errno of these functions. */
const char *new_file_error(int err);
/* False: the path is a device or a pipe, which is written directly. */
bool new_file_has_temporary(const struct new_file *file);
/*
 * Returns a path by which this process can open the file before it has its final name. The caller
 * frees it. NULL: no memory.
 */
char *new_file_present_name(const struct new_file *file);
/*
 * Closes the file and gives it its name. If err is set or the name is refused, no file is left and
 * an existing file is unchanged.
 */
int new_file_close(struct new_file *file, int err);

/* Flushes a stream. Returns 0 or -errno; errors of earlier writes count too. */
int new_file_flush(FILE *file);

/* Opens an unnamed file in a folder for reading and writing. Returns a descriptor or -errno. */
int new_file_nameless(const char *folder);

#endif
