#include "cli/live/own_recorder.h"

#include "base/new_file.h"
#include "cli/ctl/whom.h"
#include "cli/open_trace.h"
#include "cli/say.h"
#include "output/text/text.h"
#include "record/tasks/process.h"
#include "trace/live/shm_image.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_PROCESSES 1000           /* that a recorder is attached to */
#define MAX_WORDS     12             /* that go before those of the command */
#define TAIL          ((off_t)65536) /* bytes of the output that are shown in the end */
#define COPY_SIZE     65536
#define POLL_NS       10000000
#define SOON_POLLS    100 /* that a recorder has to end after a signal */
#define NO_ROOM_POLLS 500 /* after so many a recorder that has no image is given up */

static sigset_t ending_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	return signals;
}

/* --- the start -------------------------------------------------------------------------------- */

static bool make_folder(struct own_recorder *own)
{
	const char *parent = getenv("TMPDIR");

	if (asprintf(&own->folder, "%s/adaptrace-top-XXXXXX", parent && *parent ? parent : "/tmp") <
	    0) {
		own->folder = NULL;
		return false;
	}
	if (!mkdtemp(own->folder)) {
		free(own->folder);
		own->folder = NULL;
		return false;
	}
	if (asprintf(&own->trace, "%s/" DEFAULT_TRACE, own->folder) < 0)
		own->trace = NULL;
	if (asprintf(&own->output, "%s/output", own->folder) < 0)
		own->output = NULL;
	return own->trace && own->output;
}

struct process_list {
	FILE *to;
	unsigned nr;
};

static void add_descendants(struct process_list *list, pid_t pid);

/* Adds the processes that a thread has started, and those that these have. */
static void add_started(struct process_list *list, pid_t pid, pid_t tid)
{
	FILE *children = process_children(pid, tid);
	pid_t child;

	while (children && list->nr < MAX_PROCESSES && (child = process_next_child(children))) {
		fprintf(list->to, ",%d", (int)child);
		list->nr++;
		add_descendants(list, child);
	}
	if (children)
		fclose(children);
}

static void add_descendants(struct process_list *list, pid_t pid)
{
	DIR *threads = process_threads(pid);
	pid_t tid;

	while (threads && (tid = process_next(threads)))
		add_started(list, pid, tid);
	if (threads)
		closedir(threads);
}

/* The process and all that descend from it: a server's work is done by those it has started. */
static char *list_processes(const char *pid)
{
	char *text = NULL;
	size_t size;
	struct process_list list = {.to = open_memstream(&text, &size)};

	if (!list.to)
		return NULL;
	fputs(pid, list.to);
	add_descendants(&list, whom_pid(pid));
	return fclose(list.to) ? NULL : text;
}

static char **make_words(const struct own_recorder *own, const struct own_request *request)
{
	size_t nr = 0, nr_of_command = 0;
	char **words;

	while (request->command && request->command[nr_of_command])
		nr_of_command++;
	words = calloc(MAX_WORDS + nr_of_command, sizeof(*words));
	if (!words)
		return NULL;
	words[nr++] = (char *)"adaptrace";
	words[nr++] = (char *)"record";
	words[nr++] = (char *)"-o";
	words[nr++] = own->trace;
	if (request->event) {
		words[nr++] = (char *)"-e";
		words[nr++] = (char *)request->event;
	}
	words[nr++] = (char *)(request->command ? "--" : "-p");
	if (!request->command)
		words[nr++] = own->processes;
	for (size_t i = 0; i < nr_of_command; i++)
		words[nr++] = request->command[i];
	return words;
}

static void change_signals(int how)
{
	const sigset_t signals = ending_signals();

	sigprocmask(how, &signals, NULL);
}

static _Noreturn void become_recorder(const struct own_recorder *own, char **words)
{
	const int in = open("/dev/null", O_RDONLY);
	const int out = open(own->output, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0600);

	setpgid(0, 0); /* what the terminal sends is for the screen */
	change_signals(SIG_UNBLOCK);
	if (in < 0 || out < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(out, STDERR_FILENO) < 0)
		_exit(125);
	if (in > STDERR_FILENO)
		close(in);
	if (out > STDERR_FILENO)
		close(out);
	execv("/proc/self/exe", words);
	_exit(125);
}

bool own_recorder_start(struct own_recorder *own, const struct own_request *request)
{
	char **words;

	*own = (struct own_recorder){.attached = !request->command};
	own->name = request->command ? request->command[0] : request->pid;
	if (!make_folder(own)) {
		say("cannot make a folder for the trace: %s; TMPDIR names another place",
		    strerror(errno));
		return false;
	}
	if (own->attached)
		own->processes = list_processes(request->pid);
	words = own->attached && !own->processes ? NULL : make_words(own, request);
	change_signals(SIG_BLOCK);
	own->pid = words ? fork() : -1;
	if (!own->pid)
		become_recorder(own, words);
	free(words);
	if (own->pid > 0)
		return true;
	say("cannot start a recorder: %s", strerror(errno));
	change_signals(SIG_UNBLOCK);
	rmdir(own->folder);
	own->pid = 0;
	return false;
}

/* --- while it runs ---------------------------------------------------------------------------- */

