#!/bin/sh
# Sums of calls are exact although hardly any call is stored: of ranks under one recorder, in merged
# traces of several, of threads, and after the recorder was killed. The programs count themselves.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

cat >sums.py <<'E'
import collections, glob, json, sys
def matrix(report):
    return {(l['from'], l['to']): (l['messages'], l['bytes']) for l in report['matrix']}
# What the ranks of exchange logged.
def told():
    links = collections.defaultdict(lambda: (0, 0))
    nr_received = 0
    for log in glob.glob('log.*'):
        for line in map(str.split, open(log)):
            if line[0] == 'S':
                key = int(log.split('.')[-1]), int(line[1])
                links[key] = links[key][0] + 1, links[key][1] + int(line[3])
            nr_received += line[0] == 'R'
    return dict(links), nr_received
E
compare() {
	"$ADAPTRACE" report --mpi --json "$1" >report || fail "report $1"
	"$ADAPTRACE" info --json "$1" >info || fail "info $1"
	check "$2" <<'E'
from sums import *
report, info = json.load(open('report')), json.load(open('info'))
kind, = info['calls']['kinds']
links, nr_received = told()
print(sys.argv[1], kind, links)
assert kind['stored'] < kind['seen'] or 'merged' in sys.argv[1]
assert links and matrix(report) == links, matrix(report)
assert sum(c['received'] for c in report['calls']) == nr_received, nr_received
assert [r['rank'] for r in report['ranks']] == [0, 1]
assert sum(r['sent'] for r in report['ranks']) == sum(l[0] for l in links.values())
E
}

few='-m 64K'
for mpi in $mpis; do
	compile $mpi exchange
	rm -f log.*
	options=$few
	recorded_job $mpi 2 ./exchange.$mpi 5 200 log
	compare job.atr $mpi
done
rm -f log.* rank.*.atr
# shellcheck disable=SC2016
mpirun.$mpi -n 2 sh -c 'exec "$0" record -q -F 100 -g none --mpi --max-overhead 0 $1 -o \
	rank.%r.atr -- "$2" 6 200 log' \
	"$ADAPTRACE" "$few" ./exchange.$mpi >/dev/null 2>job.err || fail "ranks: $(cat job.err)"
"$ADAPTRACE" merge -o merged.atr rank.0.atr rank.1.atr 2>job.err || fail "merge: $(cat job.err)"
compare merged.atr "$mpi, merged"

# By the place in the code that made them: the same sums, in rows of their own.
cat >places.py <<'E'
import json, sys
source = sys.argv[1]
lines = {w: i - 1 for i, l in enumerate(open(source), 1) for w in ('first', 'second') if '/* ' + w in l}
sites = json.load(open('sites'))['sites']
print(lines, sites)
rows = [s for s in sites if s['call'] == 'MPI_Sendrecv_replace']
assert [s['time_ns'] for s in sites] == sorted([s['time_ns'] for s in sites], reverse=True)
assert {s['line']: (s['calls'], s['bytes'], s['bytes_in']) for s in rows} == {
    lines['first']: (60, 240, 240), lines['second']: (24, 192, 192)}
assert all(s['symbol'] == 'exchange' and s['file'].endswith('two_places.c') and
           s['module'].startswith('two_places.') for s in rows)
for call in json.load(open('report'))['calls']:
    of = [s for s in sites if s['call'] == call['call']]
    for key in 'calls', 'time_ns', 'sent', 'bytes', 'received', 'bytes_in', 'unfinished':
        assert sum(s[key] for s in of) == call[key], (call, key)
    assert max(s['longest_ns'] for s in of) == call['longest_ns']
E
check_places() {
	"$ADAPTRACE" report --mpi --json "$1" >report || fail "report $1"
	"$ADAPTRACE" report --mpi --sort site --json "$1" >sites || fail "report --sort site $1"
	python3 places.py "$sources/two_places.c" >said 2>&1 || fail "$1: $(cat said)"
	"$ADAPTRACE" report --mpi --sort site "$1" >text || fail "report --sort site $1"
	grep -q '^ *60 .* 240 bytes  *240 bytes  MPI_Sendrecv_replace  exchange  two_places.c:' text ||
		fail "$1: $(cat text)"
}
compile $mpi two_places -g
options=
recorded_job $mpi 2 ./two_places.$mpi
check_places job.atr
rm -f rank.*.atr merged.atr
mpirun.$mpi -n 2 "$ADAPTRACE" record -q -F 100 -g none --mpi --max-overhead 0 -o rank.%r.atr -- \
	./two_places.$mpi >/dev/null 2>job.err || fail "ranks: $(cat job.err)"
"$ADAPTRACE" merge -o merged.atr rank.0.atr rank.1.atr 2>job.err || fail "merge: $(cat job.err)"
check_places merged.atr

# Regions, marks and values of several threads, without MPI.
cat >marks.c <<'E'
#include <adaptrace.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *work(void *arg)
{
	for (int i = 0; i < 10000; i++) {
		ADAPTRACE_SCOPE("step");
		if (i % 10 == 0)
			ADAPTRACE_MARK("tenth");
		if (i % 5 == 0)
			ADAPTRACE_VALUE("fifth", i);
	}
	return arg;
}
int main(int argc, char **argv)
{
	pthread_t threads[20];

	for (int i = 0; i < 20; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
	printf("done %d\n", (int)getpid());
	fflush(stdout);
	if (argc > 1)
		pause();
	return 0;
}
E
${CC:-cc} -O1 -I"$here/../../include" -o marks marks.c -lpthread || fail "cannot compile marks.c"
count_marks() {
	"$ADAPTRACE" report --mpi --json "$1" >report || fail "report $1"
	check "$1" <<'E'
import json, sys
sums = {c['call']: c for c in json.load(open('report'))['calls']}
print(sys.argv[1], sums)
assert sums['step']['calls'] == 20 * 10000 and sums['tenth']['calls'] == 20 * 1000
value = sums['fifth']
assert value['calls'] == 20 * 2000 and value['min'] == 0 and value['max'] == value['last'] == 9995
assert value['mean'] == 9995 / 2
assert 0 < sums['step']['longest_ns'] < sums['step']['time_ns']
E
}
# shellcheck disable=SC2086
"$ADAPTRACE" record -q -F 100 -g none --mpi $few -o marks.atr -- ./marks >/dev/null 2>job.err ||
	fail "marks: $(cat job.err)"
count_marks marks.atr
"$ADAPTRACE" report --mpi --sort site marks.atr >out 2>said && fail "places of marks: $(cat out)"
one_complaint said "'marks.atr' has no place that made a call" || fail "said: $(cat said)"
# shellcheck disable=SC2086
"$ADAPTRACE" record -q -F 100 -g none --mpi $few -o killed.atr -- ./marks wait >marks.out 2>job.err &
recorder=$!
tries=0
until grep -q done marks.out; do
	sleep 0.1
	[ $((tries += 1)) -lt 300 ] || fail "marks did not end"
done
sleep 0.5
"$ADAPTRACE" snapshot -o snap.atr killed.atr 2>snap.err || fail "snapshot: $(cat snap.err)"
count_marks snap.atr
kill -KILL $recorder
wait $recorder 2>/dev/null
"$ADAPTRACE" recover killed.atr 2>job.err || fail "recover: $(cat job.err)"
count_marks killed.atr
kill "$(sed 's/done //' marks.out)"
pass
