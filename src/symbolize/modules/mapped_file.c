#include "symbolize/modules/mapped_file.h"
#include "symbolize/modules/mount_point.h"
#include "symbolize/modules/target_file.h"

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
                    const struct module_file *said, const struct file_stamp *seen)
{
	if (said->build_id.size)
		return build_id_equal(&file->headers.build_id, &said->build_id);
	if (seen)
		return stamp_equal(&file->stamp, seen);
	if (said->ino_generation && !target_file_has_generation(file->fd, said->ino_generation))
		return false;
	return !said->ino || target_file_maps_as(file->fd, st, said->dev, said->ino);
}

static bool path_leads_to(const char *path, const struct file_stamp *stamp)
{
	struct stat there;

	return path[0] == '/' && !stat(path, &there) && there.st_dev == stamp->dev &&
	       there.st_ino == stamp->ino;
}

static int file_try(struct mapped_file *file, const char *path, const struct module_file *said,
                    const struct file_stamp *seen)
{
	struct stat st;
	int err;

	file->fd = target_file_open(path, 0, &st);
	if (file->fd < 0)
		return file->fd;
	file->nameless = !st.st_nlink;
	file->stamp = stamp_make(&st);
	err = elf_headers_read(file->fd, &file->headers);
	if (!file_is(file, &st, said, seen))
		err = -ESTALE;
	if (err) {
		close(file->fd);
		file->fd = -1;
	} else {
		file->path_leads = path_leads_to(said->path, &file->stamp);
		file->foreign = mount_point_is_foreign(file->fd, said->pid, said->path);
	}
	return err;
}

enum { BY_MAPPING, BY_ROOT, BY_NAME, BY_PROGRAM, NR_METHODS };

/* Returns false if too little is known of the file for this method. */
static bool method_path(unsigned method, const struct module_file *said, char *path, size_t size)
{
	if (method == BY_MAPPING ? said->start >= said->end : said->path[0] != '/')
		return false;
	if (method != BY_NAME && said->pid <= 0)
		return false;
	if (method == BY_PROGRAM && !said->build_id.size && !said->ino)
		return false;
	if (method == BY_MAPPING)
		snprintf(path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, said->pid,
		         said->start, said->end);
	else if (method == BY_ROOT)
		snprintf(path, size, "/proc/%d/root%s", said->pid, said->path);
	else if (method == BY_PROGRAM)
		snprintf(path, size, "/proc/%d/exe", said->pid);
	else
		snprintf(path, size, "%s", said->path);
	return true;
}

int mapped_file_open(struct mapped_file *file, const struct module_file *said,
                     const struct file_stamp *seen)
{
	char path[PATH_MAX + 32];
	int err = -ENOENT, stale = 0, now;
	unsigned method;

	file->fd = -1;
	for (method = 0; method < NR_METHODS; method++) {
		if (!method_path(method, said, path, sizeof(path)))
			continue;
		now = file_try(file, path, said, seen);
		if (!now || (now == -ENOEXEC && method != BY_PROGRAM))
			return now;
		if (method == BY_PROGRAM) /* mostly, it is another file */
			continue;
		err = now;
		if (err == -ESTALE)
			stale = err;
	}
	return stale ? stale : err;
}

bool mapped_file_rewritten(const struct module_file *said, const struct file_stamp *seen)
{
	char path[PATH_MAX + 32];
	struct file_stamp now;
	struct stat st;
	unsigned method;

	for (method = 0; method <= BY_NAME; method++) {
		if (!method_path(method, said, path, sizeof(path)) || stat(path, &st))
			continue;
		now = stamp_make(&st);
		if (now.dev == seen->dev && now.ino == seen->ino)
			return !stamp_equal(&now, seen);
	}
	return false;
}

static bool has_build_id(int fd, const struct build_id *id)
{
	struct elf_headers headers;
	int again = target_file_again(fd);
	bool has = again >= 0 && !elf_headers_read(again, &headers) &&
	           build_id_equal(&headers.build_id, id);

	if (again >= 0)
		close(again);
	return has;
}

bool mapped_file_unchanged(int fd, const struct file_stamp *stamp, const struct build_id *id)
{
	struct file_stamp now;
	struct stat st;

	if (fstat(fd, &st))
		return false;
	now = stamp_make(&st);
	return stamp_equal(&now, stamp) || (id->size && has_build_id(fd, id));
}
