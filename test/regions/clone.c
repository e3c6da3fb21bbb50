#include <adaptrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Marks of a parent, and of a child of which no fork handler was told, at the same time. */
int main(int argc, char **argv)
{
	int early = argc > 1 && argv[1];
	pid_t child;

	if (!early) {
		ADAPTRACE_BEGIN("around");
		ADAPTRACE_MARK("first");
	}
	child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	for (int i = 0; i < 1000 && child; i++) {
		ADAPTRACE_BEGIN("parent");
		ADAPTRACE_VALUE("number", i);
		ADAPTRACE_END("parent");
	}
	for (int i = 0; i < 1000 && !child; i++) {
		ADAPTRACE_BEGIN("child");
		ADAPTRACE_VALUE("number", i);
		ADAPTRACE_END("child");
	}
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	if (!early)
		ADAPTRACE_END("around");
	return 0;
}
