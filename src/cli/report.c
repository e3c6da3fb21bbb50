/*
 * adaptrace report: where the time went, or whatever was sampled.
 */
#include "cli/bounds.h"
#include "cli/commands.h"
#include "cli/renew_names.h"
#include "cli/leftovers.h"
#include "cli/pager.h"
#include "cli/plain_text.h"
#include "cli/open_trace.h"
#include "cli/report_options.h"
#include "cli/say.h"
#include "output/text/function_name.h"
#include "output/text/name_parts.h"
#include "output/report/report.h"
#include "output/views/job.h"
#include "output/text/text.h"
#include "base/suggest.h"
#include "symbolize/elf/debug_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CANDIDATES 20

/* --- options that need the trace -------------------------------------------------------------- */

/* A part of a name from here on, up to what it takes. */
static void offer_part(struct suggest *suggest, const char *part)
{
	char text[SUGGEST_NAME_MAX];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(part, "(<"), part);
	suggest_offer(suggest, text);
}

/* The nearest of its parts: people leave out classes and parameters. */
static void offer_name(struct suggest *suggest, const char *name)
{
	struct suggest parts;

	suggest_init(&parts, suggest->wanted);
	suggest_offer(&parts, name);
	for (const char *part = name; part; part = name_next_part(name, part))
		offer_part(&parts, part);
	if (parts.nr)
		suggest_offer(suggest, parts.best[0].name);
}

/* A name without what it takes, of which part it is, and what other tools add; NULL: no memory. */
static char *plain_name(const char *typed)
{
	char *read = malloc(FUNCTION_NAME_SIZE), *text = malloc(FUNCTION_NAME_SIZE), *plain = NULL;
	size_t whole;

	if (read && text) {
		function_name_read(typed, read);
		whole = function_name_whole(read);
		if (whole)
			read[whole] = '\0';
		plain = strdup(function_name_common(read, FUNCTION_NO_ARGUMENTS, text));
	}
	free(read);
	free(text);
	return plain;
}

static void say_near_names(const struct trace *trace, const struct report_command *command)
{
	char ending[4 * SUGGEST_NAME_MAX];
	char *wanted = plain_name(command->function);
	struct function_choice all;
	struct suggest suggest;

	suggest_init(&suggest, wanted ? wanted : command->function);
	if (!function_choice_init(&all, trace, NAME_DOTS, !command->rows.report.query.no_inline))
		for (size_t i = 0; i < all.nr; i++)
			offer_name(&suggest, all.names[i]);
	function_choice_fini(&all);
	suggest_print(&suggest, "; adaptrace report --all shows those there are", ending,
	              sizeof(ending));
	say("no sample is in a function named '%s'%s", command->function, ending);
	free(wanted);
}

/* Prints up to MAX_CANDIDATES names that a user may have meant. */
static void say_candidates(const struct trace *trace, const struct report_command *command)
{
	const struct function_choice *choice = &command->choice;

	if (!choice->nr) {
		say_near_names(trace, command);
		return;
	}
	say("'%s' may be %zu functions; give more of the name, or one in full:", command->function,
	    choice->nr);
	for (size_t i = 0; i < choice->nr && i < MAX_CANDIDATES; i++) {
		fputs("  ", stderr);
		text_put(stderr, choice->names[i], 0);
		fputc('\n', stderr);
	}
	if (choice->nr > MAX_CANDIDATES)
		fprintf(stderr, "  and %zu more\n", choice->nr - MAX_CANDIDATES);
}

static int choose_function(const struct trace *trace, struct report_command *command)
{
	int err = function_choice_init(&command->choice, trace, command->function,
	                               !command->rows.report.query.no_inline);

	if (err) {
		say("cannot look for '%s': %s", command->function, strerror(-err));
		return err;
	}
	if (command->choice.nr != 1) {
		say_candidates(trace, command);
		return -ENOENT;
	}
	command->rows.report.query.function = command->choice.names[0];
	return 0;
}

