#!/bin/sh
# report --iterations finds the steps of programs whose loops are known: how many, and of how many
# calls each; and all ranks count them alike.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

# What is looked for lies in the calls. Open MPI's ranks yield while they wait.
one_mpi
options='-m 16M --events-wait 10000'
compile $mpi iterate
steps_of() {
	"$ADAPTRACE" report --iterations --json job.atr >report.json || fail "report of $*"
	"$ADAPTRACE" report --iterations job.atr >report.txt || fail "report of $*"
	grep -q ' steps ' report.txt || fail "no steps in $(cat report.txt)"
}
cat >steps.py <<'E'
import json
report = json.load(open('report.json'))
units = [p for p in report['phases'] if p['unit']]
truth = [json.loads(line) for line in open('job.out') if line.startswith('{')]
def close(found, steps):
    return abs(found - steps) <= max(4, steps / 100)
for p in report['phases']:
    d = p['duration_ns']
    assert d['min'] <= d['median'] <= d['p99'] <= d['max'] and d['min'] <= d['mean'] <= d['max'], p
    assert 0 <= p['from_ns'] <= p['to_ns'] and p['stored'] == p['iterations'], p
E

recorded_job $mpi 2 ./iterate.$mpi solver 60 adi 60 wavefront 60 cg 40 noise 60
steps_of kinds in a row
check <<'E'
from steps import *
for rank in 0, 1:
    found = [(p['period_calls'], p['iterations']) for p in units if p['rank'] == rank]
    print(rank, found)
    for t in truth:
        if t['rank'] != rank:
            continue
        calls = t['calls_per_step']
        here = [n for c, n in found if (c == calls if calls else 30 < c < 120)]
        assert any(close(n, t['steps']) for n in here), (t, here)
E

recorded_job $mpi 2 ./iterate.$mpi change 210
steps_of change
check <<'E'
from steps import *
for rank in 0, 1:
    found = [(p['period_calls'], p['iterations']) for p in units if p['rank'] == rank]
    assert [calls for calls, n in found] == [7, 300, 7], found
    assert all(close(n, 70) for calls, n in found), found
E

# A sample makes a short iteration longer, which is folded all the same.
options='-m 16M --events-wait 10000 -g fp -F 2000'
recorded_job $mpi 2 ./iterate.$mpi wavefront 6000
"$ADAPTRACE" report --fold --json job.atr >fold.json || fail "fold ended with $?"
check <<'E'
import json
fold = json.load(open('fold.json'))
most = fold['iterations'] * fold['median_ns'] / 1e9 * 2000
print(fold['samples'], 'samples in', fold['iterations'], 'of', fold['iterations_seen'], 'iterations; due:', most)
assert most < 20 or fold['samples'] > most / 4
E

recorded_job $mpi 4 ./iterate.$mpi adi 40
steps_of adi
check <<'E'
from steps import *
assert sorted(p['rank'] for p in units) == [0, 1, 2, 3], units
assert len({(p['first'], p['last']) for p in units}) == 1, units
assert all(p['period_calls'] == 37 and close(p['iterations'], 40) for p in units), units
E
pass
