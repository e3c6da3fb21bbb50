#include "base/side_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 50 /* between two looks at pending signals */
#define LAST_FD INT_MAX

/* Descriptors first … last; close_range() is missing before Linux 5.9. */
static void close_files(int first, int last)
{
	struct rlimit limit;

	if (first > last || !syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0))
		return;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)last >= limit.rlim_cur)
		last = (int)limit.rlim_cur;
	for (int fd = first; fd <= last; fd++)
		close(fd);
}

static int fd_compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void close_others(const int *keep, size_t nr_keep, int own)
{
	int *kept = malloc((nr_keep + 1) * sizeof(*kept)), next = 0;

	if (!kept)
		_exit(1);
	if (nr_keep)
		memcpy(kept, keep, nr_keep * sizeof(*kept));
	kept[nr_keep] = own;
	qsort(kept, nr_keep + 1, sizeof(*kept), fd_compare);
	for (size_t i = 0; i <= nr_keep; i++) {
		close_files(next, kept[i] - 1);
		next = kept[i] + 1;
	}
	close_files(next, LAST_FD);
	free(kept);
}

/* Libraries may print to descriptors 0 … 2, which no other file is to have. */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", O_RDWR | O_CLOEXEC);
}

static _Noreturn void child(side_process_fn *run, void *arg, int fd, const int *keep,
                            size_t nr_keep)
{
	close_others(keep, nr_keep, fd);
	fill_standard_descriptors();
	run(arg, fd);
	_exit(0);
}

/* All signals are blocked before the fork: none reaches the child in between. */
static pid_t fork_blocked(void)
{
	sigset_t all, mask;
	pid_t pid;
	int errnum;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid = fork();
	errnum = errno;
	if (pid)
		sigprocmask(SIG_SETMASK, &mask, NULL);
	errno = errnum;
	return pid;
}

int side_process_start(struct side_process *process, side_process_fn *run, void *arg,
                       const int *keep, size_t nr_keep)
{
	int ends[2];

	*process = (struct side_process){.fd = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	process->pid = fork_blocked();
	if (!process->pid)
		child(run, arg, ends[1], keep, nr_keep);
	close(ends[1]);
	process->fd = ends[0];
	if (process->pid > 0)
		return 0;
	close(ends[0]);
	process->fd = -1;
	return -EAGAIN;
}

bool side_process_signal_waits(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGINT) || sigismember(&pending, SIGTERM);
}

bool side_process_wait(const struct side_process *process, int ms, bool hasty)
{
	struct pollfd readable = {.fd = process->fd, .events = POLLIN};

	for (int step = 0; ms >= 0; ms -= step) {
		step = hasty && ms > LOOK_MS ? LOOK_MS : ms;
		if (poll(&readable, 1, step) > 0)
			return true;
		if (ms == step || (hasty && side_process_signal_waits()))
			break;
	}
	return false;
}

void side_process_kill(struct side_process *process)
{
	if (process->fd < 0)
		return;
	kill(process->pid, SIGKILL);
	side_process_leave(process);
}

void side_process_leave(struct side_process *process)
{
	if (process->fd < 0)
		return;
	close(process->fd);
	process->fd = -1;
	waitpid(process->pid, NULL, WNOHANG); /* else whoever is our parent reaps it */
}
