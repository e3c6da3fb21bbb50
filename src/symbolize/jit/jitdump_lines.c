#include "symbolize/jit/jitdump_lines.h"
#include "base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_LINES (1u << 16) /* of one piece of code */

/*
 * V8 adds to the addresses of lines, and of nothing else, the header that perf's tools would put
 * before the code.
 */
#define V8_SHIFT 0x40

struct debug_head {
	uint32_t id, size;
	uint64_t time, addr, nr;
};

struct debug_entry {
	uint64_t addr;
	int32_t line, discriminator;
};

const uint8_t *jitdump_read(struct jitdump_reader *reader, uint64_t at, size_t size)
{
	ssize_t got;

	if (at >= reader->at && at - reader->at <= reader->held &&
	    size <= reader->held - (at - reader->at))
		return reader->bytes + (at - reader->at);
	if (reader->left < sizeof(reader->bytes) || at > INT64_MAX - sizeof(reader->bytes))
		return NULL;
	reader->left -= sizeof(reader->bytes);
	got = pread(reader->fd, reader->bytes, sizeof(reader->bytes), (off_t)at);
	reader->at = at;
	reader->held = got > 0 ? (size_t)got : 0;
	return size <= reader->held ? reader->bytes : NULL;
}

const char *jitdump_string(struct jitdump_reader *reader, uint64_t at)
{
	const uint8_t *bytes = jitdump_read(reader, at, JITDUMP_NAME_MAX);
	size_t size = JITDUMP_NAME_MAX;

	if (!bytes) { /* near the end of the file */
		bytes = jitdump_read(reader, at, 1);
		if (!bytes)
			return NULL;
		size = reader->held - (size_t)(bytes - reader->bytes);
		if (size > JITDUMP_NAME_MAX)
			size = JITDUMP_NAME_MAX;
	}
	return memchr(bytes, 0, size) ? (const char *)bytes : NULL;
}

/* Some versions of V8 write the pointer in place of the name. */
static bool is_file_name(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	return true;
}

/* One entry, and the file of the one before where it says so; the next one's place, or 0. */
static uint64_t entry_read(struct jitdump_reader *reader, uint64_t at, uint64_t end,
                           struct jitdump_line *line)
{
	struct debug_entry entry;
	const uint8_t *bytes = jitdump_read(reader, at, sizeof(entry));
	const char *name;

	if (!bytes)
		return 0;
	memcpy(&entry, bytes, sizeof(entry));
	name = jitdump_string(reader, at + sizeof(entry));
	if (!name || entry.line < 0)
		return 0;
	line->addr = entry.addr;
	line->line = (uint32_t)entry.line;
	if (strcmp(name, "\xff") != 0) {
		if (!*name || !is_file_name(name))
			return 0;
		line->file_at = at + sizeof(entry);
	}
	at += sizeof(entry) + strlen(name) + 1;
	return line->file_at && at <= end ? at : 0;
}

static int line_compare(const void *x, const void *y)
{
	const struct jitdump_line *a = x, *b = y;

	return ORDER(a->addr, b->addr);
}

/* Makes addresses those of the code. False: they are of something else. */
static bool lines_settle(struct jitdump_lines *lines, const struct jitdump_code *code)
{
	uint64_t shift;
	size_t i;

	ARRAY_SORT(lines->lines, lines->nr, line_compare);
	if (lines->lines[0].addr < code->addr)
		return false;
	shift = lines->lines[0].addr - code->addr >= V8_SHIFT ? V8_SHIFT : 0;
	for (i = 0; i < lines->nr; i++) {
		lines->lines[i].addr -= shift;
		if (lines->lines[i].addr - code->addr > code->size)
			return false;
	}
	return true;
}

int jitdump_lines_read(struct jitdump_lines *lines, struct jitdump_reader *reader,
                       const struct jitdump_code *code)
{
	const uint8_t *bytes = NULL;
	uint64_t at = code->debug_at, end;
	struct jitdump_line line = {0};
	struct debug_head head;

	*lines = (struct jitdump_lines){0};
	if (at)
		bytes = jitdump_read(reader, at, sizeof(head));
	if (!bytes)
		return 0;
	memcpy(&head, bytes, sizeof(head));
	if (!head.nr || head.nr > MAX_LINES)
		return 0;
	lines->lines = calloc(head.nr, sizeof(*lines->lines));
	if (!lines->lines)
		return -ENOMEM;
	end = at + head.size;
	for (at += sizeof(head); at && lines->nr < head.nr;) {
		at = entry_read(reader, at, end, &line);
		lines->lines[lines->nr++] = line;
	}
	if (!at || !lines_settle(lines, code))
		jitdump_lines_fini(lines);
	return 0;
}

void jitdump_lines_fini(struct jitdump_lines *lines)
{
	free(lines->lines);
	*lines = (struct jitdump_lines){0};
}

const struct jitdump_line *jitdump_lines_find(const struct jitdump_lines *lines, uint64_t addr)
{
	size_t n = ARRAY_PARTITION(lines->lines, lines->nr, line, line->addr <= addr);

	return n ? &lines->lines[n - 1] : NULL;
}
