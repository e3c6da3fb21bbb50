#include "cli/commands.h"
#include "cli/record/options.h"
#include "cli/record/status.h"
#include "cli/record/watching.h"
#include "cli/record/words.h"
#include "record/session.h"

/* The status comes first: the functions that show it get it as their argument. */
struct record_run {
	struct record_status status;
	struct watching watching;
	struct session_watcher watcher;
};

static void on_notice(void *arg, const struct notice *notice)
{
	struct record_run *run = arg;

	if (notice->topic == NOTICE_TABLES)
		run->watcher.helper = watching_start(&run->watching, run->status.config);
	if (notice->topic == NOTICE_MAY_STOP || notice->topic == NOTICE_NAMED)
		status_clear(&run->status);
	else
		record_say(run->status.config, notice);
}

static bool is_impatient(void *arg)
{
	(void)arg;
	return side_process_signal_waits();
}

int cmd_record(int argc, char **argv)
{
	struct record_config config;
	struct record_run run = {.status = {.config = &config}, .watching = {.pidfd = -1}};
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
	run.watcher = (struct session_watcher){
		.arg = &run,
		.notice = on_notice,
		.tick = status_show,
		.naming = status_show_file,
		.impatient = is_impatient,
		.saved = status_final,
	};
	stderr_writer_open(&run.status.messages);
	err = session_run(&config, &run.watcher);
	watching_end(&run.watching);
	stderr_writer_close(&run.status.messages);
	return err;
}
