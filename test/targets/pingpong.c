/* pingpong COUNT: two processes, "ping" and "pong", that wake each other COUNT times. */
#include "burn.h"

static void play(int in, int out, unsigned count, char ball)
{
	while (count--)
		if (write(out, &ball, 1) != 1 || read(in, &ball, 1) != 1)
			_exit(1);
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 10000;
	int there[2], back[2], status;
	struct rusage usage;
	char ball = 0;

	if (pipe(there) || pipe(back))
		return 1;
	if (!fork()) {
		prctl(PR_SET_NAME, "pong");
		close(there[1]);
		close(back[0]);
		if (read(there[0], &ball, 1) != 1)
			_exit(1);
		play(there[0], back[1], count - 1, ball);
		_exit(write(back[1], &ball, 1) != 1);
	}
	prctl(PR_SET_NAME, "ping");
	play(back[0], there[1], count, ball);
	wait4(-1, &status, 0, &usage);
	printf("pong %.6f\n", usage_seconds(&usage));
	getrusage(RUSAGE_SELF, &usage);
	printf("ping %.6f\n", usage_seconds(&usage));
	print_used();
	return status;
}
