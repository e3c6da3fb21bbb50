#include "record/save.h"

#include "record/session.h"
#include "trace/write/trace_write.h"
#include "base/clock.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS 1000000000 /* whoever hits Ctrl-C twice wants the names nevertheless */

/* Looking names up may take long, of files that are large or far away. */
struct patience {
	struct session *session;
	uint64_t start;
	unsigned long skipped; /* files */
};

static bool is_impatient(const struct session *s)
{
	return s->watcher && s->watcher->impatient(s->watcher->arg);
}

/* False for the file at hand, too: it may lie where nothing answers. */
static bool shall_go_on(void *arg)
{
	struct patience *patience = arg;
	uint64_t taken = clock_ns(CLOCK_MONOTONIC) - patience->start;

	if (!patience->skipped && (taken <= PATIENCE_NS || !is_impatient(patience->session)))
		return true;
	patience->skipped++;
	return false;
}

static bool still_wanted(void *arg, const char *path)
{
	const struct patience *patience = arg;
	const struct session_watcher *watcher = patience->session->watcher;

	if (!shall_go_on(arg))
		return false;
	if (watcher)
		watcher->naming(watcher->arg, path);
	return true;
}

static void note_unanswered(const struct session *s, const struct symbolizer *symbolizer)
{
	struct symbolizer_stats stats;

	symbolizer_stats(symbolizer, &stats);
	if (stats.unanswered)
		session_notice(s, (struct notice){NOTICE_NAMES_MISSING, .nr = stats.unanswered});
}

/* Into a new folder, which may be the only place where the name is free. */
static bool save_elsewhere(struct session *s, struct symbolizer *symbolizer, uint64_t *bytes,
                           char path[PATH_MAX])
{
	const char *wanted = getenv("TMPDIR");
	const struct new_file_wish wish = {.path = path, .settled = true};
	char parent[PATH_MAX], folder[PATH_MAX], output[PATH_MAX];

	snprintf(output, sizeof(output), "%s", s->config->output);
	if (!realpath(wanted && *wanted ? wanted : "/var/tmp", parent) ||
	    snprintf(folder, sizeof(folder), "%s/adaptrace-XXXXXX", parent) >=
	            (int)sizeof(folder) ||
	    !mkdtemp(folder))
		return false;
	if (snprintf(path, PATH_MAX, "%s/%s", folder, basename(output)) < PATH_MAX &&
	    !trace_write_as(&wish, s->tables, s->modules, symbolizer, bytes))
		return true;
	rmdir(folder);
	return false;
}

/* Whether recover still knows the recording by this name: nothing on the way became a link. */
static bool is_findable(const char *place)
{
	char copy[PATH_MAX], real[PATH_MAX];
	const char *folder;

	snprintf(copy, sizeof(copy), "%s", place);
	folder = dirname(copy);
	return !realpath(folder, real) || !strcmp(folder, real);
}

static void save_otherwise(struct session *s, struct symbolizer *symbolizer, int err,
                           uint64_t *bytes)
{
	char path[PATH_MAX];

	if (tables_recoverable(s->tables) && is_findable(s->config->place)) {
		tables_keep(s->tables);
		session_notice(s, (struct notice){NOTICE_KEPT, err});
	} else if (save_elsewhere(s, symbolizer, bytes, path)) {
		session_notice(s, (struct notice){NOTICE_ELSEWHERE, err, .text = path});
	} else {
		session_notice(s, (struct notice){NOTICE_LOST, err});
	}
}

int save_trace(struct session *s, uint64_t *bytes)
{
	const struct new_file_wish wish = {
		.path = s->config->settled,
		.settled = true,
		.existing = tables_name_taken(s->tables) ? NEW_FILE_BESIDE : NEW_FILE_KEEP_OLD,
		.beside = &s->beside,
	};
	struct patience patience = {s, clock_ns(CLOCK_MONOTONIC), 0};
	struct symbolizer *symbolizer = symbolizer_new(s->modules);
	int err;

	if (symbolizer) {
		symbolizer_ask(symbolizer, still_wanted, &patience);
		symbolizer_read_aside(symbolizer, shall_go_on, &patience);
	}
	err = trace_write_as(&wish, s->tables, s->modules, symbolizer, bytes);
	session_notice(s, (struct notice){NOTICE_NAMED});
	if (patience.skipped)
		session_notice(s, (struct notice){NOTICE_NAMES_SKIPPED, .nr = patience.skipped});
	if (symbolizer)
		note_unanswered(s, symbolizer);
	if (err)
		save_otherwise(s, symbolizer, err, bytes);
	else if (s->beside)
		session_notice(s, (struct notice){NOTICE_BESIDE, .text = s->beside});
	session_notice(s, (struct notice){NOTICE_FLAGS, .nr = tables_run(s->tables)->flags &
	                                                      (TRACE_RUN_LINES_PACKED |
	                                                       TRACE_RUN_LINES_REFUSED)});
	symbolizer_free(symbolizer);
	return err;
}
