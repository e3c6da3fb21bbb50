#include "record/tasks/process_fd.h"

#include "record/tasks/process.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define LOOK_NS 10000000

static int open_timer(pid_t pid)
{
	const struct itimerspec timer = {{0, LOOK_NS}, {0, LOOK_NS}};
	pid_t process = process_of(pid);
	int fd;

	if (process != pid)
		return process ? -EINVAL : -ESRCH;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd >= 0)
		timerfd_settime(fd, 0, &timer, NULL);
	return fd < 0 ? -errno : fd;
}

int process_fd_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0 && (errno == ENOSYS || errno == EPERM)) /* as filters answer, too */
		return open_timer(pid);
	return fd < 0 ? -errno : fd;
}

/* The first thread may have ended before others. */
static bool runs(pid_t pid)
{
	char text[PROCESS_STAT_SIZE], state;
	const char *stat = process_stat(pid, text);
	long threads;

	return stat &&
	       sscanf(stat,
	              " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld",
	              &state, &threads) == 2 &&
	       (!strchr("ZXx", state) || threads > 1);
}

bool process_fd_ended(int fd, pid_t pid)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	uint64_t ticks;

	if (read(fd, &ticks, sizeof(ticks)) < 0 && errno == EINVAL) /* no timer */
		return poll(&pollfd, 1, 0) == 1;
	return !runs(pid);
}
