#!/bin/sh
# A process whose first thread has ended: its samples have its name, whoever they are of, and nobody
# moved anywhere; it can be attached to, and what another thread executes is as good as any.
. "$(dirname "$0")/scenario"
need_sampling
command -v gcc >/dev/null || skip "no gcc"

cat >first.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static char **args;
static volatile unsigned long sink;
static void *quick(void *arg) { return arg; }
static void *burn(void *arg)
{
	for (;;)
		sink++;
	return arg;
}
static void *rest(void *arg)
{
	struct timespec now, end;
	pthread_t t;

	usleep(300000); /* the first thread is forgotten by then */
	if (!strcmp(args[1], "exec"))
		execl(args[0], args[0], "burn", NULL);
	if (!strcmp(args[1], "named"))
		prctl(PR_SET_NAME, "other");
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec++;
	do {
		pthread_create(&t, 0, quick, 0);
		pthread_join(t, 0);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec < end.tv_sec || now.tv_nsec < end.tv_nsec);
	exit(0);
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t t;

	args = argv;
	if (argc > 2)
		sleep(atoi(argv[2]));
	if (!strcmp(argv[1], "burn")) {
		alarm(1);
		burn(NULL);
	}
	pthread_create(&t, 0, strcmp(argv[1], "attach") ? rest : burn, 0);
	pthread_exit(0);
}
END
gcc -O1 -pthread -o first first.c || fail "cannot build"

names() {
	check "$@" <<'END'
import sys
import recording

names = {sample["comm"] for sample in recording.samples()}
assert names and names <= set(sys.argv[1:]), names
assert all(sample["pid"] and sample["tid"] > 0 for sample in recording.samples())
END
}

for way in '' --inherit; do
	for what in plain named exec; do
		echo "-- $what $way"
		record $way -F 2000 ./first $what 2>stderr
		! grep cgroup stderr || fail "somebody is said to have moved"
		names first other
	done
done

echo "-- attach"
./first attach &
target=$!
background="$background $target"
sleep 0.5
recorded -F 1000 -p $target -- sleep 0.5
kill $target
names first
check <<'END'
import recording

stacks = [[frame["symbol"] for frame in sample["stack"]] for sample in recording.samples()]
assert sum("burn" in stack for stack in stacks) > 0.9 * len(stacks), stacks[:5]
END
pass
