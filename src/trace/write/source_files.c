#include "trace/write/source_files.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void source_files_fini(struct source_files *files)
{
	free(files->files);
	map64_fini(&files->numbers);
	*files = (struct source_files){0};
}

int source_files_add(struct source_files *files, uint32_t path)
{
	const struct trace_source_file file = {.path = path};
	uint32_t number;

	if (!path)
		return 0;
	number = map64_number(&files->numbers, path);
	if (number < files->nr)
		return 0;
	return number == UINT32_MAX ? -ENOMEM : ARRAY_ADD(files->files, files->nr, file);
}

void source_file_identity(const struct trace_source_file *file, struct source_identity *identity)
{
	*identity = (struct source_identity){
		.known = file->known,
		.size = file->size,
		.changed = file->changed,
		.hash = file->hash,
	};
	memcpy(identity->md5, file->md5, sizeof(identity->md5));
}

void source_files_tell(struct source_files *files, uint32_t path,
                       const struct source_identity *identity)
{
	uint32_t number = map64_get(&files->numbers, path);
	struct source_identity joined;
	struct trace_source_file *file;

	if (number >= files->nr)
		return;
	file = &files->files[number];
	source_file_identity(file, &joined);
	source_identity_join(&joined, identity);
	file->known = joined.known;
	file->size = joined.size;
	file->changed = joined.changed;
	file->hash = joined.hash;
	memcpy(file->md5, joined.md5, sizeof(file->md5));
}

static int compare_paths(const void *a, const void *b)
{
	const struct trace_source_file *one = a, *other = b;

	return (one->path > other->path) - (one->path < other->path);
}

void source_files_seal(struct source_files *files)
{
	size_t nr = 0;

	for (size_t i = 0; i < files->nr; i++)
		if (files->files[i].known)
			files->files[nr++] = files->files[i];
	files->nr = nr;
	map64_fini(&files->numbers);
	ARRAY_SORT(files->files, files->nr, compare_paths);
}
