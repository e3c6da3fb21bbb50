#!/bin/sh
# Calls of MPI and parallel regions of one program in one recording: threads call MPI inside of
# regions, one of each team or all. Sums are exact, also where iterations are dropped, which are
# made of calls and regions alike.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

cat >look.py <<'E'
import json, os, subprocess, sys
def report(*options):
    return json.loads(subprocess.check_output([os.environ['ADAPTRACE'], *options, '--json', 'job.atr']))
steps, per_step = int(sys.argv[1]), 1 + ('1' in open('job.out').read())
mpi, openmp, calls = report('report', '--mpi'), report('report', '--openmp'), report('info')['calls']
sums = {c['call']: c['calls'] for c in mpi['calls']}
assert sums['MPI_Sendrecv'] == 2 * per_step * steps, sums
assert sums['MPI_Allreduce'] == 2 * steps and sums['MPI_Finalize'] == 2, sums
assert sorted((m['from'], m['to'], m['messages']) for m in mpi['matrix']) == \
    [(0, 1, per_step * steps), (1, 0, per_step * steps)], mpi['matrix']
assert [r['count'] for r in openmp['regions']] == [2 * steps] * 2, openmp
assert all(r['threads'] == 2 and r['function'] == 'main' for r in openmp['regions']), openmp
stored, seen, lost = (sum(k[name] for k in calls['kinds']) for name in ('stored', 'seen', 'lost'))
assert not lost and seen == sum(c['calls'] for c in mpi["calls"]), (calls, sums)
if len(sys.argv) > 2:
    steps_of = [p for p in report('report', '--iterations')['phases'] if p['iterations'] > .95 * steps]
    assert [p['period_calls'] for p in steps_of] == [4, 4], steps_of
    assert all(p['stored'] < p['iterations'] / 5 for p in steps_of), steps_of
    assert stored < seen / 5, (stored, seen)
else:
    assert stored == seen, calls
E
threads='env OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive'
for mpi in $mpis; do
	compile $mpi hybrid -fopenmp
	for multiple in '' multiple; do
		options='--openmp -m 16M'
		recorded_job $mpi 2 $threads ./hybrid.$mpi 200 $multiple
		python3 look.py 200 || fail "calls and regions for $mpi $multiple"
	done
done
options='--openmp -m 16M --events-wait 10000 --scale-trace'
recorded_job $mpi 2 $threads ./hybrid.$mpi 1000
python3 look.py 1000 scaled || fail "iterations of calls and regions"
pass