/* Trees are of functions if nothing else is asked for; callers and callees are of nothing else. */
static void complete_keys(struct report_options *options)
{
	unsigned nr = 0;

	if (!options->query.tree && options->query.direction == PROFILE_ALL)
		return;
	for (unsigned k = 0; k < options->query.nr_keys; k++)
		if (options->query.keys[k] & PROFILE_CLASS_KEYS ||
		    options->query.direction == PROFILE_ALL)
			options->query.keys[nr++] = options->query.keys[k];
	options->query.nr_keys = nr;
	for (unsigned k = 0; k < nr; k++)
		if (!(options->query.keys[k] & PROFILE_CLASS_KEYS))
			return;
	options->query.keys[options->query.nr_keys++] = PROFILE_BY_SYMBOL;
	options->query.keys[options->query.nr_keys++] = PROFILE_BY_MODULE;
}

static int complete_options(const struct trace *trace, struct report_command *command)
{
	struct report_options *options = &command->rows.report;
	int err;

	if (!row_options_fit(&command->rows, trace, command->path))
		return -ENOENT;
	if (command->rows.event &&
	    open_trace_find_event(trace, command->path, command->rows.event, &options->query.event))
		return -ENOENT;
	err = selection_choose(&command->selection, trace, command->path,
	                       &options->query.selection);
	if (err)
		return err;
	complete_keys(options);
	return command->function ? choose_function(trace, command) : 0;
}

/* --- the report ------------------------------------------------------------------------------- */

static int page_report(const struct trace *trace, const struct report_command *command)
{
	const struct row_options *rows = &command->rows;
	FILE *to;
	int err;

	if (command->svg)
		return command->view->svg(stdout, trace, &rows->report.query);
	if (rows->json)
		return command->view->json(stdout, trace, &rows->report.query);
	err = plain_text_start();
	if (err)
		return err;
	to = pager_open(!rows->no_pager);
	err = command->view->text(to, trace, command->path, &rows->report);
	pager_close(to);
	return err;
}

/* The exit status; what of it has a way out is told with it. */
static int report_done(const struct report_command *command, int err)
{
	if (err == -E2BIG)
		say("'%s' has too many callers to show; --max-depth leaves out the outer ones",
		    command->rows.report.query.function);
	else if (err == -ENODATA && command->view->nothing)
		say("'%s' %s", command->path, command->view->nothing);
	else if (err == -ENOMSG && command->view->no_samples)
		say("'%s' %s", command->path, command->view->no_samples);
	else
		return open_trace_status(command->path, err);
	return 1;
}

static int renew_names(struct trace *trace, const struct debug_search *search)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (search->ask_server && !debuginfod_present()) {
		say("cannot ask debuginfod: its library is not installed (libdebuginfod1)");
		return -ENOENT;
	}
	if (search->ask_server && !(urls && *urls)) {
		say("cannot ask debuginfod: DEBUGINFOD_URLS names no server; for Debian's, set it "
		    "to https://debuginfod.debian.net");
		return -ENOENT;
	}
	return names_renew(trace, search);
}

/* Debug information may be large, however small the trace is. */
static int renew_names_unbounded(struct trace *trace, const struct debug_search *search)
{
	const rlim_t bound = bounds_set_memory(RLIM_INFINITY);
	int err = renew_names(trace, search);

	bounds_set_memory(bound);
	return err;
}

static int report(struct report_command *command)
{
	struct trace *trace = open_trace(command->path);
	int status = 1, err;

	if (!trace)
		return 1;
	leftovers_say_own(command->path);
	err = command->symbols ? renew_names_unbounded(trace, &command->search) : 0;
	if (!err)
		err = selection_choose_window(&command->selection, trace, command->path);
	if (!err)
		err = complete_options(trace, command);
	if (err == -EINVAL)
		status = 2;
	if (!err)
		status = report_done(command, page_report(trace, command));
	function_choice_fini(&command->choice);
	trace_close(trace);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct report_command command;
	int status = report_options(&command, argc, argv);

	status = status ? status : report(&command);
	selection_options_fini(&command.selection);
	return status;
}
