/* The traces that arguments name: files, and folders that stand for all traces in them. */
#ifndef CLI_TRACE_LIST_H
#define CLI_TRACE_LIST_H

#include <stddef.h>

#define TRACE_LIST_MAX 16384

struct trace_list {
	char **paths;
	size_t nr;
};

/*
 * Adds a file, or those of a folder that end in .atr, by name, without the one that is `spared` as
 * well, unless that is NULL. 0, -ENOMEM, -E2BIG beyond TRACE_LIST_MAX, or why the folder cannot be
 * read.
 */
int trace_list_add(struct trace_list *list, const char *path, const char *spared);
void trace_list_fini(struct trace_list *list);

#endif
