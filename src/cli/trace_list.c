#include "cli/trace_list.h"

#include "base/new_file.h"
#include "base/array.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The path is the list's from now on. */
static int add(struct trace_list *list, char *path)
{
	if (!path)
		return -ENOMEM;
	if (list->nr == TRACE_LIST_MAX) {
		free(path);
		return -E2BIG;
	}
	if (ARRAY_ADD(list->paths, list->nr, path)) {
		free(path);
		return -ENOMEM;
	}
	return 0;
}

static int is_trace(const struct dirent *entry)
{
	size_t size = strlen(entry->d_name);

	return size > 4 && !strcmp(entry->d_name + size - 4, ".atr");
}

static int add_folder(struct trace_list *list, const char *folder, const char *spared)
{
	struct dirent **entries;
	int nr = scandir(folder, &entries, is_trace, alphasort), err = 0;

	if (nr < 0)
		return -errno;
	for (int i = 0; i < nr; i++) {
		char *path = NULL;

		if (!err && asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0)
			err = -ENOMEM;
		if (!err && spared && new_file_is_same(path, spared))
			free(path);
		else if (!err)
			err = add(list, path);
		free(entries[i]);
	}
	free(entries);
	return err;
}

int trace_list_add(struct trace_list *list, const char *path, const char *spared)
{
	struct stat stat_of;

	if (!stat(path, &stat_of) && S_ISDIR(stat_of.st_mode))
		return add_folder(list, path, spared);
	return add(list, strdup(path));
}

void trace_list_fini(struct trace_list *list)
{
	while (list->nr)
		free(list->paths[--list->nr]);
	free(list->paths);
	*list = (struct trace_list){0};
}
