#include "symbolize/jit/perf_map.h"
#include "symbolize/elf/range_claims.h"
#include "symbolize/modules/target_file.h"
#include "symbolize/modules/target_folders.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PERF_MAP (256u << 20)

static char *read_trusted(const char *path, uid_t uid, uint64_t *left)
{
	struct stat st;
	char *text = NULL;
	size_t size;
	int fd = target_file_open(path, O_NOFOLLOW, &st);

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	size = (uint64_t)st.st_size < MAX_PERF_MAP ? (size_t)st.st_size : MAX_PERF_MAP;
	if (st.st_uid != uid && st.st_uid != 0) {
		errno = EACCES;
	} else if (size > *left) {
		errno = EFBIG;
	} else {
		*left -= size;
		text = target_file_read(fd, size, &size); /* and no more, if it grows */
	}
	close(fd);
	return text;
}

char *perf_map_read(const struct module *module, uint64_t *left)
{
	char path[96];
	char *text;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", module->pid, module->ns_pid);
	text = read_trusted(path, module->uid, left);
	if (!text && errno != EFBIG && module->folder) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d/perf-%d.map", module->folder->fd,
		         module->ns_pid);
		return read_trusted(path, module->uid, left);
	}
	/*
	 * If the process has ended, its map may still be in /tmp. If it lived in another PID
	 * namespace, the file of that number belongs to another process.
	 */
	if (!text && errno != EFBIG && module->ns_pid == module->pid) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", module->pid);
		text = read_trusted(path, module->uid, left);
	}
	return text;
}

#define MAX_NUMBER 32 /* letters: a line is read again for each address that it names */

/* The part of a line's range in the area; false: none, or no such line. */
static bool line_parse(const char *line, uint32_t area, struct symbol *symbol)
{
	uint64_t base = (uint64_t)area << 32, last = base + UINT32_MAX, lo, size, hi;
	char *at, *name;

	errno = 0;
	lo = strtoull(line, &at, 16);
	if (errno || at == line || at - line > MAX_NUMBER || *at != ' ')
		return false;
	size = strtoull(at, &name, 16);
	if (errno || name == at || name - at > MAX_NUMBER || *name != ' ' || !name[1])
		return false;
	if (__builtin_add_overflow(lo, size, &hi))
		hi = UINT64_MAX;
	if (lo >= last || hi <= base || lo >= hi)
		return false;
	symbol->lo = lo < base ? 0 : (uint32_t)lo;
	symbol->hi = hi > last ? UINT32_MAX : (uint32_t)hi;
	symbol->name = name + 1;
	return true;
}

/* From the last line to the first: what is said later holds. Owners are where lines begin. */
static void text_claim(struct claims *claims, char *text, uint32_t area)
{
	char *end = text + strlen(text), *newline, *line;
	struct symbol symbol;

	while (end > text) {
		newline = memrchr(text, '\n', (size_t)(end - text));
		line = newline ? newline + 1 : text;
		if (line_parse(line, area, &symbol))
			claims_take(claims, symbol.lo, symbol.hi, (uint32_t)(line - text) + 1);
		if (!newline)
			break;
		*newline = '\0';
		end = newline;
	}
}

static int claims_tell(const struct claims *claims, const char *text, const struct jit_query *query)
{
	struct symbol symbol = {0};
	size_t i;
	int err = 0;

	for (i = 0; i < claims->n && !err; i++)
		if (claims->owner[i] &&
		    line_parse(text + claims->owner[i] - 1, query->area, &symbol))
			err = query->fn(query->arg, claims->offsets[i], &symbol);
	return err;
}

int perf_map_lookup(char *text, const struct jit_query *query)
{
	struct claims claims;
	int err = claims_init(&claims, query->offsets, query->n);

	if (!err) {
		text_claim(&claims, text, query->area);
		err = claims_tell(&claims, text, query);
	}
	claims_fini(&claims);
	return err;
}