static bool has_ended(struct own_recorder *own)
{
	if (own->pid && waitpid(own->pid, NULL, WNOHANG))
		own->pid = 0;
	return !own->pid;
}

static bool has_image(const struct own_recorder *own)
{
	char *found = shm_image_found(own->trace);

	free(found);
	return found;
}

bool own_recorder_await(struct own_recorder *own)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};
	const sigset_t signals = ending_signals();

	for (unsigned i = 0; i < NO_ROOM_POLLS; i++) {
		if (has_image(own))
			return true;
		if (has_ended(own))
			return false;
		own->ended_by = sigtimedwait(&signals, NULL, &pause);
		if (own->ended_by > 0)
			return false;
	}
	say("its recorder holds nothing in /dev/shm that could be shown");
	return false;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Asks a question that is answered by y or n; the end of the input means no. */
static bool ask(const char *question, const char *name)
{
	char answer[64] = "";

	fprintf(stderr, "adaptrace: ");
	fprintf(stderr, question, name);
	fprintf(stderr, " [y/N] ");
	fflush(stderr);
	return fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y');
}

static void await_end(struct own_recorder *own)
{
	while (own->pid && waitpid(own->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	own->pid = 0;
}

/* Shows the end of what the command and the recorder printed: anything may be in it. */
static void put_tail(FILE *from, off_t size)
{
	char line[1024];

	if (size > TAIL)
		fseeko(from, size - TAIL, SEEK_SET);
	if (size > TAIL && !fgets(line, sizeof(line), from))
		return;
	while (fgets(line, sizeof(line), from)) {
		line[strcspn(line, "\n")] = '\0';
		text_put(stderr, line, 0);
		fputc('\n', stderr);
	}
}

/* Returns whether all of it was shown. */
static bool show_output(const struct own_recorder *own)
{
	FILE *from = fopen(own->output, "re");
	struct stat stat = {0};

	if (!from)
		return true;
	if (!fstat(fileno(from), &stat) && stat.st_size > TAIL)
		say("the end of the output, all of which stays in '%s':", own->output);
	put_tail(from, stat.st_size);
	fclose(from);
	return stat.st_size <= TAIL;
}

static int copy(FILE *from, FILE *to)
{
	char buffer[COPY_SIZE];
	size_t size;

	while ((size = fread(buffer, 1, sizeof(buffer), from)) > 0)
		if (fwrite(buffer, 1, size, to) != size)
			return -errno;
	return ferror(from) ? -EIO : 0;
}

/* Copies the trace to its usual place, where an older one is kept aside. */
static int copy_trace(FILE *from)
{
	struct new_file file;
	int err = new_file_open(&file, DEFAULT_TRACE);

	return err ? err : new_file_close(&file, copy(from, file.file));
}

static bool keep(const struct own_recorder *own)
{
	FILE *from = fopen(own->trace, "re");
	int err = from ? copy_trace(from) : -errno;

	if (from)
		fclose(from);
	if (err)
		say("cannot write '" DEFAULT_TRACE "': %s; the trace stays in '%s'",
		    new_file_error(err), own->trace);
	else
		say("the trace is in '" DEFAULT_TRACE "'");
	return !err;
}

static void remove_files(const struct own_recorder *own, bool output)
{
	unlink(own->trace);
	if (output)
		unlink(own->output);
	rmdir(own->folder);
}

static void leave(const struct own_recorder *own)
{
	say("process %d goes on recording, and 'adaptrace top %d' shows it again; the trace will "
	    "be '%s', and the output is in '%s'",
	    (int)own->pid, (int)own->pid, own->trace, own->output);
}

static void offer_trace(const struct own_recorder *own)
{
	const bool shown = show_output(own);

	if (access(own->trace, R_OK) || !ask("keep the trace as %s?", DEFAULT_TRACE) || keep(own))
		remove_files(own, shown);
}

static bool ends_soon(struct own_recorder *own)
{
	const struct timespec pause = {.tv_nsec = POLL_NS};

	for (unsigned i = 0; i < SOON_POLLS && !has_ended(own); i++)
		nanosleep(&pause, NULL);
	return !own->pid;
}

/* After a signal nothing is asked. */
static void leave_trace(const struct own_recorder *own)
{
	if (access(own->trace, R_OK))
		remove_files(own, show_output(own));
	else
		say("the trace is '%s'", own->trace);
}

void own_recorder_end(struct own_recorder *own, int signal)
{
	const bool ended = has_ended(own);

	change_signals(SIG_UNBLOCK);
	if (ended && signal)
		leave_trace(own);
	else if (ended)
		offer_trace(own);
	if (ended)
		return;
	if (signal) {
		kill(own->pid, own->attached ? SIGINT : signal);
		if (ends_soon(own))
			leave_trace(own);
		else
			say("the trace will be '%s'", own->trace);
		return;
	}
	if (!own->attached && !ask("'%s' still runs; end it?", own->name)) {
		leave(own);
		return;
	}
	kill(own->pid, own->attached ? SIGINT : SIGTERM);
	await_end(own);
	offer_trace(own);
}

void own_recorder_free(struct own_recorder *own)
{
	free(own->folder);
	free(own->trace);
	free(own->output);
	free(own->processes);
	*own = (struct own_recorder){0};
}
