#!/bin/sh
# A library with the handles, statuses and constants of MPI 5's standard for all, whatever its name:
# its calls are told as those of others. Of one that is unknown there are times, and that is said.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling

gcc -w -shared -fPIC -DLIBRARY -o libstandard.so "$sources/standard.c" &&
	gcc -w -o standard "$sources/standard.c" -L. -lstandard -Wl,-rpath,"$work" || fail compile
./standard || fail "without a recorder"
recorded --mpi -o job.atr ./standard
"$ADAPTRACE" dump --json job.atr >dump && "$ADAPTRACE" info --json job.atr >info || fail dump
check <<'E'
import json
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
told = [(p['kind'], p['peer_rank'], p['bytes']) for c in calls for p in c['parts'] if 'bytes' in p]
assert told == [('send-posted', 0, 12), ('receive', 0, 12), ('collective', None, 8)], told
assert [p['kind'] for p in calls[4]['parts']] == ['send-done'] and len(calls) == 7, calls
assert calls[1]['parts'][0]['communicator'] == 'MPI_COMM_WORLD', calls
process, = json.load(open('info'))['processes']
assert (process['rank'], process['threads'], process['library']) == (0, 'multiple', 'MPICH 6.0'), process
E
UNKNOWN=1 recorded --mpi -o unknown.atr ./standard
for trace in job unknown; do "$ADAPTRACE" report --mpi $trace.atr >$trace 2>&1 || fail report; done
grep -q 'the MPI library of 1 process is unknown' unknown || fail "not told: $(cat unknown)"
! grep -q 'MPI library' job || fail "told of a known one: $(cat job)"
pass
