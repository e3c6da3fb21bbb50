#include "record/launch.h"

#include "record/tasks/process_fd.h"
#include "symbolize/modules/target_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ENVIRONMENT ((size_t)64 << 20)

enum order { REPLACE, GO };

/* Another child of our parent, which goes on in our place; or a negative errno. */
static void replace(int failure)
{
	/* Not clone3(), which some containers forbid. */
	int sibling = (int)syscall(SYS_clone, CLONE_PARENT, NULL, NULL, NULL, NULL);

	if (!sibling)
		return;
	if (sibling < 0)
		sibling = -errno;
	_exit(write(failure, &sibling, sizeof(sibling)) != sizeof(sibling));
}

static _Noreturn void child(char **argv, char **environment, const sigset_t *mask,
                            sighandler_t on_child, int barrier, int failure)
{
	char order = REPLACE;
	int errnum;

	while (order != GO) {
		if (read(barrier, &order, 1) != 1)
			_exit(125);
		if (order == REPLACE)
			replace(failure);
	}
	signal(SIGCHLD, on_child);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvpe(argv[0], argv, environment);
	errnum = errno;
	if (write(failure, &errnum, sizeof(errnum)) != sizeof(errnum))
		_exit(126);
	_exit(127);
}

/*
 * Reads /proc/self/environ. The file belongs to root while we have more rights than our user, so
 * the process is made dumpable for this moment.
 */
static char *original_environment(size_t *size)
{
	int dumpable = prctl(PR_GET_DUMPABLE), fd;
	char *text;

	if (dumpable != 1)
		prctl(PR_SET_DUMPABLE, 1);
	fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	if (dumpable != 1)
		prctl(PR_SET_DUMPABLE, 0);
	if (fd < 0)
		return NULL;
	text = target_file_read(fd, MAX_ENVIRONMENT, size);
	close(fd);
	return text;
}

/* The variables of a text of strings, in one piece of memory with them. */
static char **split_environment(const char *text, size_t size)
{
	size_t most = 1, nr = 0;
	char **variables, *copy;

	for (size_t i = 0; i < size; i++)
		most += !text[i];
	variables = malloc((most + 1) * sizeof(*variables) + size + 1);
	if (!variables)
		return NULL;
	copy = memcpy(&variables[most + 1], text, size);
	copy[size] = '\0';
	for (size_t at = 0; at < size; at += strlen(copy + at) + 1)
		variables[nr++] = copy + at;
	variables[nr] = NULL;
	return variables;
}

char **launch_environment(void)
{
	char *text, **variables;
	size_t size, nr = 0;

	if (getauxval(AT_SECURE)) {
		text = original_environment(&size);
		variables = text ? split_environment(text, size) : NULL;
		free(text);
		if (variables)
			return variables;
	}
	while (environ[nr])
		nr++;
	variables = calloc(nr + 1, sizeof(*variables));
	if (variables && nr)
		memcpy(variables, environ, nr * sizeof(*variables));
	return variables;
}

/* A child that starts in a cgroup: to be moved there later takes the kernel 10 ms and more. */
static pid_t fork_into(int cgroup)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (unsigned)cgroup,
	};

	return cgroup < 0 ? -1 : (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void close_pipe(const int ends[2])
{
	for (unsigned i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

int launch_prepare(struct launch *launch, char **argv, char **environment, const sigset_t *mask,
                   int cgroup)
{
	int barrier[2] = {-1, -1}, failure[2] = {-1, -1}, err;
	sighandler_t on_child = SIG_DFL;
	bool in_cgroup = false;
	pid_t pid = -1;

	if (!pipe2(barrier, O_CLOEXEC) && !pipe2(failure, O_CLOEXEC)) {
		/* Where it is ignored, as by who started us, the kernel keeps no exit statuses. */
		on_child = signal(SIGCHLD, SIG_DFL);
		pid = fork_into(cgroup);
		in_cgroup = pid >= 0;
		if (!in_cgroup)
			pid = fork();
	}
	if (pid < 0) {
		err = -errno;
		close_pipe(barrier);
		close_pipe(failure);
		return err;
	}
	if (!pid) {
		close(barrier[1]);
		child(argv, environment, mask, on_child, barrier[0], failure[1]);
	}
	close(barrier[0]);
	close(failure[1]);
	*launch = (struct launch){
		.pid = pid,
		.pidfd = process_fd_open(pid),
		.barrier = barrier[1],
		.failure = failure[0],
		.in_cgroup = in_cgroup,
		.waits = true,
	};
	if (launch->pidfd >= 0)
		return 0;
	err = launch->pidfd;
	launch_cancel(launch);
	return err;
}

int launch_replace(struct launch *launch)
{
	char order = REPLACE;
	int sibling;

	if (write(launch->barrier, &order, 1) != 1 ||
	    read(launch->failure, &sibling, sizeof(sibling)) != sizeof(sibling))
		return -EPIPE;
	if (sibling < 0)
		return sibling;
	waitpid(launch->pid, NULL, 0);
	close(launch->pidfd);
	launch->pid = sibling;
	launch->pidfd = process_fd_open(sibling);
	return launch->pidfd < 0 ? launch->pidfd : 0;
}

int launch_go(struct launch *launch)
{
	char order = GO;

	launch->waits = false;
	if (write(launch->barrier, &order, 1) != 1)
		return -EPIPE;
	close(launch->barrier);
	return 0;
}

bool launch_is_executing(const struct launch *launch)
{
	struct pollfd failure = {.fd = launch->failure, .events = POLLIN};

	return !launch->waits && poll(&failure, 1, 0) == 0;
}

int launch_failure(struct launch *launch)
{
	struct pollfd failure = {.fd = launch->failure, .events = POLLIN};
	int errnum = 0;

	/* Exec closes the other end; a failed one writes why. */
	if (poll(&failure, 1, 0) > 0 && read(failure.fd, &errnum, sizeof(errnum)) < 0)
		errnum = errno;
	close(launch->failure);
	return -errnum;
}

bool launch_ends(const struct launch *launch, int timeout_ms)
{
	struct pollfd ended = {.fd = launch->pidfd, .events = POLLIN};

	return poll(&ended, 1, timeout_ms) != 0;
}

void launch_reap_others(const struct launch *launch)
{
	siginfo_t info = {0};

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid &&
	       info.si_pid != launch->pid)
		waitpid(info.si_pid, NULL, 0);
}

void launch_cancel(struct launch *launch)
{
	if (!launch->waits)
		return;
	close(launch->barrier);
	close(launch->failure);
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	waitpid(launch->pid, NULL, 0);
	launch->waits = false;
}
