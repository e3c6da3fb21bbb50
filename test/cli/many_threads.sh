#!/bin/sh
# A process has room for the calls of 128 threads at once: those that come when others have ended
# wait for theirs where they may, and otherwise lose calls, which is told.
. "$(dirname "$0")/scenario"
need_sampling

cat >threads.c <<'E'
#include <pthread.h>
#include <stdlib.h>
#include "adaptrace.h"

static pthread_barrier_t all;
static int together;

static void *mark(void *arg)
{
	for (int i = 0; i < 100; i++) {
		ADAPTRACE_BEGIN("turn");
		ADAPTRACE_END("turn");
	}
	if (together)
		pthread_barrier_wait(&all);
	return arg;
}

int main(int argc, char **argv)
{
	int nr = atoi(argv[1]), rounds = atoi(argv[2]);
	pthread_t *threads = calloc(nr, sizeof(*threads));

	together = rounds == 1;
	pthread_barrier_init(&all, NULL, nr);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < nr; i++)
			pthread_create(&threads[i], NULL, mark, NULL);
		for (int i = 0; i < nr; i++)
			pthread_join(threads[i], NULL);
	}
	return argc - 3;
}
E
gcc -w -I"$here/../../include" -pthread -o threads threads.c || fail compile
recorded --mpi --events-wait 10000 -o turns.atr ./threads 8 100
"$ADAPTRACE" record --max-overhead 0 --mpi -o crowd.atr ./threads 138 1 2>said || fail record
grep -q '^adaptrace: 1000 calls were lost on the way' said || fail "not told: $(cat said)"
for trace in turns crowd; do "$ADAPTRACE" info --json $trace.atr >$trace || fail info; done
check <<'E'
import json
for name, calls, lost in ('turns', 80000, 0), ('crowd', 12800, 1000):
    kind, = json.load(open(name))['calls']['kinds']
    assert (kind['seen'], kind['lost']) == (calls, lost), (name, kind)
E
# In a PID namespace of their own threads have other numbers, and are told apart all the same.
unshare -pf true 2>/dev/null || pass
cat >two.c <<'E'
#include <pthread.h>
#include <unistd.h>
#include "adaptrace.h"

static void *own(void *name)
{
	for (int i = 0; i < 40; i++) {
		ADAPTRACE_BEGIN("turn");
		usleep(2000);
		ADAPTRACE_END("turn");
	}
	return name;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, own, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
E
gcc -w -I"$here/../../include" -pthread -o two two.c || fail compile
recorded --mpi --events-wait 10000 -o inside.atr unshare -pf ./two
"$ADAPTRACE" dump --json inside.atr >inside || fail dump
check <<'E'
import collections, json
calls = [c for c in map(json.loads, open('inside')) if 'call' in c]
of = collections.Counter(c['tid'] for c in calls)
assert sorted(of.values()) == [40, 40] and not any(c['pid'] == c['tid'] for c in calls), of
E
pass
