#include "cli/say.h"
#include "cli/session.h"
#include "perf/text_file.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_THREADS 65536
#define TRIES        5

static int compare_tids(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The threads of a process, ascending; their number, or -errno. */
static int list_threads(pid_t pid, pid_t **threads)
{
	char path[32];
	struct dirent *entry;
	int nr = 0, room = 0;
	DIR *dir;

	*threads = NULL;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir)) && nr < MOST_THREADS) {
		pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
		pid_t *more = *threads;

		if (tid <= 0)
			continue;
		if (nr == room)
			more = realloc(*threads, (size_t)(room = 2 * room + 16) * sizeof(pid_t));
		if (!more)
			break;
		*threads = more;
		more[nr++] = tid;
	}
	closedir(dir);
	if (!nr)
		return -ESRCH;
	qsort(*threads, (size_t)nr, sizeof(pid_t), compare_tids);
	return nr;
}

/* Whether every thread of `now` was among those that the events were opened for. */
static bool all_known(const pid_t *known, int nr_known, const pid_t *now, int nr_now)
{
	for (int i = 0; known && now && i < nr_now; i++)
		if (!bsearch(&now[i], known, (size_t)nr_known, sizeof(pid_t), compare_tids))
			return false;
	return true;
}

/*
 * Threads that are born between listing and opening inherit nothing. So what was opened is kept
 * only if nobody new has come meanwhile; a process that never holds still is taken as it is.
 */
static int try_open(struct session *s, bool *settled)
{
	pid_t *threads, *after = NULL;
	int nr = list_threads(s->options->attach, &threads), nr_after, error;

	if (nr < 0) {
		say("cannot attach to process %d: %s", (int)s->options->attach, strerror(-nr));
		return nr;
	}
	error = session_open_sampler(s, threads, (size_t)nr);
	if (!error) {
		nr_after = list_threads(s->options->attach, &after);
		*settled = nr_after <= 0 || all_known(threads, nr, after, nr_after);
	}
	free(threads);
	free(after);
	return error;
}

/* The process that a thread belongs to; 0: there is no such thread. */
static pid_t process_of(pid_t tid)
{
	char path[32], text[512];
	const char *pid;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	if (text_file_read(path, text, sizeof(text)))
		return 0;
	pid = strstr(text, "\nTgid:");
	return pid ? (pid_t)strtol(pid + strlen("\nTgid:"), NULL, 10) : 0;
}

static bool has_ended(int pidfd)
{
	struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};

	return poll(&poll_fd, 1, 0) == 1;
}

static int open_target(struct session *s)
{
	pid_t pid = s->options->attach, process;
	int error = 0;

	s->target_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (s->target_fd >= 0 && !has_ended(s->target_fd))
		return 0;
	if (s->target_fd >= 0) {
		say("process %d has ended; only its parent has still to see that", (int)pid);
		return -ESRCH;
	}
	error = -errno;
	process = process_of(pid);
	if (process && process != pid)
		say("%d is a thread; give its process: -p %d", (int)pid, (int)process);
	else
		say("no process %d: %s", (int)pid, strerror(-error));
	return error;
}

int session_attach(struct session *s)
{
	bool settled = false;
	int error = open_target(s);

	for (unsigned i = 0; i < TRIES && !settled && !error; i++) {
		sampler_close(s->sampler);
		s->sampler = NULL;
		error = try_open(s, &settled);
	}
	if (error)
		return error;
	if (!settled)
		say("process %d starts threads faster than they can be attached to: some may be "
		    "missing",
		    (int)s->options->attach);
	error = sampler_enable(s->sampler);
	if (!error)
		error = tasks_add_running(&s->tasks, s->options->attach);
	if (error)
		say("cannot attach to process %d: %s", (int)s->options->attach, strerror(-error));
	return error;
}
