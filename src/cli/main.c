#include "cli/commands.h"
#include "cli/truncated_file.h"
#include "cli/foreign_options.h"
#include "cli/say.h"
#include "cli/command_stack.h"
#include "base/suggest.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
	const char *name, *what;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"record", "sample a program into a memory budget", cmd_record},
	{"report", "show functions by their share", cmd_report},
	{"diff", "compare the functions of two runs", cmd_diff},
	{"info", "show what was measured, how, and how well", cmd_info},
	{"dump", "show every stored sample", cmd_dump},
	{"convert", "convert a trace to the formats of other tools", cmd_convert},
	{"merge", "join the traces of all ranks of a job", cmd_merge},
	{"list", "show the events that can be sampled here", cmd_list},
	{"doctor", "show what works here, what does not, and what would change that", cmd_doctor},
	{"top", "watch the functions of a recording that is still running", cmd_top},
	{"watch", "write what a recording gets, for other programs", cmd_watch},
	{"snapshot", "make a trace of a recording that is still running", cmd_snapshot},
	{"ctl", "steer a recording that is running", cmd_ctl},
	{"recover", "make a trace of what a killed recorder left behind", cmd_recover},
};

#define NR_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int usage(FILE *to, int status)
{
	fputs("usage: adaptrace COMMAND [OPTION...]\n\n", to);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		fprintf(to, "  %-8s  %s\n", commands[i].name, commands[i].what);
	fputs("\n'adaptrace help COMMAND' shows a command's options.\n", to);
	return status;
}

/*
 * Opens /dev/null for standard descriptors that are missing. Otherwise another file would get such
 * a descriptor and messages would be written into it. The modes make reading or writing fail. The
 * descriptors are closed when another program is executed.
 */
static void fill_standard_descriptors(void)
{
	static const int flags[] = {
		[STDIN_FILENO] = O_WRONLY,
		[STDOUT_FILENO] = O_RDONLY,
		[STDERR_FILENO] = O_RDWR,
	};

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			/* open() returns the lowest free descriptor */
			open("/dev/null", flags[fd] | O_CLOEXEC);
}

/* Flushes help and version texts. Commands flush their own output and report its errors. */
static void flush_output(int status, void *unused)
{
	bool failed = ferror(stdout);

	(void)unused;
	/* A command that failed has said why; help that is longer than a buffer has not. */
	if (failed ? status != 0 : !fflush(stdout))
		return;
	if (failed)
		say("cannot write to standard output");
	else
		say("cannot write to standard output: %s", strerror(errno));
	_exit(1);
}

static void say_misspelt(const char *name)
{
	char ending[4 * SUGGEST_NAME_MAX];
	struct suggest suggest;

	suggest_init(&suggest, name);
	for (size_t i = 0; i < NR_COMMANDS; i++)
		suggest_offer(&suggest, commands[i].name);
	suggest_print(&suggest, "; 'adaptrace help' lists them", ending, sizeof(ending));
	say("no command '%s'%s", name, ending);
}

static int no_command(const char *name)
{
	const char *advice = foreign_command(name);

	if (advice)
		say("no command '%s'; %s", name, advice);
	else if (strchr(name, '/'))
		say("no command '%s'; 'adaptrace record %s' samples a program", name, name);
	else if (*name == '-')
		say("no command '%s'; one comes first, and 'adaptrace help' lists them", name);
	else
		say_misspelt(name);
	return 2;
}

/* A file beyond the limit is an error, which is told. A recorder sees to that behind its target. */
static int run(int argc, char **argv)
{
	const struct command *command = NULL;
	sigset_t beyond;

	for (size_t i = 0; i < NR_COMMANDS; i++)
		if (!strcmp(argv[0], commands[i].name))
			command = &commands[i];
	if (!command)
		return no_command(argv[0]);
	sigemptyset(&beyond);
	sigaddset(&beyond, SIGXFSZ);
	if (command->run != cmd_record) {
		sigprocmask(SIG_BLOCK, &beyond, NULL);
		truncated_file_watch();
	}
	return stack_call(command->run, argc, argv);
}

static bool is_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	fill_standard_descriptors();
	on_exit(flush_output, NULL);
	setlocale(LC_CTYPE, "C.UTF-8"); /* what is printed is, whatever the user's is */
	if (!name)
		return usage(stderr, 2);
	if (!strcmp(name, "help") && argc > 2 && !is_help(argv[2])) {
		char option[] = "--help", *arguments[] = {argv[2], option, NULL};

		return run(2, arguments);
	}
	if (is_help(name))
		return usage(stdout, 0);
	if (!strcmp(name, "--version") || !strcmp(name, "-V") || !strcmp(name, "version")) {
		puts("adaptrace " ADAPTRACE_VERSION);
		return 0;
	}
	return run(argc - 1, argv + 1);
}
