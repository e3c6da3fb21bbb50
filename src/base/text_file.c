#include "base/text_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static ssize_t read_up_to(int fd, char *buf, size_t size)
{
	size_t got = 0;
	ssize_t n = 0;

	while (got < size && (n = read(fd, buf + got, size - got)) != 0) {
		if (n > 0)
			got += (size_t)n;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)got;
}

int text_file_read(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read_up_to(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return (int)n;
	while (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return 0;
}

int text_file_number(const char *path, int64_t *value)
{
	char text[32], *end;
	int err = text_file_read(path, text, sizeof(text));

	if (err)
		return err;
	errno = 0;
	*value = strtoll(text, &end, 10);
	return end == text || errno ? -EINVAL : 0;
}

int64_t text_file_number_or(const char *path, int64_t otherwise)
{
	int64_t value;

	return text_file_number(path, &value) ? otherwise : value;
}

int text_folder_walk(const char *path, int (*select)(const struct dirent *entry),
                     int (*fn)(void *arg, const char *name), void *arg)
{
	struct dirent **entries;
	int nr = scandir(path, &entries, select, alphasort);
	int stop = 0;

	for (int i = 0; i < nr; i++) {
		if (!stop)
			stop = fn(arg, entries[i]->d_name);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	return stop;
}

bool text_number(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && !*end;
}
