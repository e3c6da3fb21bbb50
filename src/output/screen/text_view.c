#include "output/screen/text_view.h"

#include "base/clock.h"
#include "output/report/report.h"
#include "output/views/report_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OF_VIEW 50000 /* samples that stand for the whole run */
#define REFRESH     ((uint64_t)2000000000)
#define WIDE_TEXT   160 /* columns of views that are scrolled to the sides */
#define MOST_SHARE  20  /* views are made in one part in so many of the time */

void text_view_close(struct text_view *view)
{
	free(view->text);
	free(view->lines);
	free(view->function);
	*view = (struct text_view){0};
}

/* Takes the text. Returns false if it has no lines, or there is no memory. */
static bool split_lines(struct text_view *view, char *text)
{
	char **lines, *at = text, *end;
	size_t nr = 1;

	for (const char *c = at; *c; c++)
		nr += *c == '\n';
	lines = calloc(nr, sizeof(*lines));
	if (!lines || !*text) {
		free(lines);
		free(text);
		return false;
	}
	free(view->text);
	free(view->lines);
	view->text = text;
	view->lines = lines;
	for (view->nr = 0; *at; at = end + 1) {
		end = at + strcspn(at, "\n");
		lines[view->nr++] = at;
		if (!*end)
			break;
		*end = '\0';
	}
	return true;
}

/* --- reports ---------------------------------------------------------------------------------- */

static struct report_options options_of(const struct top_model *model, unsigned columns)
{
	struct report_options options = {
		.query = {.event = model->event,
	                  .keys = {PROFILE_BY_SYMBOL, PROFILE_BY_MODULE},
	                  .nr_keys = 2,
	                  .limit = 200,
	                  .no_inline = true,
	                  .sampled_alone = true},
		.style = {.width = columns, .no_header = true, .alone = true},
	};

	return options;
}

/* Names of callers are not known before somebody looks at them. */
static void name_functions(const struct top_model *model, unsigned columns)
{
	const struct report_options options = options_of(model, columns);
	const struct top_recording *recording = model->recording;
	struct profile_view view;
	struct profile *profile = report_profile(recording->trace(recording->arg),
	                                         options.query.event, &options.query, &view);

	if (profile)
		recording->name(recording->arg, profile, false);
	profile_free(profile);
}

static int calls_text(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options)
{
	(void)name;
	return trace_nr(trace, TRACE_INSTRUMENTS) ? report_calls_text(to, trace, options)
	                                          : -ENODATA;
}

typedef int report_fn(FILE *to, const struct trace *trace, const char *name,
                      const struct report_options *options);

static const struct {
	report_fn *fn;
	const char *nothing; /* what is said if it shows nothing */
} reports[] = {
	[TEXT_VIEW_TREE] = {report_text, " no tree can be shown"},
	[TEXT_VIEW_CALLS] = {calls_text, " no calls are recorded; record --mpi does that"},
	[TEXT_VIEW_RANKS] = {report_ranks_text,
                             " the recording has no ranks; record --mpi finds them"},
	[TEXT_VIEW_CALLERS] = {report_text, " it has no callers"},
	[TEXT_VIEW_CODE] = {report_text, " its code cannot be shown"},
};

/* Prints the report, of samples that stand for the whole run. Returns 0 or -errno. */
static int put_report(const struct text_view *view, const struct top_model *model, FILE *to,
                      unsigned columns)
{
	const struct top_recording *recording = model->recording;
	const bool fits = view->type == TEXT_VIEW_CALLS || columns > WIDE_TEXT;
	struct report_options options = options_of(model, fits ? columns : WIDE_TEXT);
	int err = recording->choose_window(recording->arg, 0);

	if (err)
		return err;
	recording->choose(recording->arg, 0, MAX_OF_VIEW);
	name_functions(model, columns);
	options.query.tree = view->type == TEXT_VIEW_TREE;
	options.query.function = view->function;
	if (view->type == TEXT_VIEW_CALLERS)
		options.query.direction = PROFILE_CALLERS;
	if (view->type == TEXT_VIEW_CODE) {
		options.query.annotate = true;
		options.query.nr_keys = 0;
	}
	return reports[view->type].fn(to, recording->trace(recording->arg), recording->path,
	                              &options);
}

/* Returns the text of the view, which may be empty; NULL: there is none. */
static char *make_text(const struct text_view *view, const struct top_model *model,
                       unsigned columns)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	int err;

	if (!to)
		return NULL;
	err = put_report(view, model, to, columns);
	if (!fclose(to) && !err)
		return text;
	free(text);
	return NULL;
}

/* --- help ------------------------------------------------------------------------------------- */

static char *help_text(void)
{
	return strdup(
		" adaptrace top\n\n"
		" f       functions of the last second\n"
		" t       threads\n"
		" r       ranks of an MPI program\n"
		" c       calls, where they are recorded\n"
		" g       call paths of the whole run, from the roots down\n"
		" ENTER   callers of the selected function\n"
		" a       instructions of the selected function\n"
		" s       sort by the last second, or by the whole run\n"
		" /       show only what has this text; ENTER ends it, ESC removes it\n"
		" SPACE   freeze the picture; the recording goes on\n"
		" q       quit; the recording goes on\n\n"
		" p       pause the program, or let it go on\n"
		" d       sample as often as at the start for 5 seconds, kept as a window\n"
		" e       show another event: ENTER the next one, or a name, which is then "
		"sampled,\n"
		"         for good: adaptrace ctl event drop NAME ends that\n"
		" m       mark this moment with a text\n"
		" w       write a trace of the run so far\n\n"
		" Error: half the width of the 95 % interval of the share of the last second.\n");
}

/* --- the view --------------------------------------------------------------------------------- */

/* Returns false if there is nothing to show; what is shown stays then. */
static bool make(struct text_view *view, const struct top_model *model, unsigned columns)
{
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	char *text = view->type == TEXT_VIEW_HELP ? help_text() : make_text(view, model, columns);
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), pause = MOST_SHARE * (now - began);

	view->due = now + (pause > REFRESH ? pause : REFRESH);
	return text && split_lines(view, text);
}

const char *text_view_open(struct text_view *view, const struct top_model *model,
                           enum text_view_type type, const char *function, unsigned columns)
{
	struct text_view opened = {.type = type, .function = function ? strdup(function) : NULL};
	const bool is_made = (!function || opened.function) && make(&opened, model, columns);

	text_view_close(view);
	if (is_made) {
		*view = opened;
		return NULL;
	}
	text_view_close(&opened);
	return type < TEXT_VIEW_HELP ? reports[type].nothing : "";
}

void text_view_refresh(struct text_view *view, const struct top_model *model, unsigned columns)
{
	if (!view->lines || view->type == TEXT_VIEW_HELP || clock_ns(CLOCK_MONOTONIC) < view->due)
		return;
	make(view, model, columns);
	if (view->first >= view->nr)
		view->first = view->nr ? view->nr - 1 : 0;
}
