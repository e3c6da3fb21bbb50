#include "cli/live/orders.h"

#include "cli/ctl/exchange.h"
#include "cli/image_trace.h"
#include "cli/live/watched.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DETAIL_SECONDS 5

/* --- commands --------------------------------------------------------------------------------- */

static bool is_paused(const struct orders *orders)
{
	return watched_recorder(orders->watched).flags & (RECORDING_PAUSED | RECORDING_FROZEN);
}

static void ask(const struct orders *orders, const struct control_request *request,
                const char *done, char answer[TOP_ANSWER])
{
	struct control_answer got;
	char why[EXCHANGE_TEXT];
	int err = exchange(orders->watched->image_file, request, &got);

	if (err) {
		exchange_explain(err, why);
		snprintf(answer, TOP_ANSWER, " %s", why);
	} else if (!got.ok) {
		snprintf(answer, TOP_ANSWER, " refused: %s", got.error);
	} else if (*got.note) {
		snprintf(answer, TOP_ANSWER, " %s; %s", got.note, done);
	} else {
		snprintf(answer, TOP_ANSWER, " %s", done);
	}
}

static void pause_or_resume(const struct orders *orders, char answer[TOP_ANSWER])
{
	if (is_paused(orders))
		ask(orders, &(struct control_request){.command = CONTROL_RESUME}, "it goes on",
		    answer);
	else
		ask(orders, &(struct control_request){.command = CONTROL_PAUSE},
		    "the program is paused for 10 minutes at most; p lets it go on", answer);
}

static void set_text(struct control_request *request, const char *text)
{
	snprintf(request->text, sizeof(request->text), "%s", text);
}

static void mark(const struct orders *orders, const char *text, char answer[TOP_ANSWER])
{
	struct control_request request = {.command = CONTROL_MARK};

	set_text(&request, text);
	ask(orders, &request, "marked", answer);
}

static void add_event(const struct orders *orders, const char *name, char answer[TOP_ANSWER])
{
	struct control_request request = {.command = CONTROL_EVENT, .change = CONTROL_ADD};
	char done[TOP_ANSWER];

	set_text(&request, name);
	snprintf(done, sizeof(done), "'%s' is sampled", name);
	ask(orders, &request, done, answer);
}

static void detail(const struct orders *orders, char answer[TOP_ANSWER])
{
	ask(orders, &(struct control_request){.command = CONTROL_DETAIL, .seconds = DETAIL_SECONDS},
	    "it lasts 5 s; report --window shows it later", answer);
}

/* --- snapshots -------------------------------------------------------------------------------- */

/* The child says what it does on standard error, of which the last line is shown. */
static _Noreturn void write_snapshot(const struct orders *orders, const char *path, int said)
{
	struct tables *tables;

	if (dup2(said, STDERR_FILENO) < 0)
		_exit(1);
	tables = snapshot_take(orders->watched->path);
	_exit(tables ? snapshot_store(tables, path) : 1);
}

static void start_writer(struct orders *orders, const char *path, char answer[TOP_ANSWER])
{
	int said[2];

	if (pipe2(said, O_CLOEXEC | O_NONBLOCK)) {
		snprintf(answer, TOP_ANSWER, " no snapshot: %s", strerror(errno));
		return;
	}
	orders->writer = fork();
	if (!orders->writer)
		write_snapshot(orders, path, said[1]);
	close(said[1]);
	orders->said = said[0];
	if (orders->writer > 0) {
		snprintf(answer, TOP_ANSWER, " writing '%.250s' ...", path);
		return;
	}
	snprintf(answer, TOP_ANSWER, " no snapshot: %s", strerror(errno));
	close(said[0]);
	orders->writer = 0;
}

static void snapshot(struct orders *orders, char answer[TOP_ANSWER])
{
	char path[PATH_MAX];

	if (orders->writer)
		snprintf(answer, TOP_ANSWER, " the last snapshot is still being written");
	else if (!snapshot_name_beside(orders->snapshots, &orders->nr_snapshots, path))
		snprintf(answer, TOP_ANSWER, " there is no name for a snapshot beside '%.250s'",
		         orders->snapshots);
	else
		start_writer(orders, path, answer);
}

/* Takes the last line of what the child said, without who says it. */
static void take_last_line(char *said, char answer[TOP_ANSWER])
{
	static const char name[] = "adaptrace: ";
	char *line = said, *end = said + strlen(said);

	while (end > said && end[-1] == '\n')
		*--end = '\0';
	if (strrchr(said, '\n'))
		line = strrchr(said, '\n') + 1;
	if (!strncmp(line, name, strlen(name)))
		line += strlen(name);
	snprintf(answer, TOP_ANSWER, " %.*s", TOP_ANSWER - 2, *line ? line : "the snapshot failed");
}

bool orders_hear(struct orders *orders, char answer[TOP_ANSWER])
{
	char said[4096];
	ssize_t size;

	if (!orders->writer || waitpid(orders->writer, NULL, WNOHANG) == 0)
		return false;
	size = read(orders->said, said, sizeof(said) - 1);
	said[size > 0 ? size : 0] = '\0';
	close(orders->said);
	orders->writer = 0;
	take_last_line(said, answer);
	return true;
}

void orders_fini(struct orders *orders)
{
	while (orders->writer && waitpid(orders->writer, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (orders->writer)
		close(orders->said);
	orders->writer = 0;
}

void orders_give(struct orders *orders, enum top_command command, const char *text,
                 char answer[TOP_ANSWER])
{
	switch (command) {
	case TOP_PAUSE:
		pause_or_resume(orders, answer);
		return;
	case TOP_DETAIL:
		detail(orders, answer);
		return;
	case TOP_EVENT:
		add_event(orders, text, answer);
		return;
	case TOP_MARK:
		mark(orders, text, answer);
		return;
	case TOP_SNAPSHOT:
		snapshot(orders, answer);
	}
}
