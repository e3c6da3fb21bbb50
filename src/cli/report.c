/*
 * adaptrace report: where the time went, or whatever was sampled.
 */
#include "cli/commands.h"
#include "cli/late_names.h"
#include "cli/reading.h"
#include "cli/report_options.h"
#include "cli/say.h"
#include "output/report.h"
#include "output/report_job.h"
#include "output/text.h"
#include "symbolize/debuginfod.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CANDIDATES 20

/* --- options that need the trace -------------------------------------------------------------- */

/* In ns, of what is written behind a time: as reports write it, or as people do. 0: none of these.
 */
static double unit_of_time(const char *name)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{"", 1e9}, {"s", 1e9},    {"ms", 1e6}, {"us", 1e3},   {"µs", 1e3},
		{"ns", 1}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9},
	};

	name += strspn(name, " ");
	for (unsigned i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(name, units[i].name))
			return units[i].ns;
	return 0;
}

/* Seconds since the start, or a percentage of the run; what is empty keeps *time. */
static int parse_time(const struct trace_run *run, const char *text, uint64_t *time)
{
	double length = run->end > run->start ? (double)(run->end - run->start) : 0, value;
	char *end;

	if (!*text)
		return 0;
	value = strtod(text, &end);
	if (end == text || !isfinite(value))
		return -EINVAL;
	value *= !strcmp(end, "%") ? length / 100 : unit_of_time(end);
	if (value < 0 || value > 1e18 || (!unit_of_time(end) && strcmp(end, "%") != 0))
		return -EINVAL;
	*time = run->start + (uint64_t)value;
	return 0;
}

static int parse_span(const struct trace_run *run, const char *text, struct report_options *options)
{
	char from[64];
	const char *comma = strchr(text, ',');

	if (!comma || (size_t)(comma - text) >= sizeof(from))
		return -EINVAL;
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = 0;
	if (parse_time(run, from, &options->from) || parse_time(run, comma + 1, &options->to) ||
	    options->from >= options->to)
		return -EINVAL;
	if (options->from > run->end && run->end > run->start)
		return -ERANGE;
	/* The last sample belongs to the last part. */
	if (options->to >= run->end && run->end > run->start)
		options->to = UINT64_MAX;
	return 0;
}

static int choose_span(const struct trace_run *run, const char *text,
                       struct report_options *options)
{
	int err = parse_span(run, text, options);
	char length[TEXT_SIZE];

	if (err == -ERANGE) {
		text_quantity(length, (double)(run->end - run->start), TRACE_NS);
		say("'%s' begins behind the end of the run, which took %s", text, length);
	} else if (err) {
		say("cannot take '%s' for a part of the run; give FROM,TO in seconds since its "
		    "start, or as in 2min,3min or 25%%,50%%",
		    text);
	}
	return err;
}

/* Prints up to MAX_CANDIDATES names that a user may have meant. */
static void say_candidates(const struct report_command *command)
{
	const struct function_choice *choice = &command->choice;

	if (!choice->nr) {
		say("no sample is in a function named '%s'; adaptrace report --all shows those "
		    "there are",
		    command->function);
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
	                               !command->rows.report.no_inline);

	if (err) {
		say("cannot look for '%s': %s", command->function, strerror(-err));
		return err;
	}
	if (command->choice.nr != 1) {
		say_candidates(command);
		return -ENOENT;
	}
	command->rows.report.function = command->choice.names[0];
	return 0;
}

/* Trees are of functions if nothing else is asked for; callers and callees are of nothing else. */
static void complete_keys(struct report_options *options)
{
	unsigned nr = 0;

	if (!options->tree && options->direction == PROFILE_ALL)
		return;
	for (unsigned k = 0; k < options->nr_keys; k++)
		if (options->keys[k] & PROFILE_CLASS_KEYS || options->direction == PROFILE_ALL)
			options->keys[nr++] = options->keys[k];
	options->nr_keys = nr;
	for (unsigned k = 0; k < nr; k++)
		if (!(options->keys[k] & PROFILE_CLASS_KEYS))
			return;
	options->keys[options->nr_keys++] = PROFILE_BY_SYMBOL;
	options->keys[options->nr_keys++] = PROFILE_BY_MODULE;
}

