#!/bin/sh
# A job that aborts, is killed, never reaches MPI_Finalize, or outlives its recorder still leaves a
# trace; calls that never returned are in it, and said to be unfinished.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

cat >endings.py <<'E'
import json, sys

def messages(way):
    calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
    parts = [(p['kind'], p['tag']) for c in calls for p in c['parts']]
    assert parts.count(('send', 1)) == 100 and parts.count(('receive', 1)) == 100, (way, len(parts))
    # Initialised long ago, or not: Finalize was never called.
    assert not any(c['call'] == 'MPI_Finalize' for c in calls)
    # MPICH's returns, from 4.2 on, and the process is killed a little later.
    assert (way == 'abort') == any((c['rank'], c['call']) == (1, 'MPI_Abort') for c in calls)
    return sorted((c['rank'], c['call']) for c in calls if not c['finished'])
E
for mpi in $mpis; do
	compile $mpi endings
	for way in abort kill exit; do
		record_job $mpi 2 ./endings.$mpi $way
		echo "$mpi $way: $?"
		"$ADAPTRACE" dump --json job.atr >dump || fail dump
		check $way <<'E'
from endings import *
open_calls = messages(sys.argv[1])
print(open_calls)
if sys.argv[1] == 'kill':
    assert open_calls == [(0, 'MPI_Recv')]
E
	done
	# The recorder dies: the job does not notice, and what was drained is there.
	"$ADAPTRACE" record -q -F 100 -g none --mpi -o job.atr -- mpirun.$mpi -n 2 ./endings.$mpi hang &
	recorder=$!
	background="$background $recorder"
	ranks="ls -l /proc/*/exe 2>/dev/null | grep -c $PWD/endings.$mpi"
	await sh -c "[ \$($ranks) = 2 ]"
	launched=$(target_of $recorder)
	background="$background $launched"
	sleep 1.5
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	sleep 0.3
	[ "$(sh -c "$ranks")" = 2 ] || fail "the job died with its recorder"
	kill -TERM $launched
	"$ADAPTRACE" recover job.atr || fail recover
	"$ADAPTRACE" dump --json job.atr >dump || fail dump
	check <<'E'
from endings import *
messages('hang')
E
	await sh -c "[ \$($ranks) = 0 ]"
done
pass
