/* Is in a signal handler most of the time, on a stack far from the one that it interrupts. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

#define STACK_SIZE 65536

static volatile int sink;

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((noinline)) static void spin(double seconds)
{
	double end = cpu_seconds() + seconds;

	while (cpu_seconds() < end)
		for (int i = 0; i < 1000; i++)
			sink += i;
}

static void handle(int number)
{
	spin(0.004);
	sink += number;
}

__attribute__((noinline)) static void interrupted(double seconds)
{
	spin(seconds);
	sink++;
}

int main(void)
{
	struct itimerval often = {{0, 10000}, {0, 10000}};
	struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = malloc(STACK_SIZE), .ss_size = STACK_SIZE};

	if (!stack.ss_sp || sigaltstack(&stack, NULL) || sigaction(SIGALRM, &action, NULL) ||
	    setitimer(ITIMER_REAL, &often, NULL))
		return 1;
	interrupted(1.5);
	return 0;
}
