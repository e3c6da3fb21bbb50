/*
 * storm COUNT PARALLEL NAME US [NAME US]...: COUNT processes of each kind, called NAME and using US
 * microseconds of CPU time under that name, PARALLEL at a time. Says for each kind what wait4 said,
 * how much of it the processes used before they had that name, and how much until they ended
 * themselves; the rest is what the kernel takes to bury them:
 *
 *     NAME SECONDS
 *     NAME-birth SECONDS
 *     NAME-life SECONDS
 */
#include "burn.h"

enum { MOST = 8 };

static struct kind {
	const char *name;
	uint64_t ns;
	double used;
} kinds[MOST];

/* Nanoseconds that the processes of a kind used, which they add up themselves. */
static struct sums {
	uint64_t birth, life;
} * sums;

static pid_t running[256];
static unsigned kind_of[256];

static void start(unsigned slot, unsigned kind)
{
	kind_of[slot] = kind;
	running[slot] = fork();
	if (running[slot])
		return;
	prctl(PR_SET_NAME, kinds[kind].name);
	__atomic_fetch_add(&sums[kind].birth, thread_ns(), __ATOMIC_RELAXED);
	burn(kinds[kind].ns);
	__atomic_fetch_add(&sums[kind].life, thread_ns(), __ATOMIC_RELAXED);
	_exit(0);
}

static unsigned reap(unsigned parallel)
{
	struct rusage usage;
	pid_t pid = wait4(-1, NULL, 0, &usage);

	for (unsigned slot = 0; slot < parallel; slot++) {
		if (running[slot] != pid)
			continue;
		kinds[kind_of[slot]].used += usage_seconds(&usage);
		running[slot] = 0;
		return slot;
	}
	abort();
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1, nr = 0;
	unsigned parallel = argc > 2 ? (unsigned)atoi(argv[2]) : 1, started = 0;

	parallel = parallel < 1 ? 1 : parallel > 256 ? 256 : parallel;
	sums = mmap(NULL, MOST * sizeof(*sums), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	            -1, 0);
	if (sums == MAP_FAILED)
		return 1;
	for (; nr < MOST && 4 + 2 * (int)nr < argc; nr++)
		kinds[nr] = (struct kind){argv[3 + 2 * nr],
		                          strtoull(argv[4 + 2 * nr], NULL, 10) * 1000, 0};
	for (; started < count * nr; started++)
		start(started < parallel ? started : reap(parallel), started % nr);
	for (unsigned left = started < parallel ? started : parallel; left; left--)
		reap(parallel);
	for (unsigned i = 0; i < nr; i++)
		printf("%s %.6f\n%s-birth %.6f\n%s-life %.6f\n", kinds[i].name, kinds[i].used,
		       kinds[i].name, (double)sums[i].birth / 1e9, kinds[i].name,
		       (double)sums[i].life / 1e9);
	print_used();
	return 0;
}
