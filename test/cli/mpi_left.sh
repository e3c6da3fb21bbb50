#!/bin/sh
# A call that its error handler left by a jump or an exception is told as one that never returned,
# and hides none of those behind it, wherever they are called from.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
need_mpi

check_left() {
	recorded_job $1 1 "$2"
	"$ADAPTRACE" dump --json job.atr >dump && "$ADAPTRACE" report --mpi job.atr >report || fail dump
	check "$2" <<'E'
import collections, json, sys
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
left = collections.Counter((c['call'], c['depth']) for c in calls if not c['finished'])
assert left == {('MPI_Send', 0): 13, ('MPI_Send', 1): 1}, (sys.argv, left)
others = collections.Counter((c['call'], c['depth']) for c in calls if c['finished'])
assert others == {('MPI_Init', 0): 1, ('MPI_Barrier', 0): 2, ('MPI_Sendrecv', 0): 20, ('step', 0): 1,
                  ('MPI_Sendrecv', 1): 1, ('after', 0): 1, ('MPI_Reduce_local', 0): 1,
                  ('MPI_Finalize', 0): 1}, others
# What was left was left before the next.
last = 0
for c in sorted(calls, key=lambda c: (c['time_ns'], -c['end_ns'])):
    if c['call'].startswith('MPI'):
        assert last <= c['time_ns'] <= c['end_ns'], c
        last = c['end_ns']
E
	grep -q 'MPI_Send (14 unfinished)$' report || fail "$(cat report)"
}

for mpi in $mpis; do
	echo "$mpi: jumps"
	compile $mpi left
	check_left $mpi ./left.$mpi
	command -v mpicxx.$mpi >/dev/null || continue
	mpicxx.$mpi -x c++ -O1 -w -fpermissive -I"$here/../../include" -o thrown.$mpi "$sources/left.c" ||
		fail "cannot compile left.c as C++ for $mpi"
	echo "$mpi: exceptions"
	check_left $mpi ./thrown.$mpi
done
pass
