/*
 * The text of a source file, line by line. Its path is the compiler's: there may be nothing, or
 * anything, by now. Only regular files are read, and none that is larger than source code is.
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
 * Has a side process read it. 0 or -errno: -EFBIG, -EINVAL: no regular file, or no absolute path,
 * -ETIMEDOUT: its file system does not answer.
 */
int source_text_read(struct source_text *source, struct files_aside *aside, const char *path);
void source_text_fini(struct source_text *source);

/* Lines count from 1; NULL: there is none. */
static inline const char *source_text_line(const struct source_text *source, uint32_t line)
{
	return line && line <= source->nr ? source->lines[line - 1] : (const char *)0;
}

#endif
