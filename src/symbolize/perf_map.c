#include "symbolize/perf_map.h"
#include "symbolize/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PERF_MAP (256u << 20)

static char *read_trusted(const char *path, uid_t uid)
{
	struct stat st;
	char *text = NULL;
	size_t size;
	int fd = target_file_open(path, O_NOFOLLOW, &st);

	if (fd < 0)
		return NULL;
	if (st.st_uid == uid || st.st_uid == 0)
		text = target_file_read(fd, MAX_PERF_MAP, &size);
	close(fd);
	return text;
}

char *perf_map_read(const struct module *module)
{
	char path[96];
	char *text;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", module->pid, module->ns_pid);
	text = read_trusted(path, module->uid);
	/* Of an ended process, unless our /tmp knows its number for another one's. */
	if (!text && module->ns_pid == module->pid) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", module->pid);
		text = read_trusted(path, module->uid);
	}
	return text;
}

/* Which line names each offset. Offsets that have one are skipped by following next. */
struct claims {
	const uint32_t *offsets;
	size_t n;
	char **line;
	size_t *next; /* of each offset the first at or after it without a line, as far as known */
};

static size_t claims_next(struct claims *claims, size_t i)
{
	size_t end = i, step;

	while (claims->next[end] != end)
		end = claims->next[end];
	for (; claims->next[i] != end && i != end; i = step) {
		step = claims->next[i];
		claims->next[i] = end;
	}
	return end;
}

static size_t first_from(const struct claims *claims, uint32_t lo)
{
	size_t from = 0, to = claims->n, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (claims->offsets[middle] < lo)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The part of a line's range in the window; false: none, or no such line. */
static bool line_parse(const char *line, uint32_t window, struct symbol *symbol)
{
	uint64_t base = (uint64_t)window << 32, last = base + UINT32_MAX, lo, size, hi;
	char *at, *name;

	errno = 0;
	lo = strtoull(line, &at, 16);
	if (errno || at == line || *at != ' ')
		return false;
	size = strtoull(at, &name, 16);
	if (errno || name == at || *name != ' ' || !name[1])
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

static void line_claim(struct claims *claims, char *line, uint32_t window)
{
	struct symbol symbol;
	size_t i;

	if (!line_parse(line, window, &symbol))
		return;
	i = claims_next(claims, first_from(claims, symbol.lo));
	while (i < claims->n && claims->offsets[i] < symbol.hi) {
		claims->line[i] = line;
		claims->next[i] = i + 1;
		i = claims_next(claims, i);
	}
}

/* From the last line to the first, so that what is claimed stays so. */
static void text_claim(struct claims *claims, char *text, uint32_t window)
{
	char *end = text + strlen(text), *line;

	while (end > text) {
		line = memrchr(text, '\n', (size_t)(end - text));
		line_claim(claims, line ? line + 1 : text, window);
		if (!line)
			break;
		*line = '\0';
		end = line;
	}
}

static int claims_tell(const struct claims *claims, uint32_t window, symbol_fn *fn, void *arg)
{
	struct symbol symbol = {0};
	size_t i;
	int err = 0;

	for (i = 0; i < claims->n && !err; i++)
		if (claims->line[i] && line_parse(claims->line[i], window, &symbol))
			err = fn(arg, claims->offsets[i], &symbol);
	return err;
}

int perf_map_lookup(char *text, uint32_t window, const uint32_t *offsets, size_t n, symbol_fn *fn,
                    void *arg)
{
	struct claims claims = {
		.offsets = offsets,
		.n = n,
		.line = calloc(n + 1, sizeof(*claims.line)),
		.next = calloc(n + 1, sizeof(*claims.next)),
	};
	int err = -ENOMEM;
	size_t i;

	if (claims.line && claims.next) {
		for (i = 0; i <= n; i++)
			claims.next[i] = i;
		text_claim(&claims, text, window);
		err = claims_tell(&claims, window, fn, arg);
	}
	free(claims.line);
	free(claims.next);
	return err;
}
