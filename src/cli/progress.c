#include "cli/progress.h"

#include "cli/terminal.h"
#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST_NS 1000000000 /* shorter work shows nothing */
#define EVERY_NS 200000000

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

/* A blocked signal waits even if it is ignored, as under nohup. */
static bool would_end(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler != SIG_IGN;
}

void progress_begin(struct progress *progress, bool hold, bool quiet)
{
	*progress = (struct progress){.hold = hold};
	progress->next = !quiet && terminal_obeys(STDERR_FILENO)
	                         ? clock_ns(CLOCK_MONOTONIC) + FIRST_NS
	                         : UINT64_MAX;
	sigemptyset(&progress->held);
	for (unsigned i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (would_end(ending[i]))
			sigaddset(&progress->held, ending[i]);
	if (hold)
		sigprocmask(SIG_BLOCK, &progress->held, &progress->old_mask);
}

/* Signals are held: a write to a terminal that was stopped (Ctrl-S) could not be interrupted. */
static bool is_writable(void)
{
	struct pollfd terminal = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&terminal, 1, 0) > 0;
}

void progress_clear(struct progress *progress)
{
	if (progress->shown && is_writable())
		fputs("\r\033[K", stderr);
	progress->shown = false;
}

void progress_end(struct progress *progress)
{
	progress_clear(progress);
	if (progress->hold)
		sigprocmask(SIG_SETMASK, &progress->old_mask, NULL);
}

static bool signal_waits(const struct progress *progress)
{
	sigset_t pending;

	sigpending(&pending);
	for (unsigned i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		if (sigismember(&pending, ending[i]) &&
		    !sigismember(&progress->old_mask, ending[i]))
			return true;
	return false;
}

int progress_tick(void *arg, double share)
{
	struct progress *progress = arg;
	uint64_t now = progress->next == UINT64_MAX ? 0 : clock_ns(CLOCK_MONOTONIC);

	if (progress->hold && signal_waits(progress))
		return -EINTR;
	if (progress->next == UINT64_MAX || now < progress->next)
		return 0;
	progress->next = now + EVERY_NS;
	if (!is_writable())
		return 0;
	progress->shown = true;
	fprintf(stderr, "\radaptrace: %3.0f %% converted", 100 * share);
	return 0;
}
