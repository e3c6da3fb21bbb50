#include "record/save.h"

#include "cli/renew_names.h"
#include "cli/say.h"
#include "record/session.h"
#include "cli/record_status.h"
#include "output/text/text.h"
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

/* False for the file at hand, too: it may lie where nothing answers. */
static bool shall_go_on(void *arg)
{
	struct patience *patience = arg;
	uint64_t taken = clock_ns(CLOCK_MONOTONIC) - patience->start;

	if (!patience->skipped && (taken <= PATIENCE_NS || !side_process_signal_waits()))
		return true;
	patience->skipped++;
	return false;
}

static bool still_wanted(void *arg, const char *path)
{
	struct patience *patience = arg;

	if (!shall_go_on(arg))
		return false;
	status_show_file(patience->session, path);
	return true;
}

static void say_unanswered(const struct symbolizer *symbolizer)
{
	struct symbolizer_stats stats;

	symbolizer_stats(symbolizer, &stats);
	if (stats.unanswered)
		say("names in %llu file%s are missing, whose file system does not answer; when it "
		    "does, adaptrace report --symbols looks them up",
		    (unsigned long long)stats.unanswered, plural(stats.unanswered));
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

/* The whole name is told: the folder may have gone, and recover looks for the name alone. */
static void say_not_written(struct session *s, struct symbolizer *symbolizer, int err,
                            uint64_t *bytes)
{
	const char *output = s->config->output, *why = new_file_error(err);
	char path[PATH_MAX];

	if (tables_recoverable(s->tables) && is_findable(s->config->place)) {
		tables_keep(s->tables);
		say("cannot write '%s': %s; it is kept in memory, and saved by: adaptrace recover "
		    "-o ANOTHER.atr '%s'",
		    output, why, s->config->place);
	} else if (save_elsewhere(s, symbolizer, bytes, path)) {
		say("cannot write '%s': %s; the trace is '%s' instead", output, why, path);
	} else {
		say("cannot write '%s': %s; the trace is lost", output, why);
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
	status_clear(s);
	if (patience.skipped)
		say("names in %lu file%s were skipped; adaptrace report --symbols looks them up",
		    patience.skipped, plural(patience.skipped));
	if (symbolizer)
		say_unanswered(symbolizer);
	if (err)
		say_not_written(s, symbolizer, err, bytes);
	else if (s->beside)
		say("'%s' was taken meanwhile, and stays as it is: the trace is '%s'",
		    s->config->output, s->beside);
	names_say_lineless(tables_run(s->tables)->flags);
	symbolizer_free(symbolizer);
	return err;
}
