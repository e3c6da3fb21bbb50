#!/bin/sh
# record --scale-trace stores the calls of some iterations, and has the times of all and exact sums:
# of steps, of loops in loops with sizes that never repeat, and of a program without a loop.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

one_mpi
options='-m 16M --events-wait 10000 --scale-trace'
compile $mpi iterate
# KIND STEPS: job.atr, what is stored of it and its sums.
scaled() {
	recorded_job $mpi 2 ./iterate.$mpi $*
	"$ADAPTRACE" info --json job.atr >info.json || fail "info of $*"
	"$ADAPTRACE" report --mpi --json job.atr >mpi.json || fail "report --mpi of $*"
	"$ADAPTRACE" report --iterations --json job.atr >iterations.json ||
		fail "report --iterations of $*"
}
cat >scaled.py <<'E'
import json
calls = json.load(open('info.json'))['calls']
stored, seen = (sum(k[name] for k in calls['kinds']) for name in ('stored', 'seen'))
phases = json.load(open('iterations.json'))['phases']
truth = [json.loads(line) for line in open('job.out') if line.startswith('{')]
sums = {c['call']: c for c in json.load(open('mpi.json'))['calls']}
assert not sum(k['lost'] for k in calls['kinds']), calls
assert len(truth) == 2, truth
for name in {name for t in truth for name in t['calls']} - {'MPI_Barrier'}:
    told = sum(t['calls'].get(name, {'calls': 0})['calls'] for t in truth)
    assert sums[name]['calls'] == told, (name, sums[name], told)
def steps(rank, calls):
    return sum(p['iterations'] for p in phases if p['rank'] == rank and calls(p['period_calls']))
E

scaled wavefront 250
check <<'E'
from scaled import *
assert stored < seen / 5, (stored, seen)
assert all(246 <= steps(rank, lambda n: n == 35) <= 250 for rank in (0, 1)), phases
assert all(p['stored'] < p['iterations'] for p in phases), phases
E

"$ADAPTRACE" convert --chrome -o chrome.json job.atr 2>err || fail "chrome: $(cat err)"
"$ADAPTRACE" convert --firefox -o firefox.json.gz job.atr 2>err || fail "firefox: $(cat err)"
check <<'E'
from scaled import *
import gzip
found = json.load(open('info.json'))['iterations']
begun = [e for e in json.load(open('chrome.json'))['traceEvents'] if e.get('cat') == 'iterations' and e['ph'] == 'b']
alone = [e for e in begun if e['name'] == 'iteration']
dropped = sum(int(e['name'].split()[0]) for e in begun if e['name'] != 'iteration')
assert (len(alone), dropped) == (found['stored'], found['seen'] - found['stored']), (len(alone), dropped, found)
profile = json.load(gzip.open('firefox.json.gz'))
assert 'Iteration' in [s['name'] for s in profile['meta']['markerSchema']]
marked = [d for t in profile['threads'] for d in t['markers']['data'] if d and d['type'] == 'Iteration']
assert len(marked) == len(begun), (len(marked), len(begun))
assert found['seen'] == sum(p['iterations'] for p in phases), (found, phases)
E

scaled solver 400
check <<'E'
from scaled import *
assert stored < seen / 3, (stored, seen)
assert all(380 <= steps(rank, lambda n: n > 30) <= 404 for rank in (0, 1)), phases
E

# Steps that take ten times as long are stored, unless those that were interrupted are too many.
scaled slow 4000
"$ADAPTRACE" convert --chrome --force -o chrome.json job.atr 2>err || fail "chrome: $(cat err)"
"$ADAPTRACE" dump --json job.atr >dump.json || fail "dump"
check <<'E'
from scaled import *
events = json.load(open('chrome.json'))['traceEvents']
calls = (json.loads(line) for line in open('dump.json') if '"MPI_Init"' in line)
for init in calls:
    told, = (t for t in truth if t['rank'] == init['rank'])
    own = [e for e in events if e['pid'] == init['pid']]
    begun, = (e['ts'] for e in own if e['name'] == 'MPI_Init' and e['ph'] == 'b')
    ours = [e for e in own if e.get('cat') == 'iterations']
    kept = [(b['ts'], e['ts']) for b, e in zip(ours[::2], ours[1::2]) if b['name'] == 'iteration']
    times = [begun + (t - init['time_ns']) / 1000 for t in told['slow_ns']]
    found = sum(any(b <= t <= e for b, e in kept) for t in times)
    print(f'rank {init["rank"]}: {found} of {len(times)} slow steps are stored; {told["outliers"]} took long')
    assert told['outliers'] > 4000 / 100 or found >= len(times) - 1, told
E

# Regions alone, also of programs with another C library.
cat >steps.c <<'E'
#include <adaptrace.h>

int main(void)
{
	for (int i = 0; i < 1000; i++) {
		ADAPTRACE_BEGIN("step");
		for (int k = 0; k < 3; k++) {
			ADAPTRACE_BEGIN("part");
			ADAPTRACE_END("part");
		}
		ADAPTRACE_END("step");
	}
}
E
for cc in cc musl-gcc; do
	command -v $cc >/dev/null || continue
	$cc -O1 -I"$here/../../include" -o steps steps.c || fail "$cc"
	"$ADAPTRACE" record -q -F 50 -g none --mpi --max-overhead 0 --scale-trace -o job.atr ./steps 2>err ||
		fail "recording: $(cat err)"
	"$ADAPTRACE" info --json job.atr >info.json || fail "info"
	check $cc <<'E'
import json
info = json.load(open('info.json'))
kind, = info['calls']['kinds']
print(kind, info['iterations'])
assert kind['seen'] == 4000 and kind['stored'] < 800, kind
assert info['iterations']['seen'] >= 990, info['iterations']
E
	# Nothing can be preloaded into a static program: it is said which one that is.
	$cc -static -O1 -I"$here/../../include" -o static steps.c 2>/dev/null || continue
	"$ADAPTRACE" record -q -g none --mpi --scale-trace -o static.atr sh -c ./static 2>err ||
		fail "recording a static program: $(cat err)"
	grep -q "recorded no call: '.*/static' is statically linked" err || fail "static: $(cat err)"
	"$ADAPTRACE" report --mpi static.atr >told || fail "report of a static program"
	grep -q "no call was recorded" told || fail "report of a static program: $(cat told)"
done

scaled farm 400
check <<'E'
from scaled import *
assert stored >= seen * 0.99, (stored, seen)
E
pass
