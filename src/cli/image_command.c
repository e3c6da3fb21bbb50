#include "cli/image_command.h"

#include "cli/foreign_options.h"
#include "cli/leftovers.h"
#include "cli/output_name.h"
#include "cli/open_trace.h"
#include "cli/say.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct image_command *command = state->input;

	switch (key) {
	case 'o':
		output_name_take(&command->output, arg);
		return 0;
	case ARGP_KEY_ARG:
		open_trace_take(&command->path, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

bool image_command_parse(struct image_command *command, int argc, char **argv,
                         const char *output_help, const char *doc)
{
	const struct argp_option options[] = {
		{"output", 'o', "OUT", 0, output_help, 0},
		{0},
	};
	const struct argp argp = {options, parse_option, "[FILE]", doc};

	*command = (struct image_command){0};
	if (foreign_options_parse(&argp, argc, argv, 2, 0, command))
		return false;
	command->unnamed = !command->path;
	if (command->unnamed)
		command->path = DEFAULT_TRACE;
	return true;
}

static bool has_default(const char *path, enum shm_image_holder holder)
{
	char *found = shm_image_found(path);

	free(found);
	return found && (holder == SHM_IMAGE_NOBODY || shm_image_held(path, holder));
}

bool image_command_choose(struct image_command *command, enum shm_image_holder holder,
                          char **chosen)
{
	int err = 0;

	*chosen = NULL;
	if (!command->unnamed || has_default(command->path, holder))
		return true;
	*chosen = leftovers_choose(holder, &err);
	if (*chosen)
		command->path = *chosen;
	return err != -EEXIST;
}

void image_command_say_foreign(const char *path)
{
	char *name = shm_image_found(path);

	say("'%s', where the recorder of '%s' has its memory, is not yours alone; remove it",
	    name ? name : "/dev/shm", path);
	free(name);
}
