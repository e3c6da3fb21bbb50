#include "cli/watch/sink.h"

#include "base/clock.h"
#include "cli/live/watched.h"
#include "cli/say.h"
#include "cli/watch/privileges.h"
#include "cli/watch/steering.h"
#include "trace/live/control_packet.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE     4096 /* a pipe that has room has at least so much */
#define ALLOWANCE 10   /* lines of a module in a tenth of a second */
#define MOST_TOLD 10   /* refusals that are reported */
#define GRACE_NS  ((uint64_t)1000000000)

int sink_open(struct sink *sink, enum lines_form form, uint64_t interval)
{
	*sink = (struct sink){.to = STDOUT_FILENO, .from = -1};
	return lines_init(&sink->lines, form, interval);
}

/* --- modules ---------------------------------------------------------------------------------- */

static _Noreturn void become_module(const char *command, int input, int output)
{
	privileges_enter_child(input, output);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

static int start(struct sink *sink, const int input[2], const int output[2])
{
	sink->pid = fork();
	if (!sink->pid)
		become_module(sink->command, input[0], output[1]);
	if (sink->pid < 0)
		return -errno;
	sink->to = input[1];
	sink->from = output[0];
	return 0;
}

int sink_start(struct sink *sink, const char *command, enum lines_form form, uint64_t interval)
{
	int input[2], output[2], err;

	*sink = (struct sink){.command = command, .to = -1, .from = -1, .allowance = ALLOWANCE};
	err = lines_init(&sink->lines, form, interval);
	if (err)
		return err;
	if (pipe2(input, O_CLOEXEC))
		return -errno;
	if (pipe2(output, O_CLOEXEC)) {
		err = -errno;
		close(input[0]);
		close(input[1]);
		return err;
	}
	err = start(sink, input, output);
	close(input[0]);
	close(output[1]);
	if (err) {
		close(input[1]);
		close(output[0]);
		return err;
	}
	fcntl(sink->to, F_SETFL, O_NONBLOCK);
	fcntl(sink->from, F_SETFL, O_NONBLOCK);
	return 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void sink_end_input(struct sink *sink)
{
	if (!sink->command)
		return;
	close_fd(&sink->to);
	close_fd(&sink->from);
}

/* A module that has not ended by then gets SIGTERM, and SIGKILL if that does not help. */
static int wait_for(pid_t pid, uint64_t end)
{
	const struct timespec nap = {.tv_nsec = 10000000};
	int status = 0, sent = 0;
	uint64_t now;

	while (!waitpid(pid, &status, WNOHANG)) {
		now = clock_ns(CLOCK_MONOTONIC);
		if (sent < 1 && now > end) {
			kill(pid, SIGTERM);
			sent = 1;
		} else if (sent < 2 && now > end + GRACE_NS) {
			kill(pid, SIGKILL);
			sent = 2;
		}
		nanosleep(&nap, NULL);
	}
	return status;
}

static void say_end(const struct sink *sink, int status)
{
	if (WIFSIGNALED(status))
		say("module '%s' was killed by signal %d", sink->command, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		say("module '%s' ended with status %d", sink->command, WEXITSTATUS(status));
	if (sink->ignored)
		say("%llu lines of module '%s' were not carried out",
		    (unsigned long long)sink->ignored, sink->command);
}

bool sink_close(struct sink *sink, uint64_t end)
{
	int status = 0;

	if (sink->command) {
		sink_end_input(sink);
		if (sink->pid > 0)
			status = wait_for(sink->pid, end);
		say_end(sink, status);
	}
	lines_fini(&sink->lines);
	free(sink->pending);
	sink->pending = NULL;
	return !status;
}

/* --- lines to it ------------------------------------------------------------------------------ */

bool sink_is_behind(const struct sink *sink)
{
	return !sink->err && sink->written < sink->size;
}

static int make_line(struct sink *sink, struct watched *watched)
{
	FILE *to;
	int err;

	free(sink->pending);
	sink->pending = NULL;
	sink->size = sink->written = 0;
	to = open_memstream(&sink->pending, &sink->size);
	if (!to)
		return -ENOMEM;
	err = lines_put(&sink->lines, watched, to);
	return fclose(to) || !sink->pending ? -ENOMEM : err;
}

static void give_up(struct sink *sink, int err)
{
	sink->err = err;
	if (!sink->command)
		return;
	close_fd(&sink->to);
	if (err == -EPIPE)
		say("module '%s' reads no more lines", sink->command);
	else
		say("cannot write to module '%s': %s", sink->command, strerror(-err));
}

void sink_write(struct sink *sink)
{
	size_t left = sink->size - sink->written;
	ssize_t wrote = write(sink->to, sink->pending + sink->written, left < PIECE ? left : PIECE);

	if (wrote < 0 && errno != EINTR && errno != EAGAIN)
		give_up(sink, -errno);
	sink->written += wrote > 0 ? (size_t)wrote : 0;
}

/* After a look that took long, the next one is due before there was time to write. */
static void write_what_fits(struct sink *sink)
{
	struct pollfd room = {.fd = sink->to, .events = POLLOUT};

	while (sink_is_behind(sink) && poll(&room, 1, 0) > 0)
		sink_write(sink);
}

int sink_take(struct sink *sink, struct watched *watched)
{
	write_what_fits(sink);
	if (sink->err)
		return 0;
	if (!sink_is_behind(sink))
		return make_line(sink, watched);
	lines_leave_out(&sink->lines, watched);
	return 0;
}

unsigned sink_poll(const struct sink *sink, struct pollfd *fds)
{
	unsigned nr = 0;

	if (sink_is_behind(sink))
		fds[nr++] = (struct pollfd){.fd = sink->to, .events = POLLOUT};
	if (sink->from >= 0 && sink->allowance)
		fds[nr++] = (struct pollfd){.fd = sink->from, .events = POLLIN};
	return nr;
}

/* --- lines from it ---------------------------------------------------------------------------- */

static void take_line(struct sink *sink, size_t size, struct steering *steering)
{
	const char *whose = sink->ignored < MOST_TOLD ? sink->command : NULL;
	char packet[CONTROL_PACKET_MAX];

	size = sink->skips ? 0 : control_request_of_line(sink->input, size, packet);
	if (!size || !steering_send(steering, packet, size, whose))
		sink->ignored++;
	sink->skips = false;
	if (sink->allowance)
		sink->allowance--;
}

/* Carries out the lines that are whole. Of one that does not fit the rest is passed by. */
static void take_lines(struct sink *sink, struct steering *steering)
{
	char *end;

	while (sink->allowance && (end = memchr(sink->input, '\n', sink->input_size))) {
		size_t size = (size_t)(end - sink->input);

		take_line(sink, size, steering);
		sink->input_size -= size + 1;
		memmove(sink->input, end + 1, sink->input_size);
	}
	if (sink->input_size == sizeof(sink->input) && sink->allowance) {
		sink->skips = true;
		sink->input_size = 0;
	}
}

/* A module that floods is read slowly, so that it waits for its pipe. */
void sink_read(struct sink *sink, struct steering *steering)
{
	ssize_t got;

	take_lines(sink, steering);
	if (!sink->allowance)
		return;
	got = read(sink->from, sink->input + sink->input_size,
	           sizeof(sink->input) - sink->input_size);
	if (!got || (got < 0 && errno != EINTR && errno != EAGAIN))
		close_fd(&sink->from);
	sink->input_size += got > 0 ? (size_t)got : 0;
	take_lines(sink, steering);
}

void sink_allow(struct sink *sink, struct steering *steering)
{
	sink->allowance = ALLOWANCE;
	if (sink->input_size)
		take_lines(sink, steering);
}
