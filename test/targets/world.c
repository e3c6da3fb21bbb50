/*
 * world: says what a process finds itself in, one line each, so that two runs can be compared:
 * arguments, descriptors, signals, limits, priorities, environment.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_descriptors(void)
{
	for (int fd = 0; fd < 65536; fd++) {
		char path[64], target[4096];
		int flags = fcntl(fd, F_GETFD), status = fcntl(fd, F_GETFL);
		ssize_t length;

		if (flags < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		length = readlink(path, target, sizeof(target) - 1);
		target[length > 0 ? length : 0] = '\0';
		printf("fd %d %s %x %x\n", fd, target, (unsigned)flags, (unsigned)status);
	}
}

static void print_status(void)
{
	static const char *const wanted[] = {
		"Umask:",  "Uid:",    "Gid:",     "Groups:",     "SigPnd:",      "ShdPnd:",
		"SigBlk:", "SigIgn:", "SigCgt:",  "CapInh:",     "CapPrm:",      "CapEff:",
		"CapBnd:", "CapAmb:", "Seccomp:", "NoNewPrivs:", "Cpus_allowed:"};
	char line[1024];
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (!strncmp(line, wanted[i], strlen(wanted[i])))
				printf("status %s", line);
	if (f)
		fclose(f);
}

static void print_limits(void)
{
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		struct rlimit limit;

		if (!getrlimit(i, &limit))
			printf("limit %d %llx %llx\n", i, (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
	}
}

int main(int argc, char **argv)
{
	char directory[4096] = "", score[16] = "";
	int pdeathsig = 0;
	size_t nr = 0;
	FILE *f;

	print_descriptors();
	for (int i = 0; i < argc; i++)
		printf("argument %s\n", argv[i]);
	print_status();
	print_limits();
	prctl(PR_GET_PDEATHSIG, &pdeathsig);
	printf("death signal %d, timer slack %d, dumpable %d\n", pdeathsig,
	       prctl(PR_GET_TIMERSLACK), prctl(PR_GET_DUMPABLE));
	printf("nice %d, policy %d\n", getpriority(PRIO_PROCESS, 0), sched_getscheduler(0));
	printf("session %d, group %d, terminal group %d\n", (int)getsid(0), (int)getpgrp(),
	       (int)tcgetpgrp(0));
	printf("directory %s\n", getcwd(directory, sizeof(directory)));
	f = fopen("/proc/self/oom_score_adj", "r");
	if (f && fgets(score, sizeof(score), f))
		printf("oom %s", score);
	while (environ[nr])
		nr++;
	qsort(environ, nr, sizeof(*environ), compare);
	for (size_t i = 0; i < nr; i++)
		printf("environment %s\n", environ[i]);
	return 0;
}
