/*
 * adaptrace merge: the traces of all ranks of a job as one.
 */
#include "cli/bounds.h"
#include "cli/commands.h"
#include "cli/foreign_options.h"
#include "cli/output_name.h"
#include "cli/open_trace.h"
#include "cli/size.h"
#include "cli/say.h"
#include "cli/trace_list.h"
#include "hmb/arena.h"
#include "trace/merge/merge.h"
#include "base/new_file.h"
#include "output/text/text.h"

#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct merge_command {
	const char *output, *named; /* by -o; NULL: it was not given */
	struct trace_list traces;
	size_t budget;
};

/* The arguments become the traces that they stand for. */
static int find_traces(struct merge_command *command, char *const *arguments, int nr)
{
	for (int i = 0; i < nr; i++) {
		int err = trace_list_add(&command->traces, arguments[i], command->named);

		if (err) {
			say("cannot read '%s': %s", arguments[i], strerror(-err));
			return 1;
		}
	}
	if (command->traces.nr)
		return 0;
	say("no trace to merge: no file there ends in .atr; name the traces of the ranks");
	return 1;
}

/* --- the command line ------------------------------------------------------------------------- */

struct arguments {
	struct merge_command command;
	char **arguments;
	int nr;
};

static const struct argp_option options_known[] = {
	{"output", 'o', "OUT", 0, "write the trace here (" DEFAULT_TRACE ")", 0},
	{"memory", 'm', "SIZE", 0,
         "the buffer of the merged trace (as much as the traces need, 1G at most)", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'o':
		output_name_take(&arguments->command.named, arg);
		return 0;
	case 'm':
		if (size_parse(arg, &arguments->command.budget) ||
		    arguments->command.budget < ARENA_MIN_SIZE ||
		    arguments->command.budget > ARENA_MAX_SIZE)
			say_usage("-m takes a size from 64K to 64G, not '%s'", arg);
		return 0;
	case ARGP_KEY_ARGS:
		arguments->arguments = state->argv + state->next;
		arguments->nr = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		say_usage("name the traces of the ranks, or a folder with them");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void tell(const struct merge_command *command, const struct merge_result *result)
{
	char size[TEXT_SIZE], error[TEXT_SIZE];

	text_bytes(size, result->bytes);
	text_quantity(error, (double)result->clock_error, TRACE_NS);
	say("merged %zu trace%s, %u rank%s on %u host%s: %s → %s", command->traces.nr,
	    plural(command->traces.nr), result->nr_ranks, plural(result->nr_ranks),
	    result->nr_hosts, plural(result->nr_hosts), size, command->output);
	if (result->clock_error == UINT64_MAX)
		say("no messages tell how the hosts' clocks differ: they are as good as their "
		    "real time");
	else if (result->nr_hosts > 1)
		say("the hosts' clocks agree within %s", error);
	if (result->uncounted)
		say("what counters counted is left out: not all traces have the same counters");
	if (result->lost_windows)
		say("%u window%s left out: a trace has room for so many; their own traces show "
		    "them",
		    result->lost_windows, result->lost_windows == 1 ? " was" : "s were");
	if (result->older)
		say("%llu sample%s of histories left out: not all histories go back that far",
		    (unsigned long long)result->older, result->older == 1 ? " was" : "s were");
	if (result->thinned)
		say("%llu sample%s left out%s", (unsigned long long)result->thinned,
		    result->thinned == 1 ? " was" : "s were",
		    result->uneven ? "" : ", so that those of all ranks weigh the same");
	if (result->uneven)
		say("not all ranks were recorded with the same -c or -F: the period that reports "
		    "show is that of some ranks");
}

/*
 * Rejects an input that the merge would replace. An existing output file is kept under its name
 * with .old, which may be the name of an input, too.
 */
static int check_inputs(const struct merge_command *command)
{
	char old[PATH_MAX];

	snprintf(old, sizeof(old), "%s.old", command->output);
	for (size_t i = 0; i < command->traces.nr; i++) {
		const char *input = command->traces.paths[i];

		if (!output_name_takes(command->output, command->named, input) &&
		    (access(command->output, F_OK) || !new_file_is_same(old, input)))
			continue;
		say("'%s' is one of the traces to merge, and would be replaced; name another "
		    "output with -o",
		    input);
		return -EEXIST;
	}
	return 0;
}

/* Before the work, which may be long. */
static int check_output(const struct merge_command *command)
{
	int err = new_file_check(command->output);

	if (err)
		say("cannot write '%s': %s; -o names another place", command->output,
		    new_file_error(err));
	return err ? err : check_inputs(command);
}

static int merge(struct merge_command *command)
{
	const struct merge_config config = {command->traces.paths, command->traces.nr,
	                                    command->budget};
	char why[MERGE_WHY_SIZE];
	char text[BOUNDS_TEXT_SIZE];
	struct merge_result result;
	int err;

	if (check_output(command))
		return 1;
	bounds_memory(bounds_traces_size(config.paths, config.nr), config.budget);
	err = merge_write(command->output, &config, &result, why);
	if (err == -ENOMEM)
		say("cannot write '%s': %s", command->output, bounds_strerror(ENOMEM, text));
	else if (err)
		say("%s", why);
	if (err)
		return 1;
	tell(command, &result);
	return 0;
}

int cmd_merge(int argc, char **argv)
{
	const struct argp argp = {
		options_known,
		parse_option,
		"FILE|FOLDER...",
		"Joins the traces of all ranks of a job into one, with the clocks of their hosts "
		"brought together.",
	};
	struct arguments arguments = {0};
	struct merge_command *command = &arguments.command;
	int status;

	if (foreign_options_parse(&argp, argc, argv, 2, 0, &arguments))
		return 2;
	command->output = command->named ? command->named : DEFAULT_TRACE;
	status = find_traces(command, arguments.arguments, arguments.nr);
	if (!status)
		status = merge(command);
	trace_list_fini(&command->traces);
	return status;
}
