/*
 * A file that appears under its name only when it is whole. What has the name already is kept as
 * NAME.old, in one step where the file system can do that.
 */
#ifndef OUTPUT_NEW_FILE_H
#define OUTPUT_NEW_FILE_H

#include <stdio.h>

struct new_file {
	FILE *file;
	char *path;      /* links resolved */
	char *temporary; /* NULL: a device or pipe, written to as it is */
};

/* 0 or -errno. The file is readable by its user alone. */
int new_file_open(struct new_file *file, const char *path);
/* Closes the file and gives it its name; or, after an error or if refused, leaves all as it was. */
int new_file_close(struct new_file *file, int err);

#endif
