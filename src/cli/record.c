#include "cli/commands.h"
#include "cli/record_options.h"
#include "record/session.h"

int cmd_record(int argc, char **argv)
{
	struct record_config config;
	sigset_t pipe, mask;
	int err;

	/* The command is to run, whether or not somebody reads what is said before it starts. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe, &mask);
	err = record_options(&config, argc, argv);
	return err ? err : session_run(&config, &mask);
}
