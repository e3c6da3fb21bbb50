/*
 * interrupted cancel: a thread that is to end makes the first call; then others make some.
 * interrupted signal: signals, which are calls as well, come all the time, the first call included.
 * interrupted handler: a signal handler is what makes the first calls, and must not call malloc().
 * interrupted alone: many calls, after a line from the file "go": more than there is room for.
 * interrupted fork: the program forks while a thread is in its first call; then both go on.
 * interrupted loader: the first call comes between an error of the loader and the question for it.
 */
#include <adaptrace.h>

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int MPI_Barrier(void *comm); /* of a library that does nothing */

static void *end(void *arg)
{
	(void)arg;
	pthread_cancel(pthread_self());
	ADAPTRACE_MARK("ending");
	puts("marked");
	pthread_testcancel();
	return NULL;
}

static void handle(int signal)
{
	(void)signal;
	ADAPTRACE_MARK("signal");
	adaptrace_mark("signal");
}

static void interrupt(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handle;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static volatile sig_atomic_t in_handler;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);

void *malloc(size_t size)
{
	if (in_handler)
		_exit(3);
	return __libc_malloc(size);
}

void *calloc(size_t nr, size_t size)
{
	if (in_handler)
		_exit(3);
	return __libc_calloc(nr, size);
}

static void handle_quietly(int signal)
{
	in_handler = 1;
	handle(signal);
	in_handler = 0;
}

static int mark_in_handler(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handle_quietly;
	sigaction(SIGUSR1, &action, NULL);
	return raise(SIGUSR1);
}

static int go_on_alone(void)
{
	char line[8];
	FILE *go;

	ADAPTRACE_MARK("again");
	go = fopen("go", "r");
	if (!go || !fgets(line, sizeof(line), go))
		return 1;
	for (int i = 0; i < 400000; i++)
		ADAPTRACE_MARK("again");
	return fclose(go);
}

static void *mark(void *arg)
{
	*(volatile int *)arg = 1;
	ADAPTRACE_MARK("connecting");
	return NULL;
}

static int fork_meanwhile(void)
{
	volatile int there = 0;
	pthread_t thread;
	int status = 1;

	pthread_create(&thread, NULL, mark, (void *)&there);
	while (!there)
		usleep(1000);
	usleep(300000);
	if (!fork()) {
		ADAPTRACE_MARK("child");
		_exit(0);
	}
	wait(&status);
	pthread_join(thread, NULL);
	return status;
}

static int ask_loader(void)
{
	const char *error = dlerror();

	if (error || dlopen("no such library", RTLD_NOW))
		return 1;
	ADAPTRACE_MARK("first");
	error = dlerror();
	return !error || !strstr(error, "no such library");
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1 && !strcmp(argv[1], "loader"))
		return ask_loader();
	if (argc > 1 && !strcmp(argv[1], "fork"))
		return fork_meanwhile();
	if (argc > 1 && !strcmp(argv[1], "alone"))
		return go_on_alone();
	if (argc > 1 && !strcmp(argv[1], "handler"))
		return mark_in_handler();
	if (argc > 1 && !strcmp(argv[1], "signal")) {
		interrupt();
		return MPI_Barrier(NULL);
	}
	pthread_create(&thread, NULL, end, NULL);
	pthread_join(thread, NULL);
	ADAPTRACE_MARK("behind");
	return 0;
}
