/* Signal handlers: within a function, within each other, and on a stack of their own. */
#pragma GCC optimize("omit-frame-pointer")
#include "step.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) static void work(int n)
{
	while (n-- > 0)
		sink += n;
}

static void inner(int number)
{
	work(number % 4);
}

static void outer(int number)
{
	work(2);
	raise(SIGUSR2);
	work(number % 3);
}

__attribute__((noinline)) static void send(int depth)
{
	volatile char room[64];

	room[0] = 1;
	if (depth > 0)
		send(depth - 1);
	else
		kill(getpid(), SIGUSR1);
	sink += room[0];
}

int main(int argc, char **argv)
{
	struct sigaction action;

	(void)argv;
	STEP_MARK(argc);
	memset(&action, 0, sizeof(action));
	action.sa_handler = inner;
	sigaction(SIGUSR2, &action, NULL);
	action.sa_handler = outer;
	sigaction(SIGUSR1, &action, NULL);
	send(3);
	STEP_MARK(argc);
	return 0;
}
