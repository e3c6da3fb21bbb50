/*
 * faults THREADS ROUNDS: threads that take turns between touching new pages and computing, each
 * with another number of pages. Says how many page faults each thread had, as the kernel tells it.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

struct job {
	unsigned number, rounds;
	uint64_t result;
};

static long faults_of(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

__attribute__((noinline)) static void touch_pages(unsigned nr)
{
	char *memory = mmap(NULL, (size_t)nr * PAGE, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, (size_t)nr * PAGE, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < nr; i++)
		memory[(size_t)i * PAGE] = 1;
	munmap(memory, (size_t)nr * PAGE);
}

__attribute__((noinline)) static uint64_t compute(uint64_t x)
{
	for (unsigned i = 0; i < 4000000; i++)
		x = x * 6364136223846793005 + 1442695040888963407;
	return x;
}

static void *work(void *arg)
{
	struct job *job = arg;
	long before = faults_of(RUSAGE_THREAD);

	for (unsigned i = 0; i < job->rounds; i++) {
		touch_pages(2000 * job->number);
		job->result = compute(job->result);
	}
	printf("thread %ld %ld\n", (long)syscall(SYS_gettid), faults_of(RUSAGE_THREAD) - before);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 10;
	struct job jobs[64];
	pthread_t threads[64];

	for (unsigned i = 0; i < nr && i < 64; i++) {
		jobs[i] = (struct job){.number = i + 1, .rounds = rounds};
		pthread_create(&threads[i], NULL, work, &jobs[i]);
	}
	for (unsigned i = 0; i < nr && i < 64; i++)
		pthread_join(threads[i], NULL);
	printf("faults %ld\n", faults_of(RUSAGE_SELF));
	return 0;
}