static int choose_who(const struct trace *trace, struct report_command *command)
{
	const char *wrong = NULL;
	int err = command->nr_only
	                  ? who_init(&command->who, trace, command->only, command->nr_only, &wrong)
	                  : 0;

	if (err == -EINVAL)
		say("cannot take '%s' for whom to show; --only takes comm=NAME, process=PID, "
		    "thread=TID, rank=N and cpu=N",
		    wrong);
	else if (err == -ENOENT)
		say("nothing in '%s' is of %s; --sort comm, process, thread or cpu shows what is",
		    command->path, wrong);
	else if (err)
		reading_done(command->path, err);
	else if (command->nr_only)
		command->rows.report.who = &command->who;
	return err;
}

static int complete_options(const struct trace *trace, struct report_command *command)
{
	struct report_options *options = &command->rows.report;
	unsigned keys = 0;
	int err;

	for (unsigned k = 0; k < options->nr_keys; k++)
		keys |= options->keys[k];
	if (keys & PROFILE_MEMORY_KEYS && !(trace_run(trace)->flags & TRACE_RUN_DATA)) {
		say("'%s' has no memory accesses; record them with adaptrace record --data",
		    command->path);
		return -ENOENT;
	}
	if (command->rows.event &&
	    reading_find_event(trace, command->path, command->rows.event, &options->event))
		return -ENOENT;
	if (command->time && choose_span(trace_run(trace), command->time, options))
		return -EINVAL;
	err = choose_who(trace, command);
	if (err)
		return err;
	complete_keys(options);
	return command->function ? choose_function(trace, command) : 0;
}

/* --- the report ------------------------------------------------------------------------------- */

static int put_report(const struct trace *trace, const struct report_command *command)
{
	const struct report_options *options = &command->rows.report;
	const char *name = command->path;

	if (command->mpi)
		return command->rows.json ? report_mpi_json(stdout, trace, options)
		                          : report_mpi_text(stdout, trace, name, options);
	if (command->per_rank)
		return command->rows.json ? report_ranks_json(stdout, trace, options)
		                          : report_ranks_text(stdout, trace, name, options);
	return command->rows.json ? report_json(stdout, trace, options)
	                          : report_text(stdout, trace, name, options);
}

/* The exit status; what of it has a way out is told with it. */
static int report_done(const struct report_command *command, int err)
{
	if (err == -E2BIG)
		say("'%s' has too many callers to show; --max-depth leaves out the outer ones",
		    command->rows.report.function);
	else if (err == -ENODATA && command->mpi)
		say("'%s' has nothing of MPI: no calls, and no samples in its functions; adaptrace "
		    "record --mpi records calls",
		    command->path);
	else if (err == -ENODATA)
		say("'%s' knows no ranks; adaptrace merge makes one of the traces of all ranks",
		    command->path);
	else
		return reading_done(command->path, err);
	return 1;
}

static int renew_names(struct trace *trace, const struct debug_places *places)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (places->ask_server && !debuginfod_present()) {
		say("cannot ask debuginfod: its library is not installed (libdebuginfod1)");
		return -ENOENT;
	}
	if (places->ask_server && !(urls && *urls)) {
		say("cannot ask debuginfod: DEBUGINFOD_URLS names no server; for Debian's, set it "
		    "to https://debuginfod.debian.net");
		return -ENOENT;
	}
	return late_names(trace, places);
}

static int report(struct report_command *command)
{
	struct trace *trace = reading_open(command->path);
	int status = 1, err;

	if (!trace)
		return 1;
	err = command->symbols ? renew_names(trace, &command->places) : 0;
	if (!err)
		err = complete_options(trace, command);
	if (err == -EINVAL)
		status = 2;
	if (!err)
		status = report_done(command, put_report(trace, command));
	function_choice_fini(&command->choice);
	who_fini(&command->who);
	trace_close(trace);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct report_command command;
	int status = report_options(&command, argc, argv);

	status = status ? status : report(&command);
	free(command.only);
	return status;
}
