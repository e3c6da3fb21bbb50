#!/bin/sh
# A program that names no datatype where it moves nothing runs as without a recorder, and its bytes
# are told. Open MPI refuses such programs itself.
. "$(dirname "$0")/scenario"
. "$here/mpi"
need_sampling
case $mpis in *mpich*) ;; *) skip "no MPICH that starts jobs is installed" ;; esac

compile mpich no_type
mpirun.mpich -n 2 ./no_type.mpich || skip "this MPICH refuses such programs, too"
options='--events-wait 5000'
recorded_job mpich 2 ./no_type.mpich
"$ADAPTRACE" dump --json job.atr >dump || fail dump
check <<'E'
import json
calls = [c for c in map(json.loads, open('dump')) if 'call' in c]
told = sorted((c['call'], p['bytes'], p['bytes_in']) for c in calls for p in c['parts']
              if p['kind'] in ('collective', 'collective-done'))
assert told == [(f'MPI_{name}', 4, 4) for name in ('Alltoallw', 'Neighbor_alltoallw', 'Wait')
                for rank in range(2)], told
E
pass
