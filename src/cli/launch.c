#include "cli/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void child(char **argv, char **environment, const sigset_t *mask, int barrier,
                            int failure)
{
	char go;
	int error;

	if (read(barrier, &go, 1) != 1)
		_exit(125);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvpe(argv[0], argv, environment);
	error = errno;
	if (write(failure, &error, sizeof(error)) != sizeof(error))
		_exit(126);
	_exit(127);
}

int launch_prepare(struct launch *launch, char **argv, char **environment, const sigset_t *mask)
{
	int barrier[2], failure[2], error;
	pid_t pid;

	if (pipe2(barrier, O_CLOEXEC))
		return -errno;
	if (pipe2(failure, O_CLOEXEC))
		goto out_barrier;
	pid = fork();
	if (pid < 0)
		goto out_failure;
	if (!pid) {
		close(barrier[1]);
		child(argv, environment, mask, barrier[0], failure[1]);
	}
	close(barrier[0]);
	close(failure[1]);
	launch->pid = pid;
	launch->barrier = barrier[1];
	launch->failure = failure[0];
	launch->pidfd = (int)syscall(SYS_pidfd_open, launch->pid, 0);
	if (launch->pidfd >= 0)
		return 0;
	error = -errno;
	launch_cancel(launch);
	return error;
out_failure:
	error = -errno;
	close(failure[0]);
	close(failure[1]);
	goto out;
out_barrier:
	error = -errno;
out:
	close(barrier[0]);
	close(barrier[1]);
	return error;
}

int launch_go(struct launch *launch)
{
	int error = 0;

	if (write(launch->barrier, "", 1) != 1)
		error = EPIPE;
	close(launch->barrier);
	/* Exec closes the other end; a failed one writes why. */
	if (read(launch->failure, &error, sizeof(error)) < 0)
		error = errno;
	close(launch->failure);
	return -error;
}

void launch_cancel(struct launch *launch)
{
	close(launch->barrier);
	close(launch->failure);
	if (launch->pidfd >= 0)
		close(launch->pidfd);
	waitpid(launch->pid, NULL, 0);
	launch->pid = 0;
}
