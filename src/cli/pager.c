#include "cli/pager.h"

#include "cli/bounds.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

struct pager {
	const char *command;
	unsigned rows, columns; /* of the terminal */
	unsigned row, column;   /* where the next character goes */
	bool in_escape;         /* within a change of colour */
	char *held;             /* while there is room on the screen */
	size_t size, room;
	bool direct;  /* to standard output from now on */
	pid_t pid;    /* 0: no pager runs */
	int terminal; /* standard output, which is a pipe to it while one runs */
};

/* An empty name and cat stand for none. */
static const char *pager_command(void)
{
	const char *command = getenv("ADAPTRACE_PAGER");

	command = command ? command : getenv("PAGER");
	command = command ? command : "less";
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* In the background it would stop at once, to read keys. */
static bool in_foreground(void)
{
	pid_t foreground = tcgetpgrp(STDOUT_FILENO);

	return foreground < 0 || foreground == getpgrp();
}

/* --- the screen ------------------------------------------------------------------------------- */

/* Counts the columns of a text. Continuation bytes of UTF-8 and colour sequences take no column. */
static void count_character(struct pager *pager, char c)
{
	if (pager->in_escape) {
		pager->in_escape = c != 'm';
	} else if (c == '\033') {
		pager->in_escape = true;
	} else if (c == '\n') {
		pager->row++;
		pager->column = 0;
	} else if (((unsigned char)c & 0xc0) != 0x80) {
		if (pager->columns && pager->column == pager->columns) {
			pager->row++;
			pager->column = 0;
		}
		pager->column++;
	}
}

/* The shell's prompt takes the last row. */
static bool fills_screen(struct pager *pager, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		count_character(pager, text[i]);
	return pager->row >= pager->rows;
}

/* --- the program ------------------------------------------------------------------------------ */

static int add_attributes(posix_spawnattr_t *attributes)
{
	sigset_t none, usual;

	sigemptyset(&none);
	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGQUIT);
	sigaddset(&usual, SIGPIPE);
	return posix_spawnattr_setsigmask(attributes, &none)
	               ?: posix_spawnattr_setsigdefault(attributes, &usual)
	               ?: posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
	                                                               POSIX_SPAWN_SETSIGDEF);
}

/*
 * Starts the pager. A command with more than one word or with special characters is run by the
 * shell.
 */
static int spawn(struct pager *pager, int input)
{
	char shell[] = "sh", option[] = "-c", *command = strdup(pager->command);
	char *through_shell[] = {shell, option, command, NULL}, *alone[] = {command, NULL};
	char **argv =
		command && strpbrk(command, " \t\n|&;<>()$`\\\"'*?[#~=%") ? through_shell : alone;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int errnum = command ? 0 : ENOMEM;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	errnum = errnum ?: posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	errnum = errnum ?: add_attributes(&attributes);
	errnum = errnum ?: posix_spawnp(&pager->pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	free(command);
	return errnum;
}

/* A limit of memory is ours alone. */
static int spawn_unlimited(struct pager *pager, int input)
{
	const rlim_t limit = bounds_set_memory(RLIM_INFINITY);
	int errnum = spawn(pager, input);

	bounds_set_memory(limit);
	return errnum;
}

/* Ctrl-C is the pager's, which stays; that it was left shows when writing to it. */
static int start(struct pager *pager)
{
	int ends[2], errnum;

	pager->terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (pager->terminal < 0 || pipe2(ends, O_CLOEXEC))
		return errno;
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
	errnum = spawn_unlimited(pager, ends[0]);
	close(ends[0]);
	if (errnum) {
		pager->pid = 0;
	} else {
		dup2(ends[1], STDOUT_FILENO);
		signal(SIGPIPE, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
	}
	close(ends[1]);
	return errnum;
}

/* Whoever has left it wants no more. */
static void finish(struct pager *pager)
{
	fflush(stdout);
	__fpurge(stdout);
	clearerr(stdout);
	dup2(pager->terminal, STDOUT_FILENO);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* --- the stream ------------------------------------------------------------------------------- */

/*
 * Starts the pager and passes it the held text. A failure is reported only if the user chose the
 * pager: less is merely the default.
 */
static void release(struct pager *pager)
{
	int errnum = start(pager);

	if (errnum) {
		pager->direct = true;
		if (getenv("ADAPTRACE_PAGER") || getenv("PAGER"))
			say("cannot start the pager '%s': %s; --no-pager starts none",
			    pager->command, strerror(errnum));
	}
	fwrite(pager->held, 1, pager->size, stdout);
	pager->size = 0;
}

static ssize_t stream_write(void *cookie, const char *text, size_t size)
{
	struct pager *pager = cookie;

	if (!pager->pid && !pager->direct && fills_screen(pager, text, size))
		release(pager);
	if (!pager->pid && !pager->direct) {
		if (ARRAY_RESERVE(pager->held, pager->room, pager->size + size)) {
			errno = ENOMEM;
			return 0;
		}
		memcpy(pager->held + pager->size, text, size);
		pager->size += size;
	} else {
		fwrite(text, 1, size, stdout);
	}
	return (ssize_t)size;
}

static int stream_close(void *cookie)
{
	struct pager *pager = cookie;

	fwrite(pager->held, 1, pager->size, stdout);
	if (pager->pid)
		finish(pager);
	if (pager->terminal >= 0)
		close(pager->terminal);
	free(pager->held);
	free(pager);
	return 0;
}

FILE *pager_open(bool wanted)
{
	const cookie_io_functions_t functions = {.write = stream_write, .close = stream_close};
	const char *command = pager_command();
	struct winsize size = terminal_size(STDOUT_FILENO);
	struct pager *pager;
	FILE *to;

	if (!wanted || !command || !size.ws_row || !terminal_obeys(STDOUT_FILENO) ||
	    !in_foreground())
		return stdout;
	pager = calloc(1, sizeof(*pager));
	if (!pager)
		return stdout;
	*pager = (struct pager){
		.command = command, .rows = size.ws_row, .columns = size.ws_col, .terminal = -1};
	to = fopencookie(pager, "w", functions);
	if (to)
		return to;
	free(pager);
	return stdout;
}

void pager_close(FILE *to)
{
	if (to != stdout)
		fclose(to);
}
