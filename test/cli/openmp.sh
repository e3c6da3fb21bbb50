#!/bin/sh
# Parallel regions of OpenMP, compared with what the program's threads measured themselves: of gcc and
# g++ with libgomp, and of clang with libomp, which has another way to be asked.
. "$(dirname "$0")/scenario"
need_sampling

source=$here/../openmp/regions.c
export OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive
cat >compare.py <<'E'
import json, sys
truth, report = json.load(open('truth')), json.load(open('report'))
steps = int(sys.argv[1])
found = {r['line']: r for r in report['regions']}
assert len(report['regions']) == 5 == len(found), report
for t in truth['regions']:
    r = found[t['line']]
    assert r['count'] == t['count'] == steps and r['threads'] == 2, (t, r)
    assert r['file'].endswith('regions.c') and r['function'].startswith('step'), r
    assert 'step' in r['region'] and f'regions.c:{t["line"]}' in r['region'], r
    # The program's first fork includes the time to connect to the recorder.
    assert r['time_ns'] <= t['time_ns'], (t, r)
    assert r['work_ns'] + r['idle_ns'] + r['barrier_wait_ns'] + r['critical_wait_ns'] <= 2 * r['time_ns'], r
    for key in 'idle_ns', 'barrier_wait_ns', 'critical_wait_ns':
        # The program reads its clock at other instants than the library, and may lose its CPU between.
        assert abs(r[key] - t[key]) <= .03 * t[key] + 3e6, (key, t, r)
    assert abs(r['imbalance'] - t['imbalance']) < .03, (t, r)
for key in 'idle_ns', 'barrier_wait_ns', 'critical_wait_ns', 'work_ns':
    assert report[key] == sum(r[key] for r in report['regions']), key
