#include "cli/commands.h"
#include "cli/record/options.h"
#include "cli/record/status.h"
#include "cli/record/words.h"
#include "record/session.h"

static void on_notice(void *arg, const struct notice *notice)
{
	struct record_status *status = arg;

	if (notice->topic == NOTICE_MAY_STOP || notice->topic == NOTICE_NAMED)
		status_clear(status);
	else
		record_say(status->config, notice);
}

static bool is_impatient(void *arg)
{
	(void)arg;
	return side_process_signal_waits();
}

int cmd_record(int argc, char **argv)
{
	struct record_config config;
	struct record_status status = {.config = &config};
	const struct session_watcher watcher = {
		.arg = &status,
		.notice = on_notice,
		.tick = status_show,
		.naming = status_show_file,
		.impatient = is_impatient,
		.saved = status_final,
	};
	sigset_t pipe, mask;
	int err;

	/* The command is to run, whether or not somebody reads what is said before it starts. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigprocmask(SIG_BLOCK, &pipe, &mask);
	err = record_options(&config, argc, argv);
	if (err)
		return err;
	config.mask = mask;
	stderr_writer_open(&status.messages);
	err = session_run(&config, &watcher);
	stderr_writer_close(&status.messages);
	return err;
}
