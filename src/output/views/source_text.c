#include "output/views/source_text.h"

#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t count_lines(const char *text, size_t size)
{
	uint32_t nr = 1;

	for (size_t i = 0; i < size; i++)
		nr += text[i] == '\n';
	return nr;
}

/* Lines end with NUL instead of their newline. */
static int split(struct source_text *source, size_t size)
{
	char *at = source->text, *end = source->text + size, *newline;

	source->lines = calloc(count_lines(at, size), sizeof(*source->lines));
	if (!source->lines)
		return -ENOMEM;
	while (at < end) {
		source->lines[source->nr++] = at;
		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		*newline = '\0';
		if (newline > at && newline[-1] == '\r')
			newline[-1] = '\0';
		at = newline + 1;
	}
	return 0;
}

int source_text_read(struct source_text *source, struct files_aside *aside, const char *path)
{
	struct stat st;
	size_t size;
	int fd, err = 0;

	*source = (struct source_text){0};
	fd = path[0] == '/' ? files_aside_copy(aside, path, SOURCE_MAX_SIZE, &st) : -EINVAL;
	if (fd < 0)
		return fd;
	if ((uint64_t)st.st_size > SOURCE_MAX_SIZE)
		err = -EFBIG;
	if (!err) {
		source->text = target_file_read(fd, SOURCE_MAX_SIZE, &size);
		err = source->text ? 0 : -ENOMEM;
	}
	if (!err) {
		source_identity_of_text(&source->identity, &st, source->text, size);
		err = split(source, size);
	}
	close(fd);
	if (err)
		source_text_fini(source);
	return err;
}

void source_text_fini(struct source_text *source)
{
	free(source->text);
	free(source->lines);
	*source = (struct source_text){0};
}
