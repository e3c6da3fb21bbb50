#include "cli/record/watching.h"

#include "base/side_process.h"
#include "cli/say.h"
#include "cli/watch/privileges.h"
#include "trace/live/shm_image.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOOK_MS 50
#define PROGRAM "/proc/self/exe"

/* The terminal's signals are for the program; the watcher ends when the recorder does. */
static void block_signals(void)
{
	static const int blocked[] = {SIGINT, SIGQUIT, SIGTSTP, SIGHUP};
	sigset_t mask;

	sigemptyset(&mask);
	for (unsigned i = 0; i < sizeof(blocked) / sizeof(*blocked); i++)
		sigaddset(&mask, blocked[i]);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

static _Noreturn void become_watcher(const struct record_config *config, char *trace_path)
{
	char *argv[2 * CONFIG_MAX_CONDITIONS + 4] = {(char *)"adaptrace", (char *)"watch",
	                                             trace_path};
	unsigned nr = 3;

	for (unsigned i = 0; i < config->nr_conditions; i++) {
		argv[nr++] = (char *)"--on";
		argv[nr++] = (char *)config->conditions[i];
	}
	privileges_close_files(-1, STDERR_FILENO);
	block_signals();
	privileges_drop(true);
	execv(PROGRAM, argv);
	_exit(127);
}

pid_t watching_start(struct watching *watching, const struct record_config *config)
{
	char *path;
	pid_t pid;

	if (!config->nr_conditions)
		return 0;
	path = shm_image_absolute(config->output);
	pid = path ? fork() : -1;
	if (!pid)
		become_watcher(config, path);
	if (pid < 0)
		say("conditions are not watched for: %s", strerror(errno));
	else
		watching->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	free(path);
	return pid > 0 ? pid : 0;
}

void watching_end(struct watching *watching)
{
	struct pollfd ended = {.fd = watching->pidfd, .events = POLLIN};

	if (watching->pidfd < 0)
		return;
	while (!poll(&ended, 1, LOOK_MS) && !side_process_signal_waits())
		continue;
	close(watching->pidfd);
}
