#include "cli/watch/privileges.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_FDS 65536

static struct __user_cap_header_struct header(void)
{
	return (struct __user_cap_header_struct){.version = _LINUX_CAPABILITY_VERSION_3};
}

static bool may_read_names(void)
{
	struct __user_cap_header_struct head = header();
	struct __user_cap_data_struct data[2] = {0};

	return !syscall(SYS_capget, &head, data) &&
	       data[CAP_TO_INDEX(CAP_SYSLOG)].permitted & CAP_TO_MASK(CAP_SYSLOG);
}

/* Root would get the whole bounding set back with the next program. */
static void drop_bounding(bool names)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (!names || cap != CAP_SYSLOG)
			prctl(PR_CAPBSET_DROP, cap);
}

void privileges_drop(bool names)
{
	struct __user_cap_header_struct head = header();
	struct __user_cap_data_struct data[2] = {0};
	const uint32_t mask = CAP_TO_MASK(CAP_SYSLOG);

	names = names && may_read_names();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	drop_bounding(names);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (names)
		data[CAP_TO_INDEX(CAP_SYSLOG)] = (struct __user_cap_data_struct){mask, mask, mask};
	syscall(SYS_capset, &head, data);
	if (names)
		prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYSLOG, 0, 0);
}

static void set_descriptor(int fd, int to)
{
	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	if (fd >= 0 && fd != to)
		dup2(fd, to);
}

static void close_others(void)
{
	struct rlimit limit = {.rlim_cur = MAX_FDS};

	if (!syscall(SYS_close_range, 3U, ~0U, 0))
		return;
	getrlimit(RLIMIT_NOFILE, &limit);
	for (int fd = 3; fd < MAX_FDS && (rlim_t)fd < limit.rlim_cur; fd++)
		close(fd);
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	for (int number = 1; number < SIGRTMIN; number++)
		signal(number, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

void privileges_close_files(int input, int output)
{
	set_descriptor(input, STDIN_FILENO);
	set_descriptor(output, STDOUT_FILENO);
	close_others();
}

void privileges_enter_child(int input, int output)
{
	privileges_close_files(input, output);
	reset_signals();
	privileges_drop(false);
}
