#!/bin/sh
# More requests at once than can be followed: the receives that nobody hears of are counted as lost.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

for mpi in $mpis; do
	echo "$mpi"
	compile $mpi crowd
	options='--events-wait 5000'
	recorded_job $mpi 1 ./crowd.$mpi 70000
	"$ADAPTRACE" info --json job.atr >info && "$ADAPTRACE" report --mpi --json job.atr >report || fail report
	check <<'E'
import json
calls = {c['call']: c for c in json.load(open('report'))['calls']}
lost = json.load(open('info'))['calls']['kinds'][0]['lost']
received = calls['MPI_Wait']['received']
assert calls['MPI_Send']['sent'] == 70000 and lost > 0 and received + lost == 70000, (received, lost)
assert any('lost on the way' in w for w in json.load(open('report'))['warnings'])
E
done
pass
