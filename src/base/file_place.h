/*
 * The place of a file to be written: a folder, which is held open, and a name in it. Because the
 * folder is open, renaming a folder on the path or replacing it by a link does not redirect the
 * output.
 *
 * A folder is shared if a user other than root and the user of this process owns it or may write to
 * it. An existing name in a shared folder may be a trap: a link to a file of this user, a pipe
 * whose other end reads the output, or a pipe without a reader, which blocks. Therefore only
 * regular files are replaced in shared folders, and no existing file is written to. This rule
 * covers the last component of a path only: links to folders on the path are the caller's
 * responsibility.
 */
#ifndef BASE_FILE_PLACE_H
#define BASE_FILE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct file_place {
	int folder; /* O_PATH; -1: none */
	char *name; /* not a link, except a link in /proc to an open descriptor */
	bool shared;
};

/*
 * Opens the place that a path names. Links in the last component are followed; the file need not
 * exist. Returns 0 or -errno: -ELOOP for a link in a shared folder.
 */
int file_place_open(struct file_place *place, const char *path);
/* Like file_place_open(), but the last component may be a link and is not followed. */
int file_place_open_unfollowed(struct file_place *place, const char *path);
/* Like file_place_open(), but no component of the folder's path may be a link either. */
int file_place_open_exact(struct file_place *place, const char *path);
void file_place_close(struct file_place *place);

/* Reads the status of the file of this name. A link is not followed. Returns 0 or -errno. */
int file_place_stat(const struct file_place *place, struct stat *there);
/*
 * Checks whether the name may be used for output. Returns 0, -EISDIR, or in shared folders -ELOOP
 * for a link and -ENXIO for a pipe, a device or a socket. *there is the status of the existing
 * file; its st_mode is 0 if there is none.
 */
int file_place_check(const struct file_place *place, struct stat *there);

/*
 * Writes the absolute path of the place, without links. Returns 0, or -errno if the path is
 * unknown.
 */
int file_place_path(const struct file_place *place, char *path, size_t size);

#define FILE_PLACE_HIDDEN_SIZE 32
/*
 * Makes a random hidden name that other users cannot predict, for a file that is not complete yet.
 */
void file_place_hidden_name(char name[FILE_PLACE_HIDDEN_SIZE]);

/*
 * Makes a folder with a hidden name that only this user may access. Returns a descriptor or -errno.
 */
int file_place_make_folder(int parent, char name[FILE_PLACE_HIDDEN_SIZE]);

#endif
