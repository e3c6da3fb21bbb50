#include "trace/live/image_list.h"

#include "trace/live/tables_layout.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_NAMES   (1 << 18) /* that are read of the folder, whoever they belong to */
#define MAX_ENTRIES (1 << 12)

/* A copy of an image's header: its owner may write to the image meanwhile. */
struct view {
	struct image_header header;
	struct tables tables;
	struct trace_run run;
};

static int read_view(struct view *view, int fd, size_t size)
{
	const bool is_stub = size == SHM_IMAGE_STUB;
	size_t at;

	if (pread(fd, &view->header, sizeof(view->header), 0) != sizeof(view->header))
		return -EBADMSG;
	view->tables = (struct tables){.header = &view->header,
	                               .image.size = is_stub ? view->header.size : size};
	if (tables_check_layout(&view->tables))
		return -EBADMSG;
	at = is_stub ? STUB_RUN : view->tables.layout.section[TRACE_RUN];
	if (pread(fd, &view->run, sizeof(view->run), (off_t)at) != sizeof(view->run) ||
	    !memchr(view->header.trace_path, 0, sizeof(view->header.trace_path)))
		return -EBADMSG;
	return 0;
}

/* Nothing is written to the file itself, whose own time is that of its last growth. */
static int64_t last_word(const struct trace_run *run, const struct stat *stat)
{
	if (!run->real_start || run->end < run->start)
		return stat->st_mtime;
	return (int64_t)((run->real_start + (run->end - run->start)) / 1000000000);
}

static int add_entry(struct image_list *list, const struct image_entry *entry)
{
	struct image_entry *entries, *new;

	if (list->nr == MAX_ENTRIES)
		return -ENOSPC;
	entries = reallocarray(list->entries, list->nr + 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	list->entries = entries;
	new = &entries[list->nr++];
	*new = *entry;
	new->file = strdup(entry->file);
	new->trace_path = entry->trace_path ? strdup(entry->trace_path) : NULL;
	return new->file && (new->trace_path || !entry->trace_path) ? 0 : -ENOMEM;
}

static int look_into(struct image_list *list, char *name, int fd, enum shm_image_holder holder)
{
	struct image_entry entry = {.file = name, .holder = holder};
	struct view view;
	struct stat stat;

	if (fstat(fd, &stat))
		return -errno;
	entry.size = (uint64_t)stat.st_blocks * 512;
	entry.end = stat.st_mtime;
	if (!read_view(&view, fd, (size_t)stat.st_size) &&
	    shm_image_is_named(name, view.header.trace_path)) {
		entry.trace_path = view.header.trace_path;
		entry.end = last_word(&view.run, &stat);
		entry.recorder = view.header.state.recorder;
		entry.target = view.run.pid;
	}
	return add_entry(list, &entry);
}

static int take_name(struct image_list *list, const char *name)
{
	char path[sizeof(SHM_IMAGE_FOLDER) + NAME_MAX + 1];
	enum shm_image_holder holder;
	int fd, err;

	snprintf(path, sizeof(path), SHM_IMAGE_FOLDER "/%s", name);
	fd = shm_image_peek(path, &holder);
	if (fd < 0)
		return 0;
	if (holder == SHM_IMAGE_NOBODY && shm_image_drop_empty(path)) {
		close(fd);
		return 0;
	}
	err = look_into(list, path, fd, holder);
	close(fd);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct image_entry *x = a, *y = b;
	int order = !x->trace_path - !y->trace_path;

	if (!order && x->trace_path)
		order = strcmp(x->trace_path, y->trace_path);
	return order ? order : (x->end < y->end) - (x->end > y->end);
}

/* Names that begin so, of files that the caller may open. */
static int make_list(struct image_list *list, const char *prefix)
{
	struct dirent *file;
	unsigned nr = 0;
	int err = 0;
	DIR *folder;

	*list = (struct image_list){0};
	folder = opendir(SHM_IMAGE_FOLDER);
	if (!folder)
		return -errno;
	while (!err && nr++ < MAX_NAMES && (file = readdir(folder)))
		if (!strncmp(file->d_name, prefix, strlen(prefix)))
			err = take_name(list, file->d_name);
	closedir(folder);
	if (list->nr)
		qsort(list->entries, list->nr, sizeof(*list->entries), compare);
	if (err == -ENOMEM)
		image_list_free(list);
	return err == -ENOMEM ? err : 0;
}

int image_list_make(struct image_list *list)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "adaptrace-%u-", geteuid());
	return make_list(list, prefix);
}

int image_list_make_all(struct image_list *list)
{
	return geteuid() ? image_list_make(list) : make_list(list, "adaptrace-");
}

void image_list_free(struct image_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->entries[i].file);
		free(list->entries[i].trace_path);
	}
	free(list->entries);
	*list = (struct image_list){0};
}
