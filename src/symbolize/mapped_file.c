#include "symbolize/mapped_file.h"
#include "symbolize/target_file.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static struct file_stamp stamp_make(const struct stat *st)
{
	return (struct file_stamp){st->st_dev, st->st_ino, st->st_size, st->st_mtim};
}

static bool stamp_equal(const struct file_stamp *a, const struct file_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

/*
 * The build-id decides where there is one: a file that was stripped or copied has other numbers
 * and the same code. Else the numbers of the mapping, and for a file seen before those of stat.
 */
static bool file_is(const struct mapped_file *file, const struct stat *st,
                    const struct mapped_identity *identity)
{
	if (identity->build_id.size)
		return build_id_equal(&file->headers.build_id, &identity->build_id);
	if (identity->stamp.ino)
		return stamp_equal(&file->stamp, &identity->stamp);
	return !identity->ino || target_file_maps_as(file->fd, st, identity->dev, identity->ino);
}

static int file_try(struct mapped_file *file, const char *path,
                    const struct mapped_identity *identity)
{
	struct stat st;
	int err;

	file->fd = target_file_open(path, 0, &st);
	if (file->fd < 0)
		return file->fd;
	file->stamp = stamp_make(&st);
	err = elf_headers_read(file->fd, &file->headers);
	if (!file_is(file, &st, identity))
		err = -ESTALE;
	if (err) {
		close(file->fd);
		file->fd = -1;
	}
	return err;
}

enum { BY_MAPPING, BY_ROOT, BY_NAME, BY_PROGRAM, NR_WAYS };

/* False where the identity does not say enough for this way. */
static bool way_path(unsigned way, const struct mapped_identity *identity, char *path, size_t size)
{
	if (way == BY_MAPPING ? identity->start >= identity->end : identity->path[0] != '/')
		return false;
	if (way != BY_NAME && identity->pid <= 0)
		return false;
	if (way == BY_PROGRAM && !identity->build_id.size && !identity->ino)
		return false;
	if (way == BY_MAPPING)
		snprintf(path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, identity->pid,
		         identity->start, identity->end);
	else if (way == BY_ROOT)
		snprintf(path, size, "/proc/%d/root%s", identity->pid, identity->path);
	else if (way == BY_PROGRAM)
		snprintf(path, size, "/proc/%d/exe", identity->pid);
	else
		snprintf(path, size, "%s", identity->path);
	return true;
}

int mapped_file_open(struct mapped_file *file, const struct mapped_identity *identity)
{
	char path[PATH_MAX + 32];
	int err = -ENOENT, stale = 0, now;
	unsigned way;

	file->fd = -1;
	for (way = 0; way < NR_WAYS; way++) {
		if (!way_path(way, identity, path, sizeof(path)))
			continue;
		now = file_try(file, path, identity);
		if (!now || (now == -ENOEXEC && way != BY_PROGRAM))
			return now;
		if (way == BY_PROGRAM) /* mostly, it is another file */
			continue;
		err = now;
		if (err == -ESTALE)
			stale = err;
	}
	return stale ? stale : err;
}

bool mapped_file_unchanged(int fd, const struct file_stamp *stamp, const struct build_id *id)
{
	struct elf_headers headers;
	struct file_stamp now;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	now = stamp_make(&st);
	if (stamp_equal(&now, stamp))
		return true;
	return id->size && !elf_headers_read(fd, &headers) && build_id_equal(&headers.build_id, id);
}
