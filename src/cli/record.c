#include "cli/commands.h"
#include "cli/record_options.h"
#include "cli/session.h"

int cmd_record(int argc, char **argv)
{
	struct options options;
	int error = record_options(&options, argc, argv);

	return error ? error : session_run(&options);
}