parallel = sum(r['time_ns'] for r in report['regions'])
assert abs(report['parallel_ns'] - parallel) < 1000 * steps, (report, parallel)
assert report['serial_ns'] > .97 * truth['serial_ns'], (report, truth)
E
compare() { # NAME STEPS COMPILER...
	name=$1 steps=$2; shift 2
	"$@" -o "$name" 2>said || { cat said; fail "$name"; }
	recorded -m 4M --openmp -F 100 "./$name" "$steps" >truth
	"$ADAPTRACE" report --openmp --json adaptrace.atr >report || fail "report of $name"
	measure "$steps" "of $name" <compare.py
}
compare gcc 20 gcc -O2 -g -fopenmp -x c "$source"
"$ADAPTRACE" report --openmp adaptrace.atr >text || fail "text"
grep -Eq '^ +20 +2 .*% +parallel step regions.c:' text || fail "no region: $(cat text)"
# The body of ours is around that of the program, and in no call path.
recorded -m 16M --openmp -F "$(rate 1000)" -g dwarf ./gcc 100 >truth
"$ADAPTRACE" dump --json adaptrace.atr >dump || fail dump
check <<'E'
import json
paths = [[f['symbol'] for f in s['stack']] for s in map(json.loads, open('dump')) if 'stack' in s]
inside = [p for p in paths if any(f and f.startswith('step (omp region') for f in p)]
assert inside and not any('body' in p for p in inside), inside[:3]
E
if command -v otf2-print >/dev/null && "$ADAPTRACE" convert --otf2 adaptrace.atr -o archive 2>/dev/null; then
	timeout 60 otf2-print -Werror --silent archive/traces.otf2 >log 2>&1 || fail "otf2-print $(cat log)"
	timeout 60 otf2-print -G archive/traces.otf2 | grep 'parallel step regions.c' >regions || fail "no regions"
	[ "$(grep -ci 'Role: PARALLEL, Paradigm: "*OpenMP' regions)" = 5 ] || fail "roles: $(cat regions)"
fi
# The work and waits of each thread, as calls: they are what the sums say.
threads() { # PROGRAM
	recorded -m 8M --openmp=threads -F 100 ./$1 20 200000 >truth
	"$ADAPTRACE" dump --json adaptrace.atr >dump || fail "dump of $1"
	"$ADAPTRACE" report --openmp --json adaptrace.atr >report || fail "report of $1"
	check <<'E'
import collections, json
report = json.load(open('report'))
calls = collections.defaultdict(list)
for call in (c for c in map(json.loads, open('dump')) if 'call' in c):
    calls[call['class']].append(call)
assert {name: len(of) for name, of in calls.items()} == \
    {'parallel': 100, 'team': 100, 'barrier': 80, 'critical': 40, 'join': 100}, calls.keys()
time = {name: sum(c['end_ns'] - c['time_ns'] for c in of) for name, of in calls.items()}
near = lambda a, b: abs(a - b) < 1e-3 * b + 20000
assert near(time['barrier'], report['barrier_wait_ns']), (time, report)
assert near(time['critical'], report['critical_wait_ns']), (time, report)
assert near(time['parallel'], report['parallel_ns']), (time, report)
assert time['join'] <= report['idle_ns'] + 20000, (time, report)
forking = {c['tid'] for c in calls['parallel']}
workers = {c['tid'] for c in calls['team']}
assert len(forking) == len(workers) == 1 and forking != workers, (forking, workers)
assert {c['call'] for c in calls['team']} == {f'thread of {c["call"]}' for c in calls['parallel']}
for team, whole in zip(*(sorted(calls[name], key=lambda c: c['time_ns']) for name in ('team', 'parallel'))):
    assert whole['time_ns'] <= team['time_ns'] <= team['end_ns'] <= whole['end_ns'], (team, whole)
E
	command -v otf2-print >/dev/null && rm -rf archive &&
		"$ADAPTRACE" convert --otf2 adaptrace.atr -o archive 2>/dev/null || return 0
	timeout 60 otf2-print -Werror archive/traces.otf2 >log 2>&1 || fail "otf2-print $(cat log)"
	for event in THREAD_FORK:100 THREAD_JOIN:100 THREAD_TEAM_BEGIN:200 THREAD_TEAM_END:200; do
		[ "$(grep -c "^${event%:*} " log)" = "${event#*:}" ] || fail "events $event of $1"
	done
	timeout 60 otf2-print -G archive/traces.otf2 >log
	for role in PARALLEL:10 BARRIER:1 IMPLICIT_BARRIER:1 CRITICAL:1; do
		[ "$(grep -c "Role: ${role%:*}, Paradigm: \"*OpenMP" log)" = "${role#*:}" ] || fail "role $role"
	done
	grep -q 'COMM_LOCATIONS, Paradigm: "*OpenMP.* 2 Members' log || fail "locations of $1"
	[ "$(grep -c 'OpenMP team.*COMM_GROUP, Paradigm: "*OpenMP.* 2 Members' log)" = 1 ] || fail "team of $1"
}
threads gcc
"$ADAPTRACE" record --openmp=teams true 2>said && fail "an unknown value"
one_complaint said "'teams'.*regions or threads" || fail "$(cat said)"
recorded -m 16M --openmp -F 100 -g none ./gcc 100 >truth
"$ADAPTRACE" convert --chrome adaptrace.atr -o chrome.json && [ "$(grep -o 'parallel step regions.c:82' chrome.json | wc -l)" -ge 100 ] ||
	fail "no regions for Chrome"
# One that looks on is told that the regions are of OpenMP, and not of MPI.
start_recording -m 4M --openmp -g none ./gcc 300
"$ADAPTRACE" watch --json --calls $recorder >lines || fail "watch --calls: $(cat lines)"
wait $recorder || fail "a recording that is watched"
check <<'E'
import json
lines = [json.loads(line) for line in open('lines')]
regions = [r for line in lines for r in line.get('regions', [])]
assert len(regions) == 5 and all(name.startswith('parallel ') and of == 'openmp' for _, name, of in regions), regions
E
# Calls are dropped, and sums are not.
recorded -m 1M --openmp -g none ./gcc 30000 0 >truth
check exact <<'E'
import json, os, subprocess
report = json.loads(subprocess.check_output([os.environ['ADAPTRACE'], 'report', '--openmp', '--json']))
assert [r['count'] for r in report['regions']] == [30000] * 5, report
E
# Of 2,000 steps some are stored, and all of them have their times.
recorded -m 4M --openmp -g none -F 100 ./gcc 2000 10000 >truth
cp adaptrace.atr whole.atr
recorded -m 4M --openmp --scale-trace -g none -F 100 ./gcc 2000 10000 >truth 2>/dev/null
check <<'E'
import json, os, subprocess
def report(*options):
    return json.loads(subprocess.check_output([os.environ['ADAPTRACE'], *options]))
whole, scaled = (report('info', '--json', name)['calls']['bytes'] for name in ('whole.atr', 'adaptrace.atr'))
# One iteration in 256 is slow, and more are where the machine is busy.
assert scaled <= .15 * whole, (scaled, whole)
assert [r['count'] for r in report('report', '--openmp', '--json')['regions']] == [2000] * 5
for name in 'whole.atr', 'adaptrace.atr':
    phases = report('report', '--iterations', '--json', name)['phases']
    assert [p['period_calls'] for p in phases if p['iterations'] >= 1996] == [5], phases
E
# Samples of all threads are in the region whose code called the function.
cat >heavy.c <<'E'
static volatile double sum;
static __attribute__((noinline)) void spend(int n)
{
	for (int i = 0; i < n; i++)
		sum = sum + 1e-9 * i;
}
static __attribute__((noinline)) void left(int n) { spend(n); sum = 0; }
static __attribute__((noinline)) void right(int n) { spend(n); sum = 1; }
int main(void)
{
	for (int step = 0; step < 40; step++) {
#pragma omp parallel
		left(2000000);
#pragma omp parallel
		right(1000000);
		right(500000);
	}
	return 0;
}
E
samples() { # COMPILER
	$1 -O1 -g -fopenmp -fno-optimize-sibling-calls -o heavy heavy.c || fail "heavy.c with $1"
	recorded -m 8M --openmp -F "$(rate 1000)" ./heavy
	"$ADAPTRACE" report --openmp --json adaptrace.atr >report || fail "samples of $1"
	"$ADAPTRACE" report --json adaptrace.atr >whole || fail "report of $1"
	"$ADAPTRACE" report --openmp adaptrace.atr >text || fail "text of $1"
	sed '1,/functions in parallel/d' text | awk '/%.* in / && $2 < 5 { exit 1 }' || fail "noise: $(cat text)"
	measure "$1" <<'E'
import json
report = json.load(open('report'))
weight = {r['line']: r['weight'] for r in report['regions']}
inside = {(f['symbol'], int(f['region'][-2:])): f['weight'] for f in report['functions']}
rows = {r['symbol']: r['self'] for r in json.load(open('whole'))['functions']}
spent = {line: inside.get(('spend', line), 0) for line in sorted(weight)}
assert [line // 2 for line in spent] == [6, 7] and report['total_weight'], report
# Two threads, 2 : 1, and a tenth of all is serial.
assert abs(min(spent.items())[1] / sum(spent.values()) - 2 / 3) < .1, spent
assert .8 < sum(spent.values()) / rows['spend'] < .98, (spent, rows)
E
}
samples gcc
recorded --openmp true
"$ADAPTRACE" report --openmp 2>said && fail "a report without regions"
one_complaint said 'no parallel regions; adaptrace record --openmp' || fail "$(cat said)"
command -v g++ >/dev/null && compare g++ 10 g++ -O2 -g -fopenmp -x c++ "$source"
if command -v clang >/dev/null && echo 'int main(void) { return 0; }' | clang -fopenmp -x c - -o none 2>/dev/null; then
	compare clang 10 clang -O2 -g -fopenmp -x c "$source"
	threads clang
	samples clang
else
	skip "no clang with libomp: the rest passed"
fi
pass
