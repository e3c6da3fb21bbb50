/*
 * The text of a source file, line by line. Its path comes from the compiler, so the file may be
 * gone or replaced. Only regular files are read, up to a size that no source code exceeds.
 */
#ifndef OUTPUT_VIEWS_SOURCE_TEXT_H
#define OUTPUT_VIEWS_SOURCE_TEXT_H

#include "symbolize/modules/files_aside.h"
#include "symbolize/modules/source_identity.h"

#include <stdint.h>

struct source_text {
	char *text;
	char **lines;
	uint32_t nr;
	struct source_identity identity;
};

/*
 * Reads a file in a side process. Returns 0 or -errno: -EFBIG; -EINVAL: not a regular file, or not
 * an absolute path; -ETIMEDOUT: its file system does not answer.
 */
int source_text_read(struct source_text *source, struct files_aside *aside, const char *path);
void source_text_fini(struct source_text *source);

/* Lines count from 1; NULL: there is none. */
static inline const char *source_text_line(const struct source_text *source, uint32_t line)
{
	return line && line <= source->nr ? source->lines[line - 1] : (const char *)0;
}

#endif
