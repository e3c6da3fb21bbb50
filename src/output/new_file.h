/*
 * A file that appears under its name only when it is whole. What has the name already is by default
 * kept as NAME.old, in one step where the file system can do that.
 */
#ifndef OUTPUT_NEW_FILE_H
#define OUTPUT_NEW_FILE_H

#include <stdbool.h>
#include <stdio.h>

/* What happens to a file that has the name when the new one is whole. */
enum new_file_existing {
	NEW_FILE_KEEP_OLD,
	NEW_FILE_REPLACE,
	NEW_FILE_REFUSE, /* it stays, and closing gives -EEXIST */
};

struct new_file {
	FILE *file;
	enum new_file_existing existing; /* may be changed while the file is open */
	char *path;                      /* links resolved */
	char *temporary;                 /* NULL: a device or pipe, written to as it is */
	bool nameless;                   /* so far: who is killed leaves nothing of it */
};

/*
 * The name behind the links that a name stands for, which need not exist; to be freed. NULL with
 * errno: EACCES for a link, a pipe or the like that somebody else put where all may write (/tmp),
 * for it could lead to any file of ours or hand the file out; nor does the kernel open such
 * (fs.protected_symlinks, fs.protected_fifos).
 */
char *new_file_resolve(const char *path);

/* Whether both paths lead to one file, that is there. */
bool new_file_is_same(const char *path, const char *other);

/* 0 or -errno: -EACCES for a trap. The file is readable by its user alone. */
int new_file_open(struct new_file *file, const char *path);
/*
 * By what this process can open a file that has a temporary name or none yet; to be freed. NULL: no
 * memory.
 */
char *new_file_present_name(const struct new_file *file);
/* Closes the file and gives it its name; or, after an error or if refused, leaves all as it was. */
int new_file_close(struct new_file *file, int err);

/* Writes out what a stream holds: 0, or -errno, of earlier writes as well. */
int new_file_flush(FILE *file);

/* A file to write and to read that has no name; -errno where the file system has no such files. */
int new_file_nameless(const char *folder);

/* A name for a file or folder in the same folder as path, for mkstemp(); NULL: no memory. */
char *new_file_temporary(const char *path);

#endif
