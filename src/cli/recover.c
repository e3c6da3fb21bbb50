/*
 * adaptrace recover: a trace from the buffer that a killed recorder left.
 */
#include "cli/commands.h"
#include "cli/reading.h"
#include "cli/say.h"
#include "output/text.h"
#include "output/trace_write.h"
#include "perf/cgroup.h"

#include <argp.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct recover_command {
	const char *path, *output;
};

/* --- modules ---------------------------------------------------------------------------------- */

static struct module *add_file(struct module_table *modules, const struct tables *tables,
                               const struct trace_module *entry)
{
	struct module_file file = {
		.path = tables_string_at(tables, entry->path),
		.pid = getpid(),
		.build_id.size = entry->build_id_size,
	};

	if (file.path[0] != '/' || entry->build_id_size > BUILD_ID_MAX)
		return NULL;
	memcpy(file.build_id.bytes, entry->build_id, entry->build_id_size);
	return module_table_file(modules, &file);
}

/* The processes are gone: what they made at run time has no names, and their numbers are others'.
 */
static struct module *add_module(struct module_table *modules, const struct tables *tables,
                                 const struct trace_module *entry)
{
	switch (entry->kind) {
	case MODULE_FILE:
		return add_file(modules, tables, entry);
	case MODULE_VDSO:
		return module_table_vdso(modules);
	case MODULE_KERNEL:
		return module_table_kernel(modules, entry->window << 32);
	default:
		return NULL;
	}
}

/* The modules of the run under their numbers. Those that cannot be told apart now have no names. */
static struct module_table *all_modules(const struct tables *tables)
{
	struct table table = tables_section(tables, TRACE_MODULES);
	const struct trace_module *entries = table.entries;
	struct module_table *modules = module_table_new();

	for (size_t id = 1; modules && id < table.nr; id++) {
		add_module(modules, tables, &entries[id]);
		if (module_table_count(modules) == id)
			module_table_anon(modules, -(pid_t)id, 0);
		if (module_table_count(modules) != id + 1)
			break;
	}
	return modules;
}

/* --- the trace -------------------------------------------------------------------------------- */

static void say_why_not(const char *path, int error)
{
	switch (error) {
	case ENOENT:
		say("there is nothing to recover for '%s'; name the file that a killed recorder of "
		    "yours would have written",
		    path);
		break;
	case EBUSY:
		say("cannot recover '%s': its recorder is still at work and will write it", path);
		break;
	case EBADMSG:
		say("cannot recover '%s': what its recorder left makes no sense; was it another "
		    "version of adaptrace?",
		    path);
		break;
	case EACCES:
		say("cannot recover '%s': what its recorder left is not yours alone; remove "
		    "/dev/shm/adaptrace-%u-*",
		    path, geteuid());
		break;
	default:
		say("cannot recover '%s': %s", path, strerror(error));
	}
}

static int write_recovered(const struct recover_command *command, struct tables *tables)
{
	struct module_table *modules = all_modules(tables);
	struct symbolizer *symbolizer = modules ? symbolizer_new(modules) : NULL;
	uint64_t bytes = 0;
	char size[TEXT_SIZE];
	int err = symbolizer ? 0 : -ENOMEM;

	tables_run(tables)->flags |= TRACE_RUN_RECOVERED;
	if (!err)
		err = trace_write(command->output, tables, modules, symbolizer, &bytes);
	symbolizer_free(symbolizer);
	module_table_free(modules);
	if (err) {
		say("cannot write '%s': %s; -o names another place", command->output,
		    strerror(-err));
		return 1;
	}
	text_bytes(size, bytes);
	say("recovered %s → %s", size, command->output);
	tables_recovered(tables);
	return 0;
}

/* A recorder that was killed while it set up left no more than its intention. */
static bool had_begun(const struct tables *tables)
{
	struct table events = tables_section(tables, TRACE_EVENTS);
	const struct trace_event *event = events.entries;

	for (size_t i = 0; i < events.nr; i++)
		if (event[i].unit != TRACE_CALLS && !event[i].base_period)
			return false;
	return events.nr;
}

static int recover(const struct recover_command *command)
{
	size_t budget;
	struct tables *tables = tables_recover(command->path, &budget);
	int status;

	if (!tables) {
		say_why_not(command->path, errno);
		return 1;
	}
	if (had_begun(tables)) {
		status = write_recovered(command, tables);
	} else {
		say("the recorder of '%s' was killed before it took any sample: nothing is lost",
		    command->path);
		tables_recovered(tables);
		status = 1;
	}
	tables_free(tables);
	return status;
}

static const struct argp_option options_known[] = {
	{"output", 'o', "OUT", 0, "write the trace here (FILE)", 0},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct recover_command *command = state->input;

	switch (key) {
	case 'o':
		command->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		reading_take(state, &command->path, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int cmd_recover(int argc, char **argv)
{
	char name[] = "adaptrace recover";
	const struct argp argp = {
		options_known,
		parse_option,
		"[FILE]",
		"Makes a trace of what a killed recorder had taken in, and gives its memory "
		"back.\v"
		"FILE is the name that the recorder would have written: adaptrace.atr if not "
		"given.",
		NULL,
		NULL,
		NULL,
	};
	struct recover_command command = {0};

	argv[0] = name; /* what argp calls the program */
	argp_err_exit_status = 2;
	if (argp_parse(&argp, argc, argv, 0, NULL, &command))
		return 2;
	if (!command.path)
		command.path = DEFAULT_TRACE;
	if (!command.output)
		command.output = command.path;
	cgroup_sweep();
	return recover(&command);
}
