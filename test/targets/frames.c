/*
 * frames ROUNDS: the same work again and again, at the end of known chains of calls: recursion 60
 * deep, in the first thread and in another; a signal's handler above a function that was at work;
 * and a comparison called by qsort of libc. No frame pointers.
 */
#pragma GCC optimize("omit-frame-pointer")

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define DEPTH    60

static volatile uint64_t sink;

NOINLINE static void leaf(unsigned n)
{
	uint64_t x = n;

	while (n--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

NOINLINE static void recurse(unsigned depth)
{
	volatile char room[100];

	room[depth] = 1;
	if (depth)
		recurse(depth - 1);
	else
		leaf(40000);
	sink += room[depth];
}

static void on_signal(int number)
{
	leaf(20000);
	sink += (uint64_t)number;
}

/* By a system call of its own: what libc does around it is its affair. */
NOINLINE static void signal_oneself(void)
{
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
	sink++;
}

static int compare(const void *a, const void *b)
{
	leaf(1000);
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort(void)
{
	int numbers[] = {5, 3, 8, 1, 9, 2, 7, 4};

	qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]), compare);
	sink += (uint64_t)numbers[0];
}

static void *other(void *rounds)
{
	for (uintptr_t i = 0; i < (uintptr_t)rounds; i++)
		recurse(DEPTH);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&thread, NULL, other, (void *)(uintptr_t)rounds);
	for (unsigned i = 0; i < rounds; i++) {
		recurse(DEPTH);
		signal_oneself();
		sort();
	}
	return pthread_join(thread, NULL);
}
