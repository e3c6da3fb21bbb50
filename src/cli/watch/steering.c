#include "cli/watch/steering.h"

#include "cli/ctl/exchange.h"
#include "cli/image_trace.h"
#include "cli/say.h"
#include "cli/watch/privileges.h"
#include "output/text/text.h"
#include "trace/live/shm_image.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int steering_init(struct steering *steering, const char *trace_path)
{
	*steering = (struct steering){.trace_path = shm_image_absolute(trace_path),
	                              .image_file = shm_image_found(trace_path)};
	if (steering->trace_path && steering->image_file)
		return 0;
	say("no recorder of yours is at work on '%s', or it found no room in /dev/shm", trace_path);
	return -ENOENT;
}

/* --- packets ---------------------------------------------------------------------------------- */

static bool say_answer(int err, const struct control_answer *answer, const char *whose)
{
	char why[EXCHANGE_TEXT];

	if (!whose)
		return !err && answer->ok;
	if (err) {
		exchange_explain(err, why);
		say("%s: %s", whose, why);
	} else if (!answer->ok) {
		say("%s: the recorder refuses: %s", whose, answer->error);
	} else if (*answer->note) {
		say("%s: %s", whose, answer->note);
	}
	return !err && answer->ok;
}

bool steering_send(struct steering *steering, const char *packet, size_t size, const char *whose)
{
	struct control_answer answer;
	int err = exchange_packet(steering->image_file, packet, size, &answer);

	return say_answer(err, &answer, whose);
}

static bool request(struct steering *steering, const struct control_request *request,
                    const char *whose)
{
	struct control_answer answer;
	int err = exchange(steering->image_file, request, &answer);

	return say_answer(err, &answer, whose);
}

/* --- children --------------------------------------------------------------------------------- */

void steering_reap(struct steering *steering)
{
	for (unsigned i = 0; i < STEERING_MAX_CHILDREN; i++)
		if (steering->children[i] && waitpid(steering->children[i], NULL, WNOHANG))
			steering->children[i] = 0;
}

void steering_fini(struct steering *steering)
{
	for (unsigned i = 0; i < STEERING_MAX_CHILDREN; i++)
		while (steering->children[i] && steering->writes[i] &&
		       waitpid(steering->children[i], NULL, 0) < 0 && errno == EINTR)
			continue;
	free(steering->trace_path);
	free(steering->image_file);
	*steering = (struct steering){0};
}

/* Returns 0 in the child, its PID, or -1 after reporting that there is none. */
static pid_t fork_child(struct steering *steering, bool writes, const char *whose)
{
	unsigned i = 0;
	pid_t pid;

	steering_reap(steering);
	while (i < STEERING_MAX_CHILDREN && steering->children[i])
		i++;
	if (i == STEERING_MAX_CHILDREN) {
		say("%s: %u earlier actions have not ended yet", whose, i);
		return -1;
	}
	pid = fork();
	if (pid < 0)
		say("%s: there can be no further process: %s", whose, strerror(errno));
	if (pid > 0) {
		steering->children[i] = pid;
		steering->writes[i] = writes;
	}
	return pid;
}

/* --- snapshots -------------------------------------------------------------------------------- */

/* Tells the parent that the copy is there, whatever it is, by closing the pipe. */
static _Noreturn void write_snapshot(const char *trace_path, const char *path, int copied)
{
	struct tables *tables = snapshot_take(trace_path);

	close(copied);
	_exit(tables ? snapshot_store(tables, path) : 1);
}

/*
 * Looking up names may take a while, so that a child does it. Its copy is of this moment: further
 * actions wait for it.
 */
static void take_snapshot(struct steering *steering, const char *path, const char *whose)
{
	int copied[2];
	char byte;

	if (pipe2(copied, O_CLOEXEC)) {
		say("%s: there can be no snapshot: %s", whose, strerror(errno));
		return;
	}
	if (!fork_child(steering, true, whose))
		write_snapshot(steering->trace_path, path, copied[1]);
	close(copied[1]);
	while (read(copied[0], &byte, 1) < 0 && errno == EINTR)
		continue;
	close(copied[0]);
}

/* --- commands --------------------------------------------------------------------------------- */

static void set_number(const char *name, const char *format, double value)
{
	char text[64];

	snprintf(text, sizeof(text), format, value);
	setenv(name, text, 1);
}

static _Noreturn void run_command(const struct steering *steering, const char *command,
                                  const struct condition *condition, double value, const char *file)
{
	setenv("ADAPTRACE_CONDITION", condition->text, 1);
	set_number("ADAPTRACE_VALUE", "%.9g", value);
	setenv("ADAPTRACE_TRACE", steering->trace_path, 1);
	setenv("ADAPTRACE_FILE", file, 1);
	if (steering->target)
		set_number("ADAPTRACE_PID", "%.0f", steering->target);
	privileges_enter_child(-1, STDERR_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* --- conditions ------------------------------------------------------------------------------- */

static void set_text(char to[CONTROL_TEXT_MAX + 1], const char *text)
{
	snprintf(to, CONTROL_TEXT_MAX + 1, "%s", text);
}

static void note(struct steering *steering, const struct condition *condition, double value,
                 const char *file)
{
	struct control_request entry = {.command = CONTROL_CONDITION, .value = value};

	set_text(entry.text, condition->text);
	if (strlen(file) <= CONTROL_FILE_MAX)
		memcpy(entry.file, file, strlen(file) + 1);
	request(steering, &entry, condition->text);
}

static void mark(struct steering *steering, const struct condition *condition, const char *text)
{
	struct control_request entry = {.command = CONTROL_MARK};

	set_text(entry.text, text && *text ? text : condition->text);
	request(steering, &entry, condition->text);
}

static void act(struct steering *steering, const struct condition *condition,
                const struct condition_action *action, double value, const char *file)
{
	switch (action->type) {
	case ACTION_SNAPSHOT:
		if (*file)
			take_snapshot(steering, file, condition->text);
		break;
	case ACTION_DETAIL:
		request(steering,
		        &(struct control_request){.command = CONTROL_DETAIL,
		                                  .seconds = action->seconds,
		                                  .hz = action->hz},
		        condition->text);
		break;
	case ACTION_PAUSE:
		request(steering,
		        &(struct control_request){.command = CONTROL_PAUSE,
		                                  .seconds = action->seconds},
		        condition->text);
		break;
	case ACTION_STOP:
		request(steering, &(struct control_request){.command = CONTROL_STOP},
		        condition->text);
		break;
	case ACTION_MARK:
		mark(steering, condition, action->text);
		break;
	case ACTION_RUN:
		if (!fork_child(steering, false, condition->text))
			run_command(steering, action->text, condition, value, file);
		break;
	}
}

/* A snapshot has the entry already, which therefore comes first. */
void steering_fire(struct steering *steering, const struct condition *condition, double value)
{
	char file[PATH_MAX] = "", shown[TEXT_SIZE];

	if (condition_has_action(condition, ACTION_SNAPSHOT) &&
	    !snapshot_name_beside(steering->trace_path, &steering->nr_snapshots, file)) {
		say("%s: there is no name for a snapshot beside '%s'", condition->text,
		    steering->trace_path);
		*file = '\0';
	}
	text_condition_value(shown, condition->text, value);
	say("condition met (%s): %s", shown, condition->text);
	note(steering, condition, value, file);
	for (unsigned i = 0; i < condition->nr_actions; i++)
		act(steering, condition, &condition->actions[i], value, file);
}
