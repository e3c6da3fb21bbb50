/*
 * Threads that sort, multiply and hash, in functions whose names and shares are known: what make
 * demo records, and what tests compare with. threads [THREADS [SECONDS]]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define SIZE     4096

static double seconds = 1;

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

NOINLINE static uint64_t hash_block(const unsigned char *block, size_t size)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < size; i++)
		h = (h ^ block[i]) * 0x100000001b3;
	return h;
}

NOINLINE static void fill_block(uint32_t *block, uint32_t seed)
{
	for (unsigned i = 0; i < SIZE; i++)
		block[i] = seed = seed * 1664525 + 1013904223;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t was = *a;

	*a = *b;
	*b = was;
}

NOINLINE static void sift_down(uint32_t *heap, unsigned from, unsigned nr)
{
	for (unsigned child; (child = 2 * from + 1) < nr; from = child) {
		child += child + 1 < nr && heap[child] < heap[child + 1];
		if (heap[from] >= heap[child])
			return;
		swap(&heap[from], &heap[child]);
	}
}

NOINLINE static void sort_block(uint32_t *block)
{
	for (unsigned i = SIZE / 2; i--;)
		sift_down(block, i, SIZE);
	for (unsigned nr = SIZE; --nr;) {
		swap(&block[0], &block[nr]);
		sift_down(block, 0, nr);
	}
}

NOINLINE static double multiply(unsigned n)
{
	static double a[64][64], b[64][64];
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < n; j++)
			for (unsigned k = 0; k < n; k++)
				sum += (a[i][k] + i) * (b[k][j] + j);
	return sum;
}

static void *work(void *arg)
{
	uint32_t *block = malloc(SIZE * sizeof(*block)), seed = (uint32_t)(uintptr_t)arg;
	uint64_t result = 0;

	do {
		fill_block(block, seed++);
		result ^= hash_block((unsigned char *)block, SIZE * sizeof(*block));
		sort_block(block);
		result += (uint64_t)multiply(64);
	} while (cpu_seconds() < seconds);
	free(block);
	return (void *)(uintptr_t)result;
}

int main(int argc, char **argv)
{
	unsigned nr = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
	pthread_t threads[64];
	uint64_t result = 0;

	if (argc > 2)
		seconds = atof(argv[2]);
	nr = nr < 1 ? 1 : nr > 64 ? 64 : nr;
	for (unsigned i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
	for (unsigned i = 0; i < nr; i++) {
		void *part;

		pthread_join(threads[i], &part);
		result ^= (uint64_t)(uintptr_t)part;
	}
	printf("checksum %016llx\n", (unsigned long long)result);
	return 0;
}
