#include "cli/unobserved.h"

#include "cli/process.h"
#include "perf/clock.h"
#include "perf/text_file.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NS 1000000000ULL
/* What is lost of a process whose parent waits for it faster than we do is no more than this. */
#define TICK_NS 10000000
#define EXITING 4 /* PF_EXITING of the kernel, in the flags of /proc/PID/stat: it is dying */

struct times {
	uint64_t own, children; /* ns */
	uint64_t started;       /* on the clock of all records, ns; up to a tick too early */
	unsigned flags;
	char state;
};

/* In full, where /proc has it in ticks; that of children is there alone. */
static uint64_t process_ns(pid_t pid, uint64_t otherwise)
{
	clockid_t clock;
	uint64_t time = clock_getcpuclockid(pid, &clock) ? 0 : clock_ns(clock);

	return time ? time : otherwise;
}

/* From the time since the machine was started, sleep included. */
static uint64_t on_records_clock(uint64_t boot_ns)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), asleep = clock_ns(CLOCK_BOOTTIME) - now;

	return boot_ns > asleep ? boot_ns - asleep : 0;
}

static bool read_times(pid_t pid, struct times *times)
{
	const uint64_t tick_ns = NS / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long user, system, child_user, child_system, started;
	char text[PROCESS_STAT_SIZE];
	const char *stat = process_stat(pid, text);

	if (!stat || sscanf(stat,
	                    " %c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %llu %llu %llu %llu %*d "
	                    "%*d %*d %*d %llu",
	                    &times->state, &times->flags, &user, &system, &child_user,
	                    &child_system, &started) != 7)
		return false;
	times->own = (user + system) * tick_ns;
	times->children = (child_user + child_system) * tick_ns;
	times->started = on_records_clock(started * tick_ns);
	return true;
}

/* What started later has the number, but is another task. */
static bool read_since(pid_t pid, uint64_t time, struct times *times)
{
	return read_times(pid, times) && !strchr("ZXx", times->state) && times->started <= time;
}

bool unobserved_is_there(pid_t tid, uint64_t time)
{
	struct times times;

	return read_since(tid, time, &times);
}

bool unobserved_cpu_time(pid_t pid, uint64_t time, uint64_t *own, uint64_t *children)
{
	struct times times;

	if (!read_since(pid, time, &times) || times.flags & EXITING)
		return false;
	*own = process_ns(pid, times.own);
	*children = times.children;
	return true;
}

uint64_t unobserved_used(pid_t pid)
{
	return process_ns(pid, 0);
}

uint64_t unobserved_used_by(pid_t tid, uint64_t time)
{
	int64_t used;
	uint64_t since;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)tid, (int)tid);
	if (text_file_number(path, &used) || used < 0)
		return 0;
	since = clock_ns(CLOCK_MONOTONIC) - time;
	return (uint64_t)used > since ? (uint64_t)used - since : 0;
}

/* --- the list --------------------------------------------------------------------------------- */

static void watch(const struct unobserved_list *list, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (fd >= 0 && list->poll_fd >= 0)
		epoll_ctl(list->poll_fd, EPOLL_CTL_ADD, fd, &event);
}

static void set_timer(const struct unobserved_list *list, long interval)
{
	const struct itimerspec timer = {{0, interval}, {0, interval}};

	if (list->timer_fd >= 0)
		timerfd_settime(list->timer_fd, 0, &timer, NULL);
}

void unobserved_init(struct unobserved_list *list)
{
	*list = (struct unobserved_list){
		.poll_fd = epoll_create1(EPOLL_CLOEXEC),
		.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
	};
	watch(list, list->timer_fd);
}

void unobserved_add(struct unobserved_list *list, pid_t pid, uint32_t comm, uint64_t before)
{
	struct unobserved *u = calloc(1, sizeof(*u));

	if (!u)
		return;
	*u = (struct unobserved){
		.pid = pid,
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
		.comm = comm,
		.before = before,
		.read = clock_ns(CLOCK_MONOTONIC),
		.next = list->first,
	};
	if (!list->first)
		set_timer(list, TICK_NS);
	list->first = u;
	watch(list, u->pidfd);
}

static void drop(struct unobserved *u)
{
	if (u->pidfd >= 0)
		close(u->pidfd);
	free(u);
}

static bool has_ended(const struct unobserved *u)
{
	struct pollfd pollfd = {.fd = u->pidfd, .events = POLLIN};

	return u->pidfd >= 0 && poll(&pollfd, 1, 0) > 0;
}

static void add_time(struct unobserved *u, uint64_t used, struct tables *tables)
{
	if (used <= u->before + u->counted)
		return;
	used -= u->before + u->counted;
	tables_command(tables, u->comm)->unobserved += used;
	u->counted += used;
}

/* false: it has ended. Its number may be another's by now, but not while it waits for its parent.
 */
static bool count_one(struct unobserved_list *list, struct unobserved *u, struct tables *tables)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	bool ended = has_ended(u), there;
	struct times times;

	there = read_times(u->pid, &times);
	if (there && (!ended || times.state == 'Z')) {
		add_time(u, process_ns(u->pid, times.own) + times.children, tables);
		u->read = now;
		return !ended && !strchr("ZXx", times.state);
	}
	list->missed += now - u->read;
	return false;
}

void unobserved_count(struct unobserved_list *list, struct tables *tables)
{
	uint64_t ticks;

	while (list->timer_fd >= 0 && read(list->timer_fd, &ticks, sizeof(ticks)) > 0)
		continue;
	for (struct unobserved **at = &list->first, *u; (u = *at);) {
		if (count_one(list, u, tables)) {
			at = &u->next;
			continue;
		}
		*at = u->next;
		drop(u);
		if (!list->first)
			set_timer(list, 0);
	}
}

unsigned unobserved_nr(const struct unobserved_list *list)
{
	unsigned nr = 0;

	for (const struct unobserved *u = list->first; u; u = u->next)
		nr++;
	return nr;
}

void unobserved_fini(struct unobserved_list *list)
{
	for (struct unobserved *u = list->first, *next; u; u = next) {
		next = u->next;
		drop(u);
	}
	if (list->timer_fd >= 0)
		close(list->timer_fd);
	if (list->poll_fd >= 0)
		close(list->poll_fd);
	*list = (struct unobserved_list){.poll_fd = -1, .timer_fd = -1};
}
